# SPDX-License-Identifier: Apache-2.0
"""The table of patches: what is replaced in Triton, why, and what happens if Triton differs from what is expected."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

from ..errors import TritonExtError

#: The versions of Triton that every patch was checked with.
CHECKED_WITH = ("3.9.0",)


class Patch(NamedTuple):
    """One thing of Triton that is replaced or wrapped.

    Attributes:
        module: the module of this package that applies it; its name is the name of the patch.
        place: the attribute of Triton that is replaced or wrapped.
        why: the purpose of the patch.
        otherwise: what happens if Triton differs from what the patch expects.
    """

    module: str
    place: str
    why: str
    otherwise: str


PATCHES = (
    Patch(
        "hook_slot",
        "knobs.runtime.add_stages_inspection_hook: the class gets a data descriptor of this name",
        "a pipeline is active in one thread or block, and a user's own hook keeps working beside it",
        "entering or installing a pipeline raises the error",
    ),
    Patch(
        "compile_requests",
        "compiler.compiler.get_cache_key and get_cache_manager, and add_stages of each backend's class, are wrapped",
        "the hook learns that triton.compile asks, not a launch, and for which kernel: kernels under @tx.use, keys on "
        "disk, and the trial of a kernel without edits depend on it",
        "entering or installing a pipeline raises the error",
    ),
    Patch(
        "async_compilation",
        "runtime._async_compile.AsyncCompileMode.submit is wrapped",
        "threads that Triton compiles in see the pipelines of the thread that asked for the kernel",
        "entering or installing a pipeline raises the error",
    ),
    Patch(
        "backend_globals",
        "ir, passes and the like in a backend's compiler.py are replaced by proxies",
        "passes are inserted, dropped and changed while a stage adds them, on any backend",
        "the first compilation with edits for that backend raises the error",
    ),
    Patch(
        "manager_runs",
        "libtriton's ir.pass_manager.run is wrapped",
        "a pass manager that a Python pass makes says in its error why a pass failed",
        "entering or installing a pipeline raises the error",
    ),
    Patch(
        "plugin_module",
        "libtriton's passes.plugin gets __getattr__ and __dir__, extend_with is wrapped, what it binds is taken out",
        "passes.plugin.add_<name> runs the current library, and names do not clash",
        "a warning when Triton is imported; loading an extension raises the error",
    ),
    Patch(
        "kernel_keys",
        "runtime.jit.DependenciesFinder.record_reference and visit_Attribute are wrapped",
        "the key of a kernel covers the builtins of dialects that it calls",
        "importing triton_ext, and every compilation, raise the error: a stale kernel would be worse",
    ),
    Patch(
        "kernel_parsing",
        "runtime.jit.JITCallable.parse is wrapped in a lock",
        "CPython 3.11's parser fails when two threads are in it",
        "entering or installing a pipeline raises the error",
    ),
    Patch(
        "with_statements",
        "compiler.code_generator.CodeGenerator.visit_With is wrapped",
        "a block of a DSL function knows the variables of the kernel, and refuses one that would leave the block",
        "declaring a function that opens a block raises the error",
    ),
    Patch(
        "hints",
        "language.semantic.TritonSemantic.multiple_of, max_contiguous and max_constancy are wrapped",
        "extensions learn of hints about a kernel's arguments, which Triton drops",
        "an extension that asks for the hints raises the error",
    ),
    Patch(
        "compiled_kernels",
        "compiler.compiler.CompiledKernel.__init__ is wrapped",
        "a backend can refuse a kernel that another user can have put into the cache; extensions see "
        "each kernel that is compiled or loaded",
        "entering a pipeline, and the first launch for a backend that checks kernels, raise the error",
    ),
    Patch(
        "kernel_launches",
        "compiler.compiler.CompiledKernel._init_handles is wrapped: a launcher that an extension asks for is replaced",
        "extensions see the arguments of each launch of their kernels, also of kernels that other libraries launch",
        "entering a session of probes raises the error",
    ),
    Patch(
        "ahead_of_time",
        "the global Path of tools/compile.py is replaced once that tool has made a kernel",
        "the tool's C code loads the kernel by the name that a pass has given to it, and a target for which the tool "
        "has no C code is an error",
        "the tool ends with the error",
    ),
    Patch(
        "kernel_arguments",
        "runtime.jit.create_function_from_signature is wrapped: what it makes gets another specialize_impl",
        "kernels of a backend can take other arguments than tensors and numbers, such as NumPy arrays",
        "activating a backend that asks for it raises the error",
    ),
    Patch(
        "ignored_options",
        "runtime.jit.compute_cache_key is replaced, and runtime.autotuner.Autotuner.prune_configs is wrapped",
        "launches and configurations of tuners that differ only in options which a backend ignores, such as "
        "num_warps, share a kernel",
        "the first compilation for a backend that ignores options raises the error",
    ),
    Patch(
        "driver_choice",
        "runtime.driver._active is set to None",
        "after a backend was activated for the whole process, Triton can choose its driver again",
        "deactivating the backend raises the error",
    ),
    Patch(
        "backend_registry",
        "backends.backends gets an entry for each of our targets, when it is first read",
        "Triton imports each backend when it is imported itself, so a broken one would end the program. Our entries "
        "import a backend when they are first asked for it, and a broken backend takes nothing else down. New targets "
        "of a checkout, and those of a bundle in its source tree, are found without an installation",
        "a warning when Triton is imported; asking for one of our targets raises the error",
    ),
)


def differs(patch: str, found: str) -> TritonExtError:
    """Returns the error for a Triton that differs from what the patch `patch` expects, with what was `found` there."""
    version = getattr(sys.modules.get("triton"), "__version__", "of an unknown version")
    return TritonExtError(
        f"patch '{patch}': Triton {version} is not as expected: {found}; triton-ext was checked with Triton "
        f"{', '.join(CHECKED_WITH)}",
        fix=f"pip install triton=={CHECKED_WITH[-1]}, or pip uninstall triton-ext",
    )


def expected(patch: str, owner: Any, attribute: str, parameters: tuple[str, ...] | None = None) -> Any:
    """Returns the attribute of `owner`, after a check that Triton is as the patch expects.

    Args:
        patch: name of the patch, for the message.
        owner: a module or a class of Triton.
        attribute: name of the attribute.
        parameters: if given, the attribute must be a function whose first parameters have these names.

    Raises:
        TritonExtError: `owner` has no such attribute, or its parameters have other names.
    """
    name = f"{getattr(owner, '__module__', '')}.{getattr(owner, '__qualname__', '')}".strip(".")
    where = f"{name or getattr(owner, '__name__', repr(owner))}.{attribute}"
    try:
        value = getattr(owner, attribute)
    except AttributeError:
        raise differs(patch, f"there is no {where}") from None
    if parameters is not None:
        import inspect  # takes longer to import than all of triton_ext

        try:
            found = tuple(inspect.signature(value).parameters)
        except (TypeError, ValueError):
            raise differs(patch, f"{where} is not a function: {value!r}") from None
        if found[: len(parameters)] != parameters:
            raise differs(patch, f"{where} takes ({', '.join(found)}), expected ({', '.join(parameters)}, ...)")
    return value
