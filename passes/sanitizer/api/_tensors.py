# SPDX-License-Identifier: Apache-2.0
"""Says of an address which tensor of the launch it belongs to, at which index, and how far outside."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from triton_ext.probe._arguments import Argument


def outside(bounds: tuple[int, int], address: int, size: int) -> int:
    """Returns by how many bytes an access leaves `bounds`: positive behind the end, negative before the start, else 0.

    Args:
        bounds: the first byte, and the one behind the last.
        address: the address of the access.
        size: its bytes.
    """
    start, end = bounds
    if address < start:
        return address - start
    return max(address + size - end, 0)


def beyond(tensor: Argument) -> int:
    """Returns by how many bytes a tensor, of a descriptor with a wrong shape, reaches behind its memory."""
    if 0 in tensor.shape or not tensor.is_tensor:
        return 0
    steps = [(size - 1) * stride for size, stride in zip(tensor.shape, tensor.strides, strict=True)]
    end = tensor.address + (sum(step for step in steps if step > 0) + 1) * tensor.itemsize
    return max(end - tensor.storage[1], 0)


def nearest(arguments: Sequence[Argument], address: int, size: int, numbers: Iterable[int] | None = None) -> int | None:
    """Returns the number of the tensor whose storage is closest to an access; None if there is no tensor.

    Args:
        arguments: the arguments of the launch.
        address: the address of the access.
        size: its bytes.
        numbers: the numbers of the arguments that it can belong to; None for all.
    """
    chosen = range(len(arguments)) if numbers is None else numbers
    tensors = [number for number in chosen if arguments[number].is_tensor]
    return min(
        tensors,
        key=lambda number: (
            abs(outside(arguments[number].storage, address, size)),
            abs(outside(arguments[number].view, address, size)),
        ),
        default=None,
    )


def coordinates(tensor: Argument, address: int) -> tuple[int, ...] | None:
    """Returns the index of the element at `address`, which can lie outside of the shape.

    Of several such indices it is the one with the fewest coordinates outside of the shape, and then the one that is
    outside by the least. Returns None if the address lies between elements, or the tensor has no axis.
    """
    offset = address - tensor.address
    if not tensor.shape or not tensor.itemsize or offset % tensor.itemsize:
        return None
    offset //= tensor.itemsize
    axes = sorted(range(len(tensor.shape)), key=lambda axis: -abs(tensor.strides[axis]))
    best: tuple[tuple[int, int], tuple[int, ...]] | None = None

    def search(rest: int, left: list[int], index: dict[int, int]) -> None:
        nonlocal best
        if not left:
            if rest == 0:
                found = tuple(index[axis] for axis in range(len(tensor.shape)))
                ways = [max(-i, i - size + 1, 0) for i, size in zip(found, tensor.shape, strict=True)]
                rank = sum(way > 0 for way in ways), sum(ways)
                if best is None or rank < best[0]:
                    best = rank, found
            return
        axis, *others = left
        stride = tensor.strides[axis]
        if stride == 0 or (tensor.shape[axis] == 1 and others):
            search(rest, others, {**index, axis: 0})
            if stride == 0:
                return
        quotient = rest // stride
        for step in (
            dict.fromkeys((quotient, quotient + 1, min(quotient, tensor.shape[axis] - 1))) if others else [quotient]
        ):
            search(rest - step * stride, others, {**index, axis: step})

    search(offset, axes, {})
    return best[1] if best is not None else None
