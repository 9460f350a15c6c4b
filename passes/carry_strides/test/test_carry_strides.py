# SPDX-License-Identifier: Apache-2.0
"""Loops that carry strides in place of tensors compute the same on the CPU; the tests find bugs of the pass."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import pytest
import triton
import triton.language as tl

import triton_ext as tx
from support import mutants, pointer_shapes

torch = pytest.importorskip("torch")
CPUDriver = pytest.importorskip("triton_ext.backends.cpu.driver").CPUDriver

CARRY = tx.Pipeline().at_end("ttir", tx.passes.ttir.carry_strides(), tx.builtin.common.canonicalizer())


@triton.jit
def walks(x, out, n, m, step):
    """Swaps two rows, walks with one of them in an inner loop, and doubles integers that later wrap."""
    i = tl.arange(0, 16)
    p, q, scramble = x + i, x + i * 2 + 300, i * 77777
    total = tl.zeros((16,), tl.int32)
    for turn in range(n):
        k = 0
        while k < m:
            total = total * 3 + tl.load(p)
            p += step
            k += 1
        p, q = q, p
        if turn > 1:
            q += 1
        scramble = scramble * 1664525 + 1013904223
    tl.store(out + i, total + tl.load(p) * 5 + scramble)


def types_carried(ttir: str) -> str:
    """Returns the types of what loops carry."""
    return " ".join(re.findall(r"scf\.(?:for|while) .* -> (\(.*\))", ttir))


@pytest.mark.slow
@pytest.mark.parametrize(("n", "m", "step"), [(0, 3, 1), (2, 0, 2), (5, 3, -2), (8, 2, 7)])
def test_no_tensor_of_pointers_is_carried(n: int, m: int, step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(triton.runtime.driver, "_active", CPUDriver())
    x = torch.randint(-1000, 1000, (1024,), dtype=torch.int32, generator=torch.Generator().manual_seed(n))
    out = torch.zeros(2, 16, dtype=torch.int32)
    carried = []
    for row, pipeline in zip(out, (tx.Pipeline(), CARRY), strict=True):
        with pipeline:
            compiled = walks[(1,)](x[100:], row, n, m, step)
        carried.append(types_carried(compiled.asm["ttir"]))
    assert torch.equal(*out)
    assert "tensor<16x!tt.ptr" in carried[0]
    assert "tensor<16x!tt.ptr" not in carried[1]
    # What is left is the sum of what was loaded, in both loops.
    assert carried[1].count("tensor<16xi32>") == 2


@pytest.mark.slow
def test_random_shapes_compute_what_the_interpreter_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cases of `pointer_shapes`; by hand, 650 of them were compared before LOOP was 7 or 8."""
    monkeypatch.setattr(triton.runtime.driver, "_active", CPUDriver())
    pointer_shapes.assert_as_interpreted(CARRY, 60, tmp_path / "expected.pt")


slots = partial(mutants.Mutation, "Slots.cpp")
numbers = partial(mutants.Mutation, "StridedNumbers.cpp")
sums = partial(mutants.Mutation, "Sums.cpp")
forms = partial(mutants.Mutation, "Forms.cpp")
wraps = partial(mutants.Mutation, "WrappedNumbers.cpp")
gathers = partial(mutants.Mutation, "GatheredNumbers.cpp")
branches = partial(mutants.Mutation, "Branches.cpp")

BUGS = {
    "all is the same in every iteration": slots("!isSame(slot->next, slot->from, known)", "false"),
    "what is swapped was the same": slots("known.lookup(slot.from)", "slot.from", behind="tailSlots)"),
    "integers of any width": numbers("tensor.getElementType().isSignlessInteger(32)", "true"),
    "an extension is exact": numbers("op->getOperand(0).getDefiningOp<tt::MakeRangeOp>()", "true"),
    "it wraps around": numbers("offsets->wrapsAround()", "false"),
    "a stride is 1": numbers("matchPattern(stride, m_One())", "true"),
    "a stride is 0": numbers("matchPattern(stride, m_Zero())", "!numbers.empty()"),
    "two operations are one": numbers("left->getName() != right->getName()", "false"),
    "two rests are one": sums("isSame(std::get<0>(pair), std::get<1>(pair), known)", "true"),
    "a rest grows": forms("!added->empty()", "false"),
    "offsets of several dimensions are a line": forms("line->dim != form.along", "false"),
    "offsets have no second dimension": forms("form.along && gather()", "false"),
    "of several offsets only the last is added": forms(
        "sum ? arith::AddIOp::create(b, math.loc, sum, tensor) : tensor", "tensor"
    ),
    "offsets are not rebuilt": forms("form.kind == Form::Moved", "false", behind="addends(form.rest)"),
    "a difference is a sum": sums("arith::SubIOp::create(b, math.loc, sum->scalar, by)", "sum->scalar"),
    "one of two scalars is lost": sums("sum->scalar && more->scalar", "false"),
    "a rest is computed inside": forms("region->isAncestor(value.getParentRegion())", "false"),
    "a strided tensor has no second form": mutants.Mutation("CarryStrides.cpp", "toNextForm(form, value, b)", "false"),
    "only the first arm adds offsets": branches("toNextForm(form, no, inElse)", "false"),
    "one arm yields for both": branches("findNumbers(no, form, inElse)", "findNumbers(yes, form, inElse)"),
    "every result of a branch is tracked": branches("isTracked(result, b)", "true"),
    "a modulus may be 0": wraps("value.getDefiningOp<arith::MulIOp>()", "false"),
    "nothing is greater than 7": wraps("math.number(mostModulus)", "math.number(7)"),
    "dividends have no flags": wraps("arith::IntegerOverflowFlags::nsw", "arith::IntegerOverflowFlags::none"),
    "a wrapped tensor is not a moved one": forms("added.has_value()", "false"),
    "no tensor is a gathered one": forms("!form.gathers", "true", behind="auto gather"),
    "only the first arm gathers": branches("noteGathers(form, no, inElse)", "void()"),
    "rows have no stride": gathers("!isZero(offsets.strides[dim])", "false"),
    "tiles gather along any dimension": gathers("gathered->dim != dim", "false"),
    "rows and columns are one line": gathers("sum.dim != line->dim", "false"),
    "of two lines only the last is added": gathers(
        "arith::AddIOp::create(math.builder, math.loc, sum.line, line->value)", "line->value"
    ),
    "one element is a line": gathers("shapeOf(op->getResult(0))[*dim] != shapeOf(from.line).front()", "false"),
    "all lines are chosen": gathers("yes->line == no->line", "true"),
    "a line of an arm is used behind it": gathers("math.canUse(offsets)", "true"),
    "a sum of an arm is used behind it": gathers("math.canUse(tensor)", "true"),
    "products of sums never wrap": gathers("addPart(sum, tensor, math)", "false"),
    "narrow sums never wrap": gathers("bits >= 32", "true"),
    "remainders are lost": gathers("strided->wrapsAround()", "false"),
    "sizes of 1 have strides": gathers("llvm::count(before, 1)", "0"),
    "two constants are one": numbers("left->getAttrDictionary() != right->getAttrDictionary()", "false"),
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the pass with all bugs in it and returns the directory of its libraries."""
    return mutants.build_with_bugs("passes/carry_strides", BUGS, tmp_path_factory.mktemp("bugs"))


@pytest.mark.slow
@pytest.mark.parametrize("bug", ["", *BUGS])
def test_the_lit_tests_notice_a_bug(bug: str, libraries: Path) -> None:
    assert mutants.lit_passes("passes/carry_strides", libraries, bug) == (not bug)
