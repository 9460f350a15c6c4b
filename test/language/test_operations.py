# SPDX-License-Identifier: Apache-2.0
"""What calls of DSL functions build, and the pass that lowers it: on every target, in blocks, under pipelines."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
import triton
import triton.language as tl

import triton_ext as tx
from support.language import TARGETS, built, lines, source
from support.language.tally import (
    begin,
    count,
    end,
    floor,
    interval,
    note,
    note_all,
    note_interval,
    order,
    scope,
    spread,
    tag,
    timed,
    wide,
)  # fmt: skip
from triton_ext.language import attr

pytestmark = pytest.mark.slow


@triton.jit
def sorts(x, y, N: tl.constexpr):
    i = tl.arange(0, N)
    low, high = order(tl.load(x + i), rhs=tl.load(y + i), label='say "a\\b"\n', mode="magnitude", seed=7)
    tl.store(x + i, low)
    tl.store(y + i, high)


def test_two_results_a_string_and_an_enum() -> None:
    (line,) = lines(built(sorts))
    assert line.startswith("%low, %high = tally.order %")
    assert 'label = "say \\22a\\\\b\\22\\0A"' in line
    assert "mode = 1 : i32" in line
    assert "seed = 7 : i64" in line


@pytest.mark.parametrize("backend", TARGETS)
def test_the_lowering_is_found(backend: str) -> None:
    compiled = triton.compile(source(sorts, "*fp32 *fp32 128"), target=TARGETS[backend])
    assert "tally" not in compiled.asm["ttir"]
    assert "arith.minnumf" in compiled.asm["ttir"]


def test_why_the_lowering_is_there() -> None:
    compiled = tx.describe(sorts, target="cuda:90", signature="*fp32, *fp32, 128")
    (record,) = [record for record in compiled.stages[0].passes if record.name == "lower_tally"]
    assert record.edit == "ttir: at_start(lower_tally), which lowers the dialect 'tally'"
    assert record.changed


@triton.jit
def plain(x, y, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(y + i, tl.load(x + i))


def test_kernels_without_the_dialect_have_no_lowering() -> None:
    triton.compile(source(sorts, "*fp32 *fp32 64"), target=TARGETS["cuda"])
    compiled = tx.describe(plain, target="cuda:90", signature="*fp32, *fp32, 128")
    assert "lower_tally" not in [record.name for record in compiled.stages[0].passes]


@triton.jit
def notes(x, y, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    note("none")
    note("one", v)
    note("more", v, i, mask=i < 7)
    note("number", 3, 0.5)
    note_all("tuple", (v, i))
    note_interval(interval(v, v, "i"))


def test_variadic_and_optional_operands() -> None:
    found = lines(built(notes), "tally.note")
    sizes = [re.findall(r"operandSegmentSizes = array<i32: (\d+), (\d+)>", line)[0] for line in found]
    assert sizes == [("0", "0"), ("1", "0"), ("2", "1"), ("2", "0"), ("2", "0"), ("2", "0")]
    assert "(tensor<128xf32>, tensor<128xi32>, tensor<128xi1>) -> ()" in found[2]
    assert "(i32, f32) -> ()" in found[3]


@triton.jit
def tags(x):
    tag(True, 3, 0.1, tl.float16, ["a", 1, [tl.int8]], (1, 2), "a::b", True, "[affine_map<(d0) -> (d0)>]", 1e300)
    tag(ratio=float("inf"), count=4294967295, fast=False, list_=(), exact=2.0)
    tag(ratio=float("nan"), element="tensor<2xf8E5M2>", callee="f", any="[1 : i3]", exact=float("-inf"))


def test_attributes_of_every_kind() -> None:
    first, second, third = lines(built(tags, "*fp32"))
    for text in ("flag = true", "count = 3 : i32", "ratio = 1.000000e-01 : f32", "element = f16", "fast",
                 'list = ["a", 1, [i8]]', "sizes = array<i32: 1, 2>", "callee = @a::@b",
                 "exact = 1.000000e+300"):  # fmt: skip
        assert text in first, text
    for text in ("count = -1 : i32", "ratio = 0x7F800000 : f32", "list = []"):
        assert text in second, text
    assert "fast" not in second
    for text in ("ratio = 0x7FC00000 : f32", "element = tensor<2xf8E5M2>", "callee = @f", "any = [1 : i3]",
                 "exact = 0xFFF0000000000000 : f64"):  # fmt: skip
        assert text in third, text


@triton.jit
def types(x, N: tl.constexpr):
    i = tl.arange(0, N)
    p = count(x + i)
    u = count(tl.load(x + i))
    tl.static_assert(p.dtype.is_ptr())
    tl.static_assert(u.dtype == tl.uint32)
    low, high = order(tl.load(x + i), u, "signedness")
    tl.static_assert(high.dtype == tl.uint32)
    tl.static_assert(wide(u).dtype == tl.int64)
    j = interval(u, low, "mine")
    tl.store(p, j.low + j.high)


def test_result_types() -> None:
    assert len(lines(built(types, "*u32 128"))) == 5


@triton.jit
def blocks(x, N: tl.constexpr):
    i = tl.arange(0, N)
    with scope("outer"):
        for k in range(4):
            with scope("inner"):
                tl.store(x + i + k, 1.0)
    with timed("t"):
        v = tl.load(x + i)
    tl.store(x + i, v)
    token = begin("u")
    end(token)


@pytest.mark.parametrize("backend", TARGETS)
def test_blocks(backend: str) -> None:
    text = triton.compile(source(blocks, "*fp32 128"), target=TARGETS[backend]).asm["ttir"]
    assert "tally" not in text
    assert text.count("tt.store") >= 2


def test_a_region_holds_its_block() -> None:
    text = built(blocks, "*fp32 128")
    assert len(lines(text, r"tally\.scope")) == len(lines(text, r"tally\.yield")) == 2
    assert re.search(
        r'"tally\.scope".*?scf\.for.*?"tally\.scope".*?tt\.store.*?"tally\.yield".*?"tally\.yield"', text, re.S
    )
    assert len(lines(text, r"tally\.(begin|end)")) == 4


@triton.jit
def overloads(x, y, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x + i, floor(tl.load(x + i)))
    tl.store(y + i, spread(tl.load(y + i), i, scale=2) + floor(i))


def test_overloads_by_type_and_macros() -> None:
    text = built(overloads, "*fp32 *i32 128")
    assert len(lines(text, "math.floor")) == 1
    assert len(lines(text, "tally.count")) == 1
    assert len(lines(text, "tally.order")) == 1
    assert len(lines(text, "tt.call")) == 1


def test_under_a_pipeline_and_use() -> None:
    pipeline = tx.Pipeline().at_start("ttir", tx.builtin.common.cse())
    with pipeline:
        compiled = tx.describe(sorts, target="cuda:90", signature="*fp32, *fp32, 128")
    names = [record.name for record in compiled.stages[0].passes]
    assert names[:2] == ["common.cse", "lower_tally"]  # an outer pipeline begins before an inner one
    used = triton.compile(source(tx.use(pipeline)(sorts), "*fp32 *fp32 128"), target=TARGETS["cuda"])
    assert "tally" not in used.asm["ttir"]


def raises(source: Any, metadata: dict[str, Any], inner: Any) -> Any:
    raise KeyError("missing")


def test_without_the_edits_the_lowering_stays() -> None:
    with tx.Pipeline().stage("ttgir", raises), pytest.raises(tx.PipelineError) as error:
        triton.compile(source(sorts, "*fp32 *fp32 128"), target=TARGETS["cuda"])
    assert str(error.value).endswith("KeyError: 'missing'\nwithout the edits the kernel compiles")


def registers(operands: Mapping[str, Sequence[Any]]) -> str:
    (x,) = operands["x"]
    letter = "l" if x.type.scalar.primitive_bitwidth == 64 else "r"
    return f"={letter},{letter}"


@tx.language.op("tt.elementwise_inline_asm", result="x")
def instruction(
    asm_string: attr.string,  # type: ignore[valid-type]
    x: tl.tensor,
    constraints: attr.of_operands(attr.string, registers) = None,  # type: ignore[valid-type]
    pure: attr.boolean = True,  # type: ignore[valid-type]
    packed_element: attr.i32 = 1,  # type: ignore[valid-type]
) -> tl.tensor:
    """One instruction of PTX."""


@triton.jit
def inverts(x, y, N: tl.constexpr):
    narrow, wide = tl.load(x).to(tl.int32), tl.load(x).to(tl.int64)
    tl.store(y, instruction("not.b32 $0, $1;", narrow))
    tl.store(y, instruction("not.b64 $0, $1;", wide))
    tl.store(y, instruction("mov.b32 $0, $1;", narrow, constraints="=f,r"))


def test_an_attribute_that_is_made_of_the_operands() -> None:
    found = lines(built(inverts), "inline_asm")
    assert [re.findall(r'constraints = "(.*?)"', line) for line in found] == [["=r,r"], ["=l,l"], ["=f,r"]]
