# SPDX-License-Identifier: Apache-2.0
"""Random loops over pointers compute the same on the CPU with `ptr_strength_reduction` on and off.

A pointer, or a tensor of them, is advanced by constants, arguments, induction variables, and scalars and tensors that
the loop carries, in loops of one or two levels, and in branches. Some tensors are broadcast before a scalar is added.
"""

from __future__ import annotations

import importlib.util
import random
import re
from functools import partial
from pathlib import Path

import pytest
import triton

import triton_ext as tx
from support import mutants

torch = pytest.importorskip("torch")
CPUDriver = pytest.importorskip("triton_ext.backends.cpu.driver").CPUDriver

SCALARS, TENSORS = ["3", "step", "k0", "k1"], ["t0", "t1", "lanes"]
START = """
@triton.jit
def kernel(x, out, n, m, step, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.int32)
    k0, k1 = step * 0 + 1, step.to(tl.int64)
    t0, t1 = lanes * 2, lanes // 3
    p0, p1, p2 = x + lanes, x + step, x + lanes // 2
"""
#: The new value of each variable in an iteration. Values added to pointers stay small, so that no pointer leaves `x`.
UPDATES = {
    "k0": "(k0 * 5 + {i}) % 7", "k1": "(k1 * 3 + 1) % 11", "t0": "(t0 * 3 + {i}) % 16", "t1": "t1 + 1",
    "acc": "acc * 3 + tl.load(p0) - tl.load(p1) * tl.load(p2)",
}  # fmt: skip


def body(choose: random.Random, induction: list[str]) -> list[str]:
    """Returns the statements of a loop in random order. The last of `induction` is its own induction variable."""
    lines = [f"{name} = {text.format(i=induction[-1])}" for name, text in UPDATES.items() if choose.random() < 0.7]
    for pointer, addends in (("p0", SCALARS + TENSORS), ("p1", SCALARS), ("p2", TENSORS)):
        for _ in range(choose.randrange(3)):
            lines.append(f"{pointer} += {choose.choice(addends + induction)}")
    if choose.random() < 0.5:
        lines.append(
            f"acc += tl.sum(tl.load(tl.trans(tl.broadcast_to(p2[None, :], [2, BLOCK])) + {choose.choice(SCALARS)}), 1)"
        )
    choose.shuffle(lines)
    for pointer, addends in (("p0", SCALARS), ("p1", SCALARS), ("p2", [*SCALARS, "lanes"])):
        if choose.random() < 0.5:
            yes, no = (choose.choice(addends) for _ in "yn")
            lines += [f"if {induction[-1]} % 3 > 0:", f"    {pointer} += {yes}"]
            lines += choose.choice([[], ["else:", f"    {pointer} += {no}", "    acc += tl.load(p1)"]])
    return lines


def program(choose: random.Random) -> str:
    """Returns the source of a kernel."""
    lines = [START.rstrip(), "    for i in range(n):"]
    lines += [f"        {line}" for line in body(choose, ["i"])]
    if choose.random() < 0.6:
        lines.append("        for j in range(m):")
        lines += [f"            {line}" for line in body(choose, ["i", "j"])] + ["            acc += j"]
        lines += [f"        {line}" for line in body(choose, ["i"])]
    lines.append("        acc += i")
    lines.append("    tl.store(out + lanes, acc + tl.load(p0) + 5 * tl.load(p1) + 7 * tl.load(p2))")
    return "import triton\nimport triton.language as tl\n" + "\n".join(lines) + "\n"


def carried_pointers(ttir: str) -> int:
    """Returns how many pointers and tensors of pointers the loops carry."""
    return sum(line.count("!tt.ptr") for line in re.findall(r"scf\.for .* -> \((.*)\)", ttir))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_random_loops(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(triton.runtime.driver, "_active", CPUDriver())
    source = tmp_path / "kernel.py"
    source.write_text(program(random.Random(seed)))
    spec = importlib.util.spec_from_file_location("kernel", source)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    x = torch.randint(-1000, 1000, (4096,), dtype=torch.int32, generator=torch.Generator().manual_seed(seed))
    results, carried = [], []
    for pipeline in (tx.Pipeline(), tx.Pipeline().at_end("ttir", tx.passes.ttir.ptr_strength_reduction())):
        out = torch.zeros(2, 16, dtype=torch.int32)
        with pipeline:
            for row, (n, m) in zip(out, [(5, 3), (2, 0)], strict=True):
                compiled = module.kernel[(1,)](x, row, n, m, 6, BLOCK=16)
        results.append(out)
        carried.append(carried_pointers(compiled.asm["ttir"]))
    assert torch.equal(*results)
    # Not always 0 with the pass: an outer loop still carries the pointers that an inner loop advances.
    assert carried[0] > carried[1]


choices = partial(mutants.Mutation, "Choices.cpp")
whole = partial(mutants.Mutation, "PtrStrengthReduction.cpp")

BUGS = {
    "both arms add the same": choices(
        "sums->second.total(rewriter, loc)", "sums->first.total(rewriter, loc)", behind="void chooseScalar("
    ),
    "any two tensors are one": choices("sums.first.base != sums.second.base", "false"),
    "only the first amount counts": choices("arith::AddIOp::create(builder, loc, sum, scalar).getResult()", "sum"),
    "amounts may differ": choices("!isUniform(addend)", "!addend"),
    "the pointers of a shape stay": whole("operands.map(shape->getOperand(0), moved)", "operands.map(moved, moved)"),
    "amounts of a shape may differ": whole("!isUniform(op.getOffset())", "false", behind="struct SumBeforeShape"),
    "a choice for each element": choices("isa<RankedTensorType>(op.getCondition().getType())", "false"),
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the pass with all bugs in it and returns the directory of its libraries."""
    return mutants.build_with_bugs("passes/ptr_strength_reduction", BUGS, tmp_path_factory.mktemp("bugs"))


@pytest.mark.slow
@pytest.mark.parametrize("bug", ["", *BUGS])
def test_the_lit_tests_notice_a_bug(bug: str, libraries: Path) -> None:
    assert mutants.lit_passes("passes/ptr_strength_reduction", libraries, bug) == (not bug)
