# SPDX-License-Identifier: Apache-2.0
"""Random loops as TTIR text, and the differential check: `interpret` runs them with the pass on and off.

Their arguments are near the values at which the conditions change.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from random import Random

from support import forked_opt
from support.loop_split import interpret

WIDTHS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "index": 64}
PREDICATES = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"]
LANES = 4
#: Options of the pass for one program in three.
OPTIONS = [
    "max-splits=1",
    "max-splits=3 false-masks=true",
    "max-splits=8 false-masks=true",
    "guard=true",
    "max-splits=4 min-trips=3 false-masks=true",
    "no-wrap=true",
    "no-wrap=true max-splits=8 false-masks=true",
    "no-wrap=true guard=true",
]


@dataclass
class Program:
    """A function in textual form and the arguments to call it with."""

    text: str
    inputs: list[list[int]]


class _Writer:
    def __init__(self, random: Random, name: str, small: bool, inputs: int) -> None:
        self.random = random
        self.name = name
        self.small = small
        self.inputs = inputs
        self.type = random.choice([*(() if small else ("i8", "i8")), "i16", "i32", "i32", "i32", "i64", "index"])
        self.width = WIDTHS[self.type]
        half = 1 << (self.width - (4 if small else 1))
        self.low, self.high = -half, half - 1
        self.lines: list[str] = []
        self.depth = 1
        self.count = 0
        self.arguments: list[str] = []
        self.values: list[int] = []  # of the first input
        self.starts: list[str] = []  # of blocks: what bounds are computed from
        self.arms = 0  # branches around
        self.around: tuple[list[str], tuple[int, int, int]] = ([], (0, 0, 0))  # induction variables, bounds

    # Text ---------------------------------------------------------------------------------------------------------

    def emit(self, text: str) -> None:
        self.lines.append("  " * self.depth + text)

    def op(self, text: str) -> str:
        name = f"%{self.count}"
        self.count += 1
        self.emit(f"{name} = {text}")
        return name

    def argument(self, value: int) -> str:
        self.arguments.append(f"%a{len(self.arguments)}: {self.type}")
        self.values.append(value)
        return f"%a{len(self.arguments) - 1}"

    def number(self, value: int, type_: str | None = None) -> str:
        """Returns a constant, or an argument with that value in the first input."""
        value = interpret.signed(value, WIDTHS[type_ or self.type])
        if type_ in (None, self.type) and self.random.random() < 0.6:
            return self.argument(value)
        if type_ == "i1":
            return self.op(f"arith.constant {'true' if value else 'false'}")
        return self.op(f"arith.constant {value} : {type_ or self.type}")

    def store(self, value: str, type_: str) -> None:
        if type_ == "index":
            value, type_ = self.op(f"arith.index_cast {value} : index to i64"), "i64"
        self.emit(f"tt.store %p{type_}, {value} : !tt.ptr<{type_}>")

    # Loops --------------------------------------------------------------------------------------------------------

    def bounds(self) -> tuple[int, int, int]:
        """Returns lower bound, upper bound and step."""
        random = self.random
        step = random.choice([1, 1, 1, 2, 3, 4, 7, random.randint(1, self.high // 8), self.high])
        trips = random.choice([0, 1, 2, 3, random.randint(0, 20)])
        start = random.choice([0, 0, 1, -3, self.low, self.low + 1, self.high - step * trips, self.high - 5])
        lower = max(self.low, min(self.high, start + random.randint(-3, 3)))
        upper = lower + step * trips - random.randint(0, min(step - 1, 5))
        if random.random() < 0.08:
            upper = lower - random.randint(0, 300)
        return lower, max(self.low, min(self.high, upper)), step

    def blocks(self) -> tuple[tuple[int, int, int], list[str]]:
        """Returns bounds that are multiples of the step, a power of two, computed like those of blocks; and their
        values."""
        random = self.random
        step = random.choice([1, 2, 4, 8])
        first = random.randint(0, max(0, min(20, self.high // step // 2 - 5)))
        size = self.op(f"arith.constant {step} : {self.type}")
        number = self.number(first)
        if random.random() < 0.5:
            number = self.op(f"arith.maxsi {number}, {self.op(f'arith.constant 0 : {self.type}')} : {self.type}")
        start = self.op(f"arith.muli {number}, {size} : {self.type}")
        self.starts.append(start)
        trips = random.randint(0, 4)
        width = self.op(f"arith.constant {trips * step} : {self.type}")
        lower, upper = first * step, (first + trips) * step
        operands = [start, self.op(f"arith.addi {start}, {width} : {self.type}"), size]
        if random.random() < 0.6:
            lower, operands[0] = 0, self.op(f"arith.constant 0 : {self.type}")
        return (lower, upper, step), operands

    def loop(self, nested: bool, carried: list[str], outer: list[str]) -> list[str]:
        """Writes a loop around random uses of random conditions; returns its results."""
        random = self.random
        if random.random() < (0.7 if self.small else 0.2):
            (lower, upper, step), operands = self.blocks()
        else:
            lower, upper, step = self.bounds()
            if nested:
                upper = min(upper, lower + 5 * step)
            operands = [self.number(n) for n in (lower, upper, step)]
        unsigned = ""
        if random.random() < 0.15:
            # In this order, the same numbers would not make a short loop if they are around zero.
            unsigned = "unsigned " if (lower < 0) == (upper < 0) else ""
        iv = f"%i{self.count}"
        names = [f"%c{self.count}_{n}" for n in range(len(carried))]
        self.count += 1
        head = f"scf.for {unsigned}{iv} = {operands[0]} to {operands[1]} step {operands[2]}"
        if carried:
            inits = ", ".join(f"{n} = {c}" for n, c in zip(names, carried, strict=True))
            head += f" iter_args({inits}) -> ({', '.join([self.type] * len(carried))})"
        head += f" : {self.type} {{"
        result = f"%r{self.count}"
        self.emit(f"{result}:{len(carried)} = {head}" if carried else head)
        self.depth += 1
        self.store(iv, self.type)
        ivs = [*outer, iv]
        conditions = [self.condition(ivs, (lower, upper, step)) for _ in range(random.choice([0, 1, 1, 1, 2, 2, 3, 4]))]
        yields = [self.step(n, iv) for n in names]
        if nested is False and random.random() < 0.25:
            inner = self.loop(True, yields, ivs)
            yields = inner or yields
        self.around = (ivs, (lower, upper, step))
        while conditions:
            yields = self.use(conditions, yields, iv)
        if random.random() < 0.25:
            self.mask(ivs, (lower, upper, step))
        if carried:
            self.emit(f"scf.yield {', '.join(yields)} : {', '.join([self.type] * len(carried))}")
        self.depth -= 1
        self.emit(random.choice(["}", "} {tt.num_stages = 3 : i32}"]))
        return [f"{result}#{n}" for n in range(len(carried))]

    def step(self, value: str, other: str) -> str:
        if self.small:
            return self.op(f"arith.xori {value}, {other} : {self.type}")
        three = self.op(f"arith.constant 3 : {self.type}")
        return self.op(f"arith.addi {self.op(f'arith.muli {value}, {three} : {self.type}')}, {other} : {self.type}")

    # Conditions ---------------------------------------------------------------------------------------------------

    def condition(self, ivs: list[str], bounds: tuple[int, int, int]) -> str:
        """Writes a comparison of an affine expression of an induction variable with a number near its values."""
        random = self.random
        lower, upper, step = bounds
        iv = ivs[-1] if random.random() < 0.85 else random.choice(ivs)
        value, type_ = iv, self.type
        at = (
            lower
            + step * random.randint(-1, max(1, min(20, (upper - lower) // step + 1)))
            + random.choice([-1, 0, 0, 1])
        )
        for _ in range(random.choice([0, 0, 1, 1, 2, 3])):
            value, type_, at = self.affine(value, type_, at)
        if random.random() < (0.02 if self.small else 0.1):
            at = random.choice([self.low, self.high, 0, -1])
        bound = self.number(at, type_)
        if self.starts and type_ == self.type and random.random() < 0.3:
            bound = random.choice(self.starts)
        if random.random() < 0.2:  # computed in the loop
            other = self.number(random.randint(-4, 4), type_)
            bound = self.op(f"arith.addi {self.op(f'arith.subi {bound}, {other} : {type_}')}, {other} : {type_}")
        if random.random() < 0.05:
            bound = random.choice(ivs) if type_ == self.type else bound
        operands = [value, bound] if random.random() < 0.6 else [bound, value]
        return self.op(f"arith.cmpi {random.choice(PREDICATES)}, {', '.join(operands)} : {type_}")

    def affine(self, value: str, type_: str, at: int) -> tuple[str, str, int]:
        """Writes one more operation on `value`; returns the result, its type, and the new value of `at`."""
        random = self.random
        width = WIDTHS[type_]
        flags = random.choice(
            ["", "", "", " overflow<nsw>", " overflow<nuw>", " overflow<nsw, nuw>"][: 3 if self.small else 6]
        )
        kind = random.choice(["add", "sub", "rsub", "mul", "shl", "cast", "cast"])
        if kind == "cast" or type_ == "i1":
            if type_ == "index":
                to = random.choice(["i64", "i32"])
                op = random.choice(["arith.index_cast", "arith.index_castui"])
            elif random.random() < 0.2:
                to, op = "index", random.choice(["arith.index_cast", "arith.index_castui"])
            else:
                to = random.choice([t for t in WIDTHS if t not in ("index", type_)])
                op = random.choice(["arith.extsi", "arith.extui"]) if WIDTHS[to] > width else "arith.trunci"
                flags = ""
            if op in ("arith.extui", "arith.index_castui") and WIDTHS[to] > width:
                at &= (1 << width) - 1
            return self.op(f"{op} {value} : {type_} to {to}"), to, interpret.signed(at, WIDTHS[to])
        by = random.choice([1, -1, 2, 5, -7, 100, random.randint(-(1 << (width - 1)), (1 << (width - 1)) - 1)])
        if self.small:
            by = random.choice([1, -1, 2, 5, -7])
        if kind == "mul":
            by = random.choice([1, 2, 3, -1, -2, 64, by])
        if kind == "shl":
            by = random.choice([0, 1, 2, 6])
        constant = kind in ("mul", "shl") or random.random() < 0.5
        other = (
            self.op(f"arith.constant {interpret.signed(by, width)} : {type_}") if constant else self.number(by, type_)
        )
        name = {"add": "addi", "sub": "subi", "rsub": "subi", "mul": "muli", "shl": "shli"}[kind]
        operands = (
            [other, value] if kind == "rsub" or (kind in ("add", "mul") and random.random() < 0.5) else [value, other]
        )
        at = {"add": at + by, "sub": at - by, "rsub": by - at, "mul": at * by, "shl": at << (by & 7)}[kind]
        result = self.op(f"arith.{name} {', '.join(operands)}{flags} : {type_}")
        return result, type_, interpret.signed(at, width)

    def use(self, conditions: list[str], yields: list[str], iv: str) -> list[str]:
        """Uses some of the conditions; returns the values to yield then."""
        random = self.random
        condition = conditions.pop(0)
        while conditions and random.random() < 0.4:
            op = random.choice(["andi", "ori", "xori"])
            condition = self.op(f"arith.{op} {condition}, {conditions.pop(0)} : i1")
        if random.random() < 0.2:
            true = self.op("arith.constant true")
            condition = self.op(f"arith.xori {condition}, {true} : i1")
        kind = random.choice(["if", "if", "if else", "if else", "select", "results", "plain"])
        if kind == "results" and not yields:
            kind = "if else"
        if kind == "plain":
            self.store(self.op(f"arith.extui {condition} : i1 to i8"), "i8")
        elif kind == "select":
            value = self.op(f"arith.select {condition}, {iv}, {self.number(random.randint(-9, 9))} : {self.type}")
            self.store(value, self.type)
            if yields:
                yields = [self.step(yields[0], value), *yields[1:]]
        elif kind == "results":
            result = f"%r{self.count}"
            self.count += 1
            types = ", ".join([self.type] * len(yields))
            self.emit(f"{result}:{len(yields)} = scf.if {condition} -> ({types}) {{")
            self.arm(yields, iv, types)
            self.emit("} else {")
            self.arm(yields[::-1], iv, types)
            self.emit("}")
            yields = [f"{result}#{n}" for n in range(len(yields))]
        else:
            self.emit(f"scf.if {condition} {{")
            self.arm([], iv, "")
            if kind == "if else":
                self.emit("} else {")
                self.arm([], iv, "")
            self.emit("}")
        return yields

    def arm(self, yields: list[str], iv: str, types: str) -> None:
        self.depth += 1
        mark = self.op(f"arith.constant {self.random.randint(-99, 99)} : i8")
        self.store(mark, "i8")
        if self.random.random() < 0.3:
            self.store(iv, self.type)
        if self.arms < 2 and self.random.random() < 0.2:
            self.arms += 1
            conditions = [self.condition(*self.around) for _ in range(self.random.choice([1, 1, 2]))]
            while conditions:
                yields = self.use(conditions, yields, iv)
            if self.random.random() < 0.4:
                self.mask(*self.around)
            self.arms -= 1
        if yields:
            self.emit(f"scf.yield {', '.join([self.step(y, iv) for y in yields])} : {types}")
        self.depth -= 1

    # Masks --------------------------------------------------------------------------------------------------------

    def mask(self, ivs: list[str], bounds: tuple[int, int, int]) -> None:
        """Writes a load and a store under a comparison of tensors."""
        random = self.random
        iv = ivs[-1]
        lower, upper, step = bounds
        type_ = self.type
        value = iv
        if type_ == "index":
            value, type_ = self.op(f"arith.index_cast {iv} : index to i64"), "i64"
        tensor = f"tensor<{LANES}x{type_}>"
        start = random.randint(0, 3)
        lanes = self.op(f"tt.make_range {{start = {start} : i32, end = {start + LANES} : i32}} : tensor<{LANES}xi32>")
        if type_ in ("i8", "i16"):
            lanes = self.op(f"arith.constant dense<[{', '.join(str(start + i) for i in range(LANES))}]> : {tensor}")
        if type_ == "i64":
            lanes = self.op(f"arith.extsi {lanes} : tensor<{LANES}xi32> to {tensor}")
        at = lower + step * random.randint(-1, max(1, min(20, (upper - lower) // step + 1))) + random.randint(-5, 5)
        width = WIDTHS[type_]

        def limit() -> str:
            number = interpret.signed(at, width)
            if self.type == type_:
                return self.number(number)
            return self.op(f"arith.constant {number} : {type_}")

        def splat(scalar: str) -> str:
            return self.op(f"tt.splat {scalar} : {type_} -> {tensor}")

        def both(op: str, a: str, b: str) -> str:
            return self.op(f"arith.{op} {a}, {b} : {tensor}")

        form = random.choice(
            ["iv+range < n", "range < n-iv", "n+range < iv", "n+range < iv+range", "iv < n", "n-range"]
        )
        if form == "iv+range < n":
            sides = [both("addi", splat(value), lanes), splat(limit())]
        elif form == "range < n-iv":
            sides = [lanes, splat(self.op(f"arith.subi {limit()}, {value} : {type_}"))]
        elif form == "n+range < iv":
            sides = [both("addi", splat(limit()), lanes), splat(value)]
        elif form == "n+range < iv+range":
            sides = [both("addi", lanes, splat(limit())), both("addi", splat(value), lanes)]
        elif form == "iv < n":
            sides = [splat(value), splat(limit())]
        else:
            minus = self.op(f"arith.constant dense<{random.choice([-1, -2, 2])}> : {tensor}")
            sides = [both("addi", both("muli", lanes, minus), splat(value)), splat(limit())]
        if random.random() < 0.4:
            sides.reverse()
        compared = tensor
        if type_ != "i64" and random.random() < 0.3:
            op, compared = random.choice(["extsi", "extsi", "extui"]), f"tensor<{LANES}xi64>"
            sides = [self.op(f"arith.{op} {side} : {tensor} to {compared}") for side in sides]
        mask = self.op(f"arith.cmpi {random.choice(PREDICATES[2:])}, {', '.join(sides)} : {compared}")
        if random.random() < 0.4:
            at += random.randint(-8, 8)
            sides = [both("addi", splat(value), lanes), splat(limit())]
            other = self.op(f"arith.cmpi {random.choice(PREDICATES[2:])}, {', '.join(sides)} : {tensor}")
            mask = self.op(f"arith.{random.choice(['andi', 'andi', 'ori'])} {mask}, {other} : tensor<{LANES}xi1>")
        small = self.op(f"tt.make_range {{start = 0 : i32, end = {LANES} : i32}} : tensor<{LANES}xi32>")
        pointers = self.op(f"tt.splat %pi8 : !tt.ptr<i8> -> tensor<{LANES}x!tt.ptr<i8>>")
        pointers = self.op(f"tt.addptr {pointers}, {small} : tensor<{LANES}x!tt.ptr<i8>>, tensor<{LANES}xi32>")
        zero = self.op(f"arith.constant dense<0> : tensor<{LANES}xi8>")
        loaded = self.op(f"tt.load {pointers}, {mask}, {zero} : tensor<{LANES}x!tt.ptr<i8>>")
        if random.random() < 0.5:
            self.emit(f"tt.store {pointers}, {loaded} : tensor<{LANES}x!tt.ptr<i8>>")
        if random.random() < 0.5:
            ones = self.op(f"arith.constant dense<1> : tensor<{LANES}xi8>")
            chosen = self.op(f"arith.select {mask}, {ones}, {loaded} : tensor<{LANES}xi1>, tensor<{LANES}xi8>")
            under = f", {mask}" if random.random() < 0.3 else ""
            self.emit(f"tt.store {pointers}, {chosen}{under} : tensor<{LANES}x!tt.ptr<i8>>")

    # ----------------------------------------------------------------------------------------------------------------

    def program(self) -> Program:
        random = self.random
        carried = [self.argument(random.randint(-9, 9)) for _ in range(random.choice([0, 1, 2]))]
        results = self.loop(False, carried, [])
        types = ", ".join([self.type] * len(results))
        self.emit(f"tt.return {', '.join(results)} : {types}" if results else "tt.return")
        pointers = [f"%p{t}: !tt.ptr<{t}>" for t in WIDTHS if t != "index"]
        head = f"tt.func public @{self.name}({', '.join(pointers + self.arguments)})"
        if results:
            head += f" -> ({types})"
        addresses = [1000 * (n + 1) for n in range(len(pointers))]
        inputs = [self.values]
        for _ in range(self.inputs - 1):  # the same loop, other numbers
            inputs.append([self.near(v) for v in self.values])
        return Program("\n".join([head + " {", *self.lines, "}"]), [addresses + values for values in inputs])

    def near(self, value: int) -> int:
        if self.random.random() < 0.7:
            return value
        value += self.random.choice([-2, -1, 1, 2])
        return max(self.low, min(self.high, value))


def program(random: Random, name: str, options: str = "", *, inputs: int = 3) -> Program:
    """Returns a random loop nest for these options; with "no-wrap", mostly one without the extremes of its types.

    Args:
        random: the source of randomness.
        name: the name of the function.
        options: the options of the pass.
        inputs: the number of inputs that the program gets.
    """
    return _Writer(random, name, "no-wrap" in options, inputs).program()


@dataclass
class Outcome:
    """How a batch of programs went.

    Attributes:
        cases: programs times inputs that have a meaning and were compared.
        split: programs that the pass changed.
        vacuous: inputs without a meaning, or with loops too long to run.
    """

    cases: int = 0
    split: int = 0
    vacuous: int = 0

    def __add__(self, other: Outcome) -> Outcome:
        return Outcome(self.cases + other.cases, self.split + other.split, self.vacuous + other.vacuous)


def opt(text: str, *arguments: str, mutant: str = "") -> str:
    """Returns the output of triton-ext-opt, which verifies after every pass; `mutant` names the active bug."""
    return _checked(forked_opt.run("-", *arguments, text=text, mutant=mutant), text)


def opt_anew(text: str, *arguments: str) -> str:
    """Does what `opt` does, in a process whose addresses are others than those of earlier runs."""
    command = [forked_opt.TOOL, "-", *arguments]
    return _checked(subprocess.run(command, input=text, capture_output=True, text=True, check=False), text)


def _checked(done: subprocess.CompletedProcess[str], text: str) -> str:
    assert done.returncode == 0, done.stderr[-3000:] + text
    return done.stdout


def check(programs: list[Program], options: str = "") -> Outcome:
    """Compares what the programs do with the pass on and off, and the pass's output with what it makes of that.

    Raises:
        AssertionError: they differ; the message has the program and its input.
    """
    text = "\n".join(p.text for p in programs)
    flag = f"-triton-ext-loop-split={options}"
    plain = interpret.texts(opt(text, "-mlir-print-op-generic"))
    before = interpret.functions(plain, strict=True, small="no-wrap" in options)
    once = opt(text, flag, "-mlir-print-op-generic")
    assert opt(text, flag, flag, "-mlir-print-op-generic") == once, f"{flag} is not idempotent on\n{text}"
    after = interpret.functions(interpret.texts(once))
    outcome = Outcome()
    for name, program_ in zip(before, programs, strict=True):
        outcome.split += is_split(once, name)
        for arguments in program_.inputs:
            try:
                expected = before[name](*arguments)
            except (interpret.Poison, interpret.TooLong):
                outcome.vacuous += 1
                continue
            try:
                got = after[name](*arguments)
            except (interpret.TooLong, ZeroDivisionError) as error:
                got = repr(error)
            assert got == expected, f"{flag} changes, for {arguments}:\n{program_.text}\n{expected}\n{got}"
            outcome.cases += 1
    return outcome


def is_split(text: str, name: str) -> bool:
    """Returns whether a loop of the function was split."""
    start = text.index(f'sym_name = "{name}"')
    end = text.find("sym_name = ", start + 1)
    return "triton_ext.split" in text[start : end if end > 0 else None]
