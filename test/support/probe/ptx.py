# SPDX-License-Identifier: Apache-2.0
"""A machine for assembly that `lower_probe` writes for NVIDIA: one thread, integers, and a launch slot as memory."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    name: getattr(operator, name) for name in ("lt", "le", "gt", "ge", "ne", "eq")
}
#: Operations whose result wraps, by the instruction without its type.
_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul.lo": operator.mul,
    "shl": operator.lshift,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "min": min,
    "max": max,
}
_JOINS: dict[str, Callable[[bool, bool], bool]] = {"or": operator.or_, "and": operator.and_}


class Assembly(NamedTuple):
    """An operation with inline assembly.

    Attributes:
        packed: how many elements it takes at once.
    """

    text: str
    constraints: str
    packed: int
    results: list[str]
    operands: list[str]


def assemblies_in(module: str) -> list[Assembly]:
    """Returns the inline assembly of a module."""
    form = (
        r'%(\w+)(?::(\d+))? = tt\.elementwise_inline_asm "([^"]*)" '
        r'\{constraints = "([^"]*)", packed_element = (\d+)[^}]*\} ([^:]*) :'
    )
    found = []
    for name, count, text, constraints, packed, operands in re.findall(form, module):
        results = [f"%{name}#{i}" for i in range(int(count))] if count else [f"%{name}"]
        plain = re.sub(r"\\([0-9A-F]{2})", lambda one: chr(int(one[1], 16)), text)
        found.append(Assembly(plain, constraints, int(packed), results, operands.split(", ")))
    return found


class Machine:
    """Executes threads one after the other. An instruction that it does not know is an error."""

    def __init__(self, text: str, slot: list[int], start: int = 0, *, is_any: bool = False) -> None:
        """Makes a machine.

        Args:
            text: the text of the assembly.
            slot: its words; they change.
            start: its address.
            is_any: what a vote says, whether a thread of the warp votes for it. The votes are in `votes`.
        """
        block = re.fullmatch(r"\{ (.*)\} ?", text)
        assert block is not None, text
        self._steps = [one.strip() for one in re.split(r";|(?<=\w:)", block[1]) if one.strip()]
        self._slot, self._start, self._is_any = slot, start, is_any
        self.votes: list[bool] = []
        self._registers: dict[str, int] = {}
        self._operands: list[int] = []

    def run(self, operands: Sequence[int], special: Mapping[str, int]) -> list[int]:
        """Runs a thread with these operands and special registers. Returns the operands; the first are results."""
        self._operands, self._registers = list(operands), dict(special)
        at = 0
        while at < len(self._steps):
            step = self._steps[at]
            at += 1
            if step.endswith(":") or step.startswith(".reg"):
                continue
            guard = re.match(r"@(!?)(\w+) ", step)
            if guard and bool(self._registers[guard[2]]) == bool(guard[1]):
                continue
            name, _, rest = step[guard.end() if guard else 0 :].partition(" ")
            if name == "bra":
                at = self._steps.index(f"{rest}:")
            else:
                self._execute(name, re.split(r", (?![^{]*})", rest))
        return self._operands

    def _value(self, text: str) -> int:
        if text.startswith("$"):
            return self._operands[int(text[1:])]
        return self._registers[text] if text in self._registers else int(text)

    def _word(self, text: str) -> int:
        found = re.fullmatch(r"\[([$\w]+)(?:\+(-?\d+))?\]", text)
        assert found is not None, text
        address = self._value(found[1]) + int(found[2] or 0) - self._start
        assert address % 8 == 0
        assert 0 <= address < 8 * len(self._slot)
        return address // 8

    def _execute(self, name: str, given: list[str]) -> None:
        to, *rest = given
        kind, _, type_ = name.rpartition(".")
        of_result = kind.partition(".")[2] if kind.startswith("cvt") else type_
        bits = int(of_result[1:]) if of_result[1:].isdigit() else 1
        if name == "st.global.v2.b64":
            place = self._word(to)
            assert place % 2 == 0, "16 bytes are aligned"
            values = rest[0].strip("{}").split(", ")
            self._slot[place : place + 2] = [self._value(one) % 2**64 for one in values]
            return
        if name == "red.relaxed.gpu.global.add.u64":
            self._slot[self._word(to)] += self._value(rest[0])
            return
        if name == "vote.sync.any.pred":
            assert self._value(rest[1]) == -1, "all threads of the warp"
            self.votes.append(bool(self._value(rest[0])))
            found = int(self._is_any)
        elif name == "ld.global.b64":
            found = self._slot[self._word(rest[0])]
        elif name == "atom.global.max.u64":
            place = self._word(rest[0])
            found = self._slot[place]
            self._slot[place] = max(found, self._value(rest[1]) % 2**64)
        else:
            found = self._computed(kind, type_, [self._value(one) for one in rest])
        found = found & 1 if bits == 1 or kind.startswith("setp") else _signed(found, bits)
        if to.startswith("$"):
            self._operands[int(to[1:])] = found
        else:
            self._registers[to] = found

    def _computed(self, kind: str, type_: str, values: list[int]) -> int:
        """Returns what an instruction without memory computes, of more bits than it has."""
        if type_.startswith("u") and type_[1:].isdigit():
            values = [value % 2 ** int(type_[1:]) if kind != "mov" else value for value in values]
        if kind in ("mov", "cvt.u32", "cvt.s64", "cvt.u64"):
            return values[0]
        if kind == "not":
            return 1 - values[0]
        if kind == "selp":
            return values[0] if values[2] else values[1]
        if kind.startswith("setp."):
            _, compare, *join = kind.split(".")
            is_true = _COMPARISONS[compare](values[0], values[1])
            return int(_JOINS[join[0]](is_true, bool(values[2])) if join else is_true)
        assert kind in _ARITHMETIC, f"an unknown instruction: {kind}.{type_}"
        return _ARITHMETIC[kind](*values)


def _signed(value: int, bits: int = 64) -> int:
    return (value + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)
