# SPDX-License-Identifier: Apache-2.0
"""A stand-in for a device: kernels are compiled for cuda:90 as usual, but Python does the work of a launch.

The name of the compiled kernel (`rename`) shows which passes ran. A kernel called ``wrong`` computes wrong results, one
called ``crash`` fails, and one called ``greedy`` needs more memory than the device has.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from triton.backends.compiler import GPUTarget
from triton.runtime import driver
from triton.runtime.errors import OutOfResources

from support.pipeline.no_gpu import NoGpu

#: Name of the kernel and its arguments, for each launch.
launches: list[tuple[str, dict[str, Any]]] = []


class Tensor:
    """Has the part of a tensor that Triton and the autotuner use."""

    def __init__(self, data: np.ndarray, device: str = "cuda:0") -> None:
        self.data = data
        self.dtype = str(data.dtype)
        self.shape = data.shape
        self.device = device

    def data_ptr(self) -> int:
        return 4096

    def stride(self) -> tuple[int, ...]:
        return tuple(s // self.data.itemsize for s in self.data.strides)

    def clone(self) -> Tensor:
        return Tensor(self.data.copy())

    def copy_(self, other: Any) -> None:
        self.data[...] = getattr(other, "data", other)

    def fill_(self, value: float) -> None:
        self.data.fill(value)

    def zero_(self) -> None:
        self.data.fill(0)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return self.data


def zeros(n: int = 256, dtype: str = "float32") -> Tensor:
    return Tensor(np.zeros(n, dtype))


class Launcher:
    """The object that Triton calls to launch a kernel."""

    def __init__(self, source: Any, metadata: Any) -> None:
        self.names = source.fn.arg_names
        self.kernel = source.fn.__name__
        self.name = metadata.name

    def __call__(self, x: int, y: int, z: int, stream: int, *rest: Any) -> None:
        arguments = dict(zip(self.names, rest[-len(self.names) :], strict=True))
        launches.append((self.name, arguments))
        if self.name == "crash":
            raise RuntimeError("an illegal memory access was encountered")
        if self.name == "greedy":
            raise OutOfResources(300000, 232448, "shared memory")
        COMPUTE[self.kernel](arguments, 3 if self.name == "wrong" else 2)


def scale(arguments: dict[str, Any], factor: int) -> None:
    arguments["y"].data[...] = factor * arguments["x"].data


def accumulate(arguments: dict[str, Any], factor: int) -> None:
    arguments["y"].data[...] += factor * arguments["x"].data


COMPUTE: dict[str, Callable[[dict[str, Any], int], None]] = {"scale": scale, "accumulate": accumulate}


class Driver(NoGpu):
    """Has the part of a Triton driver that a launch needs."""

    launcher_cls = Launcher

    class utils:  # noqa: N801 - that is its name
        @staticmethod
        def get_device_properties(device: int) -> dict[str, int]:
            return {"max_shared_mem": 232448}

        @staticmethod
        def load_binary(name: str, kernel: bytes, shared: int, device: int) -> tuple[None, int, int, int, int]:
            return None, 1, 32, 0, 1024  # without a module, no other driver has to unload anything later

    def __init__(self, arch: int = 90) -> None:
        super().__init__(GPUTarget("cuda", arch, 32))

    def get_benchmarker(self) -> Callable[..., list[float]]:
        return bench


class Bench:
    """A benchmarker that launches once and reads the time in a table.

    Attributes:
        times: by name of the compiled kernel and ``BLOCK``.
        asked: the name and ``BLOCK`` of each kernel that was measured, in order.
    """

    def __init__(self, times: dict[tuple[str, int], float] | None = None) -> None:
        self.times = times or {}
        self.asked: list[tuple[str, int]] = []

    def __call__(self, fn: Callable[[], object], quantiles: object = None) -> list[float]:
        assert quantiles == (0.5, 0.2, 0.8)
        fn()
        name, arguments = launches[-1]
        self.asked.append((name, arguments.get("BLOCK", 0)))
        time = self.times.get(self.asked[-1], 100.0 + len(self.asked))
        return [time, time * 0.9, time * 1.1]


bench = Bench()


def activate(arch: int = 90) -> None:
    """Makes the stand-in the active device, in processes without fixtures."""
    driver.set_active(Driver(arch))
