# SPDX-License-Identifier: Apache-2.0
"""`Watching`: Triton's interpreter with the memory of `memory`, which writes down everything that is wrong."""

from __future__ import annotations

import dataclasses
import functools
import sys
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from triton._C.libtriton import ir
from triton.runtime import interpreter
from triton.runtime.interpreter import InterpreterBuilder, TensorHandle

from .memory import Memory
from .races import Touch

_GATHERED = 4096  # the most bytes of an access of which races are looked for


@dataclass
class Run:
    """What was seen in a launch of a kernel of `file`.

    Attributes:
        garbage: line of a load without ``other``, and the number that its masked-off lanes read; others read 0.
        findings: by check, line and argument. Each has the bad lanes as (program x, y, z, lane, byte in the view).
        touched: what every program touched, in order.
        without_other: the lines of loads without ``other`` that had masked-off lanes, and their arguments.
        effects: what the kernel did to memory, and its branches.
        held: the locks that each program holds, by address: it has exchanged the number there, and what it was before.
    """

    file: str
    garbage: tuple[int, float] | None = None
    findings: dict[tuple[str, int, str | None], dict[str, Any]] = field(default_factory=dict)
    touched: list[Touch] = field(default_factory=list)
    without_other: dict[int, str | None] = field(default_factory=dict)
    effects: list[tuple[Any, ...]] = field(default_factory=list)
    held: dict[tuple[int, int, int], dict[int, Any]] = field(default_factory=dict)


_ATOMICS = {
    ir.ATOMIC_OP.ADD: np.add,
    ir.ATOMIC_OP.FADD: np.add,
    ir.ATOMIC_OP.MIN: np.minimum,
    ir.ATOMIC_OP.UMIN: np.minimum,
    ir.ATOMIC_OP.MAX: np.maximum,
    ir.ATOMIC_OP.UMAX: np.maximum,
    ir.ATOMIC_OP.AND: np.bitwise_and,
    ir.ATOMIC_OP.OR: np.bitwise_or,
    ir.ATOMIC_OP.XOR: np.bitwise_xor,
    ir.ATOMIC_OP.XCHG: lambda old, new: new,
}


class Watching(InterpreterBuilder):
    """The interpreter's builder; `begin` says into which run it writes."""

    run: Run
    memory: Memory

    def begin(self, run: Run, memory: Memory) -> None:
        """Starts a launch."""
        self.run, self.memory = run, memory

    def line(self) -> int:
        """Returns the line of the kernel, or of a function that it calls in its file, that runs now."""
        frame = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename != self.run.file:
            frame = frame.f_back  # type: ignore[assignment]
        return frame.f_lineno if frame is not None else 0

    def note(self, check: str, bad: np.ndarray, argument: str | None = None, offsets: np.ndarray | None = None) -> None:
        """Writes down that lanes are bad; a scalar's lane is -1."""
        if not bad.any():
            return
        key = (check, self.line(), argument)
        row = self.run.findings.setdefault(key, {"check": check, "line": key[1], "argument": argument, "lanes": []})
        for lane in np.flatnonzero(bad.reshape(-1)):
            at = None if offsets is None else int(offsets.reshape(-1)[lane])
            row["lanes"].append([*self.grid_idx, -1 if bad.size == 1 else int(lane), at])

    # memory

    def touch(self, kind: str, pointers: np.ndarray, active: np.ndarray, size: int) -> np.ndarray:
        """Checks an access. Returns which lanes may be done."""
        number, offset = self.memory.locate(pointers)
        fine = active & (number >= 0)
        self.note("bounds", active & (number < 0))
        for one in np.unique(number[fine]):
            window = self.memory.windows[one]
            here = active & (number == one)
            inside = (offset >= 0) & (offset + size <= window.storage.size)
            self.note("bounds", here & ~inside, window.argument, offset - window.first)
            if not window.is_integer and window.viewed is not None:
                viewed = window.viewed[np.where(here & inside, offset, 0)]
                self.note("view", here & inside & ~viewed, window.argument, offset - window.first)
            fine &= ~here | inside
            bytes_ = (offset[here & inside].reshape(-1, 1) + np.arange(size)).reshape(-1)
            if bytes_.size <= _GATHERED:
                self.run.touched.append(
                    Touch(
                        kind, self.line(), window.argument, self.grid_idx, id(window.storage), tuple(bytes_.tolist()),
                        frozenset(self.run.held.get(self.grid_idx, {})),
                    )
                )  # fmt: skip
        return fine

    def note_unwritten(self, pointers: np.ndarray, bad: np.ndarray) -> None:
        """Writes down that lanes read what nothing has written."""
        number, offset = self.memory.locate(pointers)
        for one in np.unique(number[bad]):
            window = self.memory.windows[one]
            self.note("uninit", bad & (number == one), window.argument, offset - window.first)

    def argument_of(self, pointers: np.ndarray) -> str | None:
        """Returns the argument that the first address came from."""
        number, _ = self.memory.locate(pointers.reshape(-1)[:1])
        return self.memory.windows[number[0]].argument if number[0] >= 0 else None

    def create_masked_load(self, ptrs: Any, mask: Any, other: Any, cache_policy: Any, is_volatile: Any) -> Any:
        element = ptrs.get_element_ty()
        dtype = interpreter._get_np_dtype(element)
        # The interpreter makes an integer of the conjunction of a scalar and a tensor, and takes no such mask.
        active = np.broadcast_to(np.asarray(mask.data) != 0, ptrs.data.shape)
        fine = self.touch("load", ptrs.data, active, dtype.itemsize)
        values, unwritten = self.memory.read(ptrs.data, fine, dtype)
        self.note_unwritten(ptrs.data, fine & unwritten)
        if other is not None:
            values = np.where(fine, values, np.broadcast_to(other.data, values.shape)).astype(dtype)
        elif not active.all():
            line = self.line()
            self.run.without_other[line] = self.argument_of(ptrs.data)
            if self.run.garbage and self.run.garbage[0] == line:
                values = np.where(active, values, np.array(self.run.garbage[1]).astype(dtype))
        return TensorHandle(values, element)

    def create_masked_store(self, ptrs: Any, value: Any, mask: Any, cache_policy: Any) -> None:
        element = ptrs.get_element_ty()
        dtype = interpreter._get_np_dtype(element)
        active = np.broadcast_to(np.asarray(mask.data) != 0, ptrs.data.shape)
        fine = self.touch("store", ptrs.data, active, dtype.itemsize)
        data = np.broadcast_to(value.data, ptrs.data.shape)
        data = data.astype(dtype) if data.dtype.itemsize != dtype.itemsize else data
        self.effect("store", ptrs.data[active], data[active])
        self.memory.write(ptrs.data, data, fine)

    def create_atomic_rmw(self, rmwOp: Any, ptr: Any, val: Any, mask: Any, sem: Any, scope: Any) -> Any:
        active = np.broadcast_to(np.asarray(mask.data) != 0, ptr.data.shape)
        data = np.broadcast_to(val.data, ptr.data.shape)
        if ptr.data.size == 1 and rmwOp == ir.ATOMIC_OP.XCHG:
            self.free(ptr.data, val.data)
        return self._atomic(ptr, data, active, _ATOMICS[rmwOp], val.dtype)

    def create_atomic_cas(self, ptr: Any, cmp: Any, val: Any, sem: Any, scope: Any) -> Any:
        pairs = np.empty(ptr.data.shape, object)
        pairs.reshape(-1)[:] = [*zip(np.ravel(cmp.data), np.ravel(val.data), strict=True)]
        active = np.ones(ptr.data.shape, bool)
        old = self._atomic(ptr, pairs, active, lambda old, pair: pair[1] if old == pair[0] else old, cmp.dtype)
        if ptr.data.size == 1 and old.data.item() == cmp.data.item() != val.data.item():
            self.run.held.setdefault(self.grid_idx, {})[ptr.data.item()] = cmp.data.item()
        return old

    def free(self, pointer: np.ndarray, value: np.ndarray) -> None:
        """Has the program no longer hold a lock if the value is that of a free one."""
        held = self.run.held.get(self.grid_idx, {})
        if held.get(pointer.item()) == value.item():
            del held[pointer.item()]

    def _atomic(self, ptr: Any, data: np.ndarray, active: np.ndarray, combine: Any, kind: Any) -> Any:
        dtype = interpreter._get_np_dtype(ptr.get_element_ty())
        fine = self.touch("atomic", ptr.data, active, dtype.itemsize)
        self.effect("atomic", ptr.data[active], data[active])
        _, unwritten = self.memory.read(ptr.data, fine, dtype)
        self.note_unwritten(ptr.data, fine & unwritten)
        old = np.zeros(ptr.data.shape, dtype)
        for lane in zip(*np.nonzero(fine), strict=True):
            at, one = ptr.data[lane].reshape(1), np.ones(1, bool)
            old[lane] = self.memory.read(at, one, dtype)[0][0]
            self.memory.write(at, np.array([combine(old[lane], data[lane])]).astype(dtype), one)
        return TensorHandle(old, kind.scalar)

    def effect(self, what: str, *values: np.ndarray) -> None:
        """Writes down what the kernel did, for comparison with another run."""
        self.run.effects.append((what, self.line(), *(value.tolist() for value in values)))

    # arithmetic

    def binary_op(self, lhs: Any, rhs: Any, op: Any) -> Any:
        result = super().binary_op(lhs, rhs, op)
        kind = result.data.dtype
        if kind == np.int32 and op in (np.add, np.subtract, np.multiply):
            self.note("overflow", op(lhs.data.astype(np.int64), rhs.data.astype(np.int64)) != result.data)
        elif op in (np.left_shift, np.right_shift):
            amount = rhs.data.astype(np.int64)
            self.note("arith", np.broadcast_to((amount < 0) | (amount >= kind.itemsize * 8), result.data.shape))
        elif op is np.fmod and np.issubdtype(kind, np.integer):
            self.note("arith", np.broadcast_to(rhs.data == 0, result.data.shape))
        self._made(result, lhs, rhs)
        return result

    def create_idiv(self, lhs: Any, rhs: Any) -> Any:
        zero = np.broadcast_to(rhs.data == 0, np.broadcast_shapes(lhs.data.shape, rhs.data.shape))
        self.note("arith", zero)
        return super().create_idiv(lhs, rhs)

    def unary_op(self, arg: Any, op: Any) -> Any:
        result = super().unary_op(arg, op)
        self._made(result, arg)
        return result

    def create_rsqrt(self, arg: Any) -> Any:
        result = super().create_rsqrt(arg)
        self._made(result, arg)
        return result

    def cast_impl(self, src: Any, dst_type: Any) -> Any:
        result = super().cast_impl(src, dst_type)
        if np.issubdtype(src.data.dtype, np.floating) and np.issubdtype(result.data.dtype, np.integer):
            limits = np.iinfo(result.data.dtype)
            whole = np.trunc(src.data.astype(np.float64))
            if dst_type.scalar.is_int():
                self.note("arith", ~((whole >= limits.min) & (whole <= limits.max)))
        else:
            self._made(result, src)
        return result

    def _made(self, result: Any, *operands: Any) -> None:
        """Notes what is NaN or infinite although the operands are finite."""
        if np.issubdtype(result.data.dtype, np.floating):
            finite = [np.isfinite(one.data) for one in operands if np.issubdtype(one.data.dtype, np.floating)]
            if finite:
                clean = np.broadcast_to(functools.reduce(np.logical_and, finite), result.data.shape)
                self.note("arith", ~np.isfinite(result.data) & clean)

    # hints

    def create_assume(self, condition: Any) -> None:
        self.note("hints", np.asarray(condition.data) == 0)


def _check_hint(handle: TensorHandle, key: str, values: list[int]) -> None:
    """Notes a hint that is false. A run of contiguous numbers is as divisible as its first one, as Triton takes it."""
    watching = interpreter.interpreter_builder
    data = np.atleast_1d(np.asarray(handle.data)).astype(np.int64)
    for axis, value in enumerate(values):
        step = np.diff(data, axis=axis, prepend=np.take(data, [0], axis) - 2)
        if key == "tt.divisibility":
            bad = (step != 1) & (data % value != 0)
        else:
            wanted = 1 if key == "tt.contiguity" else 0
            inner = np.arange(data.shape[axis]) % value != 0
            bad = (step != wanted) & inner.reshape([-1 if one == axis else 1 for one in range(data.ndim)])
        watching.note("hints", bad)


def install() -> None:
    """Makes the interpreter of this process use `Watching`."""

    def patch(tensor: Any, scope: Any) -> None:
        original(tensor, scope)
        truth = tensor.__bool__

        def watched(self: Any) -> bool:
            if self.handle.data.size == 1:
                interpreter.interpreter_builder.effect("branch", self.handle.data)
            return bool(truth(self))

        scope.set_attr(tensor, "__bool__", watched)

    original = interpreter._patch_lang_tensor
    interpreter._patch_lang_tensor = patch
    TensorHandle.set_attr = _check_hint
    interpreter.interpreter_builder.__class__ = Watching
    options = interpreter.interpreter_builder.options
    interpreter.interpreter_builder.options = dataclasses.replace(options, sanitize_overflow=False)
    np.seterr(all="ignore")
