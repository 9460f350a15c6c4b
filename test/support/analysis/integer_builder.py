# SPDX-License-Identifier: Apache-2.0
"""Builds random programs of the form that `integer_programs` defines."""

from __future__ import annotations

from collections.abc import Callable, Collection
from random import Random

import numpy as np

from support.analysis.integer_programs import (
    IN_TENSORS,
    INDEX,
    LONGEST,
    PROGRAMS,
    ROWS,
    Machine,
    Op,
    Program,
    Region,
    Value,
    each,
    fit,
    write,
)
from support.integers import (
    BINARY,
    PREDICATES,
    Flags,
    Numbers,
    compare,
    compute,
    signed,
    unsigned,
    wraps,
    wraps_unsigned,
)

#: The operations of address arithmetic are chosen more often.
WEIGHTS = {"addi": 6, "subi": 4, "muli": 5, "andi": 3, "remsi": 4, "remui": 2, "divsi": 3, "divui": 2, "shli": 2}
WEIGHTS |= {"minsi": 2, "maxsi": 2, "shrsi": 2, "shrui": 2}


class Builder:
    """Makes a program, operation by operation.

    Attributes:
        scopes: the values that can be used, for each enclosing region.
        ivs: the induction variables of the enclosing loops.
        tiles: whether scalar pointers become tiles.
        affine: whether loops compare affine expressions of lanes and their induction variable, also extended ones.
        narrow: whether loops have few bits and iterations, lanes are constants, and operations have flags.
    """

    def __init__(self, random: Random, name: str, tensors: bool, index: bool, shapes: Collection[str]) -> None:
        self.random = random
        self.program = Program(random, name)
        self.region = self.program.body
        self.scopes: list[list[Value]] = [[]]
        self.ivs: list[Value] = []
        self.tensors = tensors
        self.index = index
        self.tiles, self.affine, self.narrow = (shape in shapes for shape in ("tiles", "affine", "narrow"))
        self.count = 0

    # Values

    def value(self, width: int, element: str = "", shape: tuple[int, ...] = ()) -> Value:
        self.count += 1
        return Value(f"%v{self.count}", width, element or f"i{width}", shape)

    def known(self, accept: Callable[[Value], bool]) -> list[Value]:
        return [value for scope in self.scopes for value in scope if accept(value)]

    def pick(self, accept: Callable[[Value], bool]) -> Value | None:
        """Returns one of the values that can be used, mostly a recent one; None if there is none."""
        known = self.known(accept)
        if not known:
            return None
        return self.random.choice(known[-6:] if self.random.random() < 0.8 else known)

    def emit(
        self, text: str, result: Value, run: Callable[[Machine], tuple[Numbers, Flags | None]], wrapped: bool = False
    ) -> Value:
        """Appends an operation with one result. `run` returns its numbers, and flags for elements without a result or,
        if `wrapped`, for elements that have wrapped."""

        def step(machine: Machine, active: Flags) -> None:
            numbers, flags = run(machine)
            if flags is not None:
                inputs = active & each(flags)
                if not wrapped:
                    machine.drop(inputs)
                elif inputs.any():
                    wide, some = machine.wrapped
                    machine.wrapped = (wide | inputs if result.width >= 32 else wide, some | inputs)
            machine.set(result, numbers, active)

        self.region.ops.append(Op(text, [result], step))
        self.scopes[-1].append(result)
        return result

    # Operations on scalars and tensors

    def number(self, width: int) -> int:
        random = self.random
        power = 1 << random.randrange(width)
        return random.choice([power, power, -power, power - 1, 1, 2, 3, 6, 12, random.randrange(1 << min(width, 8)), 0])

    def constant(self, like: Value, number: int | None = None) -> Value:
        number = self.number(like.width) if number is None else number
        number = int(signed(np.array([number], dtype=object), like.width)[0])
        text = str(number) if like.width > 1 else ("true" if number else "false")
        text = f"arith.constant dense<{text}> : {like.type}" if like.shape else f"arith.constant {text} : {like.type}"
        if like.width == 1 and not like.shape:
            text = text.removesuffix(" : i1")
        result = self.value(like.width, like.element, like.shape)
        return self.emit(text, result, lambda m: (np.full((m.bad.size, *like.shape), number, np.int64), None))

    def partner(self, a: Value) -> Value:
        """Returns another value of the type of `a`, or a constant."""
        if self.random.random() < 0.55 or a.is_pointer:
            other = self.pick(lambda v: v.type == a.type)
            if other is not None:
                return other
        return a if a.is_pointer else self.constant(a)

    def integer(self, accept: Callable[[Value], bool] = lambda _: True) -> Value | None:
        return self.pick(lambda v: not v.is_pointer and v.width > 1 and accept(v))

    def binary(self, a: Value, name: str = "", b: Value | None = None, flag: str = "") -> Value:
        if not name:
            (name,) = self.random.choices(BINARY, [WEIGHTS.get(op, 1) for op in BINARY])
        if a.width == 1:
            name = self.random.choice(["andi", "ori", "xori"])
        given, b = b, b or self.partner(a)
        if given is None and name.startswith("sh") and self.random.random() < 0.8:
            b = self.constant(a, self.random.randrange(min(a.width, 31 if a.width <= 31 else 62)))
        if given is None and self.random.random() < 0.3 and name != "subi":
            a, b = b, a
        result = self.value(a.width, a.element, a.shape)
        can_wrap = name in ("addi", "subi", "muli", "shli")
        if not flag and can_wrap and name != "shli" and self.random.random() < 0.04 and a.width > 1:
            flag = self.random.choice(["nsw", "nuw", "nsw, nuw"]) if self.narrow else "nsw"

        def run(machine: Machine) -> tuple[Numbers, Flags, Flags | None]:
            x, y = machine.values[a], machine.values[b]
            numbers, defined = compute(name, x, y, a.width)
            if not can_wrap:
                return numbers, ~defined, None
            outside = wraps(name, x, y, a.width, numbers)
            lost = ~defined | outside if "nsw" in flag else ~defined
            return numbers, lost | wraps_unsigned(name, x, y, a.width) if "nuw" in flag else lost, outside

        suffix = f" overflow<{flag}>" if flag else ""
        return self.emit_partial(f"arith.{name} {a.name}, {b.name}{suffix} : {a.type}", result, run)

    def emit_partial(
        self, text: str, result: Value, run: Callable[[Machine], tuple[Numbers, Flags, Flags | None]]
    ) -> Value:
        """Appends an operation with one result. `run` returns its numbers, flags for elements without a result, and
        flags for elements that have wrapped, if the operation can wrap."""

        def step(machine: Machine, active: Flags) -> None:
            numbers, lost, outside = run(machine)
            machine.drop(active & each(lost))
            if outside is not None:
                inputs = active & each(outside)
                wide, some = machine.wrapped
                machine.wrapped = (wide | inputs if result.width >= 32 else wide, some | inputs)
            machine.set(result, numbers, active)

        self.region.ops.append(Op(text, [result], step))
        self.scopes[-1].append(result)
        return result

    def cast(self, a: Value, to: int = 0, name: str = "") -> Value | None:
        """Converts `a` to another type, or to an integer of `to` bits, if that is wider by the extension `name`."""
        random = self.random
        widths = [32, 32, 64, 16] if a.shape else [2, 3, 4, 5, 6, 8, 11, 32]
        if not to and self.index and not a.shape and (a.element == "index" or random.random() < 0.3):
            return self.index_cast(a)
        if a.element == "index":
            return None
        to = to or random.choice([width for width in [*widths, 8, 4] if width != a.width])
        result = self.value(to, shape=a.shape)
        if to < a.width:
            text = f"arith.trunci {a.name} : {a.type} to {result.type}"
            return self.emit(text, result, lambda m: (signed(m.values[a], to), None))
        name = name or random.choice(["extsi", "extui"])
        read = unsigned if name == "extui" else signed
        text = f"arith.{name} {a.name} : {a.type} to {result.type}"
        return self.emit(text, result, lambda m: (read(m.values[a], a.width).astype(np.int64), None))

    def index_cast(self, a: Value) -> Value | None:
        name = self.random.choice(["index_cast", "index_castui"])
        if a.element == "index":
            to = self.random.choice([4, 5, 8, 32])
            result = self.value(to)
            return self.emit(
                f"arith.{name} {a.name} : index to i{to}", result, lambda m: (signed(m.values[a], to), None)
            )
        if a.width == 1:
            return None
        result = self.value(INDEX, "index")
        read = unsigned if name == "index_castui" else signed
        text = f"arith.{name} {a.name} : {a.type} to index"
        return self.emit(text, result, lambda m: (read(m.values[a], a.width).astype(np.int64), None))

    def comparison(self, a: Value, b: Value | None = None) -> Value:
        b = b or self.partner(a)
        predicate = self.random.choice([*PREDICATES, "slt", "slt", "sge", "ult"])
        result = self.value(1, shape=a.shape)
        text = f"arith.cmpi {predicate}, {a.name}, {b.name} : {a.type}"
        return self.emit(
            text, result, lambda m: (-compare(predicate, m.values[a], m.values[b], a.width).astype(np.int64), None)
        )

    def select(self, a: Value) -> Value:
        b = self.partner(a)
        condition = self.pick(lambda v: v.width == 1 and v.shape in (a.shape, ()))
        if condition is None or self.random.random() < 0.6:
            other = self.integer(lambda v: v.shape == a.shape) or a
            condition = self.comparison(other) if not other.is_pointer else None
        if condition is None:
            return a
        result = self.value(a.width, a.element, a.shape)
        of = f"{condition.type}, " if a.shape else ""
        text = f"arith.select {condition.name}, {a.name}, {b.name} : {of}{a.type}"

        def run(machine: Machine) -> tuple[Numbers, None]:
            chosen = machine.values[condition] != 0
            if not condition.shape:
                chosen = fit(chosen, machine.values[a])
            return np.where(chosen, machine.values[a], machine.values[b]), None

        return self.emit(text, result, run)

    # Tensors

    def range(self, size: int = 0) -> Value:
        size = size or self.random.choice([1, 4, 4, 8, 8, 16])
        start = self.random.choice([0, 0, 0, 3, 4, 16])
        result = self.value(32, shape=(size,))
        text = f"tt.make_range {{start = {start} : i32, end = {start + size} : i32}} : {result.type}"
        return self.emit(text, result, lambda m: (np.tile(np.arange(start, start + size), (m.bad.size, 1)), None))

    def splat(self, a: Value, shape: tuple[int, ...]) -> Value:
        result = self.value(a.width, a.element, shape)
        return self.emit(
            f"tt.splat {a.name} : {a.type} -> {result.type}",
            result,
            lambda m: (
                np.ascontiguousarray(np.broadcast_to(m.values[a].reshape(-1, *[1] * len(shape)), (m.bad.size, *shape))),
                None,
            ),
        )

    def tile(self) -> None:
        """Adds an index: lanes times a constant plus a scalar, in one dimension or two, and an operation on it with a
        constant."""
        random = self.random
        lanes = self.pick(lambda v: len(v.shape) == 1 and not v.is_pointer and v.width > 1)
        scalar = lanes and self.pick(lambda v: not v.shape and v.element == lanes.element)
        if lanes is None:
            return
        moved = lanes
        if random.random() < 0.6:
            moved = self.binary(lanes, "muli", self.constant(lanes, random.choice([1, 2, 3, 4, 8, -1])))
        if scalar is not None and random.random() < 0.8:
            moved = self.binary(self.splat(scalar, lanes.shape), random.choice(["addi", "addi", "subi"]), moved)
        if random.random() < 0.4 and lanes.shape[0] > 1:
            size = lanes.shape[0]
            rows = self.range(4)
            rows = self.splat(scalar, (4,)) if scalar is not None and random.random() < 0.2 else rows
            if rows.width > lanes.width:
                rows = self.cast(rows, lanes.width)
            elif rows.width < lanes.width:
                moved = self.cast(moved, rows.width)
            by = self.constant(rows, random.choice([1, size, size, size // 2, 3]))
            rows = self.move(self.binary(rows, "muli", by), "expand", 1) or rows
            columns = self.move(moved, "expand", 0) or moved
            both = [self.spread(value, (4, size)) for value in (rows, columns)]
            moved = self.binary(both[0], "addi", both[1])
            if random.random() < 0.5:
                moved = self.move(moved, "reshape") or moved
        name = random.choice(["divsi", "divui", "remsi", "remui", "shrsi", "shrui", "andi", "cmpi", "cmpi", "ext", ""])
        by = self.constant(moved, random.choice([1, 2, 4, 4, 8, 8, 16, 3, 6, 12]))
        if name == "cmpi":
            mask = self.comparison(moved, by if random.random() < 0.5 else None)
            if random.random() < 0.5:
                self.binary(mask)
        elif name == "ext":
            if moved.width < INDEX:
                self.cast(moved, random.choice([width for width in IN_TENSORS if width > moved.width]))
        elif name.startswith("sh"):
            self.binary(moved, name, self.constant(moved, random.randrange(min(moved.width, 5))))
        elif name:
            self.binary(moved, name, by)

    def spread(self, a: Value, shape: tuple[int, ...]) -> Value:
        result = self.value(a.width, a.element, shape)
        text = f"tt.broadcast {a.name} : {a.type} -> {result.type}"
        return self.emit(
            text, result, lambda m: (np.ascontiguousarray(np.broadcast_to(m.values[a], (m.bad.size, *shape))), None)
        )

    def move(self, a: Value, kind: str = "", axis: int = -1) -> Value | None:
        """Changes the shape of `a`."""
        random, rank = self.random, len(a.shape)
        size = int(np.prod(a.shape))
        kind = kind or random.choice(["broadcast", "broadcast", "expand", "trans", "reshape"])
        if kind == "broadcast" and 1 in a.shape and size <= 16:
            return self.spread(a, tuple(4 if n == 1 else n for n in a.shape))
        if kind in ("expand", "broadcast") and rank < 3:
            axis = random.randrange(rank + 1) if axis < 0 else axis
            result = self.value(a.width, a.element, (*a.shape[:axis], 1, *a.shape[axis:]))
            text = f"tt.expand_dims {a.name} {{axis = {axis} : i32}} : {a.type} -> {result.type}"
            return self.emit(text, result, lambda m: (np.expand_dims(m.values[a], axis + 1), None))
        if kind == "trans" and rank > 1:
            order = list(range(rank))
            random.shuffle(order)
            result = self.value(a.width, a.element, tuple(a.shape[d] for d in order))
            text = f"tt.trans {a.name} {{order = array<i32: {', '.join(map(str, order))}>}} : {a.type} -> {result.type}"
            return self.emit(
                text,
                result,
                lambda m: (np.ascontiguousarray(np.transpose(m.values[a], (0, *[d + 1 for d in order]))), None),
            )
        shapes = [(size,), (size // 4, 4), (2, size // 2), (2, size // 4, 2)]
        shape = random.choice(shapes)
        if kind != "reshape" or 0 in shape or int(np.prod(shape)) != size:
            return None
        result = self.value(a.width, a.element, shape)
        text = f"tt.reshape {a.name} : {a.type} -> {result.type}"
        return self.emit(text, result, lambda m: (m.values[a].reshape(m.bad.size, *shape), None))

    def point(self) -> Value | None:
        """Adds an offset to a pointer, or casts it to a pointer to another type."""
        random = self.random
        a = self.pick(lambda v: v.is_pointer)
        if a is None:
            return None
        flat = random.random() < 0.3
        offset = self.integer(lambda v: not (flat and v.shape) and v.element != "index" and v.width in (8, 16, 32, 64))
        if random.random() < 0.25 or offset is None:
            step = random.choice([step for step in (1, 2, 4) if step != a.step])
            result = self.value(INDEX, f"!tt.ptr<i{8 * step}>", a.shape)
            return self.emit(f"tt.bitcast {a.name} : {a.type} -> {result.type}", result, lambda m: (m.values[a], None))
        if offset.shape != a.shape:
            scalar = self.pick(lambda v: v.is_pointer and not v.shape)
            assert scalar is not None
            a = self.splat(scalar, offset.shape) if offset.shape else scalar
        result = self.value(INDEX, a.element, a.shape)

        def run(machine: Machine) -> tuple[Numbers, Flags]:
            by = machine.values[offset]
            with np.errstate(over="ignore"):
                moved = machine.values[a] + a.step * by
            outside = wraps("muli", by, np.full(by.shape, 4 * a.step), 64, 4 * a.step * by)
            return moved, outside | (np.abs(machine.values[a]) > 1 << 61)

        text = f"tt.addptr {a.name}, {offset.name} : {a.type}, {offset.type}"
        self.emit(text, result, run, wrapped=True)
        # Pointers of a tile, behind one scalar offset or several.
        return self.splat(result, (4,)) if self.tiles and not a.shape and random.random() < 0.5 else result

    def lookup(self, a: Value) -> Value | None:
        """Loads from a table at the remainder of an offset, which may be negative."""
        if a.element == "index" or a.width < 16:
            return None
        rest = self.value(a.width, shape=a.shape)
        rows = self.constant(a, ROWS)
        self.emit(
            f"arith.remsi {a.name}, {rows.name} : {a.type}",
            rest,
            lambda m: (compute("remsi", m.values[a], m.values[rows], a.width)[0], None),
        )
        base, pointer, result = (
            self.value(64, "!tt.ptr<i64>", a.shape),
            self.value(64, "!tt.ptr<i64>", a.shape),
            self.value(64, shape=a.shape),
        )
        table = self.program.arguments[0]
        if a.shape:
            self.emit(
                f"tt.splat {table.name} : {table.type} -> {base.type}",
                base,
                lambda m: (np.zeros((m.bad.size, *a.shape), np.int64), None),
            )
        else:
            base = table
        self.emit(
            f"tt.addptr {base.name}, {rest.name} : {base.type}, {a.type}",
            pointer,
            lambda m: (8 * m.values[rest], None),
        )
        # No other operation may use these two, because loads are not interpreted.
        for value in (base, pointer):
            if value in self.scopes[-1]:
                self.scopes[-1].remove(value)
        return self.emit(
            f"tt.load {pointer.name} : {pointer.type}", result, lambda m: (m.values[rest] * 3 + 1000, None)
        )

    # Control flow

    def inside(self, arguments: list[Value], steps: int, carried: list[Value]) -> Region:
        """Returns a region of `steps` steps, which yields a value of the type of each of `carried`."""
        outer, region = self.region, Region(arguments)
        self.region = region
        self.scopes.append(list(arguments))
        for _ in range(steps):
            self.step()
        for value in carried:
            same = [v for v in self.scopes[-1] if v.type == value.type and v not in arguments]
            chosen = self.random.choice(same) if same else self.pick(lambda v, of=value: v.type == of.type)
            if not same and not value.is_pointer and value.width > 1 and self.random.random() < 0.8:
                chosen = self.binary(value, self.random.choice(["addi", "addi", "subi", "muli"]))
            assert chosen is not None
            region.yields.append(chosen)
        self.scopes.pop()
        self.region = outer
        return region

    def carried(self) -> list[Value]:
        """Returns the initial values of loop-carried values."""
        found = [self.pick(lambda v: v.element != "index") for _ in range(self.random.choice([0, 1, 1, 2]))]
        return [value for value in found if value is not None]

    def branch(self) -> None:
        condition = self.pick(lambda v: v.width == 1 and not v.shape)
        if condition is None:
            a = self.integer(lambda v: not v.shape)
            if a is None:
                return
            condition = self.comparison(a)
        given = self.carried()
        results = [self.value(v.width, v.element, v.shape) for v in given]
        regions = [self.inside([], self.random.choice([1, 2]), given) for _ in range(2)]
        types = f" -> ({', '.join(v.type for v in given)})" if given else ""

        def run(machine: Machine, active: Flags) -> None:
            taken = machine.values[condition] != 0
            for region, where in zip(regions, (active & taken, active & ~taken), strict=True):
                region.run(machine, where)
            for k, result in enumerate(results):
                yes, no = (machine.values[region.yields[k]] for region in regions)
                machine.set(result, np.where(fit(taken, yes), yes, no), active)

        self.region.ops.append(Op(f"scf.if {condition.name}{types} {{", results, run, regions, "} else {"))
        self.scopes[-1] += results

    def short_bounds(self) -> tuple[Value, Value]:
        """Returns constant bounds of a loop of few iterations, whose sums and products can be known not to wrap."""
        like = Value("", self.random.choice([8, 8, 16]), "")
        like.element = f"i{like.width}"
        start = self.random.choice([0, 0, -4, -1, 1, 3])
        return self.constant(like, start), self.constant(like, start + self.random.choice([1, 2, 2, 4, 7]))

    def loop(self) -> None:
        random = self.random
        lower = self.integer(lambda v: (not v.shape and v.width <= 8) or v.element == "index")
        if lower is None:
            return
        if random.random() < 0.4:
            lower = self.constant(lower, random.choice([0, 0, self.number(min(lower.width, 5))]))
        upper = self.pick(lambda v: v.type == lower.type and v is not lower) or self.constant(lower)
        if self.narrow and random.random() < 0.6:
            lower, upper = self.short_bounds()
        limit = 1 << (min(lower.width, 20) - 1)
        steps = [step for step in [1, 1, 2, 2, 4, 3, 8, 8] if step < limit and (lower.width < 6 or step > 1)] or [1]
        step = self.constant(lower, random.choice(steps) if lower.width > 1 else -1)
        unsigned_order = random.random() < 0.2
        given = self.carried()
        iv = self.value(lower.width, lower.element)
        arguments = [self.value(v.width, v.element, v.shape) for v in given]
        results = [self.value(v.width, v.element, v.shape) for v in given]
        self.ivs.append(iv)
        body = self.inside([iv, *arguments], random.choice([2, 3, 4, 5]), given)
        self.ivs.pop()
        how = "unsigned " if unsigned_order else ""
        pairs = ", ".join(f"{a.name} = {v.name}" for a, v in zip(arguments, given, strict=True))
        types = ", ".join(v.type for v in given)
        carries = f"iter_args({pairs}) -> ({types}) " if given else ""
        text = f"scf.for {how}{iv.name} = {lower.name} to {upper.name} step {step.name} {carries}: {lower.type} {{"

        def run(machine: Machine, active: Flags) -> None:
            read = unsigned if unsigned_order else signed
            place, end, by = (read(machine.values[v], lower.width) for v in (lower, upper, step))
            if place.dtype == np.uint64:  # fit int64; inputs with larger numbers are ignored
                machine.drop(active & ((place >> 62 != 0) | (end >> 62 != 0)))
                place, end, by = (numbers.astype(np.int64) for numbers in (place, end, by))
            machine.drop(active & (end - LONGEST * by > place))
            current = [machine.values[v] for v in given]
            machine.starts.setdefault(iv, []).append(machine.tick)
            runs = active & (place < end) & ~machine.bad
            while runs.any():
                machine.set(iv, signed(place, lower.width), runs)
                for argument, numbers in zip(arguments, current, strict=True):
                    machine.set(argument, numbers, runs)
                body.run(machine, runs)
                following = [machine.values[v] for v in body.yields]
                current = [np.where(fit(runs, a), b, a) for a, b in zip(current, following, strict=True)]
                place = np.where(runs, place + by, place)
                if lower.width < 64:
                    top = (1 << lower.width) if unsigned_order else 1 << (lower.width - 1)
                    machine.endless = machine.endless | (runs & (place >= top))
                runs = runs & (place < end) & ~machine.bad
            for result, numbers in zip(results, current, strict=True):
                machine.set(result, numbers, active)

        self.region.ops.append(Op(text, results, run, [body]))
        self.scopes[-1] += results

    # Programs

    def condition_of_loop(self) -> None:
        """Adds a comparison of a value that depends on the innermost induction variable with another value."""
        iv = self.ivs[-1]
        if self.narrow and self.random.random() < 0.5:
            self.narrow_condition(iv)
            return
        moving = iv
        for _ in range(self.random.choice([0, 1, 1, 2])):
            moving = self.binary(moving, self.random.choice(["addi", "subi", "muli", "addi"]))
            if self.random.random() < 0.2:
                moving = self.cast(moving) or moving
        if self.affine and self.tensors and moving.element != "index" and self.random.random() < 0.4:
            wide = moving if moving.width == 32 else self.cast(moving, 32, "extsi")
            if wide is not None:
                self.affine_condition(wide, self.range())
                return
        if self.tensors and moving.width in IN_TENSORS and moving.element != "index" and self.random.random() < 0.6:
            lanes = self.pick(lambda v: v.element == moving.element and bool(v.shape))
            if lanes is not None:
                if self.affine:
                    self.affine_condition(moving, lanes)
                    return
                moving = self.binary(self.splat(moving, lanes.shape), self.random.choice(["addi", "subi"]))
        self.comparison(moving)

    def narrow_condition(self, iv: Value) -> None:
        """Adds a comparison of a sum of constant lanes and a multiple of `iv`, in few bits that are then extended; or a
        product of `iv` with a negative number that does not wrap as an unsigned number."""
        if not self.tensors or iv.width not in (8, 16) or self.random.random() < 0.3:
            if iv.element != "index":
                self.binary(iv, "muli", self.constant(iv, self.random.choice([-1, -2, -3])), flag="nuw")
            return
        like = Value("", iv.width, iv.element, (4,))
        self.affine_condition(iv, self.constant(like) if self.random.random() < 0.3 else self.lanes(like))

    def lanes(self, like: Value) -> Value:
        """Returns a constant tensor of the type of `like`, whose elements are small numbers of both signs."""
        numbers = [self.random.randrange(-5, 6) for _ in range(like.shape[0])]
        result = self.value(like.width, like.element, like.shape)
        text = f"arith.constant dense<{numbers}> : {like.type}"
        return self.emit(text, result, lambda m: (np.tile(np.array(numbers), (m.bad.size, 1)), None))

    def affine_condition(self, moving: Value, lanes: Value) -> None:
        """Adds a comparison of a sum of multiples of `moving`, of `lanes`, and of a number, often extended."""
        random = self.random

        def multiple(a: Value) -> Value:
            factor = random.choice([1, 1, -1, -1, -2, 2, -3, 3])
            return a if factor == 1 else self.binary(a, "muli", self.constant(a, factor))

        total = multiple(self.splat(moving, lanes.shape))
        total = self.binary(total, random.choice(["addi", "subi"]), multiple(lanes))
        if random.random() < 0.4:
            total = self.binary(total, "addi", self.constant(total, random.randrange(-3, 4)))
        if random.random() < 0.6 and total.width < 32:
            total = self.cast(total, random.choice([w for w in (8, 16, 32) if w > total.width]), "extsi") or total
        self.comparison(total, self.constant(total))

    def step(self) -> None:
        random = self.random
        depth = len(self.scopes)
        kind = random.random()
        if self.ivs and kind < 0.2:
            self.condition_of_loop()
            return
        wants_tensor = self.tensors and random.random() < 0.7
        a = self.integer(lambda v: bool(v.shape) == wants_tensor) or self.integer()
        assert a is not None
        if kind < 0.28 and depth < 3:
            self.loop() if random.random() < 0.65 else self.branch()
        elif self.tensors and kind < 0.45:
            other = self.pick(lambda v: bool(v.shape))
            scalar = self.pick(lambda v: not v.shape and v.element != "index" and v.width in IN_TENSORS)
            if other is None or random.random() < 0.1:
                self.range()
            elif scalar is not None and random.random() < 0.4:
                self.splat(scalar, other.shape)
            else:
                self.move(other)
        elif self.tensors and kind < 0.51:
            self.point()
        elif self.tensors and kind < 0.54:
            self.lookup(a)
        elif self.tensors and kind < 0.66:
            self.tile()
        elif kind < 0.7:
            bit = self.pick(lambda v: v.width == 1)
            self.cast(bit if bit is not None and random.random() < 0.15 else a)
        elif kind < 0.76:
            self.select(self.pick(lambda v: v.element != "index" or True) or a)
        elif kind < 0.8:
            self.comparison(a)
        else:
            self.binary(a)


def program(random: Random, name: str, index: bool = True, shapes: Collection[str] = ()) -> Program:
    """Returns a program of two or three arguments and some ten operations.

    Args:
        random: makes the choices.
        name: name of the function.
        index: whether there may be integers of type index.
        shapes: the shapes among ``tiles``, ``affine`` and ``narrow`` that the program may have; see `Builder`.
    """
    tensors = random.random() < 0.5
    made = Builder(random, name, tensors, index=index and random.random() < 0.3, shapes=shapes)
    widths = random.choice([(4, 4), (4, 4), (8,)] if tensors else [(4, 4), (4, 5), (5, 5), (6, 4), (8,)])
    uses_id = random.random() < 0.4
    axes = [np.arange(-(1 << (w - 1)), 1 << (w - 1)) for w in widths]
    every = np.meshgrid(*axes, np.arange(PROGRAMS) if uses_id else np.zeros(1, np.int64), indexing="ij")
    keep = np.ones(every[0].shape, np.bool_)
    result = made.program
    table = Value("%table", INDEX, "!tt.ptr<i64>")
    result.arguments.append(table)
    declared = [f"{table.name}: {table.type}"]
    for k, (width, numbers) in enumerate(zip(widths, every[:-1], strict=True)):
        divisor = random.choice([1, 1, 2, 4, 6, 8])
        promise = f"tt.divisibility = {divisor} : i32"
        keep &= numbers % divisor == 0
        if random.random() < 0.4:
            limit = random.randrange(1 << (width - 1))
            promise += f", tt.limit = {limit} : i32"
            keep &= (numbers >= 0) & (numbers <= limit)
        argument = Value(f"%a{k}", width, f"i{width}")
        result.arguments.append(argument)
        made.scopes[0].append(argument)
        declared.append(f"{argument.name}: {argument.type} {{{promise}}}")
    result.inputs = [numbers[keep] for numbers in every[:-1]]
    ids = every[-1][keep]
    result.inputs.insert(0, np.zeros(ids.size, np.int64))
    if tensors:
        step = random.choice([1, 2, 4])
        pointer = Value("%p", INDEX, f"!tt.ptr<i{8 * step}>")
        base = random.choice([1, 2, 8, 16])
        declared.append(f"{pointer.name}: {pointer.type} {{tt.divisibility = {base} : i32}}")
        result.arguments.append(pointer)
        result.inputs.append(np.full(ids.size, base + (1 << 20), np.int64))
        made.scopes[0].append(pointer)
    result.head = f"tt.func @{name}({', '.join(declared)}) {{"
    if uses_id:
        made.emit("tt.get_program_id y : i32", made.value(32), lambda m: (ids, None))
        made.emit("tt.get_num_programs y : i32", made.value(32), lambda m: (np.full(ids.size, PROGRAMS), None))
    result.inputs.append(ids)
    result.arguments.append(Value("%id", 32, "i32"))  # no operation uses it
    if tensors:
        first = made.range()
        narrow = random.choice([4, 8, 32])
        lanes = made.value(narrow, shape=first.shape)
        if narrow < 32:
            made.emit(
                f"arith.trunci {first.name} : {first.type} to {lanes.type}",
                lanes,
                lambda m: (signed(m.values[first], narrow), None),
            )
        made.splat(made.random.choice(result.arguments[1 : 1 + len(widths)]), first.shape)
    for _ in range(random.choice([8, 10, 12])):
        made.step()
    write(result)
    return result
