# SPDX-License-Identifier: Apache-2.0
"""`CPUDriver`: loads compiled kernels and launches them on the threads of this machine."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import time
from collections.abc import Iterator
from typing import Any

from triton import knobs
from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase

from . import _library
from ._cache import check_cache
from ._launcher import KINDS, CPULauncher, Zeros
from ._loaded import Function, Module, load


class CPUUtils:
    """The functions that Triton expects in a driver's ``utils``."""

    def load_binary(self, name: str, kernel: bytes, shared: int, device: str) -> tuple[Module, int, int, int, int]:
        """Loads the library `kernel` and returns its handle and the address of its entry."""
        _library.runtime()
        check_cache(knobs.cache.dir)
        module = load(name, kernel)
        function = Function(module.address(name))
        function.module, function.library, function.name = module, kernel, name
        return module, function, 0, 0, sys.maxsize

    def unload_module(self, module: Any) -> None:
        """Unloads a library that `load_binary` has loaded; ignores a handle of another driver.

        Triton unloads a kernel with the driver that is active when the kernel is garbage-collected, which may not be
        the driver that has loaded it.
        """
        if isinstance(module, Module):
            module.close()

    def get_device_properties(self, device: str) -> dict[str, int]:
        """Returns the properties that Triton or a kernel's author asks for."""
        processors = len(os.sched_getaffinity(0))
        return {"max_shared_mem": sys.maxsize, "multiprocessor_count": processors, "warpSize": 1}


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
    def current_device() -> str:
        return "cpu"


def _may_have_amd_gpu() -> bool:
    """Returns whether Triton's driver for AMD may be active. It is not without a device of the kernel for GPUs.

    That driver asks torch and imports it, which takes a program with NumPy arrays a second.
    """
    return "torch" in sys.modules or any(map(os.path.exists, _AMD_DEVICES))


#: The devices through which ROCm reaches GPUs, on Linux and in its subsystem of Windows.
_AMD_DEVICES = ("/dev/kfd", "/dev/dxg")


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

        others = (backend.driver for name, backend in backends.items() if name != "amd" or _may_have_amd_gpu())
        return not any(driver.is_active() for driver in others if driver is not cls)

    def get_current_device(self) -> str:
        """Returns the only device. Triton keeps kernels by device, so this is not a number, as a GPU's is."""
        return "cpu"

    def set_current_device(self, device: str) -> None:
        """Does nothing: there is only one device."""

    def get_current_stream(self, device: str) -> int:
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
        return names.get(KINDS[ty]) or f"{'u' if ty[0] == 'u' else ''}int{ty[1:]}_t"

    def allocate_default_profile_scratch(self, size: int, alignment: int, stream: Any) -> Any:
        """Returns memory for a kernel that asks for some outside of its signature, where no allocator is set."""
        return Zeros(size, alignment)


@functools.cache
def _host_target() -> GPUTarget:
    chosen = os.environ.get("TRITON_EXT_CPU_TARGET")
    return GPUTarget("cpu", chosen or ";".join(_library.compiler().host()), 1)
