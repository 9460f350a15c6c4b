# SPDX-License-Identifier: Apache-2.0
"""`CPUBackend`: the stages from TTIR to a shared library, inside the installed Triton.

``ttir`` is Triton IR; ``cpuir`` is loops over register-sized vectors (scf, arith and LLVM dialects); ``llir`` is
optimised LLVM IR; ``asm`` is x86-64 assembly, which is a stage only if somebody may look at it (`_assembly`); ``so`` is
the shared library that the driver loads. No tool outside of libtriton runs.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
from dataclasses import dataclass, fields
from types import ModuleType
from typing import Any

from triton import knobs
from triton._C.libtriton import ir, llvm, passes
from triton.backends.compiler import BaseBackend, GPUTarget, Language

from triton_ext.loading.elf_tables import DYNSYM, UNDEFINED, WEAK, damage, symbols
from triton_ext.patches import ahead_of_time, compiled_kernels, ignored_options
from triton_ext.pipeline import inspection
from triton_ext.support.resources import own_code

from . import _assembly, _library, _machine_code, _passes
from ._cache import check_entry, protect_entry

cpu = _passes.cpu  # a global of this module, as edits of pipelines expect of backends

#: The size of a vector register in bytes, by the CPU feature that provides it.
VECTORS = {"+avx512f": 64, "+avx": 32}

#: Options for GPUs. A kernel has their defaults, whatever the user asks for, so they are in no key.
IGNORED = ("num_warps", "num_ctas", "num_stages", "maxnreg", "launch_cooperative_grid", "launch_pdl")


@dataclass(frozen=True)
class CPUOptions:
    """Options of a compilation; those in `IGNORED` are accepted and ignored.

    Attributes:
        num_threads: the number of threads for each launch; 0 means as many as torch uses, or one for each processor.
        enable_fp_fusion: whether ``a * b + c`` may be rounded once.
    """

    num_threads: int = 0
    num_warps: int = 4
    num_ctas: int = 1
    num_stages: int = 3
    warp_size: int = 1
    enable_fp_fusion: bool = True
    launch_cooperative_grid: bool = False
    launch_pdl: bool = False
    maxnreg: int | None = None
    supported_fp8_dtypes: tuple[str, ...] = ("fp8e4nv", "fp8e5", "fp8e4b15", "fp8e4b8", "fp8e5b16")
    deprecated_fp8_dot_operand_dtypes: tuple[str, ...] = ()
    default_dot_input_precision: str = "ieee"
    allowed_dot_input_precisions: tuple[str, ...] = ("ieee", "tf32", "tf32x3", "bf16x3", "bf16x6")
    max_num_imprecise_acc_default: int = 0
    extern_libs: tuple[tuple[str, str], ...] = ()
    debug: bool = False
    sanitize_overflow: bool = True
    backend_name: str = "cpu"
    arch: str = ""
    ir_override: str | None = None
    instrumentation_mode: str = ""
    fpsan_homomorphic_casts: bool = False

    def hash(self) -> str:
        """Returns a part of the cache key."""
        text = "_".join(f"{field.name}-{getattr(self, field.name)}" for field in fields(self))
        return hashlib.sha256(text.encode()).hexdigest()


def _opened(kernel: Any) -> None:
    """Checks a ``CompiledKernel`` whose files have been read, and offers its assembly."""
    check_entry(kernel)
    _assembly.offer_assembly(kernel)


class CPUBackend(BaseBackend):  # type: ignore[misc]
    """Compiles for the x86-64 CPU that ``target.arch`` describes: LLVM's name and features, ``name;+f,-g``."""

    binary_ext = "so"

    def __init__(self, target: GPUTarget) -> None:
        super().__init__(target)
        # Triton makes the backend before it loads a kernel.
        compiled_kernels.check_kernels(target.backend, _opened)
        ahead_of_time.correct_c_code()
        ignored_options.ignore_options(target.backend, IGNORED)

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        """Returns whether `target` is a target of this backend."""
        return bool(target.backend == "cpu")

    @functools.cached_property
    def _cpu(self) -> tuple[str, str]:
        cpu_name, _, features = str(self.target.arch).partition(";")
        if cpu_name in ("", "native"):
            return _library.compiler().host()
        if not _library.compiler().has(cpu_name, features, "+64bit"):
            raise ValueError(f"'{cpu_name}' is not an x86-64 CPU that LLVM knows (known are 'x86-64', 'haswell', …)")
        return cpu_name, features

    def hash(self) -> str:
        """Returns a part of the cache key: digests of the libraries and of the Python code, and the CPU."""
        digests = [_library.compiler().digest, *(library.digest for library in _library.extension_passes().values())]
        return f"{'-'.join(digests)}-{own_code()}-{';'.join(self._cpu)}"

    def get_target_name(self, options: CPUOptions) -> str:
        """Returns the name of the target for ``tl.target_info``."""
        return "cpu"

    def parse_options(self, opts: dict[str, Any]) -> CPUOptions:
        """Returns the options that `opts` sets. Ignores unknown options, because Triton refuses them."""
        known = {field.name for field in fields(CPUOptions)}.difference(IGNORED)
        args = {name: value for name, value in opts.items() if name in known and value is not None}
        args["enable_fp_fusion"] = knobs.language.fp_fusion_enabled(args.get("enable_fp_fusion"))
        args["arch"] = str(self.target.arch)
        args["extern_libs"] = ()
        for name in ("supported_fp8_dtypes", "allowed_dot_input_precisions", "deprecated_fp8_dot_operand_dtypes"):
            if name in args:
                args[name] = tuple(args[name])
        return CPUOptions(**args)

    def pack_metadata(self, metadata: Any) -> tuple[Any, ...]:
        """Returns the part of the metadata that launch hooks get."""
        return (metadata.num_warps, metadata.num_ctas, metadata.shared)

    def get_codegen_implementation(self, options: CPUOptions) -> dict[str, Any]:
        """Returns the functions that Triton's frontend asks a backend for."""
        from ._float8 import convert_fp8e4b15

        return {"convert_custom_types": convert_fp8e4b15, "min_dot_size": lambda lhs, rhs: (1, 1, 1)}

    def get_module_map(self) -> dict[str, ModuleType]:
        """Maps ``tl.extra.libdevice`` to CUDA's module, whose functions this backend lowers itself."""
        from triton.language.extra.cuda import libdevice

        return {"triton.language.extra.libdevice": libdevice}

    def load_dialects(self, ctx: Any) -> None:
        """Does nothing: libtriton already has every dialect that this backend uses."""

    # Hooks edit the source of the next two functions and run it in modules of their own (docs/plugin-examples.md). So
    # these functions have the parameters of other backends' functions, import the names that they need from this
    # module, and add each pass on a line of its own, as Triton's functions do.

    @staticmethod
    def make_ttir(mod: ir.module, metadata: dict[str, object], opt: object, capability: str) -> ir.module:
        """Runs Triton's usual clean-up passes, and rewrites tensor descriptors to pointers."""
        from triton_ext.backends.cpu.compiler import cpu  # type: ignore[import-untyped]

        from triton_ext.pipeline.inspection import run

        pm = ir.pass_manager(mod.context)
        pm.enable_debug()
        cpu.passes.add_allow_inlining(pm)
        cpu.passes.add_structure_returns(pm)
        passes.common.add_inliner(pm)
        cpu.passes.add_convert_ptx_to_arith(pm)
        passes.ttir.add_rewrite_tensor_descriptor_to_pointer(pm)
        passes.common.add_canonicalizer(pm)
        passes.ttir.add_combine(pm)
        passes.ttir.add_reorder_broadcast(pm)
        passes.common.add_cse(pm)
        passes.common.add_symbol_dce(pm)
        passes.ttir.add_loop_unroll(pm)
        run(pm, mod, "make_ttir")
        return mod

    @staticmethod
    def make_cpuir(mod: ir.module, metadata: dict[str, object], opt: object, capability: str) -> ir.module:
        """Lowers Triton IR to loops over vectors."""
        from triton_ext.backends.cpu.compiler import VECTORS, _library, cpu

        from triton_ext.errors import UnsupportedError
        from triton_ext.pipeline.inspection import is_debugging

        name = mod.get_entry_func_name()
        pm = ir.pass_manager(mod.context)
        pm.enable_debug()
        compiler = _library.compiler()
        cpu_name, _, features = capability.partition(";")
        width = next((size for feature, size in VECTORS.items() if compiler.has(cpu_name, features, feature)), 16)
        has_fma, dot_units = compiler.has(cpu_name, features, "+fma"), compiler.dot_units(cpu_name, features)
        cpu.passes.add_expand_dot_scaled(pm, bool(dot_units & _library.BF16_UNITS))
        passes.ttir.add_triton_licm(pm)
        cpu.passes.add_scalarize_induction(pm)
        passes.common.add_canonicalizer(pm)
        passes.common.add_cse(pm)
        fuses = has_fma and getattr(opt, "enable_fp_fusion", True)
        if fuses:
            cpu.passes.add_fuse_multiply_add(pm)
        cpu.passes.add_lower_tiles(pm, width, has_fma, dot_units, not is_debugging(), *_library.LIMITS)
        if fuses:
            cpu.passes.add_fuse_multiply_add(pm, True)
        passes.common.add_canonicalizer(pm)
        passes.common.add_cse(pm)
        try:
            pm.run(mod, "make_cpuir")
        except RuntimeError as error:
            raise RuntimeError(compiler.last_error() or str(error)) from None
        if mod.get_int_attr("triton_ext_cpu.refused") is not None:
            raise UnsupportedError(compiler.last_error())
        metadata["name"] = name
        # Triton and its tools read these from every backend's kernels.
        metadata["shared"] = 0
        metadata["tmem_size"] = 0
        metadata["global_scratch_size"], metadata["global_scratch_align"] = 0, 1
        metadata["profile_scratch_size"] = mod.get_int_attr("triton_ext_cpu.profile_scratch") or 0
        metadata["profile_scratch_align"] = mod.get_int_attr("triton_ext_cpu.profile_scratch_alignment") or 1
        metadata["scratch"] = mod.get_int_attr("triton_ext_cpu.scratch") or 0
        metadata["together"] = mod.get_int_attr("triton_ext_cpu.together") or 1
        metadata["waits"] = bool(mod.get_int_attr("triton_ext_cpu.waits"))
        # The pointer arguments that the kernel may store through, by their numbers in the compiled function.
        stored: list[int] = []
        words = 0
        while (word := mod.get_int_attr(f"triton_ext_cpu.stored{words}")) is not None:
            stored += [30 * words + bit for bit in range(30) if word >> bit & 1]
            words += 1
        metadata["stored_slots"] = stored
        return mod

    def make_llir(self, mod: Any, metadata: dict[str, Any], options: CPUOptions) -> str:
        """Returns LLVM IR that is optimised for the target."""
        pm = ir.pass_manager(mod.context)
        pm.enable_debug()
        passes.convert.add_scf_to_cf(pm)
        passes.convert.add_arith_to_llvmir(pm)
        passes.convert.add_cf_to_llvmir(pm)
        passes.convert.add_reconcile_unrealized_casts(pm)
        passes.common.add_canonicalizer(pm)
        passes.common.add_cse(pm)
        if not knobs.compilation.disable_line_info:
            passes.llvmir.add_di_scope(pm)
        inspection.run(pm, mod, "make_llir")
        compiler = _library.compiler()
        context = llvm.context()
        llvm_mod = llvm.to_module(mod, context)
        compiler.clear(mod)
        cpu_name, features = self._cpu
        llvm.attach_datalayout(llvm_mod, _machine_code.TRIPLE, cpu_name, features)
        llvm.optimize_module(
            llvm_mod, llvm.OPTIMIZE_O3, cpu_name, features, [], enable_fp_fusion=options.enable_fp_fusion
        )
        text = str(llvm_mod)
        del llvm_mod
        del context
        return text

    def assembly(self, llir: str) -> str:
        """Returns the assembly of the LLVM IR `llir`."""
        return _machine_code.assembly(llir, self._cpu)

    def binary_problem(self, binary: bytes, name: str) -> str | None:
        """Returns why the library `binary` cannot be launched as the kernel `name`; None if it can.

        `triton_ext` calls this if a function of the user has taken part in the compilation.
        """
        _library.runtime()
        known = ctypes.CDLL(None)
        with damage("it is not an ELF shared library"):
            found = list(symbols(binary, DYNSYM))
        if not any(symbol.decode() == name and section != UNDEFINED for symbol, _, _, section, _ in found):
            return f"it does not define the function '{name}'"
        for symbol, _, bind, section, _ in found:
            text = symbol.decode(errors="replace")
            if text and section == UNDEFINED and bind != WEAK and not hasattr(known, text):
                return f"nothing defines the symbol '{text}'"
        return None

    def add_stages(self, stages: dict[str, Any], options: CPUOptions, language: Language) -> None:
        """Adds the stages to `stages`, in order."""
        if language != Language.TRITON:
            raise RuntimeError("Gluon kernels are written for a GPU's layouts, the CPU backend takes Triton kernels")

        has_asm = _assembly.is_wanted(options.ir_override)

        def make_so(src: str, metadata: dict[str, Any]) -> bytes:
            protect_entry(metadata.get("hash"))  # before Triton writes the library that is loaded later
            if has_asm:
                return _machine_code.library_of_assembly(src, self._cpu)
            return _machine_code.library_of_llir(src, self._cpu)

        capability = ";".join(self._cpu)
        stages["ttir"] = lambda src, metadata: self.make_ttir(src, metadata, options, capability)
        stages["cpuir"] = lambda src, metadata: self.make_cpuir(src, metadata, options, capability)
        stages["llir"] = lambda src, metadata: self.make_llir(src, metadata, options)
        if has_asm:
            stages["asm"] = lambda src, metadata: self.assembly(src)
        stages["so"] = make_so
        if knobs.runtime.add_stages_inspection_hook is not None:
            knobs.runtime.add_stages_inspection_hook(self, stages, options, language, capability)
