# SPDX-License-Identifier: Apache-2.0
"""Describes arguments, so that workers without a device compile for them, and the shape class of a launch."""

from __future__ import annotations

from typing import Any

from triton.runtime import driver

from .launches import is_tensor

_SCALARS = (bool, int, float, str, type(None))


class Pointer:
    """Stands for a tensor while a kernel is compiled.

    Attributes:
        dtype: its type, as Triton's specialisation reads it.
    """

    def __init__(self, dtype: Any, address: int) -> None:
        self.dtype = dtype
        self._address = address

    def data_ptr(self) -> int:
        """Returns an address with the alignment of the tensor's."""
        return self._address

    @staticmethod
    def ptr_range() -> int:
        """Returns 2 GiB: AMD's backend then does not assume that offsets fit into 32 bits."""
        return 2**31


class StandInDriver:
    """The part of a driver that a compilation needs; no device is touched.

    Args:
        target: the ``GPUTarget``.
    """

    def __init__(self, target: Any) -> None:
        self._target = target

    def get_current_target(self) -> Any:
        """Returns the target."""
        return self._target

    def get_current_device(self) -> int:
        """Returns 0."""
        return 0

    def get_current_stream(self, device: int) -> int:  # noqa: ARG002 - as in Triton
        """Returns 0."""
        return 0


def described(arguments: dict[str, Any]) -> tuple[tuple[str, Any], ...] | None:
    """Returns the arguments as ``("torch.float16", 16)`` for tensors and as themselves for scalars.

    Returns None if one is neither, such as a tensor descriptor; then only the launch itself can compile.
    """
    found: list[tuple[str, Any]] = []
    for name, value in arguments.items():
        if is_tensor(value):
            found.append((name, (str(value.dtype), 16 if value.data_ptr() % 16 == 0 else 1)))
        elif isinstance(value, _SCALARS):
            found.append((name, value))
        else:
            return None
    return tuple(found)


def specialised(arguments: dict[str, Any]) -> object:
    """Returns what Triton specialises a kernel by: types, alignment, and whether an integer is 1 or aligned."""

    def of(value: Any) -> object:
        if isinstance(value, int) and not isinstance(value, bool):
            return "1" if value == 1 else (value % 16 == 0, -(2**31) <= value < 2**31)
        return value if isinstance(value, _SCALARS) and not isinstance(value, float) else "other"

    found = described(arguments)
    if found is None:  # tensor descriptors, for example
        return id(arguments)
    return tuple((name, value if isinstance(value, tuple) else of(value)) for name, value in found)


def stand_ins(arguments: tuple[tuple[str, Any], ...]) -> dict[str, Any]:
    """Returns arguments for a compilation from what `described` returned."""
    import torch

    return {
        name: Pointer(getattr(torch, value[0].removeprefix("torch.")), 16 if value[1] == 16 else 1)
        if isinstance(value, tuple)
        else value
        for name, value in arguments
    }


def drivers_stand_in(target: Any) -> None:
    """Has this process, which is a worker that only compiles, compile for `target` without a device."""
    current = driver._active
    if not isinstance(current, StandInDriver) or current.get_current_target() != target:
        driver.set_active(StandInDriver(target))


def shapes_of(arguments: dict[str, Any]) -> str:
    """Returns the shape class of a launch: shapes and types of tensors, and the integers, by name."""

    def text(value: Any) -> str | None:
        if is_tensor(value):
            return f"{str(value.dtype).removeprefix('torch.')}[{', '.join(map(str, value.shape))}]"
        return str(value) if isinstance(value, bool | int) else None

    texts = ((name, text(value)) for name, value in arguments.items())
    return ", ".join(f"{name}: {shown}" for name, shown in texts if shown is not None)
