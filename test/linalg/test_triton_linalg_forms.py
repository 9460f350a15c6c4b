# SPDX-License-Identifier: Apache-2.0
"""Runs operations as triton-linalg writes them on the CPU, where the meaning of its form differs from ours."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from support.linalg.on_memory import numbers, on_memory

pytestmark = pytest.mark.usefixtures("stock")


@pytest.mark.slow
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dimension", [0, 1])
def test_scan_that_carries(dimension: int, reverse: bool) -> None:
    """Each line begins with the carried value, and the carried value is the last sum at the end."""
    x, out = numbers(5, 7, dtype=torch.int32), torch.zeros(5, 7, dtype=torch.int32)
    carried = numbers(35 // x.shape[dimension], dtype=torch.int32, seed=1)
    first = carried.clone()
    on_memory(
        f"""linalg_ext.scan ins(%m0 : {{0}}) outs(%m1, %m2 : {{1}}, {{2}}) dimensions = [{dimension}]
  reverse = {str(reverse).lower()} {{{{
  ^bb0(%in: i32, %out: i32, %carried: i32):
    %s = arith.addi %carried, %in : i32
    linalg_ext.yield %s, %s : i32, i32
  }}}} -> {{1}}, {{2}}""",
        x, out, carried,
    )  # fmt: skip
    turned = x.flip(dimension) if reverse else x
    expected = turned.cumsum(dimension) + first.unsqueeze(dimension)
    assert carried.equal(expected.select(dimension, -1).to(torch.int32))
    assert out.equal((expected.flip(dimension) if reverse else expected).to(torch.int32))


@pytest.mark.slow
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dimension", [0, 1])
def test_exclusive_scan(dimension: int, reverse: bool) -> None:
    """An element of the output is what is carried before the element of the input."""
    x, out = numbers(5, 7, dtype=torch.int32), torch.zeros(5, 7, dtype=torch.int32)
    carried = numbers(35 // x.shape[dimension], dtype=torch.int32, seed=1)
    first = carried.clone()
    on_memory(
        f"""linalg_ext.scan ins(%m0 : {{0}}) outs(%m1, %m2 : {{1}}, {{2}}) dimensions = [{dimension}]
  reverse = {str(reverse).lower()} inclusive = false {{{{
  ^bb0(%in: i32, %out: i32, %carried: i32):
    %s = arith.addi %carried, %in : i32
    linalg_ext.yield %s, %s : i32, i32
  }}}} -> {{1}}, {{2}}""",
        x, out, carried,
    )  # fmt: skip
    turned = x.flip(dimension) if reverse else x
    expected = turned.cumsum(dimension) - turned + first.unsqueeze(dimension)
    assert out.equal((expected.flip(dimension) if reverse else expected).to(torch.int32))
    assert carried.equal((x.sum(dimension) + first).to(torch.int32))


@pytest.mark.slow
@pytest.mark.parametrize("reverse", [False, True])
def test_scan_without_dimensions(reverse: bool) -> None:
    """The one element is a line."""
    x, out, carried = (torch.tensor(number, dtype=torch.int32) for number in (5, 0, 7))
    on_memory(
        f"""linalg_ext.scan ins(%m0 : {{0}}) outs(%m1, %m2 : {{1}}, {{2}}) dimensions = []
  reverse = {str(reverse).lower()} {{{{
  ^bb0(%in: i32, %out: i32, %carried: i32):
    %s = arith.subi %carried, %in : i32
    linalg_ext.yield %s, %in : i32, i32
  }}}} -> {{1}}, {{2}}""",
        x, out, carried,
    )  # fmt: skip
    assert (int(out), int(carried)) == (2, 5)
    on_memory(
        """linalg_ext.scan ins(%m0 : {0}) outs(%m1 : {1}) dimension = 0 reverse(false) {{
  ^bb0(%acc: i32, %in: i32):
    %s = arith.addi %acc, %in : i32
    linalg_ext.yield %s : i32
  }}""",
        x, out,
    )  # fmt: skip
    assert int(out) == 5


@pytest.mark.slow
def test_scan_of_two_that_reads_its_outputs() -> None:
    """The scan has two inputs, an exclusive sum, and a body that keeps the second output where the element is odd."""
    x, y = numbers(4, 6, dtype=torch.int32), numbers(4, 6, dtype=torch.int32, seed=1)
    sums, products = torch.zeros(4, 6, dtype=torch.int32), numbers(4, 6, dtype=torch.int32, seed=2)
    old, start = products.clone(), numbers(4, dtype=torch.int32, seed=3)
    total, product = start.clone(), torch.ones(4, dtype=torch.int32)
    on_memory(
        """linalg_ext.scan ins(%m0, %m1 : {0}, {1}) outs(%m2, %m3, %m4, %m5 : {2}, {3}, {4}, {5}) dimensions = [1] {{
  ^bb0(%x: i32, %y: i32, %ox: i32, %oy: i32, %s: i32, %p: i32):
    %one = arith.constant 1 : i32
    %sum = arith.addi %s, %x : i32
    %prod = arith.muli %p, %y : i32
    %bit = arith.andi %y, %one : i32
    %odd = arith.cmpi eq, %bit, %one : i32
    %kept = arith.select %odd, %oy, %prod : i32
    linalg_ext.yield %s, %kept, %sum, %prod : i32, i32, i32, i32
  }} -> {2}, {3}, {4}, {5}""",
        x, y, sums, products, total, product,
    )  # fmt: skip
    assert sums.equal((x.cumsum(1) - x + start[:, None]).to(torch.int32))
    assert total.equal((x.sum(1) + start).to(torch.int32))
    running = y.cumprod(1)
    assert products.equal(torch.where(y % 2 == 1, old, running).to(torch.int32))
    assert product.equal(running[:, -1].to(torch.int32))


@pytest.mark.slow
@pytest.mark.parametrize("empty", [(0, 3), (3, 0)])
def test_scan_of_nothing(empty: tuple[int, int]) -> None:
    """A line without elements ends with its initial value."""
    x, out, carried = torch.zeros(empty), torch.zeros(empty), numbers(empty[0])
    first = carried.clone()
    on_memory(
        """linalg_ext.scan ins(%m0 : {0}) outs(%m1, %m2 : {1}, {2}) dimensions = [1] {{
  ^bb0(%in: f32, %out: f32, %carried: f32):
    linalg_ext.yield %in, %in : f32, f32
  }}""",
        x, out, carried,
    )  # fmt: skip
    assert carried.equal(first)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "comparison"), [("max", "ogt"), ("min", "olt")])
def test_args_by_a_body(name: str, comparison: str) -> None:
    """NaN never replaces a value, and the first of equal values stays; the name alone does not say so."""
    x = numbers(6, 16, dtype=torch.int16).float()  # with equal ones
    x[1, 3] = x[2, 0] = x[3, 15] = float("nan")
    index = torch.arange(16, dtype=torch.int32).expand(6, 16).contiguous()
    value = torch.full((6,), float("-inf") if name == "max" else float("inf"))
    where = torch.full((6,), -1, dtype=torch.int32)
    on_memory(
        f"""linalg_ext.arg{name} ins(%m0, %m1 : {{0}}, {{1}}) outs(%m2, %m3 : {{2}}, {{3}}) dimensions = [1]
  (%in: f32, %at: i32, %best: f32, %where: i32) {{{{
    %c = arith.cmpf {comparison}, %in, %best : f32
    %v = arith.select %c, %in, %best : f32
    %i = arith.select %c, %at, %where : i32
    linalg.yield %v, %i : f32, i32
  }}}}""",
        x, index, value, where,
    )  # fmt: skip
    expected = (np.nanargmax if name == "max" else np.nanargmin)(x.numpy(), 1)
    assert where.tolist() == expected.tolist()
    assert value.tolist() == np.take_along_axis(x.numpy(), expected[:, None], 1)[:, 0].tolist()


@pytest.mark.slow
def test_reductions_by_a_body() -> None:
    x, out = numbers(5, 7, 3, dtype=torch.int32), numbers(7, dtype=torch.int32, seed=1)
    expected = torch.cat([x.movedim(1, 0).reshape(7, -1), out[:, None]], 1).amax(1)
    on_memory(
        """linalg_ext.reduce_max ins(%m0 : {0}) outs(%m1 : {1}) dimensions = [0, 2] (%in: i32, %acc: i32) {{
    %v = arith.maxsi %in, %acc : i32
    linalg.yield %v : i32
  }}""",
        x, out,
    )  # fmt: skip
    assert out.equal(expected)


@pytest.mark.slow
def test_windows_without_steps() -> None:
    image, columns = numbers(1, 6, 5, 2), torch.zeros(1, 4, 4, 3, 2, 2)
    on_memory("linalg_ext.im2col ins(%m0 : {0}) outs(%m1 : {1})", image, columns)
    unfolded = torch.nn.functional.unfold(image.permute(0, 3, 1, 2), (3, 2))
    torch.testing.assert_close(columns, unfolded.reshape(1, 2, 3, 2, 4, 4).permute(0, 4, 5, 2, 3, 1))


@pytest.mark.slow
def test_pad_with_an_index() -> None:
    x, out = numbers(2, 3), torch.zeros(4, 5)
    on_memory(
        """%z = arith.constant 9.0 : f32
  linalg_ext.pad ins(%m0 : {0}) outs(%m1 : {1}) pvalue(%z : f32) low = [1, 0] high = [1, 2] {{
  ^bb0(%i: index):
    linalg_ext.yield %i : index
  }}""",
        x, out,
    )  # fmt: skip
    assert out.equal(torch.nn.functional.pad(x, (0, 2, 1, 1), value=9.0))


@pytest.mark.slow
@pytest.mark.parametrize("tensor", [False, True])
def test_mask_of_bytes(tensor: bool) -> None:
    """Any byte except 0 is true. An index may occur twice."""
    memory, old = numbers(8, dtype=torch.int32), torch.full((5,), 7, dtype=torch.int32)
    before = memory.clone()
    value = torch.tensor([1, 2, 3, 4, 5], dtype=torch.int32)
    index = torch.tensor([3, 0, 3, 7, 1], dtype=torch.int32)
    mask = torch.tensor([1, 0, 2, -1, 0], dtype=torch.int8)
    read = "%t = bufferization.to_tensor %m2 restrict writable : {2} to tensor<5xi8>\n  " if tensor else ""
    name, kind = ("%t", "tensor<5xi8>") if tensor else ("%m2", "{2}")
    on_memory(
        f"""{read}linalg_ext.gather_atomic_rmw addi relaxed ins(%m0, %m1, {name} : {{0}}, {{1}}, {kind})
      outs(%m3, %m4 : {{3}}, {{4}}) -> {{3}}, {{4}}""",
        value, index, mask, memory, old,
    )  # fmt: skip
    assert old.tolist() == [before[3], 7, before[3] + 1, before[7], 7]
    before[3] += 4
    before[7] += 4
    assert memory.equal(before)


@pytest.mark.slow
def test_atomics_on_a_tensor_of_memory() -> None:
    """The memory is changed after the tensor was read; the new tensor has the earlier content."""
    memory, value, out = (numbers(8, dtype=torch.int32, seed=s) for s in range(3))
    before, now = memory.clone(), torch.zeros(8, dtype=torch.int32)
    on_memory(
        """%t = bufferization.to_tensor %m0 restrict writable : {0} to tensor<8xi32>
  %v = bufferization.to_tensor %m1 restrict : {1} to tensor<8xi32>
  %e = tensor.empty() : tensor<8xi32>
  %new, %old = linalg_ext.atomic_rmw addi release ins(%v : tensor<8xi32>) outs(%t, %e : tensor<8xi32>, tensor<8xi32>)
      -> tensor<8xi32>, tensor<8xi32>
  %f = tensor.empty() : tensor<8xi32>
  %last = linalg_ext.atomic_cas relaxed ins(%t, %new, %v : tensor<8xi32>, tensor<8xi32>, tensor<8xi32>)
      outs(%f : tensor<8xi32>) -> tensor<8xi32>
  bufferization.materialize_in_destination %old in restrict writable %m2 : (tensor<8xi32>, {2}) -> ()
  bufferization.materialize_in_destination %new in restrict writable %m3 : (tensor<8xi32>, {3}) -> ()""",
        memory, value, out, now,
    )  # fmt: skip
    assert out.equal(before)
    assert now.equal(before + value)
    assert memory.equal(value)  # the exchange found the result of the sum


@pytest.mark.slow
def test_gathered_exchange_on_a_tensor() -> None:
    """On a tensor, an atomic sees the original element; if an index occurs twice, the second access sees the first
    one's result."""
    x, out = numbers(6, dtype=torch.int32), torch.zeros(4, dtype=torch.int32)
    start = x.clone()
    index = torch.tensor([5, 2, 2, 0])
    expected = x[index].clone()
    expected[3] += 1  # not what is there
    value = torch.tensor([10, 20, 30, 40], dtype=torch.int32)
    on_memory(
        """%c = tensor.empty() : tensor<6xi32>
  %r = bufferization.to_tensor %m0 restrict : {0} to tensor<6xi32>
  %t = linalg.copy ins(%r : tensor<6xi32>) outs(%c : tensor<6xi32>) -> tensor<6xi32>
  %one = arith.constant 1 : i32
  %s = linalg.map ins(%t : tensor<6xi32>) outs(%c : tensor<6xi32>) (%a: i32, %o: i32) {{
    %b = arith.addi %a, %one : i32
    %d = arith.subi %b, %one : i32
    linalg.yield %d : i32
  }}
  %e = bufferization.to_tensor %m1 restrict : {1} to tensor<4xi32>
  %v = bufferization.to_tensor %m2 restrict : {2} to tensor<4xi32>
  %i = bufferization.to_tensor %m3 restrict : {3} to tensor<4xi64>
  %f = tensor.empty() : tensor<4xi32>
  %g = linalg_ext.gather_atomic_cas release
      ins(%s, %e, %v, %i : tensor<6xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi64>)
      outs(%f : tensor<4xi32>) -> tensor<4xi32>
  bufferization.materialize_in_destination %g in restrict writable %m4 : (tensor<4xi32>, {4}) -> ()""",
        x, expected, value, index, out,
    )  # fmt: skip
    assert out.tolist() == [start[5], start[2], 20, start[0]]
    assert x.equal(start)


@pytest.mark.slow
def test_assert_of_numbers() -> None:
    """Numbers except 0 are true, and a tensor is passed through."""
    x, out = torch.tensor([1, -1, 256], dtype=torch.int32), torch.zeros(3, dtype=torch.int32)
    on_memory(
        """%t = bufferization.to_tensor %m0 restrict : {0} to tensor<3xi32>
  %u = linalg_ext.assert {{msg = "no"}} ins(%t : tensor<3xi32>) -> tensor<3xi32>
  linalg_ext.assert {{msg = "no"}} ins(%m0 : {0})
  bufferization.materialize_in_destination %u in restrict writable %m1 : (tensor<3xi32>, {1}) -> ()""",
        x, out,
    )  # fmt: skip
    assert out.equal(x)
