# SPDX-License-Identifier: Apache-2.0
"""Writes the page of the operations of ``tt`` that convert to linalg: ``python test/support/linalg/coverage_page.py
DIRECTORY``.

Each operation is in a small function of its own, below. The page shows what ``-triton-to-linalg`` really makes of it.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

import triton_ext as tx
from triton_ext.authoring.reference import write_page
from triton_ext.loading.host import triton_root

PAGE = "linalg-coverage.md"

#: Operations that the page leaves out of the results: functions, constants, empty arrays.
_PLAIN = {"arith.constant", "arith.index_cast", "func.func", "func.return", "tensor.empty", "linalg.yield"}
_PLAIN |= {"linalg_ext.yield", "scf.yield", "builtin.module"}

_DESCRIPTOR = """
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %c64_i32 = arith.constant 64 : i32
  %d = tt.make_tensor_descriptor %p, [%c64_i32, %c64_i32], [%c64, %c1] : !tt.ptr<f32>, !tt.tensordesc<8x16xf32>"""
_ROWS = """
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %c64_i32 = arith.constant 64 : i32
  %d = tt.make_tensor_descriptor %p, [%c64_i32, %c64_i32], [%c64, %c1] : !tt.ptr<f32>, !tt.tensordesc<1x16xf32>"""
_LINE = """
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>"""
_BOX = """
  %ns = tt.splat %n : i32 -> tensor<64xi32>
  %m = arith.cmpi slt, %r, %ns : tensor<64xi32>"""
_SUM = "^bb0(%a: f32, %b: f32):\n    %s = arith.addf %a, %b : f32\n    tt.{}.return %s : f32"
_ARG = """^bb0(%a: f32, %i: i32, %b: f32, %j: i32):
    %e = arith.cmpf oeq, %a, %b : f32
    %l = arith.cmpi slt, %i, %j : i32
    %t = arith.andi %e, %l : i1
    %g = arith.cmpf ogt, %a, %b : f32
    %w = arith.ori %g, %t : i1
    %v = arith.select %w, %a, %b : f32
    %k = arith.select %w, %i, %j : i32
    tt.reduce.return %v, %k : f32, i32"""
_SCALED = "tensor<32x64xf8E4M3FN>, tensor<32x2xi8> * tensor<64x32xf8E4M3FN> -> tensor<32x32xf32>"
_E3M2 = "tensor<32x64xi8>, tensor<32x2xi8> * tensor<64x32xi8> -> tensor<32x32xf32>"

#: operation, case, arguments, results, body; the values that are returned are called %0, %1, ...
_CASES: list[tuple[str, str, str, str, str]] = [
    ("addptr", "", "%p: !tt.ptr<f32>, %n: i32", "!tt.ptr<f32>", "%0 = tt.addptr %p, %n : !tt.ptr<f32>, i32"),
    ("approx_divf", "", "%x: tensor<8xf32>", "tensor<8xf32>", "%0 = tt.approx_divf %x, %x : tensor<8xf32>"),
    ("assert", "scalar", "%c: i1", "", 'tt.assert %c, "message" : i1'),
    ("assert", "tensor", "%c: tensor<8xi1>", "", 'tt.assert %c, "message" : tensor<8xi1>'),
    (
        "atomic_cas",
        "side by side",
        "%p: !tt.ptr<f32>, %v: tensor<64xf32>",
        "tensor<64xf32>",
        _LINE
        + "\n  %0 = tt.atomic_cas acq_rel, gpu, %pp, %v, %v : "
        + "(tensor<64x!tt.ptr<f32>>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>",
    ),
    (
        "atomic_cas",
        "scalar",
        "%p: !tt.ptr<i32>, %n: i32",
        "i32",
        "%0 = tt.atomic_cas acq_rel, gpu, %p, %n, %n : (!tt.ptr<i32>, i32, i32) -> i32",
    ),
    ("atomic_load", "", "%p: !tt.ptr<f32>", "f32", "%0 = tt.atomic_load acquire, gpu, %p : (!tt.ptr<f32>) -> f32"),
    (
        "atomic_poll",
        "",
        "%p: !tt.ptr<i32>, %n: i32",
        "i1",
        "%0 = tt.atomic_poll acquire, gpu, %p, %n : !tt.ptr<i32>, i32 -> i1",
    ),
    (
        "atomic_poll",
        "tensor, with a timeout",
        "%p: tensor<8x!tt.ptr<i32>>, %n: tensor<8xi32>, %t: i64",
        "tensor<8xi1>",
        "%0 = tt.atomic_poll acquire, gpu, %p, %n timeout %t : tensor<8x!tt.ptr<i32>>, tensor<8xi32> -> tensor<8xi1>",
    ),
    (
        "atomic_rmw",
        "side by side, mask a box",
        "%p: !tt.ptr<f32>, %n: i32, %v: tensor<64xf32>",
        "tensor<64xf32>",
        _LINE
        + _BOX
        + "\n  %0 = tt.atomic_rmw fadd, acq_rel, gpu, %pp, %v, %m : "
        + "(tensor<64x!tt.ptr<f32>>, tensor<64xf32>, tensor<64xi1>) -> tensor<64xf32>",
    ),
    (
        "atomic_rmw",
        "any pointers",
        "%p: tensor<8x!tt.ptr<i32>>, %v: tensor<8xi32>",
        "tensor<8xi32>",
        "%0 = tt.atomic_rmw add, acq_rel, gpu, %p, %v : (tensor<8x!tt.ptr<i32>>, tensor<8xi32>) -> tensor<8xi32>",
    ),
    ("atomic_store", "", "%p: !tt.ptr<i32>, %n: i32", "", "tt.atomic_store release, gpu, %p, %n : !tt.ptr<i32>"),
    ("bitcast", "", "%x: tensor<8xf32>", "tensor<8xi32>", "%0 = tt.bitcast %x : tensor<8xf32> -> tensor<8xi32>"),
    ("bitcast", "pointer", "%p: !tt.ptr<f32>", "!tt.ptr<i32>", "%0 = tt.bitcast %p : !tt.ptr<f32> -> !tt.ptr<i32>"),
    (
        "broadcast",
        "",
        "%x: tensor<8x1xf32>",
        "tensor<8x4xf32>",
        "%0 = tt.broadcast %x : tensor<8x1xf32> -> tensor<8x4xf32>",
    ),
    ("call", "", "%x: f32", "f32", "%0 = tt.call @callee(%x) : (f32) -> f32"),
    ("cat", "", "%x: tensor<8xf32>", "tensor<16xf32>", "%0 = tt.cat %x, %x : tensor<8xf32> -> tensor<16xf32>"),
    (
        "clampf",
        "",
        "%x: tensor<8xf32>, %l: tensor<8xf32>, %h: tensor<8xf32>",
        "tensor<8xf32>",
        "%0 = tt.clampf %x, %l, %h, propagateNan = none : tensor<8xf32>",
    ),
    (
        "descriptor_gather",
        "",
        "%p: !tt.ptr<f32>, %x: tensor<8xi32>, %n: i32",
        "tensor<8x16xf32>",
        _ROWS + "\n  %0 = tt.descriptor_gather %d[%x, %n] : "
        "(!tt.tensordesc<1x16xf32>, tensor<8xi32>, i32) -> tensor<8x16xf32>",
    ),
    (
        "descriptor_load",
        "",
        "%p: !tt.ptr<f32>, %n: i32",
        "tensor<8x16xf32>",
        _DESCRIPTOR + "\n  %0 = tt.descriptor_load %d[%n, %n] : !tt.tensordesc<8x16xf32> -> tensor<8x16xf32>",
    ),
    (
        "descriptor_load",
        "argument",
        "%d: !tt.tensordesc<8x16xf32>, %n: i32",
        "tensor<8x16xf32>",
        "%0 = tt.descriptor_load %d[%n, %n] : !tt.tensordesc<8x16xf32> -> tensor<8x16xf32>",
    ),
    (
        "descriptor_reduce",
        "",
        "%p: !tt.ptr<f32>, %n: i32, %v: tensor<8x16xf32>",
        "",
        _DESCRIPTOR + "\n  tt.descriptor_reduce add, %d[%n, %n], %v : !tt.tensordesc<8x16xf32>, tensor<8x16xf32>",
    ),
    (
        "descriptor_scatter",
        "",
        "%p: !tt.ptr<f32>, %x: tensor<8xi32>, %n: i32, %v: tensor<8x16xf32>",
        "",
        _ROWS
        + "\n  tt.descriptor_scatter %d[%x, %n], %v : !tt.tensordesc<1x16xf32>, tensor<8xi32>, i32, tensor<8x16xf32>",
    ),
    (
        "descriptor_store",
        "",
        "%p: !tt.ptr<f32>, %n: i32, %v: tensor<8x16xf32>",
        "",
        _DESCRIPTOR + "\n  tt.descriptor_store %d[%n, %n], %v : !tt.tensordesc<8x16xf32>, tensor<8x16xf32>",
    ),
    (
        "dot",
        "",
        "%a: tensor<16x32xf16>, %b: tensor<32x16xf16>, %c: tensor<16x16xf32>",
        "tensor<16x16xf32>",
        "%0 = tt.dot %a, %b, %c : tensor<16x32xf16> * tensor<32x16xf16> -> tensor<16x16xf32>",
    ),
    (
        "dot",
        "batches",
        "%a: tensor<2x16x32xf16>, %b: tensor<2x32x16xf16>, %c: tensor<2x16x16xf32>",
        "tensor<2x16x16xf32>",
        "%0 = tt.dot %a, %b, %c : tensor<2x16x32xf16> * tensor<2x32x16xf16> -> tensor<2x16x16xf32>",
    ),
    (
        "dot_scaled",
        "e4m3",
        "%a: tensor<32x64xf8E4M3FN>, %s: tensor<32x2xi8>, %b: tensor<64x32xf8E4M3FN>, %c: tensor<32x32xf32>",
        "tensor<32x32xf32>",
        f"%0 = tt.dot_scaled %a scale %s, %b, %c lhs = e4m3 rhs = e4m3 {{fastMath = false}} : {_SCALED}",
    ),
    (
        "dot_scaled",
        "e3m2",
        "%a: tensor<32x64xi8>, %s: tensor<32x2xi8>, %b: tensor<64x32xi8>, %c: tensor<32x32xf32>",
        "tensor<32x32xf32>",
        f"%0 = tt.dot_scaled %a scale %s, %b, %c lhs = e3m2 rhs = e3m2 {{fastMath = false}} : {_E3M2}",
    ),
    (
        "elementwise_inline_asm",
        "PTX",
        "%x: tensor<8xf32>",
        "tensor<8xf32>",
        '%0 = tt.elementwise_inline_asm "abs.f32 $0, $1;" '
        '{constraints = "=f,f", packed_element = 1 : i32, pure = true} %x : tensor<8xf32> -> tensor<8xf32>',
    ),
    (
        "elementwise_inline_asm",
        "",
        "%x: tensor<8xf32>",
        "tensor<8xf32>",
        '%0 = tt.elementwise_inline_asm "shl.b32 $0, $0, 3;" '
        '{constraints = "=r,r", packed_element = 1 : i32, pure = true} %x : tensor<8xf32> -> tensor<8xf32>',
    ),
    (
        "expand_dims",
        "",
        "%x: tensor<8xf32>",
        "tensor<8x1xf32>",
        "%0 = tt.expand_dims %x {axis = 1 : i32} : tensor<8xf32> -> tensor<8x1xf32>",
    ),
    (
        "extern_elementwise",
        "",
        "%x: tensor<8xf32>",
        "tensor<8xf32>",
        '%0 = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = "sinf"} '
        ": (tensor<8xf32>) -> tensor<8xf32>",
    ),
    (
        "extern_elementwise",
        "with effects",
        "%x: tensor<8xf32>",
        "tensor<8xf32>",
        '%0 = tt.extern_elementwise %x {libname = "", libpath = "", pure = false, symbol = "sinf"} '
        ": (tensor<8xf32>) -> tensor<8xf32>",
    ),
    (
        "fp_to_fp",
        "to nearest even",
        "%x: tensor<8xf32>",
        "tensor<8xf16>",
        "%0 = tt.fp_to_fp %x, rounding = rtne : tensor<8xf32> -> tensor<8xf16>",
    ),
    (
        "fp_to_fp",
        "toward zero",
        "%x: tensor<8xf32>",
        "tensor<8xf8E5M2>",
        "%0 = tt.fp_to_fp %x, rounding = rtz : tensor<8xf32> -> tensor<8xf8E5M2>",
    ),
    ("func", "", "", "", ""),
    (
        "gather",
        "",
        "%x: tensor<8x4xf32>, %i: tensor<2x4xi32>",
        "tensor<2x4xf32>",
        "%0 = tt.gather %x[%i] {axis = 0 : i32} : (tensor<8x4xf32>, tensor<2x4xi32>) -> tensor<2x4xf32>",
    ),
    ("get_num_programs", "", "", "i32", "%0 = tt.get_num_programs x : i32"),
    ("get_program_id", "", "", "i32", "%0 = tt.get_program_id x : i32"),
    ("grid_dependency_launch_dependents", "", "", "", "tt.grid_dependency_launch_dependents"),
    ("grid_dependency_wait", "", "", "", "tt.grid_dependency_wait"),
    (
        "histogram",
        "",
        "%x: tensor<64xi32>",
        "tensor<16xi32>",
        "%0 = tt.histogram %x : tensor<64xi32> -> tensor<16xi32>",
    ),
    ("int_to_ptr", "", "%n: i64", "!tt.ptr<f32>", "%0 = tt.int_to_ptr %n : i64 -> !tt.ptr<f32>"),
    (
        "join",
        "",
        "%x: tensor<8xf32>, %y: tensor<8xf32>",
        "tensor<8x2xf32>",
        "%0 = tt.join %x, %y : tensor<8xf32> -> tensor<8x2xf32>",
    ),
    (
        "load",
        "side by side, mask a box",
        "%p: !tt.ptr<f32>, %n: i32",
        "tensor<64xf32>",
        _LINE + _BOX + "\n  %0 = tt.load %pp, %m : tensor<64x!tt.ptr<f32>>",
    ),
    (
        "load",
        "any pointers, any mask",
        "%p: tensor<8x!tt.ptr<f32>>, %m: tensor<8xi1>",
        "tensor<8xf32>",
        "%0 = tt.load %p, %m : tensor<8x!tt.ptr<f32>>",
    ),
    ("load", "scalar, mask", "%p: !tt.ptr<f32>, %c: i1", "f32", "%0 = tt.load %p, %c : !tt.ptr<f32>"),
    ("load", "volatile", "%p: !tt.ptr<f32>", "f32", "%0 = tt.load %p {isVolatile = true} : !tt.ptr<f32>"),
    ("make_range", "", "", "tensor<8xi32>", "%0 = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>"),
    (
        "make_tensor_descriptor",
        "",
        "%p: !tt.ptr<f32>, %n: i32",
        "tensor<8x16xf32>",
        _DESCRIPTOR + "\n  %0 = tt.descriptor_load %d[%n, %n] : !tt.tensordesc<8x16xf32> -> tensor<8x16xf32>",
    ),
    (
        "map_elementwise",
        "",
        "%x: tensor<8xf32>",
        "tensor<8xf32>",
        '%0 = "tt.map_elementwise"(%x) <{pack = 1 : i32}> ({\n  ^bb0(%a: f32):\n    %r = arith.negf %a : f32\n'
        "    tt.map_elementwise.return %r : f32\n  }) : (tensor<8xf32>) -> tensor<8xf32>",
    ),
    (
        "map_elementwise",
        "two at a time",
        "%x: tensor<8xf32>",
        "tensor<8xf32>",
        '%0 = "tt.map_elementwise"(%x) <{pack = 2 : i32}> ({\n  ^bb0(%a: f32, %b: f32):\n'
        "    tt.map_elementwise.return %b, %a : f32, f32\n  }) : (tensor<8xf32>) -> tensor<8xf32>",
    ),
    ("mulhiui", "", "%x: tensor<8xi32>", "tensor<8xi32>", "%0 = tt.mulhiui %x, %x : tensor<8xi32>"),
    ("precise_divf", "", "%x: tensor<8xf32>", "tensor<8xf32>", "%0 = tt.precise_divf %x, %x : tensor<8xf32>"),
    ("precise_sqrt", "", "%x: tensor<8xf32>", "tensor<8xf32>", "%0 = tt.precise_sqrt %x : tensor<8xf32>"),
    ("print", "", "%x: tensor<8xf32>", "", 'tt.print "x" {hex = false, isSigned = array<i32: 0>} : %x : tensor<8xf32>'),
    ("ptr_to_int", "", "%p: !tt.ptr<f32>", "i64", "%0 = tt.ptr_to_int %p : !tt.ptr<f32> -> i64"),
    (
        "reduce",
        "sum",
        "%x: tensor<4x8xf32>",
        "tensor<4xf32>",
        f'%0 = "tt.reduce"(%x) <{{axis = 1 : i32}}> ({{\n  {_SUM.format("reduce")}\n  }}) '
        ": (tensor<4x8xf32>) -> tensor<4xf32>",
    ),
    (
        "reduce",
        "argmax",
        "%x: tensor<4x8xf32>, %y: tensor<4x8xi32>",
        "tensor<4xf32>, tensor<4xi32>",
        f'%0, %1 = "tt.reduce"(%x, %y) <{{axis = 1 : i32}}> ({{\n  {_ARG}\n  }}) '
        ": (tensor<4x8xf32>, tensor<4x8xi32>) -> (tensor<4xf32>, tensor<4xi32>)",
    ),
    ("reshape", "", "%x: tensor<4x8xf32>", "tensor<32xf32>", "%0 = tt.reshape %x : tensor<4x8xf32> -> tensor<32xf32>"),
    ("return", "", "", "", ""),
    (
        "scan",
        "",
        "%x: tensor<4x8xf32>",
        "tensor<4x8xf32>",
        f'%0 = "tt.scan"(%x) <{{axis = 1 : i32, reverse = true}}> ({{\n  {_SUM.format("scan")}\n  }}) '
        ": (tensor<4x8xf32>) -> tensor<4x8xf32>",
    ),
    ("splat", "", "%x: f32", "tensor<8xf32>", "%0 = tt.splat %x : f32 -> tensor<8xf32>"),
    (
        "split",
        "",
        "%x: tensor<8x2xf32>",
        "tensor<8xf32>, tensor<8xf32>",
        "%0, %1 = tt.split %x : tensor<8x2xf32> -> tensor<8xf32>",
    ),
    (
        "store",
        "side by side, mask a box",
        "%p: !tt.ptr<f32>, %n: i32, %v: tensor<64xf32>",
        "",
        _LINE + _BOX + "\n  tt.store %pp, %v, %m : tensor<64x!tt.ptr<f32>>",
    ),
    (
        "store",
        "any pointers, any mask",
        "%p: tensor<8x!tt.ptr<f32>>, %v: tensor<8xf32>, %m: tensor<8xi1>",
        "",
        "tt.store %p, %v, %m : tensor<8x!tt.ptr<f32>>",
    ),
    ("store", "scalar, mask", "%p: !tt.ptr<f32>, %x: f32, %c: i1", "", "tt.store %p, %x, %c : !tt.ptr<f32>"),
    (
        "trans",
        "",
        "%x: tensor<4x8xf32>",
        "tensor<8x4xf32>",
        "%0 = tt.trans %x {order = array<i32: 1, 0>} : tensor<4x8xf32> -> tensor<8x4xf32>",
    ),
    ("unsplat", "", "%x: tensor<1x1xf32>", "f32", "%0 = tt.unsplat %x : tensor<1x1xf32>"),
]


@dataclass(frozen=True)
class Case:
    """A function with one operation, and the result of its conversion: `operations`, or the diagnostic `error`."""

    name: str
    case: str
    operations: tuple[str, ...]
    error: str


def operations_of_triton() -> set[str]:
    """Returns the names of all operations of the installed Triton's dialect, except those that only end regions."""
    header = triton_root() / "include" / "triton" / "Dialect" / "Triton" / "IR" / "Ops.h.inc"
    names = set(re.findall(r'StringLiteral\("tt\.([\w.]+)"\)', header.read_text()))
    return {name for name in names if not name.endswith(".return")}


def cases() -> list[Case]:
    """Runs all cases and returns them."""
    return [_run(*case) for case in _CASES]


def _run(name: str, case: str, arguments: str, results: str, body: str) -> Case:
    count = len(re.findall(r"(?:^|, )(?:tensor|!tt|[fi]\d)", results))
    values = ", ".join(f"%{i}" for i in range(count))
    end = f"tt.return {values} : {results}" if count else "tt.return"
    callee = "tt.func private @callee(%x: f32) -> f32 attributes {noinline = true} {\n  tt.return %x : f32\n}\n"
    text = f"tt.func @f({arguments}) -> ({results}) {{\n  {body}\n  {end}\n}}\n"
    try:
        converted = tx.opt((callee if name == "call" else "") + text, "triton-to-linalg", name=name)
    except tx.PipelineError as error:
        found = re.findall(r"error: (.*)", str(error))
        return Case(name, case, (), found[0].partition(" cannot be converted to linalg: ")[2] or found[0])
    around = {operation for operation in _operations(text) if not operation.startswith("tt.")}
    made = _operations(converted) - around - (_PLAIN - {f"func.{name}"})
    return Case(name, case, tuple(sorted(made)), "")


def _operations(module: str) -> set[str]:
    """Returns the names of the operations in the text of a module, which prints functions without their dialect."""
    found = re.findall(r"^\s*(?:%[^=]*= )?\"?([a-z]\w*\.\w[\w.]*|call|return)\b", module, re.MULTILINE)
    return {f"func.{name}" if "." not in name else name for name in found}


def page() -> str:
    """Returns the page, a table in the order of the names."""
    found = cases()
    fails = {case.name for case in found if case.error}
    converts = {case.name for case in found if not case.error}
    lines = [
        "<!-- Generated by make docs. Do not edit. -->",
        "",
        "# Operations of Triton in linalg",
        "",
        f"What `-triton-to-linalg` makes of each of the {len(converts | fails)} operations of `tt`, in a function of",
        f"its own: {len(converts - fails)} convert, {len(converts & fails)} convert but in the cases that say why not,",
        f"{len(fails - converts)} never convert. An error is at the operation.",
        "",
        "| operation | case | becomes | or why not |",
        "|---|---|---|---|",
    ]
    for case in found:
        made = ", ".join(f"`{operation}`" for operation in case.operations) or ("" if case.error else "nothing")
        lines.append(f"| `{case.name}` | {case.case} | {made} | {case.error} |")
    return "\n".join(lines) + "\n"


def main(directory: Path) -> None:
    """Writes the page into `directory`."""
    write_page(directory / PAGE, page())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
