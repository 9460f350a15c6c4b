# SPDX-License-Identifier: Apache-2.0
"""A machine for the scalar operations that `lower_probe` writes: those of a kernel's body, and those that a thread
executes for some lanes (`tt.map_elementwise`), with a launch slot as memory."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence

_BINARY: dict[str, Callable[[int, int], int]] = {
    "arith.addi": operator.add,
    "arith.subi": operator.sub,
    "arith.muli": operator.mul,
    "arith.andi": operator.and_,
    "arith.ori": operator.or_,
    "arith.xori": operator.xor,
    "arith.shli": operator.lshift,
    "arith.maxsi": max,
    "arith.minsi": min,
}
_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    name: getattr(operator, name) for name in ("lt", "le", "gt", "ge", "eq", "ne")
}
#: Operations that return what they get.
_COPIES = {"arith.extui", "tt.bitcast", "tt.ptr_to_int", "llvm.inttoptr"}
_BITS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32}


def _signed(value: int, bits: int) -> int:
    value %= 1 << bits
    return value - (value >> (bits - 1) << bits)


class Machine:
    """Executes a program of a module, but for its tensors, of which it knows the operands of `tt.map_elementwise`. The
    arguments of the kernel are 0. An operation on scalars that it does not know is an error.

    Attributes:
        scratch: the address of the program's part of the scratch memory.
        place: the program's place in the grid, and the size of the grid.
        memory: the words by their addresses, which operations change.
    """

    def __init__(self, module: str, memory: dict[int, int], scratch: int, place: Mapping[str, tuple[int, int]]) -> None:
        self.memory, self.scratch, self.place = memory, scratch, place
        lines = [re.sub(r" loc\(.*", "", line).strip() for line in module.splitlines()]
        lines = lines[next(i for i, line in enumerate(lines) if line.startswith("tt.func")) + 1 :]
        at = next(i for i, line in enumerate(lines) if '"tt.map_elementwise"' in line)
        end = next(i for i, line in enumerate(lines) if line.startswith("tt.map_elementwise.return"))
        (pack,) = re.findall(r"pack = (\d+)", lines[at])
        self.pack = int(pack)
        (arguments,) = (line for line in module.splitlines() if line.strip().startswith("^bb0("))
        self._arguments = re.findall(r"(%\w+): i\d+", arguments)
        self._kernel, self._thread = lines[:at], lines[at + 2 : end]
        (head,) = (line for line in module.splitlines() if line.strip().startswith("tt.func"))
        self._given = dict.fromkeys(re.findall(r"(%\w+): ", head), 0)
        self._values: dict[str, int] = {}

    def start(self) -> None:
        """Executes the scalars of the kernel before the lanes."""
        self._values = {}
        self._run(self._kernel, self._given)

    def look(self, *operands: Sequence[int]) -> None:
        """Executes the lanes of a thread, one pack of them.

        Args:
            operands: the elements of each operand.
        """
        given = [element % 2**64 for operand in operands for element in operand]
        self._run(self._thread, dict(zip(self._arguments, given, strict=True)))

    def _run(self, lines: Sequence[str], given: Mapping[str, int]) -> None:
        self._values.update(given)
        skipped = depth = 0
        for line in lines:
            if line.startswith("scf.if "):
                depth += 1
                condition = line.split()[1]
                if not skipped and not self._values[condition]:
                    skipped = depth
            elif line.startswith("}"):
                skipped = 0 if skipped == depth else skipped
                depth -= 1
            elif not skipped:
                self._execute(line)

    def _execute(self, line: str) -> None:
        if "tensor<" in line or not line or line.startswith(("//", "#", "scf.yield")):
            return
        found = re.fullmatch(r"(?:(%[\w-]+) = )?([\w.]+) ?(.*)", line)
        assert found, line
        result, name, rest = found.groups()
        text, _, type_ = rest.rpartition(" : ")
        bits = 64 if "ptr" in type_ else _BITS.get(type_.split(" to ")[-1].strip(), 64)
        value = self._value(name, text or rest, type_)
        if result:
            assert value is not None, line
            self._values[result] = value % (1 << bits) if name != "arith.cmpi" else value

    def _value(self, name: str, text: str, type_: str) -> int | None:
        text = re.sub(r" ?\{[^}]*\}", "", text)
        values = [self._values[one] for one in re.findall(r"%[\w-]+", text)]
        if name == "arith.constant":
            return {"true": 1, "false": 0}.get(text) if text in {"true", "false"} else int(text)
        if name == "ttg.global_scratch_alloc":
            return self.scratch
        if name in {"tt.get_program_id", "tt.get_num_programs"}:
            return self.place[text.strip()[0]][name == "tt.get_num_programs"]
        if name in _COPIES:
            return values[0]
        if name == "tt.addptr":
            return values[0] + values[1] * (8 if "i64>" in type_.split(",", maxsplit=1)[0] else 1)
        if name == "llvm.getelementptr":
            known = re.search(r"\[(\d+)\]", text)
            offset = int(known[1]) if known else _signed(values[1], 64)
            return values[0] + offset * _BITS.get(type_.rpartition(", ")[2], 64) // 8
        if name == "arith.cmpi":
            return self._compare(text.split(",")[0], *values, _BITS.get(type_, 64))
        if name == "arith.select":
            return values[1] if values[0] else values[2]
        if name in {"tt.load", "llvm.load"}:
            if len(values) > 1 and not values[1]:
                return values[2]
            assert values[0] in self.memory, f"a load outside of the slot: {text}"
            return self.memory[values[0]]
        if name == "llvm.atomicrmw":
            kind, before = text.split()[0], self.memory[values[0]]
            self.memory[values[0]] = {"umax": max(before, values[1]), "xchg": values[1]}[kind]
            return before
        if name == "tt.atomic_rmw":
            assert text.startswith("add"), text
            before = self.memory[values[0]]
            self.memory[values[0]] = before + values[1] * values[2]
            return before
        if name == "arith.extsi":
            return _signed(values[0], _BITS[type_.split(" to ", maxsplit=1)[0]])
        signed = [_signed(one, _BITS.get(type_, 64)) for one in values]
        return _BINARY[name](*(signed if name in {"arith.maxsi", "arith.minsi"} else values))

    @staticmethod
    def _compare(predicate: str, left: int, right: int, bits: int) -> int:
        if predicate[0] == "s":
            left, right = _signed(left, bits), _signed(right, bits)
        return int(_COMPARISONS[predicate.lstrip("su") if predicate not in {"eq", "ne"} else predicate](left, right))
