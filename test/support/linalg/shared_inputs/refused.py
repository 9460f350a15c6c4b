# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E501 - an operation is one line
"""Inputs that are refused, by Triton's parser or by a verifier, at the line after the comment."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Refused:
    """A module, and the tests of triton-shared that have the same."""

    names: tuple[str, ...]
    module: str

    @property
    def line(self) -> int:
        """The line of the error, from 1."""
        return next(n + 2 for n, line in enumerate(self.module.splitlines()) if "// refused: " in line)

    @property
    def message(self) -> str:
        """The error, without the place."""
        return self.module.split("// refused: ")[1].splitlines()[0]


REFUSED = {
    "pointer_to_a_block": Refused(
        ("block_ptr_advance", "make_tensor_ptr", "make_tensor_ptr_structured", "make_tensor_ptr_ordering_error"),
        """
tt.func @f(%x: !tt.ptr<f32>, %n: i64, %at: i32) {
  %one = arith.constant 1 : i64
  // refused: custom op 'tt.make_tensor_ptr' is unknown
  %p = tt.make_tensor_ptr %x, [%n, %n], [%one, %n], [%at, %at] {order = array<i32: 0, 1>} : <tensor<16x8xf32>>
  %q = tt.advance %p, [%at, %at] : <tensor<16x8xf32>>
  tt.return
}
""",
    ),
    "tts_pointer_to_a_block": Refused(
        ("block_ptr_memref", "block_ptr_complex_offset"),
        """
tt.func @f(%x: !tt.ptr<bf16>, %n: index) {
  // refused: pointer types must point to integer or floating-point types
  %p = tts.make_tptr %x to sizes: [8, 8], strides: [%n, 1], offsets: [0, 0], shape: [%n, 8], order: [1, 0] : <bf16> to !tt.ptr<tensor<8x8xbf16>>
  tt.return
}
""",
    ),
    "operation_of_an_older_version": Refused(
        ("block_ptr_memref", "unstructured_ptr"),
        """
tt.func @f(%x: !tt.ptr<bf16>, %n: i64) {
  // refused: unregistered operation 'tts.make_unstructured_tptr' found in dialect ('tts')
  %p = "tts.make_unstructured_tptr"(%x, %n) : (!tt.ptr<bf16>, i64) -> !tt.ptr<bf16>
  tt.return
}
""",
    ),
    "state_of_pointers_without_type": Refused(
        ("get_structured_state",),
        """
tt.func @f(%p: tensor<8x!tt.ptr<f32>>) {
  // refused: pointer types must point to integer or floating-point types
  %s:4 = "tts.get_structured_state"(%p) <{resultSegmentSizes = array<i32: 1, 1, 1, 1>}> : (tensor<8x!tt.ptr<f32>>) -> (tensor<8x!tt.ptr<f32>>, index, index, !tt.ptr<none>)
  tt.return
}
""",
    ),
    "state_of_integers_with_a_base": Refused(
        ("get_structured_state",),
        """
tt.func @f(%i: tensor<8xi32>) {
  // refused: 'tts.get_structured_state' op expected no base for 'tensor<8xi32>'
  %s:4 = "tts.get_structured_state"(%i) <{resultSegmentSizes = array<i32: 1, 1, 1, 1>}> : (tensor<8xi32>) -> (tensor<8xi32>, index, index, !tt.ptr<f32>)
  tt.return
}
""",
    ),
    "number_as_address_space": Refused(
        ("address_space",),
        """
// refused: expected string
tt.func @f(%x: !tt.ptr<bf16, 1>) {
  tt.return
}
""",
    ),
    "function_that_is_not_of_triton": Refused(
        ("structured_ptr", "func"),
        """
// refused: 'func.func' cannot be converted to linalg: it has arguments or results that are Triton's pointers
func.func public @f(%x: !tt.ptr<f32>, %n: index) {
  %p = tts.make_tptr %x to sizes: [8], strides: [1], offsets: [%n], shape: [0], order: [] : <f32> to tensor<8x!tt.ptr<f32>>
  %v = "tts.load"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<8x!tt.ptr<f32>>) -> tensor<8xf32>
  return
}
""",
    ),
}
