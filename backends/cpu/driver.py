# SPDX-License-Identifier: Apache-2.0
"""`CPUDriver`: loads compiled kernels and launches them on the threads of this machine."""

from __future__ import annotations

import ctypes
import functools
import itertools
import os
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase, decompose_descriptor, expand_signature, wrap_handle_tensordesc_impl

from . import _library

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
    """Where libraries stay when the process has ended, as profilers want to read them then; empty for nowhere."""
    return os.environ.get("TRITON_EXT_CPU_KERNELS", "")


@functools.cache
def _kernel_dir() -> str:
    if directory := _kept():
        os.makedirs(directory, exist_ok=True)
        return directory
    return _temporary_dir()


def _temporary_dir() -> str:
    directory = tempfile.TemporaryDirectory(prefix="triton-ext-cpu-")
    _kernel_dirs.append(directory)  # removed when the process ends
    return directory.name


_kernel_dirs: list[tempfile.TemporaryDirectory[str]] = []


def _after_fork() -> None:
    """A child makes a directory of its own; the parent's is the parent's to remove."""
    for directory in _kernel_dirs:
        directory._finalizer.detach()  # type: ignore[attr-defined]
    _kernel_dirs.clear()
    _kernel_dir.cache_clear()


os.register_at_fork(after_in_child=_after_fork)


_dlclose = ctypes.CDLL(None).dlclose
_dlclose.argtypes = [ctypes.c_void_p]


class _Module:
    """A loaded library. It is no number, so that the driver of a GPU refuses it instead of taking it for its own."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._owner = 0 if _kept() else os.getpid()
        self._library: ctypes.CDLL | None = None
        self._library = ctypes.CDLL(path, mode=os.RTLD_NOW)

    def address(self, symbol: str) -> int:
        """Where a function begins."""
        address = ctypes.cast(getattr(self._library, symbol), ctypes.c_void_p).value
        assert address is not None
        return address

    def close(self, dlclose: Any = _dlclose, os: Any = os) -> None:
        """Unloads it; nothing the second time. Needs no globals, which may be gone when the process ends."""
        if self._library is None:
            return
        dlclose(self._library._handle)
        self._library = None
        if os.getpid() == self._owner and os.path.exists(self._path):  # a forked child leaves it to its parent
            os.unlink(self._path)

    __del__ = close


class CPUUtils:
    """What Triton asks of a driver's ``utils``."""

    def load_binary(self, name: str, kernel: bytes, shared: int, device: int) -> tuple[_Module, int, int, int, int]:
        """Loads the library `kernel`; returns its handle and the address of its entry."""
        _library.runtime()
        path = os.path.join(_kernel_dir(), f"{name[:100]}-{os.getpid()}-{next(_counter)}.so")
        with open(path, "wb") as file:
            file.write(kernel)
        module = _Module(path)
        return module, module.address(name), 0, 0, sys.maxsize

    def unload_module(self, module: Any) -> None:
        """Unloads what `load_binary` has loaded; what another driver has loaded is that one's to unload.

        Triton unloads a kernel with the driver that is active when the kernel is collected.
        """
        if isinstance(module, _Module):
            module.close()

    def get_device_properties(self, device: int) -> dict[str, int]:
        """As far as Triton or a kernel's author asks."""
        processors = len(os.sched_getaffinity(0))
        return {"max_shared_mem": sys.maxsize, "multiprocessor_count": processors, "warpSize": 1}


def _kinds(signature: Any) -> str:
    """The launcher's letters for a signature."""
    if isinstance(signature, tuple):
        return "(" + "".join(map(_kinds, signature)) + ")"
    return "p" if signature.startswith("*") else _KINDS[signature]


def _threads_setting() -> tuple[int, Callable[[], int] | None]:
    """The number of threads that the environment asks for, or whom to ask at each launch."""
    if value := os.environ.get("TRITON_EXT_CPU_THREADS"):
        if not value.isdecimal() or int(value) < 1:
            raise ValueError(f"TRITON_EXT_CPU_THREADS is '{value}', expected a number of threads")
        return int(value), None
    torch = sys.modules.get("torch")
    return 0, getattr(torch, "get_num_threads", None)


class CPULauncher:
    """Launches one kernel; Triton makes one for each that is compiled."""

    def __new__(cls, src: Any, metadata: Any) -> Any:
        """The launcher itself, a function of the runtime, without a Python frame in between."""
        signature = dict(enumerate(src.signature.values()))
        kinds = "".join(map(_kinds, expand_signature(signature.values(), None, "nvTmaDesc")))
        threads, ask = _threads_setting()
        launch = _library.runtime().triton_ext_cpu_launcher(
            kinds.encode(), metadata.scratch, metadata.num_threads or threads, ask
        )

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
        """Milliseconds."""
        return (end._time - self._time) * 1e3

    def synchronize(self) -> None:
        """Nothing: a launch returns when the kernel is done."""


class _DeviceInterface:
    """What ``triton.testing`` asks of a device."""

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
        """Where it was asked for, or there is nothing else."""
        if not _library.is_built():
            return False
        if selected := os.environ.get("TRITON_DEFAULT_BACKEND"):
            return selected == "cpu"
        from triton.backends import backends

        return not any(backend.driver.is_active() for backend in backends.values() if backend.driver is not cls)

    def get_current_device(self) -> int:
        """There is one."""
        return 0

    def set_current_device(self, device: int) -> None:
        """There is one."""

    def get_current_stream(self, device: int) -> int:
        """There is one."""
        return 0

    def get_current_target(self) -> GPUTarget:
        """This machine's CPU."""
        return _host_target()

    def get_active_torch_device(self) -> Any:
        """``torch.device("cpu")``."""
        import torch

        return torch.device("cpu")

    def get_device_interface(self) -> type[_DeviceInterface]:
        """For ``triton.testing``."""
        return _DeviceInterface

    def get_benchmarker(self) -> Any:
        """``triton.testing.do_bench``."""
        from triton.testing import do_bench

        return do_bench

    def get_empty_cache_for_benchmark(self) -> bytearray:
        """Caches are left as they are: that is how kernels follow each other on a CPU."""
        return bytearray()

    def clear_cache(self, cache: bytearray) -> None:
        """See `get_empty_cache_for_benchmark`."""

    def map_python_to_cpp_type(self, ty: str) -> str:
        """The C++ type of an argument.

        Raises:
            RuntimeError: Triton's ahead-of-time tool asks for a kernel that it has compiled for the CPU.
        """
        _refuse_c_code()
        if ty.startswith("*"):
            return "void *"
        names = {"b": "bool", "f": "float", "d": "double", "h": "uint16_t", "e": "uint16_t"}
        return names.get(_KINDS[ty]) or f"{'u' if ty[0] == 'u' else ''}int{ty[1:]}_t"

    def allocate_default_profile_scratch(self, size: int, alignment: int, stream: Any) -> Any:
        """Instrumented kernels are the GPUs'."""
        raise NotImplementedError("profiling inside of kernels is not supported on the CPU")


def _refuse_c_code() -> None:
    """Ends Triton's tools/compile.py where it is about to write C code for the CPU.

    The tool has templates for cuda and hip alone. Without one it would end as if all were well, with no file written.
    It may compile for another target while this driver is the active one.
    """
    frame = sys._getframe(1)
    tool = os.path.join("triton", "tools", "compile.py")
    while not (frame.f_code.co_name == "compile_kernel" and frame.f_code.co_filename.endswith(tool)):
        if frame.f_back is None:
            return
        frame = frame.f_back
    if frame.f_locals["target"].backend == "cpu":
        raise RuntimeError(
            "the kernel compiles, but Triton's tools/compile.py writes C code for cuda and hip, not for the CPU: "
            'take the shared library, triton.compile(...).asm["so"], or name another target (--target cuda:90:32)'
        )


@functools.cache
def _host_target() -> GPUTarget:
    chosen = os.environ.get("TRITON_EXT_CPU_TARGET")
    return GPUTarget("cpu", chosen or ";".join(_library.compiler().host()), 1)
