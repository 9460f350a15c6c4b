# SPDX-License-Identifier: Apache-2.0
"""``-triton-to-linalg`` converts typical kernels, and turns their accesses into views, not into gathers."""

from __future__ import annotations

import re

import pytest
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget

import triton_ext as tx

#: The operations of Triton that stay, because the target provides their values.
STAYS = {"get_program_id", "get_num_programs"}


@triton.jit
def softmax(out, x, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    values = tl.load(x + row * stride + columns, mask=mask, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * stride + columns, powers / tl.sum(powers, axis=0), mask=mask)


@triton.jit
def matmul(a, b, c, m, n, k, stride_a, stride_b, stride_c, BLOCK: tl.constexpr, WRAP: tl.constexpr):  # noqa: PLR0917
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inner = tl.arange(0, BLOCK)
    a_rows = rows % m if WRAP else rows
    a_ptr = a + a_rows[:, None] * stride_a + inner[None, :]
    b_ptr = b + inner[:, None] * stride_b + columns[None, :]
    acc = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for i in range(0, tl.cdiv(k, BLOCK)):
        left = k - i * BLOCK
        x = tl.load(a_ptr, mask=inner[None, :] < left, other=0.0)
        y = tl.load(b_ptr, mask=(inner[:, None] < left) & (columns[None, :] < n), other=0.0)
        acc = tl.dot(x, y, acc)
        a_ptr += BLOCK
        b_ptr += BLOCK * stride_b
    c_ptr = c + rows[:, None] * stride_c + columns[None, :]
    tl.store(c_ptr, acc.to(tl.float16), mask=(rows[:, None] < m) & (columns[None, :] < n))


@triton.jit
def layer_norm(x, y, w, mean, stride, n, eps, BLOCK: tl.constexpr):  # noqa: PLR0917
    row = tl.program_id(0)
    x += row * stride
    y += row * stride
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        total += tl.load(x + columns, mask=columns < n, other=0.0)
    average = tl.sum(total, axis=0) / n
    tl.store(mean + row, average)
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        mask = columns < n
        value = tl.load(x + columns, mask=mask, other=0.0) - average
        tl.store(y + columns, value * tl.load(w + columns, mask=mask), mask=mask)


@triton.jit
def attention(q, k, v, out, scale, n, D: tl.constexpr, BLOCK: tl.constexpr):  # noqa: PLR0917
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.arange(0, BLOCK)
    dims = tl.arange(0, D)
    queries = tl.load(q + rows[:, None] * D + dims[None, :], mask=rows[:, None] < n, other=0.0)
    largest = tl.full([BLOCK], -float("inf"), tl.float32)
    total = tl.zeros([BLOCK], tl.float32)
    acc = tl.zeros([BLOCK, D], tl.float32)
    for start in range(0, n, BLOCK):
        here = start + columns
        keys = tl.load(k + here[None, :] * D + dims[:, None], mask=here[None, :] < n, other=0.0)
        scores = tl.where(rows[:, None] >= here[None, :], tl.dot(queries, keys) * scale, -float("inf"))
        new = tl.maximum(largest, tl.max(scores, 1))
        powers = tl.exp(scores - new[:, None])
        factor = tl.exp(largest - new)
        total = total * factor + tl.sum(powers, 1)
        values = tl.load(v + here[:, None] * D + dims[None, :], mask=here[:, None] < n, other=0.0)
        acc = tl.dot(powers.to(tl.float16), values, acc * factor[:, None])
        largest = new
    tl.store(out + rows[:, None] * D + dims[None, :], acc / total[:, None], mask=rows[:, None] < n)


@triton.jit
def descriptors(x, y, m, n, stride, BLOCK: tl.constexpr):  # noqa: PLR0917
    source = tl.make_tensor_descriptor(x, [m, n], [stride, 1], [BLOCK, BLOCK])
    target = tl.make_tensor_descriptor(y, [m, n], [stride, 1], [BLOCK, BLOCK])
    for i in range(0, m, BLOCK):
        target.store([i, 0], source.load([i, 0]) * 2)


@triton.jit
def lines(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    values = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(y + i, tl.cumsum(values, 0, reverse=True), mask=i < n)
    tl.store(y + BLOCK + i, tl.sort(values))
    tl.store(z, tl.argmax(values, 0))
    tl.store(z + 1 + tl.arange(0, 16), tl.histogram(values.to(tl.int32), 16))


@triton.jit
def indexed(x, index, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    where = tl.load(index + i)
    tl.store(y + where, tl.load(x + where), mask=where < n)
    tl.atomic_add(y + i % 4, tl.gather(tl.load(x + i), where, 0))


@triton.jit
def early(x, n):
    if n == 0:
        return
    while n > 1:
        tl.store(x, n)
        x += 2
        n //= 2


@triton.jit
def wide(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + i, mask=i < n)
    tl.store(y + i, tl.where(tl.rand(7, i.to(tl.int32)) > 0.5, values, 0), mask=i < n)


#: kernel, types, constants, and how many accesses are not views
KERNELS = [
    (softmax, "*fp32 *fp32 i32 i32", {"BLOCK": 1024}, 0),
    (matmul, "*fp16 *fp16 *fp16 i32 i32 i32 i32 i32 i32", {"BLOCK": 32, "WRAP": False}, 0),
    (matmul, "*fp16 *fp16 *fp16 i32 i32 i32 i32 i32 i32", {"BLOCK": 32, "WRAP": True}, 0),  # rows % m: views in a loop
    (layer_norm, "*fp32 *fp32 *fp32 *fp32 i32 i32 fp32", {"BLOCK": 128}, 0),
    (attention, "*fp16 *fp16 *fp16 *fp32 fp32 i32", {"D": 32, "BLOCK": 32}, 0),
    (descriptors, "*fp32 *fp32 i32 i32 i32", {"BLOCK": 16}, 0),
    (lines, "*fp32 *fp32 *i32 i32", {"BLOCK": 64}, 0),
    (indexed, "*fp32 *i32 *fp32 i32", {"BLOCK": 64}, 3),
    (early, "*i32 i32", {}, 0),
    (wide, "*fp32 *fp32 i64", {"BLOCK": 128}, 0),
]


def ttir(kernel: triton.JITFunction, types: str, constants: dict[str, object]) -> str:
    names = [name for name in kernel.arg_names if name not in constants]
    signature = dict(zip(names, types.split(), strict=True)) | dict.fromkeys(constants, "constexpr")
    values = {(kernel.arg_names.index(name),): value for name, value in constants.items()}
    source = triton.compiler.ASTSource(kernel, signature, values)
    return triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm["ttir"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernel", "types", "constants", "discrete"), KERNELS, ids=[f"{i}-{k[0].__name__}" for i, k in enumerate(KERNELS)]
)
def test_kernel(kernel: triton.JITFunction, types: str, constants: dict[str, object], discrete: int) -> None:
    text = tx.opt(ttir(kernel, types, constants), "triton-to-linalg")
    left = set(re.findall(r'^\s*(?:%\S+ = )?"?tt\.(\w+)', text, re.MULTILINE))
    assert left <= STAYS, text
    assert "tt.ptr" not in text
    found = re.findall(r"linalg_ext\.(?:gather|scatter)\w*", text)
    assert len(found) == discrete, text
