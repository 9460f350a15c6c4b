# SPDX-License-Identifier: Apache-2.0
"""`LinalgBackend`: a kernel to linalg as stages of Triton's, so that pipelines, `describe` and `trace` are as ever.

``ttir`` is Triton's own; ``linalgir`` is what ``-triton-to-linalg`` runs, pass by pass, and ``-lower-linalg-ext``
behind it. Its target is ``linalg:generic``; nothing is launched.
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

if TYPE_CHECKING:  # everybody who imports Triton imports this; few want more of it
    from triton_ext.loading.loader import AddPass, LoadedLibrary

#: The extensions that the stage runs.
_EXTENSIONS = (
    "wrap_func_body_with_single_block", "inline_calls", "canonicalize_triton", "ptr_strength_reduction",
    "convert_triton_to_linalg", "extract_like_move_backward", "convert_arith_to_linalg", "convert_math_to_linalg",
    "lower_linalg_ext",
)  # fmt: skip


_libraries: dict[str, LoadedLibrary] = {}


def _find_libraries() -> None:
    """Loads the passes as they are now: once for a compilation, which begins with its cache key.

    Raises:
        ExtensionNotFoundError: one is not built.
    """
    from triton_ext.errors import ExtensionNotFoundError
    from triton_ext.loading.discovery import extensions
    from triton_ext.loading.loader import load_library
    from triton_ext.pipeline.extension_passes import PLACEABLE, find_factory

    among = extensions()
    for name in _EXTENSIONS:
        try:
            _libraries[name] = load_library(find_factory(name, PLACEABLE["linalgir"], among).extension)
        except ExtensionNotFoundError as error:
            raise ExtensionNotFoundError(
                error.message, fix="triton-ext sdk install --with linalg && triton-ext build"
            ) from None


def _add_pass(attribute: str) -> AddPass:
    """``linalgir.add_<name>(pm, options)``."""
    name = attribute.removeprefix("add_")
    if name not in _EXTENSIONS:
        raise AttributeError(f"the stage linalgir has no '{attribute}'")

    def add_pass(pm: Any, options: list[str]) -> None:
        _libraries[name].add[name](pm, options)

    add_pass.__name__ = attribute
    add_pass.__doc__ = f"{attribute}(arg0: triton._C.libtriton.ir.pass_manager, arg1: list[str], /) -> None"
    return add_pass


#: What the stage calls our passes through, named and declared as a part of libtriton, which pipelines look for.
linalgir = ModuleType("triton._C.libtriton.linalgir")
linalgir.__getattr__ = functools.cache(_add_pass)  # type: ignore[method-assign]


@dataclass(frozen=True)
class LinalgOptions:
    """Options of a compilation; what only means something on a GPU is accepted and does nothing.

    Attributes:
        lowered: whether ``-lower-linalg-ext`` runs.
        debug: whether ``tl.device_assert`` is there.
    """

    lowered: bool = False
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
        """Part of the cache key."""
        return hashlib.sha256(repr(self).encode()).hexdigest()


class LinalgBackend(BaseBackend):  # type: ignore[misc]
    """Ends in a module of linalg."""

    binary_ext = "linalgir"

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        """Whether it is a target of this backend."""
        return bool(target.backend == "linalg")

    def hash(self) -> str:
        """Part of the cache key: the bytes of our passes, and the Python around them."""
        _find_libraries()
        digests = (_libraries[name].digest for name in _EXTENSIONS)
        return hashlib.sha256("".join([own_code(), *digests]).encode()).hexdigest()

    def get_target_name(self, options: LinalgOptions) -> str:
        """As in ``tl.target_info``."""
        return "linalg"

    def parse_options(self, opts: dict[str, Any]) -> LinalgOptions:
        """The options that `opts` sets; others than those of this backend are Triton's to refuse."""
        known = {field.name for field in fields(LinalgOptions)}
        given: dict[str, Any] = {name: value for name, value in opts.items() if name in known and value is not None}
        given |= {name: tuple(value) for name, value in given.items() if isinstance(value, list)}
        return LinalgOptions(**given)

    def pack_metadata(self, metadata: Any) -> tuple[Any, ...]:
        """Handed to launches, of which there are none."""
        return ()

    def get_codegen_implementation(self, options: LinalgOptions) -> dict[str, Callable[..., object]]:
        """What Triton's frontend asks of a backend."""
        return {"min_dot_size": lambda lhs, rhs: (1, 1, 1)}

    def get_module_map(self) -> dict[str, ModuleType]:
        """``tl.extra.libdevice``: the names of CUDA's."""
        from triton.language.extra.cuda import libdevice

        return {"triton.language.extra.libdevice": libdevice}

    def load_dialects(self, ctx: Any) -> None:
        """Nothing: passes bring the dialects that they need."""

    # Hooks edit the source of these two and run it in modules of their own (docs/plugin-examples.md). So they take what
    # those of other backends take, import what they need of this module, and have a line for each pass, as Triton's do.

    @staticmethod
    def make_ttir(
        mod: ir.module,
        metadata: dict[str, object],
        opt: object,
        capability: str,
    ) -> ir.module:
        """Triton's own clean-up."""
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
    def make_linalgir(
        mod: ir.module,
        metadata: dict[str, object],
        opt: object,
        capability: str,
    ) -> str:
        """What ``passes/triton_to_linalg`` runs, in its order; the text has no locations."""
        from triton_ext.backends.linalg.compiler import linalgir  # type: ignore[import-untyped]

        from triton_ext.pipeline.inspection import run, run_quietly

        metadata["name"] = mod.get_entry_func_name()
        pm = ir.pass_manager(mod.context)
        pm.enable_debug()
        passes.ttir.add_rewrite_tensor_descriptor_to_pointer(pm)
        linalgir.add_wrap_func_body_with_single_block(pm, [])
        linalgir.add_inline_calls(pm, [])
        passes.common.add_canonicalizer(pm)
        linalgir.add_canonicalize_triton(pm, [])
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
        if opt.lowered:  # type: ignore[attr-defined]
            linalgir.add_lower_linalg_ext(pm, [])
            run_quietly(pm, mod, "make_linalgir")
        else:
            run(pm, mod, "make_linalgir")
        text: str = mod.str_nodebug()
        return text

    def binary_problem(self, text: str, name: str) -> str | None:
        """Why the module `text` does not parse or verify; None if it does.

        `triton_ext` asks this where a function of the user has had a part in the compilation.
        """
        from triton_ext.backends.linalg import api  # type: ignore[import-untyped]

        from triton_ext.errors import PipelineError

        try:
            api.check(text)
        except PipelineError as error:
            return error.message
        return None

    def add_stages(self, stages: dict[str, Any], options: LinalgOptions, language: Language) -> None:
        """Fills in the stages, in order."""
        if language != Language.TRITON:
            raise RuntimeError("Gluon kernels are written for a GPU's layouts; linalg is made of Triton kernels")
        arch = str(self.target.arch)
        stages["ttir"] = lambda src, metadata: self.make_ttir(src, metadata, options, arch)
        stages["linalgir"] = lambda src, metadata: self.make_linalgir(src, metadata, options, arch)
        if knobs.runtime.add_stages_inspection_hook is not None:
            knobs.runtime.add_stages_inspection_hook(self, stages, options, language, arch)
