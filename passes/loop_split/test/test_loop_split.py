# SPDX-License-Identifier: Apache-2.0
"""`loop_split` in real compilations: `tx.describe` gets the remarks, other compilations print none, and the first
loop of typical kernels has no masks or branches."""

from __future__ import annotations

import re
import time

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


def build(name: str, kind: str, **options: int | bool) -> triton.compiler.CompiledKernel:
    kernel, signature = KERNELS[name]
    source = triton.compiler.ASTSource(kernel, {**signature, "BLOCK": "constexpr"}, {"BLOCK": 64})
    with tx.Pipeline().at_end("ttir", tx.passes.ttir.loop_split(**options)):
        return triton.compile(source, target=TARGETS[kind])


@pytest.mark.slow
@pytest.mark.parametrize("kind", TARGETS)
@pytest.mark.parametrize("name", KERNELS)
def test_real_kernels_become_two_loops(name: str, kind: str, capfd: pytest.CaptureFixture[str]) -> None:
    ttir = {n: build(name, kind, max_splits=n, cost_model=False).asm["ttir"] for n in (0, 1)}
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


@triton.jit
def padded(a, b, c, K, stride, BLOCK: tl.constexpr):  # noqa: PLR0917
    """A matrix product of rows that are aligned, of any length."""
    i = tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, K, BLOCK):
        k = start + i
        left = tl.load(a + i[:, None] * stride + k[None, :], mask=k[None, :] < K, other=0.0)
        right = tl.load(b + k[:, None] * BLOCK + i[None, :], mask=k[:, None] < K, other=0.0)
        acc = tl.dot(left, right, acc)
    tl.store(c + i[:, None] * BLOCK + i[None, :], acc)


@pytest.mark.slow
@pytest.mark.parametrize(("divisor", "split"), [(1, True), (8, False)])
def test_the_cost_model_asks_for_the_width_of_accesses(divisor: int, split: bool) -> None:
    record = described(padded, ("a", "b", "c", "stride"), {"K": divisor})
    assert record.changed == split
    assert any("predicates" in remark for remark in record.remarks) != split


@triton.jit
def triangle(x, y, n, first, BLOCK: tl.constexpr):
    """Has a tile of BLOCK x BLOCK beside an accumulator of that size."""
    i = tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK, BLOCK), tl.float32)
    at = i[:, None] * BLOCK + i[None, :]
    for start in range(0, n, BLOCK):
        tile = tl.load(x + start * BLOCK + at)
        score = tl.dot(tile, tile)
        if start >= first:
            score = tl.where(i[:, None] >= i[None, :], score, 0.0)
        acc = tl.dot(score.to(tl.float16), tile, acc)
    tl.store(y + at, acc)


@pytest.mark.slow
@pytest.mark.parametrize(("warps", "split"), [(8, True), (4, False)])
def test_the_cost_model_knows_the_warps_of_the_launch(warps: int, split: bool) -> None:
    record = described(triangle, ("x", "y"), {}, num_warps=warps)
    assert record.changed == split
    assert dict(record.arguments) == {"num_warps": str(warps), "threads_per_warp": "32"}
    assert any("registers of a thread" in remark for remark in record.remarks) != split


def described(kernel, aligned: tuple[str, ...], divisors: dict[str, int], **options: int) -> tx.PassRecord:
    """Returns what the default of the pass did to `kernel`, of which it knows the divisors of arguments."""
    types = {name: "*fp16" if name in {"a", "b", "c", "x", "y"} else "i32" for name in kernel.arg_names[:-1]}
    known = dict.fromkeys(aligned, 16) | divisors
    attributes = {(kernel.arg_names.index(name),): [["tt.divisibility", n]] for name, n in known.items()}
    source = triton.compiler.ASTSource(kernel, {**types, "BLOCK": "constexpr"}, {"BLOCK": 128}, attributes)
    pipeline = tx.Pipeline().at_end("ttir", tx.passes.ttir.loop_split())
    description = tx.describe(source, target=TARGETS["ptx"], pipeline=pipeline, options=options)
    (record,) = [r for stage in description.stages for r in stage.passes if r.name == "loop_split"]
    return record


LOOPS = """
tt.func public @f{n}(%p: !tt.ptr<f32>, %n: i32) {{
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : i32
  %lanes = tt.make_range {{start = 0 : i32, end = 4 : i32}} : tensor<4xi32>
  scf.for %i = %c0 to %n step %c4 : i32 {{
    %at = tt.splat %i : i32 -> tensor<4xi32>
    %column = arith.addi %at, %lanes : tensor<4xi32>
    %end = tt.splat %n : i32 -> tensor<4xi32>
    %mask = arith.cmpi slt, %column, %end : tensor<4xi32>
    %base = tt.splat %p : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
    %q = tt.addptr %base, %column : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
    %x = tt.load %q, %mask : tensor<4x!tt.ptr<f32>>
    tt.store %q, %x, %mask : tensor<4x!tt.ptr<f32>>
  }} {{tt.num_stages = 3 : i32}}
  tt.return
}}"""


@pytest.mark.slow
def test_the_cost_model_takes_time_by_the_size_of_the_function() -> None:
    """It once analysed the whole module for each loop, and took 50 times as long as the rest for 250 loops."""
    text = "".join(LOOPS.format(n=n) for n in range(100))

    def seconds(cost_model: str) -> float:
        times = []
        for _ in range(3):
            start = time.process_time()
            tx.opt(text, f"triton-ext-loop-split{{cost-model={cost_model}}}")
            times.append(time.process_time() - start)
        return min(times)

    assert seconds("true") < 4 * seconds("false")
