# SPDX-License-Identifier: Apache-2.0
"""`loop_split` in real compilations: `tx.describe` gets the remarks, other compilations print none, and the first
loop of typical kernels has no masks or branches."""

from __future__ import annotations

import re

import pytest
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget

import triton_ext as tx
from support.ragged_matmul import matmul

TARGETS = {"ptx": GPUTarget("cuda", 90, 32), "amdgcn": GPUTarget("hip", "gfx942", 64)}


@triton.jit
def causal(x, y, n, BLOCK: tl.constexpr):
    first = tl.program_id(0) * BLOCK
    i = tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        v = tl.load(x + start + i)
        if start >= first:
            v = tl.where(start + i <= first + i, tl.exp(v), 0.0)
        acc += v
    tl.store(y + first + i, acc)


KERNELS = {
    "matmul": (matmul, {"a": "*fp16", "b": "*fp16", "c": "*fp32", "K": "i32"}),
    "causal": (causal, {"x": "*fp32", "y": "*fp32", "n": "i32"}),
}


def build(name: str, kind: str, **options: int) -> triton.compiler.CompiledKernel:
    kernel, signature = KERNELS[name]
    source = triton.compiler.ASTSource(kernel, {**signature, "BLOCK": "constexpr"}, {"BLOCK": 64})
    with tx.Pipeline().at_end("ttir", tx.passes.ttir.loop_split(**options)):
        return triton.compile(source, target=TARGETS[kind])


@pytest.mark.slow
@pytest.mark.parametrize("kind", TARGETS)
@pytest.mark.parametrize("name", KERNELS)
def test_real_kernels_become_two_loops(name: str, kind: str, capfd: pytest.CaptureFixture[str]) -> None:
    ttir = {splits: build(name, kind, max_splits=splits).asm["ttir"] for splits in (0, 1)}
    assert ttir[0].count("scf.for") == 1
    assert ttir[1].count("scf.for") == 2
    first = ttir[1][ttir[1].index("scf.for") :].split("scf.for")[1]
    assert not re.search(r"arith.cmpi|scf.if", first)
    assert "remark" not in capfd.readouterr().err


def test_describe_says_why() -> None:
    pipeline = tx.Pipeline().at_end("ttir", tx.passes.ttir.loop_split())
    kernel, signature = KERNELS["causal"]
    source = triton.compiler.ASTSource(kernel, {**signature, "BLOCK": "constexpr"}, {"BLOCK": 64})
    with pipeline:
        description = tx.describe(source, target=TARGETS["ptx"])
    (record,) = [r for stage in description.stages for r in stage.passes if r.name == "loop_split"]
    assert record.changed
    said = "remark: split: in the first loop this is false, in the second true [-Rpass=triton-ext-loop-split]"
    assert any(remark.endswith(said) for remark in record.remarks)
