# SPDX-License-Identifier: Apache-2.0
"""The tests of triton-shared that no input stands for, and why."""

from __future__ import annotations

#: Triton 3.9 has no `!tt.ptr<tensor<...>>` and no number as an address space, so its parser refuses these.
REFUSED_BY_TRITON = {
    "block_ptr_advance", "block_ptr_complex_offset", "block_ptr_memref", "conditional_block_ptr_as_src",
    "make_tensor_ptr", "make_tensor_ptr_ordering_error", "make_tensor_ptr_structured", "address_space",
}  # fmt: skip

_TTS = "../../dialects/tts/test"
_OPTIONS = "[shared_options.mlir](../../passes/triton_to_structured/test/shared_options.mlir)"
_LINALG = "../../test/support/linalg/kernels"

#: Tests of operations of `tts` or of operations that access no memory: the files here that test the same.
TESTED_IN = {
    "make_tptr_canonicalize": f"[dialects/tts/test]({_TTS})",
    "get_structured_state": f"[dialects/tts/test]({_TTS})",
    "get_structured_state_int_element_types": f"[dialects/tts/test]({_TTS})",
    **dict.fromkeys(
        (
            "convert_1d_elemwise_arith_binary", "convert_1d_elemwise_arith_ternary", "convert_1d_elemwise_arith_unary",
            "convert_2d_elemwise_arith_binary", "convert_2d_elemwise_arith_ternary", "convert_2d_elemwise_arith_unary",
            "convert_extern_elementwise", "convert_minmax", "convert_splat_float", "unsupported_extern_elementwise",
        ),
        f"[elementwise.py]({_LINALG}/elementwise.py)",
    ),
    **dict.fromkeys(
        (
            "convert_addi_reduce", "convert_argmin_argmax", "convert_argmin_argmax_2d", "convert_minmax_fp_reduce",
            "convert_minmax_reduce", "cumsum", "reducemax_32_256_bf16", "reducesum_512_256_bf16_axis0",
            "reducesum_512_256_bf16_axis1", "reducesum_512_256_f32_axis0", "reducesum_512_256_f32_axis1",
            "reducesum_middle_dim", "reducesum_scalar",
        ),
        f"[reductions.py]({_LINALG}/reductions.py)",
    ),
    "convert_tensor_reshape": f"[shapes.py]({_LINALG}/shapes.py)",
    "early_return": f"[control_flow.py]({_LINALG}/control_flow.py)",
    "call_empty_args": f"[control_flow.py]({_LINALG}/control_flow.py)",
    **dict.fromkeys(
        ("triton-to-structured-prepass", "tensor_indices_loop_iterargs_not_used_ptranalysis_prepass"),
        f"{_OPTIONS}; the prepass inserts no `tts.get_structured_state`, loops carry numbers",
    ),
    "tts_load_propagate_attrs": _OPTIONS,
    "triton_assert": "[the table of operations](linalg-coverage.md)",
}  # fmt: skip

#: What triton-ext does not have, and why.
MISSING: dict[str, str] = {}
