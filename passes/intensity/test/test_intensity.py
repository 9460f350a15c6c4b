# SPDX-License-Identifier: Apache-2.0
"""`tx.intensity`: expressions, marks, mistakes and what is told."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
import triton
import triton.language as tl

import triton_ext as tx
from support.intensity import kernels
from support.intensity.found import found
from triton_ext.errors import TritonExtError


def test_expressions() -> None:
    add = found(kernels.add, BLOCK=1024)
    assert str(add.expression("stores")) == "4*grid1*grid2*max(0, min(1024*grid0, n))"
    assert str(add.expression("flops")) == "1024*grid0*grid1*grid2"
    assert add.bytes(n=10**9 + 7, grid=976563) == 12 * (10**9 + 7)
    assert add.loads(n=5, grid=lambda meta: (triton.cdiv(meta["n"], meta["BLOCK"]),)) == 40
    assert int(add.flops(n=5, grid=1)) == 1024
    assert add.intensity(n=1024, grid=1) == 1024 / (12 * 1024)
    attention = found(kernels.attention, D=16, BM=32, BN=16)
    assert attention.mark("loads") == attention.mark("flops") == "exact"
    # The whole triangle: 2 * 16 * 16 * 2 FLOPs for each element of a tile, two products, 32 * 16 elements a tile.
    assert attention.flops(N=64, grid=(2, 1))["dot", "tf32"] == 2 * 2 * 32 * 16 * 16 * (2 + 4)


def test_the_table_names_the_lines() -> None:
    text = str(found(kernels.by_data, ints=("flags",), B=8))
    line = kernels.by_data.fn.__code__.co_firstlineno + 4
    assert f"kernels.py:{line}: the mask depends on data from memory" in text
    assert "upper bound" in text
    assert "stores in all" in text


def test_integers_that_wrap_are_unknown() -> None:
    add = found(kernels.add, BLOCK=1024)
    fits = add.loads(n=2**31 - 1, grid=2**21 - 1)
    assert (fits.mark, fits.value) == ("exact", 8 * (2**31 - 1024))
    wraps = add.loads(n=2**31 - 1, grid=2**21 + 1)
    assert wraps.mark == "unknown"
    assert "may wrap around" in wraps.reasons[0].why
    with pytest.raises(TritonExtError, match="may wrap around"):
        int(wraps)
    with pytest.raises(TritonExtError, match="'n' is 2147483648, which its type i32 cannot hold"):
        add.loads(n=2**31, grid=1)


@triton.jit
def wrapping(x, n):
    total = 0
    for _ in range(100_000):
        total += 100_000
    tl.store(x, 1.0, mask=n + 1_410_065_407 < total)  # 10^10 wraps around to 1,410,065,408
    for _ in range(0, -n * n):  # -50,000 * 50,000 wraps around to a positive number
        tl.store(x, tl.load(x))


def test_constants_and_empty_loops_that_wrap_are_unknown() -> None:
    wraps = tx.intensity(wrapping, signature={"x": "*fp32", "n": "i32"}, target="cuda:90")
    assert wraps.loads(n=3, grid=1) == 0
    assert wraps.loads(n=50_000, grid=1).mark == "unknown"
    assert wraps.stores(n=3, grid=1).mark == "unknown"
    assert "10000000000" in wraps.stores(n=3, grid=1).reasons[0].why


@triton.jit
def many_choices(x, n, COUNT: tl.constexpr):
    i = tl.arange(0, 16)
    value = n
    taken = n == 0
    for k in tl.static_range(COUNT):
        value = value * 2 + k if value % (k + 2) == 1 else value + n
        taken = taken | (n == k * k)
    tl.store(x + i, 1.0, mask=i < value)
    if taken:
        tl.load(x)


@pytest.mark.slow
def test_many_choices_are_bounded() -> None:
    few, many = (
        tx.intensity(many_choices, signature={"x": "*fp32", "n": "i32", "COUNT": count}, target="cuda:90")
        for count in (3, 24)
    )
    assert few.stores(n=3, grid=1) == tx.intensity.Amount(64)
    stores = many.stores(n=3, grid=1)
    assert (stores.mark, stores.value) == ("upper bound", 64)
    assert "too many terms" in stores.reasons[0].why


@pytest.mark.slow
def test_many_early_returns_are_bounded(tmp_path: Path) -> None:
    returns = "".join(f"    if n % {k} == 1:\n        return\n" for k in range(2, 16))
    file = tmp_path / "returning.py"
    file.write_text(
        "import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef returning(x, n):\n"
        f"{returns}    tl.store(x, 1.0)\n"
    )
    returning = tx.intensity(f"{file}:returning", signature={"x": "*fp32", "n": "i32"}, target="cuda:90")
    stores = returning.stores(n=0, grid=1)
    assert (stores.mark, stores.value) == ("upper bound", 4)
    assert "the branch depends on an expression with too many terms" in stores.reasons[0].why


@triton.jit
def odd_bits(x, y):
    i = tl.arange(0, 16)
    tl.store(x + i, 1.0, mask=(i ^ 3) < 5)
    tl.store(y + i, 1.0, mask=tl.load(x) < 5)


def test_the_reasons_name_the_operations() -> None:
    odd = tx.intensity(odd_bits, signature={"x": "*fp32", "y": "*fp32"}, target="cuda:90")
    reasons = [reason.why for reason in odd.stores(grid=1).reasons]
    assert reasons == [f"the mask depends on a value {of}" for of in ("that is made by 'xori'", "of arith.cmpf")]


@triton.jit
def reduced(x, y):
    described = tl.make_tensor_descriptor(x, (40, 40), (40, 1), (16, 16))
    described.atomic_add([0, 32], tl.full((16, 16), 1.0, tl.float32))
    integers = tl.make_tensor_descriptor(y, (40, 40), (40, 1), (16, 16))
    integers.atomic_add([0, 32], tl.full((16, 16), 1, tl.int32))


def test_descriptors_that_add() -> None:
    for target in ("cuda:90", "cuda:80"):
        adds = tx.intensity(reduced, signature={"x": "*fp32", "y": "*i32"}, target=target)
        assert adds.flops(grid=1).by_kind == {("add", "f32"): tx.intensity.Amount(16 * 8)}, target


def test_mistakes() -> None:
    add = found(kernels.add, BLOCK=1024)
    with pytest.raises(TritonExtError, match=r"depends on grid0, grid1, grid2, n \(fix: grid="):
        add.bytes()
    with pytest.raises(TritonExtError, match=r"depends on n \(fix: n=…"):
        add.bytes(grid=1)
    with pytest.raises(TritonExtError, match="'BLOCK' is 1024 in this kernel, not 512"):
        add.bytes(n=5, grid=1, BLOCK=512)
    with pytest.raises(TritonExtError, match="none of them negative"):
        add.bytes(n=5, grid=(1, -1))
    with pytest.raises(TritonExtError, match="expected a signature or arguments"):
        tx.intensity(kernels.add, 1, signature="*fp32")
    with pytest.raises(TritonExtError, match="do not fit the kernel"):
        tx.intensity(kernels.add, 1)
    with pytest.raises(TritonExtError, match="is negative"):
        found(kernels.whiles, B=8, told={1: -1})


@pytest.mark.slow
def test_what_is_told() -> None:
    first = kernels.whiles.fn.__code__.co_firstlineno
    whiles = found(kernels.whiles, B=8)
    assert whiles.mark("flops") == "unknown"
    assert whiles.flops(n=8, grid=1)["mul", "f32"].reasons[0].why == "the trip count of a while loop"
    for line in (first + 5, f"kernels.py:{first + 5}"):
        told = found(kernels.whiles, B=8, told={line: 3})
        assert told.flops(n=8, grid=2)["mul", "f32"] == 3 * 8 * 2
    grouped = found(kernels.grouped, ints=("sizes",), BLOCK=16)
    unknown = grouped.loads(groups=2, grid=1)
    assert unknown.value is None
    assert any("trip count depends on data from memory" in reason.why for reason in unknown.reasons)
    told = found(kernels.grouped, ints=("sizes",), BLOCK=16, told={kernels.grouped.fn.__code__.co_firstlineno + 5: 4})
    amount = told.loads(groups=2, grid=1)
    # The tiles have masks, which depend on data still.
    assert (amount.mark, amount.value) == ("upper bound", 2 * (4 + 4 * 16 * 4))


def test_too_many_terms_are_unknown() -> None:
    odd = found(kernels.odd_masks, B=16)
    assert odd.stores(n=100, m=3, grid=50).mark == "exact"
    amount = odd.stores(n=100, m=3, grid=10**7)
    assert amount.mark == "unknown"
    assert "terms" in amount.reasons[0].why


@triton.jit
def slanted(x, n, m, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)[:, None]
    j = tl.program_id(1) * B + tl.arange(0, B)[None, :]
    tl.store(x + i * n + j, 1.0, mask=(i * n + j < m) & (j <= i) & (i % n < 3))


def test_sums_that_are_too_long_are_not_begun() -> None:
    slant = tx.intensity(slanted, signature={"x": "*fp32", "n": "i32", "m": "i32", "B": 64}, target="cuda:90")
    assert slant.stores(n=20, m=300, grid=(2, 2)) == tx.intensity.Amount(24)
    start = time.process_time()
    assert slant.stores(n=200, m=30_000, grid=(10_000, 10_000)).mark == "unknown"
    assert time.process_time() - start < 2


def test_unique_bytes() -> None:
    matmul = found(kernels.matmul, BM=16, BN=16, BK=16, GROUP=2)
    M, N, K = 100, 90, 70  # noqa: N806
    grid = triton.cdiv(M, 16) * triton.cdiv(N, 16)
    unique = matmul.unique(M=M, N=N, K=K, grid=grid)
    assert (unique.mark, unique.value) == ("upper bound", 4 * (M * K + K * N + M * N))
    assert {reason.line.rpartition("/")[2].partition(":")[0] for reason in unique.reasons} == {"kernels.py"}
    assert len(unique.reasons) == 3  # both loads and the store
    assert matmul.unique(M=64, N=96, K=80, grid=24) == tx.intensity.Amount(4 * (64 * 80 + 80 * 96 + 64 * 96))
    histogram = found(kernels.histogram, ints=("x",), BLOCK=16)
    unique = histogram.unique(n=40, grid=3)
    assert unique == 40 * 4 + 2 * 40 * 4  # nobody knows which bins
    (reason,) = unique.reasons
    assert (unique.mark, reason.why) == ("upper bound", "addresses that are not known")
    softmax = found(kernels.softmax, BLOCK=16)
    assert softmax.unique(rows=7, columns=10, grid=3) == tx.intensity.Amount(2 * 4 * 70)
    add = found(kernels.add, BLOCK=16)
    assert add.unique(n=50, grid=(4, 3)) == tx.intensity.Amount(3 * 4 * 50)  # each row of programs accesses the same
    layer_norm = found(kernels.layer_norm, BLOCK=16)  # loads each row twice, and all rows load the same weights
    assert layer_norm.unique(columns=40, grid=3) == tx.intensity.Amount(4 * (2 * 3 * 40 + 40))


SEEN: list[str] = []


def from_the_kernel(module: Any) -> None:
    SEEN.append(f"kernel {module.get_operation().get_str_attr('triton_ext.intensity')}")


def from_around(module: Any) -> None:
    SEEN.append(f"around {module.get_operation().get_str_attr('triton_ext.intensity')}")


def test_edits_come_before_the_description() -> None:
    used = tx.use(tx.Pipeline().at_end("ttir", from_the_kernel))(kernels.add)
    try:
        with tx.Pipeline().at_end("ttir", from_around):
            assert found(used, BLOCK=64).mark("loads") == "exact"
    finally:
        vars(kernels.add).pop("triton_ext_pipelines", None)
    assert sorted(SEEN) == ["around None", "kernel None"]
