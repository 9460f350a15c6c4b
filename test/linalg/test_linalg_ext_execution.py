# SPDX-License-Identifier: Apache-2.0
"""Runs on the CPU what ``-lower-linalg-ext`` makes of structured operations, atomics and microscaled products."""

from __future__ import annotations

import ctypes
import itertools
from typing import Any

import numpy as np
import pytest
import torch

from support.linalg.on_memory import numbers, on_memory, run

pytestmark = pytest.mark.usefixtures("stock")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "reference"), [("sum", torch.sum), ("max", torch.amax), ("min", torch.amin)])
@pytest.mark.parametrize("dtype", [torch.float64, torch.int32])
def test_reductions(name: str, reference: Any, dtype: torch.dtype) -> None:
    x, out = numbers(5, 7, 3, dtype=dtype), numbers(7, dtype=dtype, seed=1)
    first = out.clone()
    on_memory(f"linalg_ext.reduce_{name} dimensions = [0, 2] ins(%m0 : {{0}}) outs(%m1 : {{1}})", x, out)
    expected = reference(torch.cat([x.movedim(1, 0).reshape(7, -1), first[:, None]], 1), 1)
    torch.testing.assert_close(out, expected.to(dtype))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "keeps"), [("max", False), ("min", False), ("max_nan", True), ("min_nan", True)])
def test_reductions_with_nan(name: str, keeps: bool) -> None:
    x, out = numbers(4, 8), torch.zeros(4)
    x[1, 3] = x[2, 0] = x[3, 7] = float("nan")
    on_memory(f"linalg_ext.reduce_{name} dimensions = [1] ins(%m0 : {{0}}) outs(%m1 : {{1}})", x, out)
    assert out.isnan().tolist() == [False, keeps, keeps, keeps]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "reference"), [("argmax", np.argmax), ("argmin", np.argmin)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int16])
def test_args(name: str, reference: Any, dtype: torch.dtype) -> None:
    x = numbers(6, 16, dtype=torch.int16).to(dtype)  # some elements are equal
    index = torch.arange(16, dtype=torch.int32).expand(6, 16).contiguous()
    worst = torch.iinfo(torch.int16)
    value = torch.full((6,), worst.min if name == "argmax" else worst.max, dtype=dtype)
    where = torch.full((6,), 1 << 30, dtype=torch.int32)
    on_memory(
        f"linalg_ext.{name} dimension = 1 tie_break_left(true)"
        " ins(%m0, %m1 : {0}, {1}) outs(%m2, %m3 : {2}, {3})",
        x, index, value, where,
    )  # fmt: skip
    expected = reference(x.numpy(), 1)
    assert where.tolist() == expected.tolist()
    assert value.tolist() == np.take_along_axis(x.numpy(), expected[:, None], 1)[:, 0].tolist()


@pytest.mark.slow
@pytest.mark.parametrize(("strides", "dilations"), [*itertools.product([(1, 1), (2, 1)], [(1, 1), (1, 2)])])
def test_windows(strides: tuple[int, int], dilations: tuple[int, int]) -> None:
    image, filters = numbers(2, 1, 9, 8, 4, dtype=torch.float64), numbers(2, 3, 3, 2, 4, dtype=torch.float64, seed=1)
    sizes = [(n - (k - 1) * d - 1) // s + 1 for n, k, d, s in zip((9, 8), (3, 2), dilations, strides, strict=True)]
    numbers_of_windows = f"strides = {list(strides)} dilations = {list(dilations)}"
    convolved = numbers(2, 1, *sizes, 3, dtype=torch.float64, seed=2)
    expected = convolved.clone()
    for batch in range(2):
        expected[batch] += torch.nn.functional.conv2d(
            image[batch].permute(0, 3, 1, 2), filters[batch].permute(0, 3, 1, 2), stride=strides, dilation=dilations
        ).permute(0, 2, 3, 1)
    on_memory(
        f"linalg_ext.batch_conv_2d_nhwc_fhwc {numbers_of_windows} ins(%m0, %m1 : {{0}}, {{1}}) outs(%m2 : {{2}})",
        image, filters, convolved,
    )  # fmt: skip
    torch.testing.assert_close(convolved, expected)

    columns = torch.zeros(1, *sizes, 3, 2, 4, dtype=torch.float64)
    on_memory(f"linalg_ext.im2col {numbers_of_windows} ins(%m0 : {{0}}) outs(%m1 : {{1}})", image[0].clone(), columns)
    unfolded = torch.nn.functional.unfold(image[0].permute(0, 3, 1, 2), (3, 2), dilations, 0, strides)
    torch.testing.assert_close(columns, unfolded.reshape(1, 4, 3, 2, *sizes).permute(0, 4, 5, 2, 3, 1))

    pooled, window = torch.full((1, *sizes, 4), -9.0, dtype=torch.float64), torch.zeros(3, 2, dtype=torch.float64)
    on_memory(
        f"linalg_ext.pooling_nhwc_max_nan {numbers_of_windows} ins(%m0, %m1 : {{0}}, {{1}}) outs(%m2 : {{2}})",
        image[0].clone(), window, pooled,
    )  # fmt: skip
    torch.testing.assert_close(pooled, columns.amax((3, 4)))


@pytest.mark.slow
@pytest.mark.parametrize("diagonal", [-9, -1, 0, 3, 9])
def test_tri(diagonal: int) -> None:
    out = torch.full((4, 6), 7.0)
    on_memory(f"%k = arith.constant {diagonal} : index\n  linalg_ext.tri ins(%k : index) outs(%m0 : {{0}})", out)
    assert out.tolist() == np.tri(4, 6, diagonal).tolist()


@pytest.mark.slow
def test_high_halves_by_constants() -> None:
    """The factors are powers of two, which become shifts, and their neighbours, which do not."""
    factors = torch.tensor([f for k in range(32) for f in (2**k - 1, 2**k, 2**k + 1)], dtype=torch.int64)
    x, out = numbers(len(factors), dtype=torch.int64).to(torch.int32) * 397_204_099, torch.zeros(96, dtype=torch.int32)
    lines = []
    for i, factor in enumerate(factors.tolist()):
        lines += [
            f"%i{i} = arith.constant {i} : index", f"%x{i} = memref.load %m0[%i{i}] : {{0}}",
            f"%f{i} = arith.constant {(factor + 2**31) % 2**32 - 2**31} : i32",
            f"%y{i} = math_ext.mulhiui %x{i}, %f{i} : i32", f"memref.store %y{i}, %m1[%i{i}] : {{1}}",
        ]  # fmt: skip
    on_memory("\n  ".join(lines), x, out, before="canonicalize,")
    expected = [(a % 2**32) * b >> 32 for a, b in zip(x.tolist(), factors.tolist(), strict=True)]
    assert [o % 2**32 for o in out.tolist()] == expected


TO_LINALG = "triton-to-linalg,lower-linalg-ext"
PROGRAM = (1, 1, 1, 0, 0, 0)
LINE = """
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %pp = tt.addptr %ps, %r : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  %qs = tt.splat %q : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %qq = tt.addptr %qs, %r : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  %ns = tt.splat %n : i32 -> tensor<64xi32>
  %m = arith.cmpi slt, %r, %ns : tensor<64xi32>"""


@pytest.mark.slow
@pytest.mark.parametrize("count", [0, 1, 40, 64, 100])
def test_atomics_side_by_side(count: int) -> None:
    memory, old = numbers(64, dtype=torch.int32), torch.full((64,), 9, dtype=torch.int32)
    before = memory.clone()
    text = f"""tt.func public @f(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>, %n: i32) {{{LINE}
  %0 = tt.atomic_rmw max, acq_rel, gpu, %pp, %r, %m
      : (tensor<64x!tt.ptr<i32>>, tensor<64xi32>, tensor<64xi1>) -> tensor<64xi32>
  %1 = tt.atomic_cas acq_rel, gpu, %pp, %r, %ns
      : (tensor<64x!tt.ptr<i32>>, tensor<64xi32>, tensor<64xi32>) -> tensor<64xi32>
  %2 = arith.addi %0, %1 : tensor<64xi32>
  tt.store %qq, %2 : tensor<64x!tt.ptr<i32>>
  tt.return
}}
"""
    run(text, TO_LINALG, memory, old, count, *PROGRAM)
    line = torch.arange(64, dtype=torch.int32)
    changed = torch.where(line < count, torch.maximum(before, line), before)
    assert old.equal(torch.where(line < count, before, 0) + changed)
    assert memory.equal(torch.where(changed == line, count, changed).to(torch.int32))


@pytest.mark.slow
def test_atomic_accesses() -> None:
    memory, out = numbers(64, dtype=torch.int32), torch.zeros(64, dtype=torch.int32)
    before = memory.clone()
    text = f"""tt.func public @f(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>, %n: i32) {{{LINE}
  %t = arith.constant 3 : i64
  %0 = tt.atomic_load relaxed, gpu, %pp, %m : (tensor<64x!tt.ptr<i32>>, tensor<64xi1>) -> tensor<64xi32>
  %1 = tt.atomic_poll relaxed, gpu, %pp, %r timeout %t : tensor<64x!tt.ptr<i32>>, tensor<64xi32> -> tensor<64xi1>
  %2 = arith.extui %1 : tensor<64xi1> to tensor<64xi32>
  %c = arith.constant dense<100> : tensor<64xi32>
  %3 = arith.muli %2, %c : tensor<64xi32>
  %4 = arith.addi %0, %3 : tensor<64xi32>
  tt.store %qq, %4 : tensor<64x!tt.ptr<i32>>
  tt.atomic_store relaxed, gpu, %pp, %r, %m : tensor<64x!tt.ptr<i32>>
  %z = arith.constant 0 : i32
  %v = tt.atomic_poll acquire, gpu, %p, %z : !tt.ptr<i32>, i32 -> i1
  tt.return
}}
"""
    memory[3] = before[3] = 3
    memory[0] = before[0] = 40  # 0 since the store, and the last poll waits for 0
    run(text, TO_LINALG, memory, out, 40, *PROGRAM)
    line = torch.arange(64, dtype=torch.int32)
    assert out.equal((torch.where(line < 40, before, 0) + 100 * (before == line)).to(torch.int32))
    assert memory.equal(torch.where(line < 40, line, before))


E2M1 = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])


@pytest.mark.slow
def test_dot_scaled() -> None:
    """The operands have four-bit numbers, two in a byte along the inner dimension, and both have scales."""
    generator = torch.Generator().manual_seed(3)
    a = torch.randint(0, 256, (32, 32), generator=generator, dtype=torch.uint8)
    b = torch.randint(0, 256, (32, 16), generator=generator, dtype=torch.uint8)
    a_scale = torch.randint(120, 134, (32, 2), generator=generator, dtype=torch.uint8)
    b_scale = torch.randint(120, 134, (16, 2), generator=generator, dtype=torch.uint8)
    a_scale[0], a_scale[1], b_scale[0] = 0, 255, 200
    c, out = numbers(32, 16), torch.zeros(32, 16)
    loads, rows = [], [("a", "i8", 32, 32), ("s", "i8", 32, 2), ("b", "i8", 32, 16), ("t", "i8", 16, 2)]
    for name, element, m, n in [*rows, ("c", "f32", 32, 16), ("o", "f32", 32, 16)]:
        loads.append(f"""
  %{name}r = tt.make_range {{start = 0 : i32, end = {m * n} : i32}} : tensor<{m * n}xi32>
  %{name}i = tt.reshape %{name}r : tensor<{m * n}xi32> -> tensor<{m}x{n}xi32>
  %{name}s = tt.splat %{name} : !tt.ptr<{element}> -> tensor<{m}x{n}x!tt.ptr<{element}>>
  %{name}p = tt.addptr %{name}s, %{name}i : tensor<{m}x{n}x!tt.ptr<{element}>>, tensor<{m}x{n}xi32>
  %{name}v = tt.load %{name}p : tensor<{m}x{n}x!tt.ptr<{element}>>""")
    pointers = ", ".join(f"%{name}: !tt.ptr<{element}>" for name, element, *_ in [*rows, ("c", "f32"), ("o", "f32")])
    text = f"""tt.func public @f({pointers}) {{{"".join(loads)}
  %d = tt.dot_scaled %av scale %sv, %bv scale %tv, %cv lhs = e2m1 rhs = e2m1 {{fastMath = false}}
      : tensor<32x32xi8>, tensor<32x2xi8> * tensor<32x16xi8>, tensor<16x2xi8> -> tensor<32x16xf32>
  tt.store %op, %d : tensor<32x16x!tt.ptr<f32>>
  tt.return
}}
"""
    run(text, TO_LINALG, a, a_scale, b, b_scale, c, out, *PROGRAM)
    left = E2M1[torch.stack([a & 15, a >> 4], 2).reshape(32, 64).int()].double()
    right = E2M1[torch.stack([b & 15, b >> 4], 1).reshape(64, 16).int()].double()
    left_scale, right_scale = (
        torch.where(s == 255, torch.nan, 2.0 ** (s.double() - 127)).repeat_interleave(32, 1) for s in (a_scale, b_scale)
    )
    expected = (left * left_scale) @ (right * right_scale.T) + c.double()
    torch.testing.assert_close(out, expected.float(), rtol=1e-5, atol=1e-4, equal_nan=True)
    assert out[1].isnan().all()
    assert not out[2].isnan().any()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("printed", "says"),
    [
        ("%x = arith.constant -3 : i8\n  aux.scalar.print(%x : i8) {format = \"<%4d>\"}", "<  -3>"),
        ("%x = arith.constant -3 : i8\n  aux.scalar.print(%x : i8) {format = \"<%hhu>\"}", "<253>"),
        ("%x = arith.constant -1 : i64\n  aux.scalar.print(%x : i64) {format = \"100%% %x\"}", f"100% {'f' * 16}"),
        ("%x = arith.constant 5000000000 : i64\n  aux.scalar.print(%x : i64) {format = \"%d\"}", "5000000000"),
        ("%x = arith.constant 65 : i32\n  aux.scalar.print(%x : i32) {format = \"<%c>\"}", "<A>"),
        ("%x = arith.constant 2.5 : f16\n  aux.scalar.print(%x : f16) {format = \"<%-8.3lf>\"}", "<2.500   >"),
        ("%x = arith.constant 2.5 : f32\n  aux.scalar.print(%x : f32) {format = \"%g\", hex}", "2.5"),
    ],
)  # fmt: skip
def test_formats(printed: str, says: str, capfd: pytest.CaptureFixture[str]) -> None:
    """A conversion specifier needs no length, and reads as many bits as the value has."""
    run(f"func.func @f() {{\n  {printed}\n  return\n}}\n", "lower-linalg-ext{program-arguments=false}")
    ctypes.CDLL(None).fflush(None)
    assert capfd.readouterr().out.strip() == says


ANYWHERE = """tt.func public @f(%p: !tt.ptr<i64>, %q: !tt.ptr<f32>, %n: i32) {
  %r = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
  %ps = tt.splat %p : !tt.ptr<i64> -> tensor<8x!tt.ptr<i64>>
  %pp = tt.addptr %ps, %r : tensor<8x!tt.ptr<i64>>, tensor<8xi32>
  %a = tt.load %pp : tensor<8x!tt.ptr<i64>>
  %at = tt.int_to_ptr %a : tensor<8xi64> -> tensor<8x!tt.ptr<f32>>
  %ns = tt.splat %n : i32 -> tensor<8xi32>
  %odd = arith.constant dense<5> : tensor<8xi32>
  %x = arith.muli %r, %odd : tensor<8xi32>
  %y = arith.remsi %x, %ns : tensor<8xi32>
  %c3 = arith.constant dense<3> : tensor<8xi32>
  %m = arith.cmpi ne, %y, %c3 : tensor<8xi32>
  %other = arith.constant dense<-1.0> : tensor<8xf32>
  %v = tt.load %at, %m, %other : tensor<8x!tt.ptr<f32>>
  %qs = tt.splat %q : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %qq = tt.addptr %qs, %r : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  tt.store %qq, %v : tensor<8x!tt.ptr<f32>>
  %w = arith.addf %v, %v : tensor<8xf32>
  tt.store %at, %w, %m : tensor<8x!tt.ptr<f32>>
  tt.return
}
"""


@pytest.mark.slow
def test_addresses_between_elements() -> None:
    """Addresses come from memory; only the first is a multiple of four, and some are masked off."""
    memory = np.zeros(64, dtype=np.uint8)
    offsets = np.arange(8) * 5
    values = np.arange(8, dtype=np.float32) + 0.25
    for offset, value in zip(offsets, values, strict=True):
        memory[offset : offset + 4] = np.frombuffer(value.tobytes(), dtype=np.uint8)
    masked = (np.arange(8) * 5) % 7 == 3
    addresses = torch.from_numpy(np.where(masked, 1, memory.ctypes.data + offsets))
    out = torch.zeros(8)
    run(ANYWHERE, TO_LINALG, addresses, out, 7, *PROGRAM)
    assert masked.sum() == 1
    assert out.tolist() == np.where(masked, -1, values).tolist()
    after = [np.frombuffer(memory[o : o + 4].tobytes(), dtype=np.float32)[0] for o in offsets]
    assert after == np.where(masked, values, 2 * values).tolist()


@pytest.mark.slow
def test_reshapes_without_dimensions() -> None:
    """Reshapes to and from tensors of one element with no dimension, one or two."""
    text = """tt.func public @f(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>) {
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<1x1x!tt.ptr<f32>>
  %v = tt.load %ps : tensor<1x1x!tt.ptr<f32>>
  %a = tt.reshape %v : tensor<1x1xf32> -> tensor<f32>
  %b = arith.addf %a, %a : tensor<f32>
  %c = tt.reshape %b : tensor<f32> -> tensor<1xf32>
  %d = tt.reshape %c : tensor<1xf32> -> tensor<f32>
  %e = arith.mulf %d, %a : tensor<f32>
  %f = tt.reshape %e : tensor<f32> -> tensor<1x1x1xf32>
  %g = tt.reshape %f : tensor<1x1x1xf32> -> tensor<1xf32>
  %qs = tt.splat %q : !tt.ptr<f32> -> tensor<1x!tt.ptr<f32>>
  tt.store %qs, %g : tensor<1x!tt.ptr<f32>>
  tt.return
}
"""
    x, out = torch.tensor([3.0]), torch.zeros(1)
    run(text, TO_LINALG, x, out, *PROGRAM)
    assert out.item() == 18
