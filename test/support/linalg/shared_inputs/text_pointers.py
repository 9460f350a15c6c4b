# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E501 - an operation is one line
"""Inputs that are IR about pointers to more than one tensor, and about operations of `tts` on all of them; see texts.py."""

from __future__ import annotations

import torch

from support.linalg.shared_inputs.texts import add, integers, pointers, range_of

#: Masks of nothing but true, as a constant, a splat and a broadcast; one that is not; one that is loaded; and none.
_GATHER = """
  %g{row} = tts.gather %x[%at]{mask} : (!tt.ptr<f32>, tensor<32xi32>) -> tensor<32xf32>
  %o{row} = arith.constant {offset} : i32
  %m{row} = tt.addptr %out, %o{row} : !tt.ptr<f32>, i32
  %q{row} = tt.splat %m{row} : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>>
  %q{row}s = tt.addptr %q{row}, %i : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
  %k{row} = arith.select {keep}, %g{row}, %zero : tensor<32xi1>, tensor<32xf32>
  tt.store %q{row}s, %k{row} : tensor<32x!tt.ptr<f32>>"""
_MASKS = ("constant", "splat", "broadcast", "alternate", "loaded", "")


def _gather(row: int, mask: str) -> str:
    keep = f"%{mask or 'constant'}"
    return _GATHER.format(row=row, offset=row * 32, mask=mask and f" mask = %{mask}", keep=keep)


add(
    "gathers_with_masks",
    "canonicalize-gather-mask",
    module=f"""
tt.func @f(%x: !tt.ptr<f32>, %where: !tt.ptr<i32>, %out: !tt.ptr<f32>) {{
  {range_of(32)}
  {pointers("where", "w", 32, "i32")}
  %at = tt.load %ws : tensor<32x!tt.ptr<i32>>
  %zero = arith.constant dense<0.0> : tensor<32xf32>
  %one = arith.constant dense<1> : tensor<32xi32>
  %none = arith.constant dense<0> : tensor<32xi32>
  %ten = arith.constant dense<10> : tensor<32xi32>
  %true = arith.constant true
  %small = arith.constant dense<true> : tensor<1xi1>
  %constant = arith.constant dense<true> : tensor<32xi1>
  %splat = tt.splat %true : i1 -> tensor<32xi1>
  %broadcast = tt.broadcast %small : tensor<1xi1> -> tensor<32xi1>
  %bit = arith.andi %i, %one : tensor<32xi32>
  %alternate = arith.cmpi eq, %bit, %none : tensor<32xi32>
  %loaded = arith.cmpi slt, %at, %ten : tensor<32xi32>
{"".join(_gather(row, mask) for row, mask in enumerate(_MASKS))}
  tt.return
}}
""",
    arguments=lambda g: (
        torch.randn(20, generator=g),
        torch.randint(0, 20, (32,), dtype=torch.int32, generator=g),
        torch.zeros(192),
    ),
    expected=lambda x, at, out: torch.cat(
        [x[at]] * 3 + [x[at] * (torch.arange(32) % 2 == 0), x[at] * (at < 10), x[at]]
    ),
)

add(
    "pointers_to_two_tensors",
    "multiple_bases",
    "cat",
    "examples/test_multiple_bases",
    module=f"""
tt.func @f(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>, %out: !tt.ptr<i32>) {{
  {range_of(8)}
  {pointers("x", "p", 8, "i32")}
  {pointers("y", "q", 8, "i32")}
  %both = tt.cat %ps, %qs : tensor<8x!tt.ptr<i32>> -> tensor<16x!tt.ptr<i32>>
  %v = tt.load %both : tensor<16x!tt.ptr<i32>>
  %j = tt.make_range {{end = 16 : i32, start = 0 : i32}} : tensor<16xi32>
  %r = tt.splat %out : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
  %rs = tt.addptr %r, %j : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
  tt.store %rs, %v : tensor<16x!tt.ptr<i32>>
  tt.return
}}
""",
    arguments=lambda g: (integers(g, 8), integers(g, 8), torch.zeros(16, dtype=torch.int32)),
    expected=lambda x, y, out: torch.cat([x, y]),
)

add(
    "pointers_chosen_of_two_tensors",
    "cat_and_where_on_ptrs",
    module=f"""
tt.func @f(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>, %keep: !tt.ptr<i1>, %out: !tt.ptr<i32>) {{
  {range_of(8)}
  {pointers("x", "p", 8, "i32")}
  {pointers("y", "q", 8, "i32")}
  %both = tt.cat %ps, %qs : tensor<8x!tt.ptr<i32>> -> tensor<16x!tt.ptr<i32>>
  %v = tt.load %both : tensor<16x!tt.ptr<i32>>
  %two = arith.constant dense<2> : tensor<16xi32>
  %none = arith.constant dense<0> : tensor<16xi8>
  %w = arith.muli %v, %two : tensor<16xi32>
  %then = tt.addptr %both, %w : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
  %else = tt.addptr %both, %v : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
  %j = tt.make_range {{end = 16 : i32, start = 0 : i32}} : tensor<16xi32>
  %k = tt.splat %keep : !tt.ptr<i1> -> tensor<16x!tt.ptr<i1>>
  %ks = tt.addptr %k, %j : tensor<16x!tt.ptr<i1>>, tensor<16xi32>
  %bytes = tt.bitcast %ks : tensor<16x!tt.ptr<i1>> -> tensor<16x!tt.ptr<i8>>
  %b = tt.load %bytes : tensor<16x!tt.ptr<i8>>
  %mask = arith.cmpi ne, %b, %none : tensor<16xi8>
  %r = arith.select %mask, %then, %else : tensor<16xi1>, tensor<16x!tt.ptr<i32>>
  %found = tt.load %r : tensor<16x!tt.ptr<i32>>
  %masked = tt.load %r, %mask : tensor<16x!tt.ptr<i32>>
  %o = tt.splat %out : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
  %os = tt.addptr %o, %j : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
  tt.store %os, %found : tensor<16x!tt.ptr<i32>>
  tt.store %os, %masked, %mask : tensor<16x!tt.ptr<i32>>
  tt.return
}}
""",
    arguments=lambda g: (
        *(torch.randint(0, 2, (10,), dtype=torch.int32, generator=g) for _ in range(2)),
        torch.randint(0, 2, (16,), dtype=torch.int8, generator=g),
        torch.zeros(16, dtype=torch.int32),
    ),
    expected=lambda x, y, keep, out: torch.cat(
        [z[torch.arange(8) + z[:8] * (1 + half)] for z, half in ((x, keep[:8]), (y, keep[8:]))]
    ),
)

add(
    "box_of_structured_pointers",
    "structured_ptr",
    module="""
tt.func @f(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: !tt.ptr<i32>, %out: !tt.ptr<f32>) {
  %c64 = arith.constant 64 : index
  %c64_i32 = arith.constant 64 : i32
  %size = tt.load %n : !tt.ptr<i32>
  %pid = tt.get_program_id x : i32
  %first = arith.muli %pid, %c64_i32 : i32
  %start = arith.index_cast %first : i32 to index
  %end = arith.addi %start, %c64 : index
  %all = arith.index_cast %size : i32 to index
  %least = arith.minsi %end, %all : index
  %count = arith.subi %least, %start : index
  %p = tts.make_tptr %x to sizes: [64], strides: [1], offsets: [%start], shape: [0], order: [] : <f32> to tensor<64x!tt.ptr<f32>>
  %a = "tts.load"(%p, %count) <{operandSegmentSizes = array<i32: 1, 1, 0>, static_mask_dims = array<i64: -9223372036854775808>}> : (tensor<64x!tt.ptr<f32>>, index) -> tensor<64xf32>
  %q = tts.make_tptr %y to sizes: [64], strides: [1], offsets: [%start], shape: [0], order: [] : <f32> to tensor<64x!tt.ptr<f32>>
  %b = "tts.load"(%q, %count) <{operandSegmentSizes = array<i32: 1, 1, 0>, static_mask_dims = array<i64: -9223372036854775808>}> : (tensor<64x!tt.ptr<f32>>, index) -> tensor<64xf32>
  %sum = arith.addf %a, %b : tensor<64xf32>
  %r = tts.make_tptr %out to sizes: [64], strides: [1], offsets: [%start], shape: [0], order: [] : <f32> to tensor<64x!tt.ptr<f32>>
  "tts.store"(%r, %sum, %count) <{static_mask_dims = array<i64: -9223372036854775808>}> : (tensor<64x!tt.ptr<f32>>, tensor<64xf32>, index) -> ()
  tt.return
}
""",
    arguments=lambda g: (
        torch.randn(41, generator=g),
        torch.randn(41, generator=g),
        torch.tensor([41], dtype=torch.int32),
        torch.zeros(41),
    ),
    expected=lambda x, y, n, out: x + y,
)
