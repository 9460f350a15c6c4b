# SPDX-License-Identifier: Apache-2.0
"""A machine for the assembly of `probe.outside`: one thread, integers of 64 bits, and a launch slot as memory."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence

_BITS = 2**64
_COMPARISONS: dict[str, Callable[[int, int], bool]] = {"lt": operator.lt, "gt": operator.gt, "ne": operator.ne}
_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "add.s64": operator.add,
    "sub.s64": operator.sub,
    "mul.lo.s64": operator.mul,
    "shl.b64": operator.lshift,
}
_JOINS: dict[str, Callable[[bool, bool], bool]] = {"or": operator.or_, "and": operator.and_}


def assembly_in(module: str) -> tuple[str, int]:
    """Returns the only inline assembly of a module, and how many elements it takes at once."""
    (text,) = re.findall(r'elementwise_inline_asm "([^"]*)"', module)
    (packed,) = re.findall(r"packed_element = (\d+)", module)
    return re.sub(r"\\([0-9A-F]{2})", lambda found: chr(int(found[1], 16)), text), int(packed)


class Machine:
    """Executes threads one after the other. An instruction that it does not know is an error."""

    def __init__(self, text: str, slot: list[int]) -> None:
        """Makes a machine.

        Args:
            text: the text of the assembly.
            slot: its words, at address 0; they change.
        """
        self._lines = [line.strip() for line in text.splitlines()]
        self._slot = slot
        self._registers: dict[str, int] = {}
        self._operands: list[int] = []

    def run(self, operands: Sequence[int], special: Mapping[str, int]) -> None:
        """Runs a thread with these operands and special registers."""
        self._operands, self._registers = list(operands), dict(special)
        at = 0
        while at < len(self._lines):
            line = self._lines[at]
            at += 1
            if line in ("{", "}", "DONE:") or line.startswith(".reg"):
                continue
            guard = re.match(r"@(!?)(\w+) ", line)
            if guard and bool(self._registers[guard[2]]) == bool(guard[1]):
                continue
            name, _, rest = line[guard.end() if guard else 0 :].rstrip(";").partition(" ")
            if name == "bra":
                at = self._lines.index(f"{rest}:")
            else:
                self._execute(name, re.split(r", (?![^{]*})", rest))

    def _value(self, text: str) -> int:
        if text.startswith("$"):
            return self._operands[int(text[1:])]
        return self._registers[text] if text in self._registers else int(text)

    def _word(self, text: str) -> int:
        found = re.fullmatch(r"\[(\w+)\+(-?\d+)\]", text)
        assert found is not None, text
        address = self._value(found[1]) + int(found[2])
        assert address % 8 == 0
        assert 0 <= address < 8 * len(self._slot)
        return address // 8

    def _execute(self, name: str, given: list[str]) -> None:
        to, *rest = given
        kind, *how = name.split(".")
        if name in ("mov.b64", "mov.b32", "mov.u32", "mov.pred", "cvt.u64.u32"):
            found = self._value(rest[0])
        elif name in _ARITHMETIC:
            found = _signed(_ARITHMETIC[name](*map(self._value, rest)))
        elif name in ("or.b64", "or.pred", "and.pred"):
            found = (operator.or_ if kind == "or" else operator.and_)(*map(self._value, rest))
        elif kind == "setp":
            left, right = self._value(rest[0]), self._value(rest[1])
            if how[-1] == "u64":
                left, right = left % _BITS, right % _BITS
            found = int(_COMPARISONS[how[0]](left, right))
            if len(how) == 3:
                found = int(_JOINS[how[1]](bool(found), bool(self._value(rest[2]))))
        elif name == "ld.global.b64":
            found = _signed(self._slot[self._word(rest[0])])
        elif name == "atom.global.max.u64":
            place = self._word(rest[0])
            found = _signed(self._slot[place])
            self._slot[place] = max(self._slot[place], self._value(rest[1]) % _BITS)
        elif name == "st.global.v2.b64":
            place = self._word(to)
            assert place % 2 == 0, "16 bytes are aligned"
            values = rest[0].strip("{}").split(", ")
            self._slot[place : place + 2] = [self._value(one) % _BITS for one in values]
            return
        else:
            raise AssertionError(f"an unknown instruction: {name}")
        if to.startswith("$"):
            self._operands[int(to[1:])] = found
        else:
            self._registers[to] = found


def _signed(value: int) -> int:
    return (value + 2**63) % _BITS - 2**63
