# SPDX-License-Identifier: Apache-2.0
"""Random kernels, as text of Triton's dialect, that access a block of memory by a tensor descriptor.

Each loads a block through a descriptor of `x`, stores what it has loaded to `seen`, and stores it through a descriptor
of `y`. What the descriptors pass through on their way to the accesses is one of `CARRIERS`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

#: How the descriptors reach the accesses.
CARRIERS = ("directly", "loop", "branch", "select", "call", "argument")
#: The accesses: of a block, of one whose value has no dimensions of one element, of rows, and an atomic sum.
KINDS = ("block", "block", "squeezed", "rows", "sum")

DTYPES = {
    "f32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f8E5M2": torch.float8_e5m2,
    "f8E4M3FN": torch.float8_e4m3fn,
    "i8": torch.int8,
    "i16": torch.int16,
    "i32": torch.int32,
    "i64": torch.int64,
}


@dataclass(frozen=True)
class Case:
    """One kernel; the shape and the strides of its memory, and the place of the block, are arguments.

    Attributes:
        block: the shape of the block of a descriptor.
        value: the shape of what is loaded and stored.
        carrier: one of `CARRIERS`.
        pads_nan: whether the descriptor pads with NaN.
        rounds: whether it rounds floats, which only the host can ask for.
    """

    kind: str
    element: str
    block: tuple[int, ...]
    value: tuple[int, ...]
    carrier: str
    pads_nan: bool
    rounds: bool

    @property
    def lanes(self) -> int:
        return int(np.prod(self.value))

    @property
    def rank(self) -> int:
        return len(self.block)


def draw(seed: int) -> Case:
    """Returns a random kernel."""
    rng = np.random.default_rng(seed)
    kind = str(rng.choice(KINDS))
    carrier = CARRIERS[seed % len(CARRIERS)]
    element = str(rng.choice(list(DTYPES))) if kind != "sum" else "i32"
    rank = int(rng.integers(1, 6))
    block = [int(2 ** rng.integers(0, 4 if rank < 3 else 3)) for _ in range(rank)]
    value = block
    if kind == "squeezed":
        block = [1] * int(rng.integers(1, 3)) + block[-3:]
        value = [size for size in block if size != 1] or [1]
    if kind == "rows":
        # Triton asks for 8 rows and 32 bytes a row, and for elements of at most 32 bits.
        element = element.replace("64", "32")
        columns = 32 // DTYPES[element].itemsize
        block, value = [1, columns], [8, columns]
    is_float = not element.startswith("i")
    rounds = carrier == "argument" and element == "f32" and bool(rng.integers(2))
    pads_nan = is_float and bool(rng.integers(2))
    return Case(kind, element, tuple(block), tuple(value), carrier, pads_nan, rounds)


def _list(prefix: str, rank: int) -> str:
    return ", ".join(f"%{prefix}{d}" for d in range(rank))


def _accesses(case: Case, source: str, target: str, at: str) -> str:
    """Returns the accesses through two descriptors; what is loaded goes to `seen` + `at`."""
    descriptor, value = types(case)
    line = f"tensor<{case.lanes}x{case.element}>"
    index = _list("i", case.rank)
    if case.kind == "rows":
        head = f"%v = tt.descriptor_gather {source}[%rows, %i1] : ({descriptor}, tensor<8xi32>, i32) -> {value}"
        last = f"tt.descriptor_scatter {target}[%rows, %i1], %v : {descriptor}, tensor<8xi32>, i32, {value}"
    else:
        head = f"%v = tt.descriptor_load {source}[{index}] : {descriptor} -> {value}"
        how = "store" if case.kind != "sum" else "reduce add,"
        last = f"tt.descriptor_{how} {target}[{index}], %v : {descriptor}, {value}"
    flat = "" if len(case.value) == 1 else f"%flat = tt.reshape %v : {value} -> {line}"
    result = "%flat" if flat else "%v"
    pointers = f"tensor<{case.lanes}x!tt.ptr<{case.element}>>"
    return f"""
    {head}
    {flat}
    %to = tt.addptr %seen, {at} : !tt.ptr<{case.element}>, i32
    %all = tt.splat %to : !tt.ptr<{case.element}> -> {pointers}
    %lanes = tt.make_range {{end = {case.lanes} : i32, start = 0 : i32}} : tensor<{case.lanes}xi32>
    %places = tt.addptr %all, %lanes : {pointers}, tensor<{case.lanes}xi32>
    tt.store %places, {result} : {pointers}
    {last}"""


def types(case: Case) -> tuple[str, str]:
    """Returns the types of a descriptor and of what is loaded and stored."""
    block, value = ("x".join(map(str, shape)) for shape in (case.block, case.value))
    return f"!tt.tensordesc<{block}x{case.element}>", f"tensor<{value}x{case.element}>"


def text(case: Case) -> str:
    """Returns the module, with the function `kernel`.

    Its arguments are `x`, `y`, `seen` and the rows; a number that chooses; the index of the block; the shape of the
    memory, that of the other descriptor; and the strides. With the carrier ``argument``, the first two are descriptors.
    """
    descriptor, _ = types(case)
    rank, pointer = case.rank, f"!tt.ptr<{case.element}>"
    first = descriptor if case.carrier == "argument" else pointer
    numbers = ", ".join(f"%{name}{d}: i32" for name in ("i", "n", "m") for d in range(rank))
    strides = ", ".join(f"%s{d}: i64" for d in range(rank))
    padding = " {padding = 2 : i32}" if case.pads_nan else ""

    def make(name: str, base: str, shape: str) -> str:
        lists = f"[{_list(shape, rank)}], [{_list('s', rank)}]{padding}"
        return f"{name} = tt.make_tensor_descriptor {base}, {lists} : {pointer}, {descriptor}\n    "

    body = "%zero = arith.constant 0 : i32\n    %c = arith.cmpi ne, %choice, %zero : i32\n    "
    if case.kind == "rows":
        body += """%range = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %list = tt.splat %r : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
    %each = tt.addptr %list, %range : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
    %rows = tt.load %each : tensor<8x!tt.ptr<i32>>
    """
    more = ""
    if case.carrier != "argument":
        body += make("%dx", "%x", "n") + make("%dz", "%x", "m") + make("%dy", "%y", "n")
    if case.carrier == "directly":
        body += _accesses(case, "%dx", "%dy", "%zero")
    elif case.carrier == "argument":
        body += _accesses(case, "%x", "%y", "%zero")
    elif case.carrier == "loop":
        body += f"""%one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %size = arith.constant {case.lanes} : i32
    scf.for %k = %zero to %two step %one iter_args(%a = %dx, %b = %dz) -> ({descriptor}, {descriptor}) : i32 {{
    %at = arith.muli %k, %size : i32{_accesses(case, "%a", "%dy", "%at")}
    scf.yield %b, %a : {descriptor}, {descriptor}
    }}"""
    elif case.carrier == "call":
        index = _list("i", rank)
        rows = ", %rows" if case.kind == "rows" else ""
        given = ", ".join([descriptor] * 2 + [pointer] + ["i32"] * rank + ["tensor<8xi32>"] * bool(rows))
        body += f"tt.call @inner(%dx, %dy, %seen, {index}{rows}) : ({given}) -> ()"
        names = ", ".join(f"%i{d}: i32" for d in range(rank)) + (", %rows: tensor<8xi32>" if rows else "")
        more = f"""
  tt.func private @inner(%x: {descriptor}, %y: {descriptor}, %seen: {pointer}, {names}) {{
    %zero = arith.constant 0 : i32{_accesses(case, "%x", "%y", "%zero")}
    tt.return
  }}"""
    else:
        if case.carrier == "select":
            body += f"%d = arith.select %c, %dx, %dz : {descriptor}"
        else:
            body += f"""%d = scf.if %c -> ({descriptor}) {{
      scf.yield %dx : {descriptor}
    }} else {{
      scf.yield %dz : {descriptor}
    }}"""
        body += _accesses(case, "%d", "%dy", "%zero")
    return f"""module {{
  tt.func public @kernel(%x: {first}, %y: {first}, %seen: {pointer}, %r: !tt.ptr<i32>, %choice: i32,
                         {numbers}, {strides}) {{
    {body}
    tt.return
  }}{more}
}}
"""
