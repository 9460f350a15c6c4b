# SPDX-License-Identifier: Apache-2.0
"""The roofline of a device: the least time of a launch that moves so many bytes and computes so many FLOPs.

Williams, Waterman and Patterson, "Roofline: an insightful visual performance model", CACM 52 (2009).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from triton_ext.errors import TritonExtError


@dataclass(frozen=True)
class Device:
    """The peaks of a device.

    Attributes:
        name: its name.
        bandwidth: bytes of memory per second.
        flops: FLOPs per second: of products of matrices by the type of the operands, e.g. ``bf16``, and of other
            operations by ``vector``.
        source: where the numbers come from.
    """

    name: str
    bandwidth: float
    flops: Mapping[str, float] = field(default_factory=dict)
    source: str = "measured"


def _chip(name: str, bandwidth: float, vector: float, source: str, **dots: float) -> Device:
    """Returns a device; `bandwidth` in TB/s, the others in TFLOP/s."""
    flops = {kind: rate * 1e12 for kind, rate in dots.items()}
    return Device(name, bandwidth * 1e12, {"vector": vector * 1e12, **flops}, source)


_HOPPER = {"f16": 989.4, "bf16": 989.4, "tf32": 494.7, "f8E4M3FN": 1978.9, "f8E5M2": 1978.9, "i8": 1978.9, "f64": 66.9}
_DEVICES = (
    _chip("H200", 4.8, 66.9, "NVIDIA H200 Tensor Core GPU datasheet, SXM, without sparsity", **_HOPPER),
    _chip("H100", 3.35, 66.9, "NVIDIA H100 Tensor Core GPU datasheet, SXM, without sparsity", **_HOPPER),
    _chip(
        "A100", 2.039, 19.5, "NVIDIA A100 Tensor Core GPU datasheet, 80GB SXM, without sparsity",
        f16=312, bf16=312, tf32=156, i8=624, f64=19.5,
    ),
    _chip(
        "MI300X", 5.3, 163.4, "AMD Instinct MI300X data sheet, without sparsity",
        f16=1307.4, bf16=1307.4, tf32=653.7, f8E4M3FNUZ=2614.9, f8E5M2FNUZ=2614.9, i8=2614.9, f64=163.4,
    ),
)  # fmt: skip


def device_named(name: str) -> Device:
    """Returns the device whose name is a word of `name`, such as ``NVIDIA H200``.

    Raises:
        TritonExtError: there is none.
    """
    words = re.findall(r"\w+", name.upper())
    for device in _DEVICES:
        if device.name in words:
            return device
    known = ", ".join(device.name for device in _DEVICES)
    raise TritonExtError(
        f"the peaks of '{name}' are not known, only those of {known}", fix="a Device with measured ones"
    )


def _check_seconds(seconds: float) -> None:
    if not seconds > 0:
        raise TritonExtError(f"a launch cannot take {seconds} seconds", fix="a positive number")


@dataclass(frozen=True)
class Point:
    """A launch in the plot of a roofline.

    Attributes:
        label: the text beside it.
        device: the device.
        intensity: FLOPs per byte.
        flops: FLOPs per second; None for the greatest that the roofline allows.
        unit: what computes the longest: ``vector``, or the type of products of matrices.
    """

    label: str
    device: Device
    intensity: float
    flops: float | None
    unit: str

    @property
    def peak(self) -> float:
        """The greatest FLOPs per second of that unit."""
        return self.device.flops.get(self.unit, 0.0)


@dataclass(frozen=True)
class Roofline:
    """The least time of a launch.

    Attributes:
        kernel: the kernel.
        device: the device.
        bytes: what the launch moves.
        flops: what it computes, by kind and type.
        memory: the seconds that memory needs at least.
        compute: the seconds that products of matrices, or other operations, need at least: the longer of both.
        unit: what needs them: ``vector``, or the type of the products.
    """

    kernel: str
    device: Device
    bytes: int
    flops: Mapping[tuple[str, str], int]
    memory: float
    compute: float
    unit: str

    @classmethod
    def of(cls, kernel: str, device: Device, moved: int, flops: Mapping[tuple[str, str], int]) -> Roofline:
        """Returns the roofline of a launch that moves and computes this much."""
        busy = {"vector": 0.0}
        for (kind, type_), number in flops.items():
            unit = type_ if kind == "dot" else "vector"
            if number and unit not in device.flops:
                known = ", ".join(device.flops)
                raise TritonExtError(
                    f"the peak of {device.name} for {unit} is not known, only those for {known}",
                    fix=f"a Device with flops={{'{unit}': …}}",
                )
            busy[unit] = busy.get(unit, 0.0) + (number / device.flops[unit] if number else 0.0)
        # The units for products of matrices run beside the others; those of several types are the same ones.
        vector = busy.pop("vector")
        dots = sum(busy.values())
        unit = max(busy, key=busy.__getitem__) if dots > vector else "vector"
        return cls(kernel, device, moved, dict(flops), moved / device.bandwidth, max(dots, vector), unit)

    @property
    def seconds(self) -> float:
        """The least time of the launch."""
        return max(self.memory, self.compute)

    @property
    def limit(self) -> str:
        """What limits the launch: ``memory`` or ``compute``."""
        return "memory" if self.memory >= self.compute else "compute"

    @property
    def total(self) -> int:
        """All FLOPs of the launch."""
        return sum(self.flops.values())

    def fraction(self, seconds: float) -> float:
        """Returns which part of the roofline a launch reaches that takes so many seconds.

        Raises:
            TritonExtError: the seconds are not positive.
        """
        _check_seconds(seconds)
        return self.seconds / seconds

    def point(self, label: str, seconds: float | None = None) -> Point:
        """Returns the launch as a point, at the speed of a launch that takes so many seconds, or at the greatest.

        Raises:
            TritonExtError: the seconds are not positive.
        """
        if seconds is not None:
            _check_seconds(seconds)
        intensity = self.total / self.bytes if self.bytes else 0.0
        return Point(label, self.device, intensity, None if seconds is None else self.total / seconds, self.unit)

    def __str__(self) -> str:
        return (
            f"{self.kernel} on {self.device.name}: at least {self.seconds * 1e6:.3g} us, limited by {self.limit} "
            f"(memory {self.memory * 1e6:.3g} us, compute {self.compute * 1e6:.3g} us)"
        )
