# SPDX-License-Identifier: Apache-2.0
"""Executes functions of scalar and small tensor TTIR, exactly, with Python's integers: an oracle that shares nothing
with the compiler. Takes the generic form that ``triton-ext-opt -mlir-print-op-generic`` prints, turns each function
into a Python function and records what it stores, in order. A loop does what scf.for's definition says, in arbitrary
precision, so that it is exact at the extremes of the types."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

LONGEST = 300  # iterations; a loop that runs longer has gone wrong


class TooLong(Exception):  # noqa: N818 (not an error of the oracle)
    """Is raised if a loop has more than `LONGEST` iterations."""


class Poison(Exception):  # noqa: N818
    """Is raised if an operation with nsw or nuw wraps: such a program has no meaning."""


@dataclass
class Block:
    arguments: list[tuple[str, str]] = field(default_factory=list)
    ops: list[Op] = field(default_factory=list)


@dataclass
class Op:
    name: str
    results: list[str]
    operands: list[str]
    attributes: str
    operand_types: list[str] = field(default_factory=list)
    result_types: list[str] = field(default_factory=list)
    regions: list[Block] = field(default_factory=list)


_OP = re.compile(r'(?:([%\w#:, ]+) = )?"([\w.]+)"\(([^)]*)\)(?: <\{(.*?)\}>)?(.*)')


def _types(text: str) -> list[str]:
    """Returns the types in a list; a comma within <> does not separate two of them."""
    parts, depth, last = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "<(") - (c in ">)" and text[i - 1] != "-")
        if c == "," and depth == 0:
            parts.append(text[last:i].strip())
            last = i + 1
    return [*parts, text[last:].strip()] if text.strip() else []


_FUNCTION = re.compile(r'^  "tt\.func"\(.*? sym_name = "(\w+)".*?^  \}\)[^\n]*$', re.MULTILINE | re.DOTALL)


def texts(text: str) -> dict[str, str]:
    """Returns the text of each function of a module in generic form, by name."""
    return {found[1]: found[0] for found in _FUNCTION.finditer(text)}


def _parse(text: str) -> Op:
    lines = iter([line.strip() for line in text.splitlines() if line.strip()])
    return _parse_op(next(lines), lines)


def _parse_op(line: str, lines: Iterator[str]) -> Op:
    match = _OP.fullmatch(line)
    assert match, line
    results, name, operands, attributes, rest = match.groups()
    op = Op(name, _results(results), re.findall(r"%[\w#]+", operands), attributes or "")
    rest = rest.strip()
    while rest.endswith("{"):  # ({ or }, {
        block = Block()
        op.regions.append(block)
        for inner in lines:
            if inner.startswith("}"):
                rest = inner
                break
            if inner.startswith("^"):
                block.arguments = [tuple(a.split(": ", 1)) for a in _types(inner[inner.find("(") + 1 : -2])]
            else:
                block.ops.append(_parse_op(inner, lines))
    op.attributes += rest.split(" : (")[0]
    signature = re.search(r": \((.*)\) -> (.*)$", rest)
    assert signature, rest
    op.operand_types = _types(signature[1])
    outcome = signature[2]
    op.result_types = _types(outcome[1:-1] if outcome.startswith("(") else outcome)
    return op


def _results(text: str | None) -> list[str]:
    if not text:
        return []
    name, _, count = text.partition(":")
    return [f"{name}#{i}" for i in range(int(count))] if count else [n.strip() for n in text.split(",")]


def _shape(type_: str) -> list[int] | None:
    match = re.match(r"tensor<([\dx]*)x", type_)
    return [int(n) for n in match[1].split("x")] if match else None


def _width(type_: str) -> int:
    match = re.search(r"i(\d+)>*$", type_)
    return int(match[1]) if match else 64


def signed(value: int, width: int) -> int:
    """Returns `value` modulo 2^width as a signed number, which is how integers are kept here."""
    half = 1 << (width - 1)
    return ((value + half) & ((1 << width) - 1)) - half


def _unsigned(text: str, width: int) -> str:
    return f"({text} & {(1 << width) - 1})"


_PREDICATES = ["==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">="]
_BINARY = {"addi": "+", "subi": "-", "muli": "*", "andi": "&", "ori": "|", "xori": "^", "shli": "<<"}


class _Translator:
    def __init__(self, strict: bool, small: bool, bounded: bool) -> None:
        self.strict = strict
        self.small = small
        self.bounded = bounded
        self.lines: list[str] = []
        self.fresh = itertools.count()

    def function(self, op: Op) -> Callable[..., tuple[list[object], list[object]]]:
        block = op.regions[0]
        self.emit(0, f"def f({', '.join(self.name(a) for a, _ in block.arguments)}):")
        self.emit(1, "log = []")
        for argument, type_ in block.arguments:
            if self.small and "ptr" not in type_ and type_ != "i1":
                self.emit(1, self.half(self.name(argument), _width(type_)))
        self.block(block, 1, [])
        scope: dict[str, object] = {"signed": signed, "loop": _loop, "nowrap": _nowrap, "load": _load, "divsi": _divsi}
        exec("\n".join(self.lines), scope)
        return scope["f"]  # type: ignore[return-value]

    def emit(self, depth: int, text: str) -> None:
        self.lines.append(" " * depth + text)

    @staticmethod
    def half(text: str, width: int) -> str:
        """Returns code for the number, which raises `Poison` outside of half of its type's range."""
        return f"nowrap({text}, {-(1 << (width - 2))}, {(1 << (width - 2)) - 1})"

    @staticmethod
    def name(value: str) -> str:
        return "v" + value[1:].replace("#", "_")

    def block(self, block: Block, depth: int, targets: list[str]) -> None:
        """The block's operations; what it yields is assigned to `targets`."""
        for op in block.ops:
            operands = [self.name(v) for v in op.operands]
            if op.name == "tt.return":
                self.emit(depth, f"return log, [{', '.join(operands)}]")
            elif op.name == "scf.yield":
                if targets:
                    self.emit(depth, f"{', '.join(targets)} = {', '.join(operands)}")
            elif op.name == "scf.for":
                self.loop(op, operands, depth)
            elif op.name == "scf.if":
                targets_of = [self.name(r) for r in op.results]
                for head, region in zip((f"if {operands[0]}:", "else:"), op.regions, strict=False):
                    self.emit(depth, head)
                    self.emit(depth + 1, "pass")
                    self.block(region, depth + 1, targets_of)
            elif op.name == "tt.store":
                self.store(op, operands, depth)
            else:
                self.emit(depth, f"{self.name(op.results[0])} = {self.pure(op, operands)}")

    def loop(self, op: Op, operands: list[str], depth: int) -> None:
        (iv, iv_type), *carried = op.regions[0].arguments
        names = [self.name(a) for a, _ in carried]
        if names:
            self.emit(depth, f"{', '.join(names)} = {', '.join(operands[3:])}")
        is_unsigned = "unsignedCmp" in op.attributes
        width = _width(iv_type)
        arguments = [*operands[:3], str(width), str(is_unsigned), str(self.bounded)]
        self.emit(depth, f"for {self.name(iv)} in loop({', '.join(arguments)}):")
        self.emit(depth + 1, "pass")
        self.block(op.regions[0], depth + 1, names)
        if names:
            self.emit(depth, f"{', '.join(self.name(r) for r in op.results)} = {', '.join(names)}")

    def store(self, op: Op, operands: list[str], depth: int) -> None:
        pointer, value, *mask = operands
        if _shape(op.operand_types[0]) is None:
            condition = f"if {mask[0]}: " if mask else ""
            self.emit(depth, f"{condition}log.append(({pointer}, {value}))")
        else:
            where = mask[0] if mask else f"[1] * len({pointer})"
            self.emit(depth, f"log.extend((p, v) for p, v, m in zip({pointer}, {value}, {where}) if m)")

    def pure(self, op: Op, operands: list[str]) -> str:
        kind = op.name.split(".")[1]
        type_ = op.result_types[0]
        shape = _shape(type_)
        if kind == "constant":
            return self.constant(op, shape, type_)
        if kind == "make_range":
            start, end = (int(re.search(rf"\b{n} = (-?\d+)", op.attributes)[1]) for n in ("start", "end"))  # type: ignore[index]
            return f"list(range({start}, {end}))"
        if kind == "splat":
            return f"[{operands[0]}] * {math.prod(shape or [])}"
        if kind in ("expand_dims", "reshape"):
            return operands[0]
        if kind == "broadcast":
            return self.broadcast(op, operands[0])
        if kind == "load" and shape is None:
            return f"load({operands[0]})" + (f" if {operands[1]} else {operands[2]}" if operands[1:] else "")
        if shape is None or (kind == "select" and _shape(op.operand_types[0]) is None):
            return self.element(op, kind, operands)
        names = [f"e{i}" for i in range(len(operands))]
        return f"[{self.element(op, kind, names)} for {', '.join(names)}, in zip({', '.join(operands)})]"

    def constant(self, op: Op, shape: list[int] | None, type_: str) -> str:
        match = re.search(r"value = (?:dense<)?(\[.*?\]|[-\w]+)", op.attributes)
        assert match, op.attributes
        text = match[1].replace("true", "1").replace("false", "0")
        if type_.endswith(("i1", "i1>")):
            text = text.replace("-1", "1")
        elif self.small and not text.startswith("["):
            text = self.half(text, _width(type_))
        return text if shape is None or text.startswith("[") else f"[{text}] * {math.prod(shape)}"

    @staticmethod
    def broadcast(op: Op, operand: str) -> str:
        source, target = _shape(op.operand_types[0]) or [], _shape(op.result_types[0]) or []
        picked = []
        for index in itertools.product(*map(range, target)):
            flat = 0
            for i, n in zip(index, source, strict=True):
                flat = flat * n + (i if n > 1 else 0)
            picked.append(flat)
        return f"[{operand}[i] for i in {picked}]"

    def element(self, op: Op, kind: str, operands: list[str]) -> str:
        type_ = op.result_types[0]
        width = _width(type_)
        if kind == "cmpi":
            return self.comparison(op, operands)
        if kind == "select":
            return f"({operands[1]} if {operands[0]} else {operands[2]})"
        if kind == "load":
            other = f" if {operands[1]} else {operands[2]}" if operands[1:] else ""
            return f"load({operands[0]}){other}"
        if kind == "addptr":
            return f"({operands[0]} + {operands[1]})"
        if kind in ("extui", "index_castui"):
            return f"signed({_unsigned(operands[0], _width(op.operand_types[0]))}, {width})"
        if kind in ("extsi", "index_cast", "trunci"):
            if width == 1:  # conditions are 0 or 1
                return f"({operands[0]} & 1)"
            sign = "-" if _width(op.operand_types[0]) == 1 else ""
            return f"signed({sign}{operands[0]}, {width})"
        if kind in ("divui", "remui"):
            sign = "//" if kind == "divui" else "%"
            return f"signed({_unsigned(operands[0], width)} {sign} {_unsigned(operands[1], width)}, {width})"
        if kind in ("minui", "maxui"):
            return f"{kind[:3]}({operands[0]}, {operands[1]}, key=lambda n: {_unsigned('n', width)})"
        if kind in ("minsi", "maxsi"):
            return f"{kind[:3]}({operands[0]}, {operands[1]})"
        if kind == "divsi":
            return f"divsi({operands[0]}, {operands[1]}, {width})"
        text = f"{operands[0]} {_BINARY[kind]} {operands[1]}"
        if width == 1:
            return f"({text}) & 1"
        if self.strict and "nuw" in op.attributes:
            exact = f"{_unsigned(operands[0], width)} {_BINARY[kind]} {_unsigned(operands[1], width)}"
            text = f"nowrap({exact}, 0, {(1 << width) - 1}) * 0 + ({text})"
        if self.strict and "nsw" in op.attributes:
            text = f"nowrap({text}, {-(1 << (width - 1))}, {(1 << (width - 1)) - 1})"
        if self.small and kind in ("addi", "subi", "muli", "shli"):
            text = self.half(text, width)
        return f"signed({text}, {width})"

    @staticmethod
    def comparison(op: Op, operands: list[str]) -> str:
        match = re.search(r"predicate = (\d+)", op.attributes)
        assert match
        predicate, width = int(match[1]), _width(op.operand_types[0])
        if 2 <= predicate < 6 and width == 1:
            operands = [f"-{o}" for o in operands]
        if predicate >= 6:
            operands = [_unsigned(o, width) for o in operands]
        return f"int({operands[0]} {_PREDICATES[predicate]} {operands[1]})"


def _loop(lower: int, upper: int, step: int, width: int, is_unsigned: bool, bounded: bool) -> Iterator[int]:  # noqa: PLR0917
    if is_unsigned:
        lower, upper, step = (n & ((1 << width) - 1) for n in (lower, upper, step))
    if step <= 0 and lower < upper:
        raise Poison
    values = range(lower, upper, step) if lower < upper else range(0)
    if bounded and values and values[-1] + step >= 1 << (width if is_unsigned else width - 1):
        raise Poison
    for count, value in enumerate(values):
        if count == LONGEST:
            raise TooLong
        yield signed(value, width)


def _nowrap(value: int, least: int, greatest: int) -> int:
    if not least <= value <= greatest:
        raise Poison
    return value


def _load(pointer: int) -> int:
    """Returns the content of memory, which depends on the address."""
    return (pointer * 7919 + 13) % 1009


def _divsi(lhs: int, rhs: int, width: int) -> int:
    if rhs == 0:
        raise Poison
    quotient = abs(lhs) // abs(rhs)
    return signed(quotient if (lhs < 0) == (rhs < 0) else -quotient, width)


def functions(
    parts: Mapping[str, str], strict: bool = False, small: bool = False, bounded: bool = False
) -> dict[str, Callable[..., tuple[list[object], list[object]]]]:
    """Translates functions in generic form. Each takes its arguments as signed integers, pointers as addresses, and
    returns what it stored and what it returned.

    Args:
        parts: the text of each function, by name, as `texts` returns it.
        strict: raise `Poison` where nsw or nuw is violated.
        small: raise it, too, for integers that use more than half of the range of their type.
        bounded: raise it, too, for loops whose induction variable leaves its type behind the last iteration. Compiled
            ones, which add the step before they compare, never end then.
    """
    return {name: _Translator(strict, small, bounded).function(_parse(text)) for name, text in parts.items()}
