# SPDX-License-Identifier: Apache-2.0
"""`CPUDriver`: loads compiled kernels and launches them on the threads of this machine."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import itertools
import os
import sys
import time
import warnings
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

from triton import knobs
from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase, decompose_descriptor, expand_signature, wrap_handle_tensordesc_impl

from triton_ext.errors import TritonExtError
from triton_ext.loading.library_bytes import LibraryBytes, in_memory
from triton_ext.support.storage import private_dir, scratch_dir, write_whole

from . import _library
from ._cache import check_cache

_KINDS = {
    "i1": "b",
    "u1": "b",
    "fp32": "f",
    "f32": "f",
    "fp64": "d",
    "fp16": "h",
    "bf16": "e",
    "constexpr": "c",
    **{f"{sign}{bits}": "i" for sign in "iu" for bits in (8, 16, 32, 64)},
}
_counter = itertools.count()


def _kept() -> str:
    """Returns the directory that keeps libraries after the process ends, for profilers; empty if none is set."""
    return os.environ.get("TRITON_EXT_CPU_KERNELS", "")


_dlclose = ctypes.CDLL(None).dlclose
_dlclose.argtypes = [ctypes.c_void_p]


class _Module:
    """A loaded library. It is not an int, because the driver of a GPU would mistake an int for one of its handles."""

    def __init__(self, path: str) -> None:
        self._library: ctypes.CDLL | None = None
        self._library = ctypes.CDLL(path, mode=os.RTLD_NOW)

    def address(self, symbol: str) -> int:
        """Returns the address of a function."""
        address = ctypes.cast(getattr(self._library, symbol), ctypes.c_void_p).value
        assert address is not None
        return address

    def close(self, dlclose: Any = _dlclose) -> None:
        """Unloads the library; a second call does nothing. Uses no globals, which may be gone at process exit."""
        if self._library is None:
            return
        dlclose(self._library._handle)
        self._library = None

    __del__ = close


class _Function(int):
    """The address of a function in a library; the library stays loaded as long as the address is in use.

    When two threads launch a new kernel at once, both load it, and the second thread's handle replaces the first one in
    the kernel. Without this class, the first library would be unloaded while the first thread runs it.
    """

    module: _Module


class CPUUtils:
    """The functions that Triton expects in a driver's ``utils``."""

    def load_binary(self, name: str, kernel: bytes, shared: int, device: int) -> tuple[_Module, int, int, int, int]:
        """Loads the library `kernel` and returns its handle and the address of its entry."""
        _library.runtime()
        check_cache(knobs.cache.dir)
        module = _load(name, kernel)
        function = _Function(module.address(name))
        function.module = module
        return module, function, 0, 0, sys.maxsize

    def unload_module(self, module: Any) -> None:
        """Unloads a library that `load_binary` has loaded; ignores a handle of another driver.

        Triton unloads a kernel with the driver that is active when the kernel is garbage-collected, which may not be
        the driver that has loaded it.
        """
        if isinstance(module, _Module):
            module.close()

    def get_device_properties(self, device: int) -> dict[str, int]:
        """Returns the properties that Triton or a kernel's author asks for."""
        processors = len(os.sched_getaffinity(0))
        return {"max_shared_mem": sys.maxsize, "multiprocessor_count": processors, "warpSize": 1}


def _load(name: str, kernel: bytes) -> _Module:
    """Loads the library `kernel`. Removes its file at once, so that no file remains however the process ends."""
    file = f"{name[:100]}-{os.getpid()}-{next(_counter)}.so"
    if kept := _kept():
        try:
            path = private_dir(Path(kept).absolute()) / file
            write_whole(path, kernel, mode=0o600)
        except OSError as error:
            raise TritonExtError(
                f"the kernel {name} cannot be kept in {kept}: {error.strerror or error}",
                fix="TRITON_EXT_CPU_KERNELS=/another/directory, or unset it",
            ) from None
        return _Module(str(path))
    try:
        with scratch_dir("triton-ext-cpu-") as scratch:
            (scratch / file).write_bytes(kernel)
            return _Module(str(scratch / file))
    except (OSError, TritonExtError):  # there is no room for files, or the file system forbids execution
        return _Module(in_memory(LibraryBytes(Path(file), kernel, hashlib.sha256(kernel).hexdigest())))


def _kinds(signature: Any) -> str:
    """Returns the launcher's letters for a signature (see runtime/Arguments.h)."""
    if isinstance(signature, tuple):
        return "(" + "".join(map(_kinds, signature)) + ")"
    return "p" if signature.startswith("*") else _KINDS[signature]


def _mark_read_only(kinds: str, stored: Collection[int]) -> str:
    """Returns `kinds` with ``r`` in place of ``p`` for each pointer whose slot is not in `stored`."""
    marked, slot = "", 0
    for kind in kinds:
        marked += "r" if kind == "p" and slot not in stored else kind
        slot += kind not in "c()"
    return marked


#: The largest number of threads that the launcher accepts.
_MOST = 2**31 - 1


@functools.cache
def _wanted_threads(value: str) -> int:
    """Returns the number of threads in `value` of TRITON_EXT_CPU_THREADS; 0, with a warning, if it is not a number."""
    digits = value.strip().lstrip("0")
    if digits.isascii() and digits.isdecimal():
        return int(digits) if len(digits) < len(str(_MOST)) else _MOST
    warnings.warn(
        f"TRITON_EXT_CPU_THREADS is '{value[:40]}', expected a number of threads: launches use as many as torch does, "
        f"or as there are processors (fix: TRITON_EXT_CPU_THREADS={len(os.sched_getaffinity(0))})",
        RuntimeWarning,
        stacklevel=2,
    )
    return 0


def _threads_setting(option: Any) -> tuple[int, Callable[[], int] | None]:
    """Returns the number of threads that `option` or the environment asks for, and None.

    If neither asks for a number, returns 0 and torch's function that each launch asks; without torch, 0 and None.

    Raises:
        ValueError: `option` is not a number of threads.
    """
    if not isinstance(option, int) or option < 0:
        raise ValueError(f"num_threads is {option!r}, expected a number of threads, or 0 for the usual one")
    value = os.environ.get("TRITON_EXT_CPU_THREADS")
    if threads := option or (_wanted_threads(value) if value else 0):
        return min(threads, _MOST), None
    torch = sys.modules.get("torch")
    return 0, getattr(torch, "get_num_threads", None)


def _described(src: Any, name: str) -> str:
    """Returns how a crash report names the kernel `name`: with the place of its source, if that is known."""
    function = getattr(src, "fn", None)
    file, line = getattr(function, "file_name", None), getattr(function, "def_file_line_number", None)
    return f"'{name}' ({file}:{line})" if file and line else f"'{name}'"


def _with_profile_scratch(launch: Callable[..., None], size: int, alignment: int) -> Callable[..., None]:
    """Returns `launch` for a kernel that gets memory outside of its signature.

    Args:
        launch: takes the memory as its last argument.
        size: bytes for each program.
        alignment: of the memory, in bytes.
    """
    from triton.runtime import _allocation, driver  # which import the drivers

    def launch_with_memory(x: int, y: int, z: int, stream: int, *args: Any) -> None:
        allocator: Any = _allocation._profile_allocator
        if not _allocation.has_profile_allocator():
            allocator = driver.active.allocate_default_profile_scratch
        memory = allocator(x * y * z * size, alignment, stream)
        launch(x, y, z, stream, *args, memory.data_ptr())  # `memory` lives until the launch has ended

    return launch_with_memory


class _Zeros:
    """Aligned memory that is zero."""

    def __init__(self, size: int, alignment: int) -> None:
        self._memory = ctypes.create_string_buffer(size + alignment)
        self._address = -(-ctypes.addressof(self._memory) // alignment) * alignment

    def data_ptr(self) -> int:
        """Returns the address."""
        return self._address


class CPULauncher:
    """Launches one kernel; Triton makes a launcher for each compiled kernel."""

    def __new__(cls, src: Any, metadata: Any) -> Any:
        """Returns the launcher: a function of the runtime, so that no Python frame lies in between."""
        signature = dict(enumerate(src.signature.values()))
        kinds, arguments = "", []
        for argument, kind in src.signature.items():
            expanded = expand_signature([kind], None, "nvTmaDesc")  # a descriptor becomes several arguments
            kinds += "".join(map(_kinds, expanded))
            arguments += [str(argument)] * len(expanded)
        stored = getattr(metadata, "stored_slots", None)
        if stored is not None:
            kinds = _mark_read_only(kinds, stored)
        if metadata.profile_scratch_size:
            kinds += "p"
            arguments.append("(profile scratch)")
        threads, ask = _threads_setting(metadata.num_threads)
        launch = _library.runtime().triton_ext_cpu_launcher(
            _described(src, metadata.name).encode(errors="replace"),
            kinds.encode(),
            ",".join(arguments).encode(errors="replace"),
            metadata.scratch,
            threads,
            ask,
        )
        if metadata.profile_scratch_size:
            launch = _with_profile_scratch(launch, metadata.profile_scratch_size, metadata.profile_scratch_align)

        def make_descriptor(arg: Any, metadata: Any, _: Any) -> list[Any]:
            return list(decompose_descriptor(arg))

        flat = wrap_handle_tensordesc_impl(None, signature, [], make_descriptor)
        if flat is None:  # no descriptors among the arguments
            return launch

        def with_descriptors(*args: Any) -> None:
            wrap_handle_tensordesc_impl(lambda *inner: launch(*inner[:-1], *inner[-1]), signature, [], make_descriptor)(
                *args[:9], args[9:]
            )

        return with_descriptors


class _Event:
    """A point in time, for ``triton.testing.do_bench``."""

    def __init__(self, enable_timing: bool = True) -> None:
        self._time = 0.0

    def record(self) -> None:
        self._time = time.perf_counter()

    def elapsed_time(self, end: _Event) -> float:
        """Returns the milliseconds from this event to `end`."""
        return (end._time - self._time) * 1e3

    def synchronize(self) -> None:
        """Nothing: a launch returns when the kernel is done."""


class _DeviceInterface:
    """The functions that ``triton.testing`` expects of a device."""

    Event = _Event

    @staticmethod
    def synchronize() -> None:
        """Nothing: a launch returns when the kernel is done."""

    @staticmethod
    def current_device() -> int:
        return 0


class CPUDriver(DriverBase):  # type: ignore[misc]
    """The CPU as a device of Triton."""

    def __init__(self) -> None:
        super().__init__()
        from ._numpy import accept_arrays

        accept_arrays()
        self.utils = CPUUtils()
        self.launcher_cls = CPULauncher

    @classmethod
    def is_active(cls) -> bool:
        """Returns whether the CPU was asked for, or no other driver is active."""
        if not _library.is_built():
            return False
        if selected := os.environ.get("TRITON_DEFAULT_BACKEND"):
            return selected == "cpu"
        from triton.backends import backends

        return not any(backend.driver.is_active() for backend in backends.values() if backend.driver is not cls)

    def get_current_device(self) -> int:
        """Returns the only device."""
        return 0

    def set_current_device(self, device: int) -> None:
        """Does nothing: there is only one device."""

    def get_current_stream(self, device: int) -> int:
        """Returns the only stream."""
        return 0

    def get_current_target(self) -> GPUTarget:
        """Returns this machine's CPU, or the one that TRITON_EXT_CPU_TARGET names."""
        return _host_target()

    def get_active_torch_device(self) -> Any:
        """Returns ``torch.device("cpu")``."""
        import torch

        return torch.device("cpu")

    def get_device_interface(self) -> type[_DeviceInterface]:
        """Returns the device interface for ``triton.testing``."""
        return _DeviceInterface

    def get_benchmarker(self) -> Any:
        """Returns ``triton.testing.do_bench``."""
        from triton.testing import do_bench

        return do_bench

    def get_empty_cache_for_benchmark(self) -> bytearray:
        """Returns an empty array: benchmarks keep the caches warm, as between consecutive kernels on a CPU."""
        return bytearray()

    def clear_cache(self, cache: bytearray) -> None:
        """Does nothing; see `get_empty_cache_for_benchmark`."""

    @contextlib.contextmanager
    def time_limit(self, seconds: float) -> Iterator[None]:
        """Ends launches of this thread with TimeoutError after `seconds` in all; a program that runs is completed."""
        limit = _library.runtime().triton_ext_cpu_limit
        limit(seconds)
        try:
            yield
        finally:
            limit(0)

    def map_python_to_cpp_type(self, ty: str) -> str:
        """Returns the C++ type of an argument."""
        if ty.startswith("*"):
            return "void *"
        names = {"b": "bool", "f": "float", "d": "double", "h": "uint16_t", "e": "uint16_t"}
        return names.get(_KINDS[ty]) or f"{'u' if ty[0] == 'u' else ''}int{ty[1:]}_t"

    def allocate_default_profile_scratch(self, size: int, alignment: int, stream: Any) -> Any:
        """Returns memory for a kernel that asks for some outside of its signature, where no allocator is set."""
        return _Zeros(size, alignment)


@functools.cache
def _host_target() -> GPUTarget:
    chosen = os.environ.get("TRITON_EXT_CPU_TARGET")
    return GPUTarget("cpu", chosen or ";".join(_library.compiler().host()), 1)
