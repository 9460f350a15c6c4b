# SPDX-License-Identifier: Apache-2.0
"""Tiled operations give the results of NumPy, whether or not the tiles divide the shape, on memrefs and on tensors.

All operations are in one function, so that stock mlir-opt runs once for each list of sizes.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import triton_ext as tx
from support.linalg import execute, kernels

pytestmark = pytest.mark.usefixtures("stock")

_ELEMENTS = {"float32": "f32", "float64": "f64", "int32": "i32", "int64": "i64", "bool": "i1"}


@dataclass
class Case:
    """One operation.

    Attributes:
        text: with `{v0}` for the first array and `{t0}` for its type, and so on.
        arrays: its operands; the last ones are written.
        expected: what the last ones are then.
        memory: numbers of those operands that are memory even where the others are tensors.
    """

    text: str
    arrays: list[Any]
    expected: list[Any]
    memory: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Gives every array its own memory, row by row."""
        self.arrays = [np.array(array, order="C") for array in self.arrays]


def numbers(*shape: int, dtype: str = "float32", seed: int = 0) -> Any:
    """Returns small integers, whose sums are exact in any order."""
    return np.random.default_rng(seed).integers(-5, 6, shape).astype(dtype)


def body(op: str, element: str = "f32", arguments: int = 2) -> str:
    """Returns a region that yields its first argument, or `op` of the first two."""
    names = ", ".join(f"%b{i}: {element}" for i in range(arguments))
    made = f"%r = {op} %b0, %b1 : {element}\n    linalg_ext.yield %r" if op else "linalg_ext.yield %b0"
    return f"{{{{\n  ^bb0({names}):\n    {made} : {element}\n  }}}}"


def windows(
    image: Any, count: Sequence[int], size: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> Any:
    """Returns the windows, of shape (n, y, x, h, w, c), of an image (n, height, width, c)."""
    y, x, h, w = np.ogrid[: count[0], : count[1], : size[0], : size[1]]
    return image[:, y * strides[0] + h * dilations[0], x * strides[1] + w * dilations[1]]


def reductions() -> list[Case]:
    """Returns named reductions, argmax and argmin, and a histogram."""
    cases = []
    for name, combine in [("sum", np.add), ("max", np.maximum), ("min", np.minimum)]:
        x, out = numbers(5, 7, 3), numbers(7, seed=1)
        text = f"linalg_ext.reduce_{name} dimensions = [0, 2] ins({{v0}} : {{t0}}) outs({{v1}} : {{t1}})"
        cases.append(Case(text, [x, out], [combine(combine.reduce(x, (0, 2)), out)]))
    for name, combine in [
        ("max_nan", np.maximum), ("min_nan", np.minimum), ("max", np.fmax), ("min", np.fmin),
    ]:  # fmt: skip
        x, out = numbers(6, 9, seed=2), numbers(6, seed=3)
        x[1, 2] = x[4, 8] = np.nan
        text = f"linalg_ext.reduce_{name} dimensions = [1] ins({{v0}} : {{t0}}) outs({{v1}} : {{t1}})"
        cases.append(Case(text, [x, out], [combine(combine.reduce(x, 1), out)]))
    for name, reference, worst in [("argmax", np.argmax, -9.0), ("argmin", np.argmin, 9.0)]:
        x, index = numbers(6, 11, seed=4), np.broadcast_to(np.arange(11, dtype="int32"), (6, 11)).copy()
        where = reference(x, 1)
        text = (
            f"linalg_ext.{name} dimension = 1 tie_break_left(true) ins({{v0}}, {{v1}} : {{t0}}, {{t1}})"
            " outs({v2}, {v3} : {t2}, {t3})"
        )
        inits = [np.full(6, worst, "float32"), np.full(6, 1 << 20, "int32")]
        cases.append(Case(text, [x, index, *inits], [x[np.arange(6), where], where.astype("int32")]))
    for name, reference, worst in [("argmax", np.argmax, -9), ("argmin", np.argmin, 9)]:
        x, index = numbers(11, 7, dtype="int32", seed=28), np.tile(np.arange(11)[:, None], 7)
        where = reference(x, 0)
        text = (
            f"linalg_ext.{name} dimension = 0 tie_break_left(true) ins({{v0}}, {{v1}} : {{t0}}, {{t1}})"
            " outs({v2}, {v3} : {t2}, {t3})"
        )
        inits = [np.full(7, worst, "int32"), np.full(7, 1 << 20)]
        cases.append(Case(text, [x, index, *inits], [x[where, np.arange(7)], where]))
    x, mask = numbers(4, 9, dtype="int32", seed=5), numbers(4, 9, seed=6) > 0
    counted = x[mask & (x >= 0) & (x < 4)]
    text = "linalg_ext.histogram ins({v0}, {v1} : {t0}, {t1}) outs({v2} : {t2})"
    cases.append(Case(text, [x, mask, np.ones(4, "int32")], [(1 + np.bincount(counted, minlength=4)).astype("int32")]))
    return cases


def arrangements() -> list[Case]:
    """Returns operations that depend on the position: pad, make_range, flip, tri, scan."""
    cases = []
    for low, high in [((2, 0), (1, 3)), ((7, 1), (0, 5)), ((0, 6), (6, 0))]:
        x = numbers(4, 5, seed=7)
        padded = np.pad(x + x, list(zip(low, high, strict=True)), constant_values=3)
        text = (
            f"linalg_ext.pad ins({{v0}} : {{t0}}) outs({{v1}} : {{t1}}) pvalue(%three : f32)"
            f" low = {list(low)} high = {list(high)} {{{{\n  ^bb0(%b0: f32):\n    %r = arith.addf %b0, %b0 : f32\n"
            "    linalg_ext.yield %r : f32\n  }}"
        )
        cases.append(Case(text, [x, np.zeros_like(padded)], [padded]))
    text = "linalg_ext.make_range ins(%c3, %c20 : i32, i32) outs({v0} : {t0})"
    cases.append(Case(text, [np.zeros(17, "int32")], [np.arange(3, 20, dtype="int32")]))
    for dim in (0, 1):
        x = numbers(7, 6, seed=8)
        text = f"linalg_ext.flip dimension = {dim} ins({{v0}} : {{t0}}) outs({{v1}} : {{t1}})"
        cases.append(Case(text, [x, np.zeros_like(x)], [np.flip(x, dim)]))
    for diagonal in ("%down", "%up"):
        text = f"linalg_ext.tri ins({diagonal} : index) outs({{v0}} : {{t0}})"
        cases.append(Case(text, [np.full((6, 8), 7.0, "float32")], [np.tri(6, 8, {"%down": -2, "%up": 3}[diagonal])]))
    for dim, reverse in [(0, True), (1, False)]:
        x = numbers(6, 7, seed=9)
        summed = np.flip(np.cumsum(np.flip(x, dim), dim), dim) if reverse else np.cumsum(x, dim)
        text = (
            f"linalg_ext.scan dimension = {dim} reverse({str(reverse).lower()}) ins({{v0}} : {{t0}})"
            f" outs({{v1}} : {{t1}}) {body('arith.addf')}"
        )
        cases.append(Case(text, [x, np.zeros_like(x)], [summed]))
    return cases


def moves() -> list[Case]:
    """Returns gather, scatter and the atomics."""
    cases = []
    x, mask = numbers(9, 6, seed=10), numbers(5, 4, seed=11) > -2
    index = np.random.default_rng(12).integers(0, 8, (5, 4, 1)).astype("int32")
    old = numbers(5, 4, 2, 6, seed=13)
    read = np.stack([x[index[..., 0]], x[index[..., 0] + 1]], 2)
    text = (
        "linalg_ext.gather dimension_map = [0] ranged_data(true) signed_indice(true) ins({v0}, {v1}, {v2} : {t0}, {t1},"
        f" {{t2}}) outs({{v3}} : {{t3}}) {body('')}"
    )
    cases.append(Case(text, [x, index, mask, old], [np.where(mask[..., None, None], read, old)]))
    for overlap in (True, False):
        # Without overlap no element is written twice; with it, the last one stays.
        places = [[3, 7, 3, 0], [0, 7, 3, 5]] if overlap else [[3, 7, 2, 0], [6, 1, 4, 5]]
        where = np.array(places, "int32")[..., None]
        update, into, kept = numbers(2, 4, 1, 5, seed=14), numbers(8, 5, seed=15), numbers(2, 4, seed=16) > -4
        written = into.copy()
        for b in np.ndindex(2, 4):
            if kept[b]:
                written[where[b][0]] = update[b][0] - written[where[b][0]]
        text = (
            f"linalg_ext.scatter dimension_map = [0] ranged_data(true) overlap_window({str(overlap).lower()})"
            " signed_indice(true) ins({v0}, {v1}, {v2} : {t0}, {t1}, {t2}) outs({v3} : {t3})"
            f" {body('arith.subf')}"
        )
        cases.append(Case(text, [update, where, kept, into], [written]))
    value, memory = numbers(6, 5, dtype="int32", seed=17), numbers(6, 5, dtype="int32", seed=18)
    text = "linalg_ext.atomic_rmw addi acq_rel ins({v0} : {t0}) outs({v1}, {v2} : {t1}, {t2})"
    cases.append(Case(text, [value, memory, np.zeros_like(value)], [memory + value, memory], memory=(1,)))
    expected = np.where(numbers(6, 5, seed=19) > 0, memory, 99).astype("int32")
    text = "linalg_ext.atomic_cas relaxed ins({v0}, {v1} : {t0}, {t1}) outs({v2}, {v3} : {t2}, {t3})"
    after = np.where(memory == expected, value, memory)
    cases.append(Case(text, [expected, value, memory, np.zeros_like(value)], [after, memory], memory=(2,)))
    where = np.random.default_rng(20).permutation(9)[:7, None]
    value, memory, mask = numbers(7, 1, seed=21), numbers(9, seed=22), numbers(7, seed=23) > -2
    text = (
        "linalg_ext.gather_atomic_rmw addf relaxed ins({v0}, {v1}, {v2} : {t0}, {t1}, {t2})"
        " outs({v3}, {v4} : {t3}, {t4})"
    )
    after = memory.copy()
    after[where[mask]] += value[mask]
    old = np.where(mask[:, None], memory[where], -1)
    cases.append(Case(text, [value, where, mask, memory, np.full((7, 1), -1.0, "float32")], [after, old], memory=(3,)))
    return cases


def images() -> list[Case]:
    """Returns convolutions, poolings and im2col."""
    cases = []
    for strides, dilations in [((1, 1), (1, 1)), ((2, 1), (1, 2))]:
        image, filters = numbers(2, 1, 9, 8, 3, seed=24), numbers(2, 4, 3, 2, 3, seed=25)
        count = [(n - (k - 1) * d - 1) // s + 1 for n, k, d, s in zip((9, 8), (3, 2), dilations, strides, strict=True)]
        how = f"strides = {list(strides)} dilations = {list(dilations)}"
        seen = np.stack([windows(one, count, (3, 2), strides, dilations) for one in image])
        out = numbers(2, 1, *count, 4, seed=26)
        text = f"linalg_ext.batch_conv_2d_nhwc_fhwc {how} ins({{v0}}, {{v1}} : {{t0}}, {{t1}}) outs({{v2}} : {{t2}})"
        cases.append(Case(text, [image, filters, out], [out + np.einsum("bnyxhwc,bfhwc->bnyxf", seen, filters)]))
        text = f"linalg_ext.im2col {how} ins({{v0}} : {{t0}}) outs({{v1}} : {{t1}})"
        cases.append(Case(text, [image[0].copy(), np.zeros_like(seen[0])], [seen[0]]))
        for name, combine in [("max", np.maximum), ("min", np.minimum)]:
            first = numbers(1, *count, 3, seed=27)
            pooled = combine(combine.reduce(seen[0], (3, 4)), first)
            text = (
                f"linalg_ext.pooling_nhwc_{name}_nan {how} ins({{v0}}, {{v1}} : {{t0}}, {{t1}}) outs({{v2}} : {{t2}})"
            )
            cases.append(Case(text, [image[0].copy(), np.zeros((3, 2), "float32"), first], [pooled]))
    return cases


CASES = [*reductions(), *arrangements(), *moves(), *images()]
HEAD = """%three = arith.constant 3.0 : f32
  %c3 = arith.constant 3 : i32
  %c20 = arith.constant 20 : i32
  %down = arith.constant -2 : index
  %up = arith.constant 3 : index
"""


def types_of(case: Case, kind: str, sizes: bool) -> list[str]:
    """Returns the types of the operands, with static sizes; on tensors, without the sizes that the syntax does not
    need."""
    types = []
    for i, array in enumerate(case.arrays):
        of_memory = i in case.memory or kind == "memref"
        dims = [str(n) if sizes or of_memory or n == 1 else "?" for n in array.shape]
        types.append(f"{'memref' if of_memory else 'tensor'}<{'x'.join([*dims, _ELEMENTS[array.dtype.name]])}>")
    return types


def function(cases: list[Case], kind: str, sizes: bool) -> str:
    """Returns a function `f` that does all operations, on memory to which its arguments point."""
    lines, arguments = [HEAD], []
    for c, case in enumerate(cases):
        types, names = types_of(case, kind, sizes), []
        for i, (array, ty) in enumerate(zip(case.arrays, types, strict=True)):
            name, memory = f"%v{c}_{i}", f"memref<{'x'.join([*map(str, array.shape), _ELEMENTS[array.dtype.name]])}>"
            strides = [int(np.prod(array.shape[i + 1 :])) for i in range(array.ndim)]
            arguments.append(f"%p{c}_{i}: !llvm.ptr")
            view = f"aux.view %p{c}_{i} to offset: [0], sizes: {list(array.shape)}, strides: {strides}"
            lines.append(f"  %m{c}_{i} = {view} : !llvm.ptr to {memory}")
            if ty == memory:
                names.append(f"%m{c}_{i}")
                continue
            known = ty if sizes else f"tensor<{memory[7:]}"
            lines.append(f"  {name} = bufferization.to_tensor %m{c}_{i} restrict writable : {memory} to {known}")
            if not sizes:
                # Folding cannot remove this cast, because the tensor comes out of a loop of one step.
                lines.append(f"  {name}d = tensor.cast {name} : {known} to {ty}")
                lines.append(f"  {name}o = scf.execute_region -> {ty} no_inline {{ scf.yield {name}d : {ty} }}")
                name += "o"
            names.append(name)
        written = [
            i for i in range(len(types) - len(case.expected), len(types)) if kind == "tensor" and i not in case.memory
        ]
        values = {f"v{i}": name for i, name in enumerate(names)} | {f"t{i}": ty for i, ty in enumerate(types)}
        text = case.text.format(**values)
        if written:
            text = f"%r{c}:{len(written)} = {text} -> {', '.join(types[i] for i in written)}"
        lines.append(f"  {text}")
        for n, i in enumerate(written):
            memory = f"memref<{'x'.join([*map(str, case.arrays[i].shape), _ELEMENTS[case.arrays[i].dtype.name]])}>"
            put = f"bufferization.materialize_in_destination %r{c}#{n} in restrict writable %m{c}_{i}"
            lines.append(f"  {put} : ({types[i]}, {memory}) -> ()")
    body = "\n".join(lines)
    return f"func.func @f({', '.join(arguments)}) {{\n  {body}\n  return\n}}\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "sizes", "tiles", "how"),
    [
        ("memref", True, (), ""), ("memref", True, (3, 2, 4, 3, 2, 2), ""),
        ("memref", True, (1, 1, 1, 1, 1, 1, 1, 1), ""),
        ("tensor", True, (2, 5, 2, 1, 3, 1, 2), ""), ("tensor", True, (0, 3, 0, 2, 0, 2, 0, 2), ""),
        ("tensor", False, (4, 4, 3, 2, 3, 3, 2, 2), ""), ("tensor", False, (0, 2), ""),
        ("tensor", True, (2, 4, 2, 1, 3, 2, 1, 2), "partial-reductions"),
        ("tensor", False, (4, 4, 3, 2, 3, 3, 2, 2), "partial-reductions"),
    ],
)  # fmt: skip
def test_tiles(kind: str, sizes: bool, tiles: tuple[int, ...], how: str) -> None:
    lower, text = "lower-linalg-ext{program-arguments=false}", function(CASES, kind, sizes)
    tiling = f"tile-linalg{{tile-sizes={','.join(map(str, tiles))} {how}}},{'canonicalize,cse,' if sizes else ''}"
    lowered = tx.opt(text, tiling + lower)
    assert (lowered.count("scf.for") > tx.opt(text, lower).count("scf.for") + 20) == bool(tiles)
    run: Any = execute.build(execute.to_llvm(lowered), "f").f
    run.restype = None
    arrays = [[array.copy(order="C") for array in case.arrays] for case in CASES]
    run(*(ctypes.c_void_p(array.ctypes.data) for case in arrays for array in case))
    for case, found in zip(CASES, arrays, strict=True):
        for array, expected in zip(found[-len(case.expected) :], case.expected, strict=True):
            np.testing.assert_array_equal(array, expected.astype(array.dtype), err_msg=case.text)
        for array, before in zip(found[: -len(case.expected)], case.arrays, strict=False):
            np.testing.assert_array_equal(array, before, err_msg=f"an input of {case.text}")


KERNELS = [
    "two_dimensions", "gather_of_float32", "reduce_by_max", "reduce_by_argmin",
    "scan_by_cumsum", "histogram", "matmul_of_float32", "atomic_add", "loads_and_stores_in_order",
    "tutorial_softmax", "tutorial_layer_norm", "tutorial_attention",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    "tiling",
    ["tile-sizes=7,5,3", "tile-sizes=16,24 fuse", "tile-sizes=16,24 fuse-users", "tile-sizes=7,5,3 partial-reductions"],
)
@pytest.mark.parametrize("name", KERNELS)
def test_tiled_kernels(name: str, tiling: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs whole kernels, with their loads and stores, with and without fusion."""
    to_linalg, loops = tx.linalg.compile, []

    def tiled(kernel: Any, signature: Any, **_: Any) -> str:
        module = to_linalg(kernel, signature)
        done = tx.opt(module, f"tile-linalg{{{tiling}}}")
        loops.append(done.count("scf.for") - module.count("scf.for"))
        return tx.opt(done, "lower-linalg-ext")

    monkeypatch.setattr(tx.linalg, "compile", tiled)
    monkeypatch.setattr(execute, "_built", {})
    with execute.through_linalg(at_end=True):
        kernels.check(name, seed=1)
    assert sum(loops) > 0
