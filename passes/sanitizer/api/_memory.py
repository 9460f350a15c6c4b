# SPDX-License-Identifier: Apache-2.0
"""The memory that a kernel may access: the tensors of a launch, allocated or only described."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from triton_ext.errors import TritonExtError


@dataclass(frozen=True)
class Tensor:
    """Describes a tensor that is not allocated, as an argument of `check_launch`.

    Attributes:
        shape: its shape.
        strides: its strides in elements; None for a dense tensor in row-major order.
        dtype: its element type: a name such as ``fp16`` or ``float16``, or a ``torch.dtype`` or ``tl.dtype``.
        offset: how many elements of the storage lie before the first element.
        storage: how many elements the storage has; None for just as many as the tensor needs.
        alignment: the power of two that divides the address of the storage.
    """

    shape: Sequence[int]
    strides: Sequence[int] | None = None
    dtype: Any = "fp32"
    offset: int | None = None
    storage: int | None = None
    alignment: int = 512


@dataclass(frozen=True)
class Memory:
    """The memory of a tensor. Offsets count bytes from its first element.

    Attributes:
        shape: its shape.
        strides: its strides, in elements.
        dtype: the name of its element type.
        bytes: the bytes of an element.
        start: the first address of the storage.
        end: the end of the storage, exclusive.
        low: the least address of an element.
        high: behind the element with the greatest address.
        address: the address of the first element, or a number that has the same powers of two as divisors.
    """

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    bytes: int
    start: int
    end: int
    low: int
    high: int
    address: int

    @property
    def nested(self) -> tuple[tuple[int, int], ...] | None:
        """The sizes and strides, the largest stride first, if the elements of a step lie within the next larger one.

        None for other tensors, of which nobody knows whether addresses between the elements are elements, too.
        """
        pairs = sorted(
            ((size, step) for size, step in zip(self.shape, self.strides, strict=True) if size > 1),
            key=lambda pair: -pair[1],
        )
        reach = 1
        for size, step in reversed(pairs):
            if step < reach:
                return None
            reach = step * size
        return tuple(pairs)

    @property
    def has_holes(self) -> bool:
        """Whether there are addresses between the elements that are not elements."""
        count = 1
        for size in self.shape:
            count *= size
        return (self.high - self.low) // self.bytes > count

    def coordinates(self, offset: int) -> tuple[int, ...] | None:
        """Returns the coordinates of an address, in bytes from the first element, as one counts on in this tensor."""
        if offset % self.bytes or 0 in self.strides or min(self.strides, default=1) < 0:
            return None
        rest, found = offset // self.bytes, {}
        order = sorted(range(len(self.shape)), key=lambda i: -self.strides[i])
        for i in order:
            found[i], rest = divmod(rest, self.strides[i])
        return None if rest else tuple(found[i] for i in range(len(self.shape)))


def type_of(dtype: Any) -> str:
    """Returns the name that Triton has for an element type, such as ``fp32``.

    Raises:
        TritonExtError: Triton has no such type.
    """
    from triton._utils import canonicalize_dtype

    try:
        return str(canonicalize_dtype(dtype))
    except (KeyError, AttributeError, TypeError):
        raise TritonExtError(f"'{dtype}' is not an element type, expected e.g. fp16 or torch.float16") from None


def bytes_of(kind: str) -> int:
    """Returns the bytes of an element of a type of Triton."""
    from triton._utils import BITWIDTH_DICT

    return max(1, int(BITWIDTH_DICT[kind]) // 8)


def is_tensor(value: object) -> bool:
    """Whether an argument of a launch is a tensor, or describes one."""
    return isinstance(value, Tensor) or (hasattr(value, "shape") and hasattr(value, "dtype"))


def memory_of(value: Any) -> Memory:
    """Returns the memory of a tensor; of what is a memory already, itself.

    Raises:
        TritonExtError: its element type is not one of Triton's.
    """
    if isinstance(value, Memory):
        return value
    shape = tuple(int(size) for size in value.shape)
    if isinstance(value, Tensor):
        strides = _dense(shape) if value.strides is None else tuple(map(int, value.strides))
    elif hasattr(value, "stride"):
        strides = tuple(value.stride())
    else:
        size = getattr(value, "itemsize", 1)
        strides = tuple(step // size for step in getattr(value, "strides", ())) or _dense(shape)
    if len(strides) != len(shape):
        raise TritonExtError(f"the shape {shape} and the strides {strides} have different lengths")
    kind = type_of(value.dtype)
    size = value.element_size() if hasattr(value, "element_size") else bytes_of(kind)
    reach = [(count - 1) * step for count, step in zip(shape, strides, strict=True)]
    low, high = sum(min(0, at) for at in reach), sum(max(0, at) for at in reach) + 1
    if 0 in shape:
        low = high = 0
    start, end, address = low, high, 0
    if isinstance(value, Tensor):
        start = low if value.offset is None else -value.offset
        end = high if value.storage is None else start + value.storage
        address = value.alignment - start * size
        if start > low or end < high:
            raise TritonExtError(f"a tensor of shape {shape} and strides {strides} does not fit into its storage")
    elif hasattr(value, "untyped_storage"):
        start = -int(value.storage_offset())
        end = start + int(value.untyped_storage().nbytes()) // size
        address = value.data_ptr() or 512 - start * size  # a tensor of the device "meta" has no address
        if value.device.type == "meta":
            address = 512 - start * size
    return Memory(shape, strides, kind, size, start * size, end * size, low * size, high * size, address)


def _dense(shape: Sequence[int]) -> tuple[int, ...]:
    strides, size = [], 1
    for count in reversed(shape):
        strides.append(size)
        size *= max(count, 1)
    return tuple(reversed(strides))
