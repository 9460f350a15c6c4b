# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E501 - an operation is one line
"""The inputs that are IR; see texts.py."""

from __future__ import annotations

import torch

from support.linalg.shared_inputs.texts import add, integers, pointers, range_of

add(
    "dimensions_of_one_element",
    "make_tptr_canonicalize",
    module="""
tt.func @f(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>) {
  %p = tts.make_tptr %x to sizes: [1, 8, 1, 4], strides: [0, 5, 0, 1], offsets: [0, 3, 0, 0], shape: [0, 0, 0, 0], order: [] : <f32> to tensor<1x8x1x4x!tt.ptr<f32>>
  %q = tts.make_tptr %out to sizes: [1, 8, 1, 4], strides: [0, 4, 0, 1], offsets: [0, 0, 0, 0], shape: [0, 0, 0, 0], order: [] : <f32> to tensor<1x8x1x4x!tt.ptr<f32>>
  %v = "tts.load"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<1x8x1x4x!tt.ptr<f32>>) -> tensor<1x8x1x4xf32>
  "tts.store"(%q, %v) <{static_mask_dims = array<i64>}> : (tensor<1x8x1x4x!tt.ptr<f32>>, tensor<1x8x1x4xf32>) -> ()
  tt.return
}
""",
    arguments=lambda g: (torch.randn(42, generator=g), torch.zeros(32)),
    expected=lambda x, out: x[3:].as_strided((8, 4), (5, 1), 3).reshape(32),
)

add(
    "block_of_a_moved_pointer",
    "block_ptr_memref",
    "block_ptr_complex_offset",
    module="""
tt.func @f(%x: !tt.ptr<bf16>, %at: !tt.ptr<i64>, %out: !tt.ptr<bf16>) {
  %c16 = arith.constant 16 : index
  %o = tt.load %at : !tt.ptr<i64>
  %moved = tt.addptr %x, %o : !tt.ptr<bf16>, i64
  %p = tts.make_tptr %moved to sizes: [32, 16], strides: [%c16, 1], offsets: [0, 0], shape: [32, %c16], order: [1, 0] : <bf16> to tensor<32x16x!tt.ptr<bf16>>
  %q = tts.make_tptr %out to sizes: [32, 16], strides: [%c16, 1], offsets: [0, 0], shape: [32, %c16], order: [1, 0] : <bf16> to tensor<32x16x!tt.ptr<bf16>>
  %v = "tts.load"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<32x16x!tt.ptr<bf16>>) -> tensor<32x16xbf16>
  "tts.store"(%q, %v) <{static_mask_dims = array<i64>}> : (tensor<32x16x!tt.ptr<bf16>>, tensor<32x16xbf16>) -> ()
  tt.return
}
""",
    arguments=lambda g: (integers(g, 555, dtype=torch.bfloat16), torch.tensor([43]), torch.zeros(512).bfloat16()),
    expected=lambda x, at, out: x[43:],
)

add(
    "attributes_of_pointers",
    "tts_load_propagate_attrs",
    module=f"""
tt.func @f(%x: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}, %out: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}) {{
  %pid = tt.get_program_id x : i32
  %moved = tt.addptr %x, %pid : !tt.ptr<f32>, i32
  {range_of(64)}
  %p = tt.splat %moved : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %ps = tt.addptr %p, %i {{tt.divisibility = dense<16> : tensor<1xi32>}} : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %ps : tensor<64x!tt.ptr<f32>>
  %e = math.exp %v : tensor<64xf32>
  {pointers("out", "q", 64, "f32")}
  tt.store %qs, %e : tensor<64x!tt.ptr<f32>>
  tt.return
}}
""",
    arguments=lambda g: (torch.randn(64, generator=g), torch.zeros(64)),
    expected=lambda x, out: torch.exp(x),
    rtol=1e-6,
)

add(
    "halves_added",
    "address_space",
    "triton_func",
    module=f"""
tt.func public @f(%x: !tt.ptr<f16>, %y: !tt.ptr<f16>, %n: !tt.ptr<i32>, %out: !tt.ptr<f16>) attributes {{noinline = false}} {{
  %size = tt.load %n : !tt.ptr<i32>
  {range_of(256)}
  %below = tt.splat %size : i32 -> tensor<256xi32>
  %mask = arith.cmpi slt, %i, %below : tensor<256xi32>
  {pointers("x", "p", 256, "f16")}
  {pointers("y", "q", 256, "f16")}
  {pointers("out", "r", 256, "f16")}
  %a = tt.load %ps, %mask : tensor<256x!tt.ptr<f16>>
  %b = tt.load %qs, %mask : tensor<256x!tt.ptr<f16>>
  %sum = arith.addf %a, %b : tensor<256xf16>
  tt.store %rs, %sum, %mask : tensor<256x!tt.ptr<f16>>
  tt.return
}}
""",
    arguments=lambda g: (
        *(torch.randn(100, generator=g).half() for _ in range(2)),
        torch.tensor([100], dtype=torch.int32),
        torch.zeros(100).half(),
    ),
    expected=lambda x, y, n, out: x + y,
)

#: A tensor of another type, which a loop carries beside pointers, is what it stores.
_CARRIED = """
tt.func @f(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>) {{
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %first = arith.constant dense<3> : tensor<4x{type}>
  %more = arith.constant dense<2> : tensor<4x{type}>
  %four = arith.constant dense<4> : tensor<4xi32>
  {range}
  {x}
  {out}
  %end:3 = scf.for %k = %c0 to %c5 step %c1 iter_args(%p = %as, %q = %bs, %t = %first) -> (tensor<4x!tt.ptr<f32>>, tensor<4x!tt.ptr<f32>>, tensor<4x{type}>) : i32 {{
    %v = tt.load %p : tensor<4x!tt.ptr<f32>>
    %w = {cast} %t : tensor<4x{type}> to tensor<4xi32>
    %g = arith.sitofp %w : tensor<4xi32> to tensor<4xf32>
    %r = arith.addf %v, %g : tensor<4xf32>
    tt.store %q, %r : tensor<4x!tt.ptr<f32>>
    %p1 = tt.addptr %p, %four : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
    %q1 = tt.addptr %q, %four : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
    %t1 = arith.addi %t, %more : tensor<4x{type}>
    scf.yield %p1, %q1, %t1 : tensor<4x!tt.ptr<f32>>, tensor<4x!tt.ptr<f32>>, tensor<4x{type}>
  }}
  tt.return
}}
"""
for _type, _cast in (("i8", "arith.extsi"), ("index", "arith.index_cast")):
    add(
        f"carries_{_type}_beside_pointers",
        "get_structured_state_int_element_types",
        module=_CARRIED.format(
            type=_type,
            cast=_cast,
            range=range_of(4),
            x=pointers("x", "a", 4, "f32"),
            out=pointers("out", "b", 4, "f32"),
        ),
        arguments=lambda g: (integers(g, 20, dtype=torch.float32), torch.zeros(20)),
        expected=lambda x, out: x + 3 + 2 * (torch.arange(20) // 4),
    )

add(
    "assertions_of_tensors",
    "triton_assert",
    module=f"""
tt.func @f(%x: !tt.ptr<i32>, %out: !tt.ptr<i32>) {{
  %zero = arith.constant dense<0> : tensor<64xi32>
  {range_of(64)}
  {pointers("x", "p", 64, "i32")}
  {pointers("out", "q", 64, "i32")}
  %v = tt.load %ps : tensor<64x!tt.ptr<i32>>
  %one = arith.cmpi sge, %v, %zero : tensor<64xi32>
  %two = tt.reshape %one : tensor<64xi1> -> tensor<16x4xi1>
  %three = tt.reshape %one : tensor<64xi1> -> tensor<4x4x4xi1>
  tt.assert %one, "one" : tensor<64xi1>
  tt.assert %two, "two" : tensor<16x4xi1>
  tt.assert %three, "three" : tensor<4x4x4xi1>
  tt.store %qs, %v : tensor<64x!tt.ptr<i32>>
  tt.return
}}
""",
    arguments=lambda g: (integers(g, 64).abs(), torch.zeros(64, dtype=torch.int32)),
    expected=lambda x, out: x,
)

add(
    "function_of_another_library",
    "unsupported_extern_elementwise",
    "partial_conversion_unsupported_rand",
    module=f"""
tt.func @f(%x: !tt.ptr<i32>, %out: !tt.ptr<i32>) {{
  {range_of(8)}
  {pointers("x", "p", 8, "i32")}
  {pointers("out", "q", 8, "i32")}
  %v = tt.load %ps : tensor<8x!tt.ptr<i32>>
  %w = tt.extern_elementwise %v, %i {{libname = "", libpath = "", pure = true, symbol = "some_symbol"}} : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  tt.store %qs, %w : tensor<8x!tt.ptr<i32>>
  tt.return
}}
""",
    source="int some_symbol(int value, int index) { return value * 10 + index; }\n",
    arguments=lambda g: (integers(g, 8), torch.zeros(8, dtype=torch.int32)),
    expected=lambda x, out: x * 10 + torch.arange(8, dtype=torch.int32),
)

_WIDTHS = (8, 16, 32, 64)


def _from_width(width: int) -> str:
    steps = [
        f"%v{width} = tt.load %x{width} : !tt.ptr<i{width}>",
        f"%s{width} = arith.sitofp %v{width} : i{width} to f32",
        f"%u{width} = arith.uitofp %v{width} : i{width} to f32",
    ]
    for kind, at in (("s", width.bit_length() * 2 - 8), ("u", width.bit_length() * 2 - 7)):
        steps.append(f"%o{kind}{width} = arith.constant {at} : i32")
        steps.append(f"%p{kind}{width} = tt.addptr %out, %o{kind}{width} : !tt.ptr<f32>, i32")
        steps.append(f"tt.store %p{kind}{width}, %{kind}{width} : !tt.ptr<f32>")
    return "\n  ".join(steps)


add(
    "scalars_of_all_widths",
    "examples/test_annotations",
    module=f"""
tt.func @f({", ".join(f"%x{width}: !tt.ptr<i{width}>" for width in _WIDTHS)}, %out: !tt.ptr<f32>) {{
  {
        '''
  '''.join(map(_from_width, _WIDTHS))
    }
  tt.return
}}
""",
    arguments=lambda g: (
        *(torch.tensor([-5], dtype=dtype) for dtype in (torch.int8, torch.int16, torch.int32, torch.int64)),
        torch.zeros(8),
    ),
    expected=lambda a, b, c, d, out: torch.tensor(
        [number for width in _WIDTHS for number in (-5.0, float(2**width - 5))], dtype=torch.float32
    ),
)
