# SPDX-License-Identifier: Apache-2.0
"""Inputs that are IR and call functions of a library, or reduce tensors of bf16; see texts.py."""

from __future__ import annotations

from collections.abc import Callable

import torch

from support.linalg.shared_inputs.texts import add, pointers, range_of

#: CUDA's functions of floats, each by torch and, for linking, by C.
_FUNCTIONS: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "fabs": lambda a, b: a.abs(), "sin": lambda a, b: a.sin(), "cos": lambda a, b: a.cos(),
    "tan": lambda a, b: a.tan(), "asin": lambda a, b: a.asin(), "acos": lambda a, b: a.acos(),
    "atan": lambda a, b: a.atan(), "sinh": lambda a, b: a.sinh(), "cosh": lambda a, b: a.cosh(),
    "tanh": lambda a, b: a.tanh(), "asinh": lambda a, b: a.asinh(), "acosh": lambda a, b: b.acosh(),
    "atanh": lambda a, b: a.atanh(), "log": lambda a, b: b.log(), "log10": lambda a, b: b.log10(),
    "log1p": lambda a, b: b.log1p(), "exp": lambda a, b: a.exp(), "exp2": lambda a, b: a.exp2(),
    "erf": lambda a, b: a.erf(), "sqrt": lambda a, b: b.sqrt(), "rsqrt": lambda a, b: b.rsqrt(),
    "ceil": lambda a, b: b.ceil(), "floor": lambda a, b: b.floor(), "trunc": lambda a, b: b.trunc(),
    "atan2": torch.atan2, "pow": lambda a, b: b.pow(a),
}  # fmt: skip
#: Those that have an argument of at least 1.
_LARGE = {"acosh", "log", "log10", "log1p", "sqrt", "rsqrt", "ceil", "floor", "trunc"}


def _call(row: int, name: str) -> str:
    operands = {"atan2": "%a, %b", "pow": "%b, %a"}.get(name, "%b" if name in _LARGE else "%a")
    types = ", ".join(["tensor<32xf32>"] * (operands.count(",") + 1))
    attributes = f'{{libname = "", libpath = "", pure = true, symbol = "__nv_{name}f"}}'
    return f"""
  %v{row} = tt.extern_elementwise {operands} {attributes} : ({types}) -> tensor<32xf32>
  %o{row} = arith.constant {row * 32} : i32
  %m{row} = tt.addptr %out, %o{row} : !tt.ptr<f32>, i32
  %q{row} = tt.splat %m{row} : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>>
  %q{row}s = tt.addptr %q{row}, %i : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
  tt.store %q{row}s, %v{row}, %mask : tensor<32x!tt.ptr<f32>>"""


def _in_c(name: str) -> str:
    if name == "rsqrt":
        return "float __nv_rsqrtf(float a) { return 1.0f / sqrtf(a); }\n"
    arguments = "float a, float b", "a, b"
    if name not in {"atan2", "pow"}:
        arguments = "float a", "a"
    return f"float __nv_{name}f({arguments[0]}) {{ return {name}f({arguments[1]}); }}\n"


add(
    "functions_of_libdevice",
    "convert_extern_elementwise",
    module=f"""
tt.func @f(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %out: !tt.ptr<f32>) {{
  {range_of(32)}
  %thirty = arith.constant dense<30> : tensor<32xi32>
  %mask = arith.cmpi slt, %i, %thirty : tensor<32xi32>
  {pointers("x", "p", 32, "f32")}
  {pointers("y", "r", 32, "f32")}
  %a = tt.load %ps, %mask : tensor<32x!tt.ptr<f32>>
  %b = tt.load %rs, %mask : tensor<32x!tt.ptr<f32>>
{"".join(_call(row, name) for row, name in enumerate(_FUNCTIONS))}
  tt.return
}}
""",
    source="#include <math.h>\n" + "".join(map(_in_c, _FUNCTIONS)),
    arguments=lambda g: (
        torch.rand(30, generator=g) * 1.8 - 0.9,
        torch.rand(30, generator=g) * 5 + 1,
        torch.zeros(len(_FUNCTIONS) * 32 - 2),
    ),
    expected=lambda x, y, out: torch.cat(
        [torch.nn.functional.pad(function(x, y), (0, 2)) for function in _FUNCTIONS.values()]
    )[:-2],
    rtol=2e-6,
)


def _reduction(rows: int, columns: int, planes: int, axis: int, combine: str) -> str:
    """Returns a module that reduces a tensor of bf16 with three dimensions, or with as many as have elements."""
    sizes = [size for size in (rows, columns, planes) if size]
    kept = [size for at, size in enumerate(sizes) if at != axis]
    whole, flat = "x".join(map(str, [*sizes, "bf16"])), "x".join(map(str, [*kept, "bf16"]))
    count, left = rows * (columns or 1) * (planes or 1), rows * (columns or 1) * (planes or 1) // sizes[axis]
    result = f"tensor<{flat}>" if kept else "bf16"
    store = "tt.store %out, %r : !tt.ptr<bf16>"
    if kept:
        store = f"""%s = tt.reshape %r : tensor<{flat}> -> tensor<{left}xbf16>
  %j = tt.make_range {{end = {left} : i32, start = 0 : i32}} : tensor<{left}xi32>
  %q = tt.splat %out : !tt.ptr<bf16> -> tensor<{left}x!tt.ptr<bf16>>
  %qs = tt.addptr %q, %j : tensor<{left}x!tt.ptr<bf16>>, tensor<{left}xi32>
  tt.store %qs, %s : tensor<{left}x!tt.ptr<bf16>>"""
    return f"""
tt.func @f(%x: !tt.ptr<bf16>, %out: !tt.ptr<bf16>) {{
  {range_of(count)}
  {pointers("x", "p", count, "bf16")}
  %v = tt.load %ps : tensor<{count}x!tt.ptr<bf16>>
  %w = tt.reshape %v : tensor<{count}xbf16> -> tensor<{whole}>
  %r = "tt.reduce"(%w) <{{axis = {axis} : i32}}> ({{
  ^bb0(%a: bf16, %b: bf16):
    %c = {combine} %a, %b : bf16
    tt.reduce.return %c : bf16
  }}) : (tensor<{whole}>) -> {result}
  {store}
  tt.return
}}
"""


def _add_reduction(
    name: str, tests: tuple[str, ...], sizes: tuple[int, ...], axis: int, combine: str = "arith.addf"
) -> None:
    rows, columns, planes = (*sizes, 0, 0)[:3]
    left = torch.Size(sizes).numel() // sizes[axis]

    def expected(x: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
        whole = x.float().reshape(sizes)
        found = whole.sum(axis) if combine == "arith.addf" else whole.amax(axis)
        return found.reshape(left).bfloat16()

    add(
        name,
        *tests,
        module=_reduction(rows, columns, planes, axis, combine),
        # All sums are integers of at most 8 bits, which bf16 has.
        arguments=lambda g: (
            torch.randint(0, 2, (torch.Size(sizes).numel(),), generator=g).bfloat16(),
            torch.zeros(left).bfloat16(),
        ),
        expected=expected,
    )


_add_reduction("maximum_of_bf16", ("reducemax_32_256_bf16",), (32, 64), 1, "arith.maximumf")
_add_reduction("sums_of_columns_of_bf16", ("reducesum_512_256_bf16_axis0",), (128, 32), 0)
_add_reduction("sums_of_rows_of_bf16", ("reducesum_512_256_bf16_axis1",), (32, 128), 1)
_add_reduction("sums_along_the_middle_of_bf16", ("reducesum_middle_dim",), (8, 64, 4), 1)
_add_reduction("sum_of_bf16", ("reducesum_scalar", "reduce_extend_fp32_precision"), (128,), 0)

add(
    "bound_and_scalar_condition",
    "examples/test_mask",
    module=f"""
tt.func @f(%x: !tt.ptr<i32>, %n: !tt.ptr<i32>, %out: !tt.ptr<i32>) {{
  %five = arith.constant 5 : i32
  %four = arith.constant dense<4> : tensor<8xi32>
  %other = arith.constant dense<-1> : tensor<8xi32>
  %v = tt.load %n : !tt.ptr<i32>
  %small = arith.cmpi slt, %v, %five : i32
  {range_of(8)}
  %below = arith.cmpi slt, %i, %four : tensor<8xi32>
  %smalls = tt.splat %small : i1 -> tensor<8xi1>
  %mask = arith.andi %smalls, %below : tensor<8xi1>
  {pointers("x", "p", 8, "i32")}
  {pointers("out", "q", 8, "i32")}
  %a = tt.load %ps, %mask, %other : tensor<8x!tt.ptr<i32>>
  tt.store %qs, %a : tensor<8x!tt.ptr<i32>>
  tt.return
}}
""",
    arguments=lambda g: (
        torch.arange(10, 14, dtype=torch.int32),
        torch.tensor([3 if g.initial_seed() % 2 else 8], dtype=torch.int32),
        torch.zeros(8, dtype=torch.int32),
    ),
    expected=lambda x, n, out: torch.nn.functional.pad(x if n < 5 else torch.full_like(x, -1), (0, 4), value=-1),
)
