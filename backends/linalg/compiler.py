# SPDX-License-Identifier: Apache-2.0
"""`LinalgBackend`: lowers a kernel to linalg in stages of Triton, so that pipelines, `describe` and `trace` work.

The stage ``ttir`` is Triton's own. The stage ``linalgir`` runs the passes of ``-triton-to-linalg`` one by one, and
then, if asked for, ``-lower-linalg-ext``. The target is ``linalg:generic``; kernels are not launched.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, fields
from types import ModuleType
from typing import TYPE_CHECKING, Any

from triton import knobs
from triton._C.libtriton import ir, passes
from triton.backends.compiler import BaseBackend, GPUTarget, Language

from triton_ext.support.resources import own_code

if TYPE_CHECKING:  # every program that imports Triton imports this module, and few use it
    from triton_ext.errors import ExtensionNotFoundError
    from triton_ext.loading.loader import AddPass, LoadedLibrary

#: The extensions that the stage runs.
_EXTENSIONS = (
    "wrap_func_body_with_single_block", "inline_calls", "convert_ptx_to_arith", "expand_dot_scaled",
    "canonicalize_triton", "scalarize_induction", "carry_strides", "ptr_strength_reduction",
    "convert_triton_to_linalg", "extract_like_move_backward", "convert_arith_to_linalg", "convert_math_to_linalg",
    "lower_linalg_ext",
)  # fmt: skip
#: The extensions that it also runs with the option `structured`, which need the dialect `tts`.
_STRUCTURED = ("descriptor_to_structured", "triton_to_structured", "structured_to_memref", "lower_structured")
#: The extensions that it also runs with the option `memrefs`, which need the dialect `tptr`.
_MEMREFS = ("triton_ptr_to_memref", "reconcile_ptr_casts", "lower_tptr")
#: All, with the one of the option `debug_info`.
_ALL = (*_EXTENSIONS, *_STRUCTURED, *_MEMREFS, "add_debug_info")

_libraries: dict[str, LoadedLibrary] = {}
_not_built: dict[str, ExtensionNotFoundError] = {}


def _find_libraries() -> None:
    """Loads the current libraries of the passes, once in each compilation, when its cache key is computed.

    Leaves out the extensions of the options `structured`, `memrefs` and `debug_info` that are not built.

    Raises:
        ExtensionNotFoundError: another extension is not built.
    """
    from triton_ext.errors import ExtensionNotFoundError
    from triton_ext.loading.discovery import extensions
    from triton_ext.loading.loader import load_library
    from triton_ext.pipeline.extension_passes import PLACEABLE, find_factory

    among = extensions()
    _libraries.clear()
    _not_built.clear()
    for name in _ALL:
        try:
            _libraries[name] = load_library(find_factory(name, PLACEABLE["linalgir"], among).extension)
        except ExtensionNotFoundError as error:
            problem = ExtensionNotFoundError(
                error.message, fix="triton-ext sdk install --with linalg && triton-ext build"
            )
            if name in _EXTENSIONS:
                raise problem from None
            _not_built[name] = problem


def _add_pass(attribute: str) -> AddPass:
    """Returns the function ``linalgir.add_<name>(pm, options)``, which adds the pass of an extension."""
    name = attribute.removeprefix("add_")
    if name not in _ALL:
        raise AttributeError(f"the stage linalgir has no '{attribute}'")

    def add_pass(pm: Any, options: list[str]) -> None:
        if name in _not_built:
            raise _not_built[name]
        _libraries[name].add[name](pm, options)

    add_pass.__name__ = attribute
    add_pass.__doc__ = f"{attribute}(arg0: triton._C.libtriton.ir.pass_manager, arg1: list[str], /) -> None"
    return add_pass


#: The module through which the stage adds our passes. Its name is that of a module of libtriton, because pipelines edit
#: calls of such modules.
linalgir = ModuleType("triton._C.libtriton.linalgir")
linalgir.__getattr__ = functools.cache(_add_pass)  # type: ignore[method-assign]


@dataclass(frozen=True)
class LinalgOptions:
    """Options of a compilation; options for GPUs are accepted and have no effect.

    Attributes:
        lowered: whether ``-lower-linalg-ext`` runs.
        structured: whether the passes of ``-triton-to-linalg-structured`` run.
        direct_descriptors: whether, with `structured`, ``-descriptor-to-structured`` runs.
        memrefs: whether these passes make pointers memrefs.
        debug_info: whether ``-add-debug-info`` runs, and the text has locations.
        debug: whether ``tl.device_assert`` has an effect.
    """

    lowered: bool = False
    structured: bool = False
    direct_descriptors: bool = True
    memrefs: bool = False
    debug_info: bool = False
    debug: bool = False
    num_warps: int = 4
    num_ctas: int = 1
    num_stages: int = 3
    warp_size: int = 1
    maxnreg: int | None = None
    enable_fp_fusion: bool = True
    launch_cooperative_grid: bool = False
    launch_pdl: bool = False
    sanitize_overflow: bool = True
    supported_fp8_dtypes: tuple[str, ...] = ("fp8e4nv", "fp8e5", "fp8e4b8", "fp8e5b16")
    deprecated_fp8_dot_operand_dtypes: tuple[str, ...] = ()
    default_dot_input_precision: str = "ieee"
    allowed_dot_input_precisions: tuple[str, ...] = ("ieee", "tf32", "tf32x3", "bf16x3", "bf16x6")
    max_num_imprecise_acc_default: int = 0
    extern_libs: tuple[tuple[str, str], ...] = ()
    backend_name: str = "linalg"
    arch: str = "generic"
    ir_override: str | None = None
    instrumentation_mode: str = ""
    fpsan_homomorphic_casts: bool = False

    def hash(self) -> str:
        """Returns the part of the cache key for the options."""
        return hashlib.sha256(repr(self).encode()).hexdigest()


class LinalgBackend(BaseBackend):  # type: ignore[misc]
    """The backend of the target ``linalg:generic``, whose last stage returns the text of a linalg module."""

    binary_ext = "linalgir"

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        """Whether `target` is a target of this backend."""
        return bool(target.backend == "linalg")

    def hash(self) -> str:
        """Returns the part of the cache key for this backend: the libraries of our passes, and our Python code."""
        _find_libraries()
        digests = (library.digest for _, library in sorted(_libraries.items()))
        return hashlib.sha256("".join([own_code(), *digests]).encode()).hexdigest()

    def get_target_name(self, options: LinalgOptions) -> str:
        """Returns the name that ``tl.target_info`` has for the target."""
        return "linalg"

    def parse_options(self, opts: dict[str, Any]) -> LinalgOptions:
        """Returns the options that `opts` sets; Triton refuses those that this backend does not have."""
        known = {field.name for field in fields(LinalgOptions)}
        given: dict[str, Any] = {name: value for name, value in opts.items() if name in known and value is not None}
        given |= {name: tuple(value) for name, value in given.items() if isinstance(value, list)}
        return LinalgOptions(**given)

    def pack_metadata(self, metadata: Any) -> tuple[Any, ...]:
        """Returns an empty tuple: a kernel in linalg is not launched."""
        return ()

    def get_codegen_implementation(self, options: LinalgOptions) -> dict[str, Callable[..., object]]:
        """Returns the functions of the target that Triton's frontend calls."""
        return {"min_dot_size": lambda lhs, rhs: (1, 1, 1)}

    def get_module_map(self) -> dict[str, ModuleType]:
        """Returns the module for ``tl.extra.libdevice``, which is CUDA's."""
        from triton.language.extra.cuda import libdevice

        return {"triton.language.extra.libdevice": libdevice}

    def load_dialects(self, ctx: Any) -> None:
        """Does nothing, because the passes load the dialects that they need."""

    # Hooks edit the source text of the next two functions and run it in other modules (docs/plugin-examples.md). So the
    # functions have the parameters of Triton's, import what they use of this module, and have one line for each pass.
    # For this reason the CPU backend's make_ttir repeats some of these lines.

    @staticmethod
    def make_ttir(
        mod: ir.module,
        metadata: dict[str, object],
        opt: object,
        capability: str,
    ) -> ir.module:
        """Runs Triton's own passes of the stage ttir."""
        from triton_ext.pipeline.inspection import run

        pm = ir.pass_manager(mod.context)
        pm.enable_debug()
        passes.common.add_inliner(pm)
        passes.common.add_canonicalizer(pm)
        passes.ttir.add_combine(pm)
        passes.ttir.add_reorder_broadcast(pm)
        passes.common.add_cse(pm)
        passes.common.add_symbol_dce(pm)
        passes.ttir.add_loop_unroll(pm)
        run(pm, mod, "make_ttir")
        metadata["name"] = mod.get_entry_func_name()
        return mod

    @staticmethod
    def make_linalgir(  # noqa: PLR0915 - one line for each pass
        mod: ir.module,
        metadata: dict[str, object],
        opt: object,
        capability: str,
    ) -> str:
        """Runs the passes of ``passes/triton_to_linalg``, in the same order; returns the text.

        With the option `structured`, the passes of ``passes/triton_to_linalg_structured`` come first.
        """
        from triton_ext.backends.linalg.compiler import linalgir  # type: ignore[import-untyped]

        from triton_ext.pipeline.inspection import run, run_quietly

        metadata["name"] = mod.get_entry_func_name()
        pm = ir.pass_manager(mod.context)
        pm.enable_debug()
        if opt.structured and opt.direct_descriptors:  # type: ignore[attr-defined]
            linalgir.add_descriptor_to_structured(pm, [])
        passes.ttir.add_rewrite_tensor_descriptor_to_pointer(pm)
        if opt.structured:  # type: ignore[attr-defined]
            passes.common.add_canonicalizer(pm)
            linalgir.add_scalarize_induction(pm, [])
            passes.common.add_canonicalizer(pm)
            linalgir.add_carry_strides(pm, [])
            passes.common.add_canonicalizer(pm)
            linalgir.add_triton_to_structured(pm, ["low-bounds=false"])
            passes.common.add_canonicalizer(pm)
            linalgir.add_structured_to_memref(pm, [])
            linalgir.add_lower_structured(pm, [])
        if opt.memrefs:  # type: ignore[attr-defined]
            linalgir.add_triton_ptr_to_memref(pm, [])
        linalgir.add_wrap_func_body_with_single_block(pm, [])
        linalgir.add_inline_calls(pm, [])
        linalgir.add_convert_ptx_to_arith(pm, [])
        linalgir.add_expand_dot_scaled(pm, [])
        passes.common.add_canonicalizer(pm)
        linalgir.add_canonicalize_triton(pm, [])
        linalgir.add_scalarize_induction(pm, [])
        passes.common.add_canonicalizer(pm)
        linalgir.add_carry_strides(pm, [])
        linalgir.add_ptr_strength_reduction(pm, [])
        passes.common.add_canonicalizer(pm)
        linalgir.add_convert_triton_to_linalg(pm, [])
        run_quietly(pm, mod, "make_linalgir")
        pm = ir.pass_manager(mod.context)
        pm.enable_debug()
        linalgir.add_extract_like_move_backward(pm, [])
        passes.common.add_canonicalizer(pm)
        linalgir.add_convert_arith_to_linalg(pm, [])
        linalgir.add_convert_math_to_linalg(pm, [])
        passes.common.add_cse(pm)
        passes.common.add_licm(pm)
        linalgir.add_wrap_func_body_with_single_block(pm, [])
        if opt.memrefs:  # type: ignore[attr-defined]
            linalgir.add_reconcile_ptr_casts(pm, [])
            linalgir.add_lower_tptr(pm, [])
            passes.common.add_cse(pm)
        if opt.lowered:  # type: ignore[attr-defined]
            linalgir.add_lower_linalg_ext(pm, [])
        if opt.debug_info:  # type: ignore[attr-defined]
            linalgir.add_add_debug_info(pm, [])
        (run_quietly if opt.lowered else run)(pm, mod, "make_linalgir")  # type: ignore[attr-defined]
        return str(mod if opt.debug_info else mod.str_nodebug())  # type: ignore[attr-defined]

    def binary_problem(self, text: str, name: str) -> str | None:
        """Returns why the module `text` does not parse or verify; None if it does.

        `triton_ext` calls this if a stage function of the user took part in the compilation.
        """
        from triton_ext.backends.linalg import api  # type: ignore[import-untyped]

        from triton_ext.errors import PipelineError

        try:
            api.check(text)
        except PipelineError as error:
            return error.message
        return None

    def add_stages(self, stages: dict[str, Any], options: LinalgOptions, language: Language) -> None:
        """Adds the stages to `stages`, in order."""
        if language != Language.TRITON:
            raise RuntimeError("Gluon kernels are written for a GPU's layouts; linalg is made of Triton kernels")
        arch = str(self.target.arch)
        stages["ttir"] = lambda src, metadata: self.make_ttir(src, metadata, options, arch)
        stages["linalgir"] = lambda src, metadata: self.make_linalgir(src, metadata, options, arch)
        if knobs.runtime.add_stages_inspection_hook is not None:
            knobs.runtime.add_stages_inspection_hook(self, stages, options, language, arch)
