# SPDX-License-Identifier: Apache-2.0
"""Describes the arguments of a launch: the storage and the view of each tensor, and the value of each number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

#: The bounds of memory of which nothing is known: no address is outside.
ANYWHERE = (0, 2**63 - 1)


def signed(word: int) -> int:
    """Returns a word of 64 bits as a signed number. Addresses are, too: one before address 0 is negative."""
    return (word + 2**63) % 2**64 - 2**63


class Argument(NamedTuple):
    """One argument of a kernel's function, in a launch.

    Attributes:
        name: the name of the kernel's parameter, or of a part of it: ``x``, ``pair[1]``, ``desc``.
        is_tensor: whether it is a tensor with known bounds.
        address: the address of the tensor's first element; for a number, the number.
        storage: the first byte of the memory that the tensor is a view of, and the byte behind the last one.
        view: the same for the elements of the tensor.
        shape: the shape of the tensor.
        strides: the strides of the tensor, in elements.
        dtype: the dtype of the tensor, such as ``float16``.
        itemsize: bytes of an element.
        init: the address of a bit for each byte of the storage, which says whether it was written; 0 for none.
        race: the address of two bytes for each byte of the storage, for the programs that access it; 0 for none.
    """

    name: str
    is_tensor: bool = False
    address: int = 0
    storage: tuple[int, int] = ANYWHERE
    view: tuple[int, int] = ANYWHERE
    shape: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()
    dtype: str = ""
    itemsize: int = 0
    init: int = 0
    race: int = 0

    def words(self) -> tuple[int, ...]:
        """Returns the argument's words of a launch slot (RATIONALE.md); each one is a signed number of 64 bits."""
        return (*self.storage, *self.view, self.init, self.race, signed(self.address), 0)


def of_launch(names: Sequence[str], values: Mapping[str, Any]) -> tuple[Argument, ...]:
    """Returns the arguments of a kernel's function.

    Args:
        names: the names of the function's arguments, as lower_probe lists them: ``x``, ``pair.1``, ``desc.shape.0``.
        values: the values of the kernel's parameters, by name.
    """
    if len(names) == len(values) and not any(name in values for name in names):  # of a file with IR
        return tuple(
            described(name or f"argument {i}", value)
            for i, (name, value) in enumerate(zip(names, values.values(), strict=True))
        )
    return tuple(_argument(name, values) for name in names)


def _argument(path: str, values: Mapping[str, Any]) -> Argument:
    return described(path, values[path]) if path in values else described(*part_of(values, path))


def part_of(values: Mapping[str, Any], path: str) -> tuple[str, Any]:
    """Returns the name and the value of a parameter or of a part of it; the value None for a flag of a descriptor.

    Args:
        values: the values of the kernel's parameters, by name.
        path: as lower_probe lists it: ``x``, ``pair.1``, ``desc.shape.0``.
    """
    first, *rest = path.split(".")
    value, shown = values.get(first), first
    for part in rest:
        if isinstance(value, tuple) and part.isdecimal():
            value, shown = value[int(part)], f"{shown}[{part}]"
        elif isinstance(value, tuple) and hasattr(value, part):
            value, shown = getattr(value, part), f"{shown}.{part}"
        elif part.isdecimal() and isinstance(value, Sequence):  # of the shape or the strides of a tensor descriptor
            value, shown = value[int(part)], f"{shown}[{part}]"
        elif part in ("shape", "stride") and hasattr(value, "block_shape"):
            value, shown = (value.shape if part == "shape" else value.strides), f"{shown}.{part}"
        else:
            return path, None
    return shown, value


def described(name: str, value: Any) -> Argument:
    """Returns the description of one argument of a launch."""
    if isinstance(value, (bool, int, np.integer)):
        return Argument(name, address=int(value))
    if hasattr(value, "block_shape") and hasattr(value, "base"):  # a tensor descriptor
        base = described(name, value.base)
        return _descriptor(base, value) if base.is_tensor else base
    if isinstance(value, np.ndarray):
        storage, size = _storage_of_array(value), value.itemsize
        strides = tuple(stride // size if size else 0 for stride in value.strides)
        return Argument(
            name, True, int(value.ctypes.data), storage, _elements(value), value.shape, strides, str(value.dtype), size
        )
    if not hasattr(value, "data_ptr"):
        return Argument(name)
    tensor = value
    if not hasattr(tensor, "untyped_storage") and hasattr(getattr(tensor, "base", None), "untyped_storage"):
        tensor = tensor.base  # triton.reinterpret
    if not hasattr(tensor, "untyped_storage"):
        return Argument(name, address=int(value.data_ptr()))
    memory = tensor.untyped_storage()
    view = tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.element_size()
    return _tensor(name, value.dtype, memory.data_ptr(), memory.nbytes(), *view)


@lru_cache(maxsize=4096)  # programs launch kernels with the same tensors again and again
def _tensor(  # noqa: PLR0917 - what tells tensors apart
    name: str, dtype: Any, start: int, size: int, address: int, shape: Any, strides: Any, itemsize: int
) -> Argument:
    """Returns the description of a tensor of torch: its storage starts at `start` and has `size` bytes."""
    storage, kind = _bounds(start, start + size), str(dtype).removeprefix("torch.")
    return _view(Argument(name, True, address, storage, dtype=kind, itemsize=itemsize), tuple(shape), tuple(strides))


def _view(tensor: Argument, shape: tuple[int, ...], strides: tuple[int, ...]) -> Argument:
    """Returns `tensor` with a shape, and with the bounds of its elements."""
    steps = [stride * tensor.itemsize for stride in strides]
    return tensor._replace(view=_extent(tensor.address, shape, steps, tensor.itemsize), shape=shape, strides=strides)


def _descriptor(base: Argument, descriptor: Any) -> Argument:
    """Returns the base of a tensor descriptor, with the shape and the strides that the descriptor gives.

    The view ends at the end of the storage at the latest, because an access that is in the view is not checked further.
    """
    found = _view(base, tuple(map(int, descriptor.shape)), tuple(map(int, descriptor.strides)))
    (first, last), (start, end) = found.view, found.storage
    return found._replace(view=(max(first, start), min(last, end)))


def _extent(start: int, shape: Sequence[int], steps: Sequence[int], itemsize: int) -> tuple[int, int]:
    """Returns the bounds of elements that lie `steps` bytes apart along each axis."""
    if 0 in shape:
        return _bounds(start, start)
    ways = [(size - 1) * step for size, step in zip(shape, steps, strict=True)]
    return _bounds(start + sum(way for way in ways if way < 0), start + sum(way for way in ways if way > 0) + itemsize)


def _bounds(start: int, end: int) -> tuple[int, int]:
    """Returns the bounds of memory; (1, 1) for an end of 0, which would mean that the bounds are unknown."""
    return (start, end) if end else (1, 1)


def _storage_of_array(array: Any) -> tuple[int, int]:
    """Returns the bounds of the memory that an array is a view of."""
    owner = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    if hasattr(owner.base, "untyped_storage"):  # torch.Tensor.numpy()
        memory = owner.base.untyped_storage()
        return _bounds(memory.data_ptr(), memory.data_ptr() + memory.nbytes())
    if owner.base is not None:
        return _bounds_of_buffer(owner.base)
    return _elements(owner)


def _elements(array: Any) -> tuple[int, int]:
    return _extent(int(array.ctypes.data), array.shape, array.strides, array.itemsize)


def _bounds_of_buffer(owner: object) -> tuple[int, int]:
    """Returns the bounds of memory that is not NumPy's; `ANYWHERE` if its owner does not tell them."""
    try:
        return _elements(np.frombuffer(memoryview(owner).cast("B"), np.uint8))  # type: ignore[arg-type]
    except (TypeError, ValueError, BufferError):
        return ANYWHERE


def names_of(source: Any, names: Sequence[str]) -> Sequence[str]:
    """Returns the kernel's names of a function's arguments. Triton renames those that a kernel assigns: ``p = x``.

    Args:
        source: what the kernel was compiled from.
        names: the names in the function.
    """
    kinds = getattr(source, "signature", {})
    passed = [str(name) for name, kind in kinds.items() if kind != "constexpr"]
    is_plain = all(isinstance(kinds[name], str) and not kinds[name].startswith("tensordesc") for name in passed)
    return passed if is_plain and len(passed) == len(names) else names


class Parameters:
    """The parameters of one kernel, by which its launches are described."""

    def __init__(self, source: Any) -> None:
        """Reads the signature of `source`, which the kernel was compiled from."""
        self._all = [(str(name), kind) for name, kind in getattr(source, "signature", {}).items()]
        self._passed = [one for one in self._all if one[1] != "constexpr"]

    def _of(self, arguments: Sequence[Any]) -> list[tuple[str, Any]]:
        """Returns name and type of the parameters that `arguments` are for; a launch can leave constants away."""
        return self._all if len(arguments) == len(self._all) else self._passed

    def values(self, arguments: Sequence[Any]) -> dict[str, Any]:
        """Returns the arguments of a launch by the names of their parameters."""
        return {name: value for (name, _), value in zip(self._of(arguments), arguments, strict=False)}

    def plain(self, arguments: Sequence[Any]) -> tuple[Any, ...]:
        """Returns the arguments of a launch for another launch of the kernel, with addresses in the place of tensors.

        Equal launches have equal arguments. Constants, which are in the kernel, are None.
        """
        return tuple(_plain(kind, value) for (_, kind), value in zip(self._of(arguments), arguments, strict=False))


def _plain(kind: Any, value: Any) -> Any:
    if kind == "constexpr":
        return None
    if isinstance(kind, tuple):
        return tuple(_plain(*one) for one in zip(kind, value, strict=True))
    if isinstance(value, np.ndarray):
        return int(value.ctypes.data)
    return int(value.data_ptr()) if hasattr(value, "data_ptr") else value
