# SPDX-License-Identifier: Apache-2.0
"""Operations of `ptr` and `tptr`, as MLIR and triton-shared print them, compute what NumPy does."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

import triton_ext as tx
from support.linalg import execute

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("stock")]

#: Stores what it reads through pointers in each way, and what it computes of them, one after the other.
TEXT = """
!p = !ptr.ptr<#ptr.generic_space>
!view = memref<3xi32, strided<[2], offset: 1>, #ptr.generic_space>
!any = memref<?xi32, strided<[?], offset: ?>, #ptr.generic_space>

func.func private @put(%out: !p, %at: index, %v: i32) {
  %size = ptr.type_offset i32 : index
  %bytes = arith.muli %at, %size : index
  %q = ptr.ptr_add nuw %out, %bytes : !p, index
  ptr.store %v, %q : i32, !p
  return
}

func.func @walk(%x: !p, %out: !p, %n: i32, %back: i8) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c36 = arith.constant 36 : index
  %c64 = arith.constant 64 : index
  %size = ptr.type_offset i32 : i32
  %bytes = arith.muli %n, %size : i32
  %far = ptr.ptr_add %x, %bytes : !p, i32
  %q = ptr.ptr_add inbounds %far, %back : !p, i8
  %a = ptr.load %q : !p -> i32
  call @put(%out, %c0, %a) : (!p, index, i32) -> ()
  %b = ptr.load volatile %far : !p -> i32
  call @put(%out, %c1, %b) : (!p, index, i32) -> ()
  %c = ptr.load %far atomic acquire alignment = 4 : !p -> i32
  call @put(%out, %c2, %c) : (!p, index, i32) -> ()
  %d = ptr.ptr_diff %q, %far : !p -> i32
  call @put(%out, %c3, %d) : (!p, index, i32) -> ()
  %null = ptr.constant #ptr.null : !p
  %known = ptr.constant #ptr.address<-16> : !p
  %e = ptr.ptr_diff %known, %null : !p -> i32
  call @put(%out, %c4, %e) : (!p, index, i32) -> ()
  %address = tptr.ptr_to_int %far : !p to i64
  %again = tptr.int_to_ptr %address : i64 to !p
  %f = ptr.load %again nontemporal : !p -> i32
  call @put(%out, %c5, %f) : (!p, index, i32) -> ()

  %view = tptr.from_ptr %x : <#ptr.generic_space> -> !view
  %g = memref.load %view[%c2] : !view
  call @put(%out, %c6, %g) : (!p, index, i32) -> ()
  %any = memref.cast %view : !view to !any
  %metadata = ptr.get_metadata %any : !any
  %base = ptr.to_ptr %any : !any -> !p
  %next = ptr.ptr_add %base, %size : !p, i32
  %moved = ptr.from_ptr %next metadata %metadata : !p -> !any
  %h = memref.load %moved[%c1] : !any
  call @put(%out, %c7, %h) : (!p, index, i32) -> ()

  %slot = ptr.ptr_add %out, %c64 : !p, index
  ptr.store volatile %far, %slot : !p, !p
  %stored = ptr.load %slot : !p -> !p
  %i = ptr.load %stored : !p -> i32
  call @put(%out, %c8, %i) : (!p, index, i32) -> ()
  %last = ptr.ptr_add %out, %c36 : !p, index
  ptr.store %n, %last atomic release alignment = 4 : i32, !p
  return
}
"""


@pytest.mark.parametrize("folded", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_one_pointer(seed: int, folded: bool) -> None:
    lowered = tx.opt(TEXT, "canonicalize,cse," * folded + "lower-tptr,lower-linalg-ext")
    rng = np.random.default_rng(seed)
    x, out = rng.integers(-99, 99, 64).astype(np.int32), np.zeros(32, np.int32)
    n, back = int(rng.integers(32, 60)), -4 * int(rng.integers(0, 32))
    function: Any = execute.build(execute.to_llvm(lowered), "walk").walk
    function(ctypes.c_int64(x.ctypes.data), ctypes.c_int64(out.ctypes.data), ctypes.c_int32(n), ctypes.c_int8(back))
    expected = [x[n + back // 4], x[n], x[n], back, -16, x[n], x[5], x[4], x[n], n]
    assert out[:10].tolist() == expected
    assert out[16:18].view(np.int64)[0] == x.ctypes.data + 4 * n


#: Each element of a tensor of pointers is loaded and stored by itself, as in triton-shared.
MANY = """
#map = affine_map<(d0) -> (d0)>
!p = !ptr.ptr<#ptr.generic_space>

func.func @gather(%x: !p, %out: !p, %at: memref<8xi64>, %shift: i32) {
  %offsets = bufferization.to_tensor %at restrict : memref<8xi64> to tensor<8xi64>
  %ps = ptr.ptr_add %x, %offsets : !p, tensor<8xi64>
  %qs = ptr.ptr_add %ps, %shift : tensor<8x!p>, i32
  %ds = ptr.ptr_diff %qs, %ps : tensor<8x!p> -> tensor<8xi32>
  %as = tptr.ptr_to_int %qs : tensor<8x!p> to tensor<8xi64>
  %rs = tptr.int_to_ptr %as : tensor<8xi64> to tensor<8x!p>
  %empty = tensor.empty() : tensor<8xi32>
  %vs = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
      ins(%rs, %ds : tensor<8x!p>, tensor<8xi32>) outs(%empty : tensor<8xi32>) {
  ^bb0(%r: !p, %d: i32, %o: i32):
    %m = tptr.from_ptr %r : <#ptr.generic_space> -> memref<1xi32, #ptr.generic_space>
    %c0 = arith.constant 0 : index
    %v = memref.load %m[%c0] : memref<1xi32, #ptr.generic_space>
    %s = arith.addi %v, %d : i32
    linalg.yield %s : i32
  } -> tensor<8xi32>
  %slot = tptr.from_ptr %out : <#ptr.generic_space> -> memref<8xi32, #ptr.generic_space>
  bufferization.materialize_in_destination %vs in restrict writable %slot
      : (tensor<8xi32>, memref<8xi32, #ptr.generic_space>) -> ()
  return
}
"""


@pytest.mark.parametrize("seed", range(3))
def test_tensors_of_pointers(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, out = rng.integers(-99, 99, 64).astype(np.int32), np.zeros(8, np.int32)
    at, shift = rng.integers(0, 32, 8), int(rng.integers(0, 32))
    lowered = tx.opt(MANY, "lower-tptr,convert-arith-to-linalg,lower-linalg-ext")
    function: Any = execute.build(execute.to_llvm(lowered), "gather").gather
    offsets = (4 * at).astype(np.int64)
    begin = ctypes.c_int64(offsets.ctypes.data)
    memref = [begin, begin, *map(ctypes.c_int64, (0, 8, 1))]
    function(*map(ctypes.c_int64, (x.ctypes.data, out.ctypes.data)), *memref, ctypes.c_int32(4 * shift))
    assert np.array_equal(out, x[at + shift] + 4 * shift)
