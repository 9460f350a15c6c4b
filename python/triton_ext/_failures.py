# SPDX-License-Identifier: Apache-2.0
"""What a compilation with edits says when it fails, and whether it would without them."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from triton._C.libtriton import ir

from . import _inspect
from .edits import Edit
from .errors import PipelineError

Stage = Callable[[Any, dict[str, Any]], Any]
#: Stages that end in a module; `triton.compiler.parse` knows the same three.
MODULE_STAGES = ("ttir", "glir", "ttgir")
#: How a binary begins that a driver takes: an ELF file, or NVIDIA's container of several.
_BINARIES = (b"\x7fELF", b"\x50\xed\x55\xba")
#: What is known of kernels without edits, by Triton's key of them.
_known: dict[str, str] = {}
_MOST_KNOWN = 256


def without_edits(stages: Mapping[str, Stage]) -> str:
    """A sentence that says whether the kernel that is being compiled compiles with `stages`, which have no edits.

    It is tried, on a module of its own: nothing is cached, and nobody else hears of it. The answer is kept, because a
    tuner may try many pipelines on one kernel. Empty where the stages are not run by ``triton.compile``.
    """
    caller = _compile_frame()
    if caller is None:
        return ""
    from triton.compiler.compiler import get_cache_key

    src, backend, options, variables = (caller[name] for name in ("src", "backend", "options", "env_vars"))
    key = get_cache_key(src, backend, options, env_vars=variables)
    if key not in _known:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        _known[key] = _try(stages, caller)
    return _known[key]


def _try(stages: Mapping[str, Stage], caller: Mapping[str, Any]) -> str:
    from triton import __version__
    from triton.compiler.compiler import IRSource

    src, backend, options = (caller[name] for name in ("src", "backend", "options"))
    names = list(stages)
    where = "before its first stage"
    try:
        with watch(f"compiling '{src.name}' without edits, to see whether that fails, too"):
            context = ir.context()
            if isinstance(src, IRSource):
                src = IRSource(src.path, context, backend)
                names = names[names.index(src.ext) + 1 :]
            else:
                ir.load_dialects(context)
                backend.load_dialects(context)
                names = names[names.index(src.ext) :]
            functions = backend.get_codegen_implementation(options)
            result = src.make_ir(caller["target"], options, functions, backend.get_module_map(), context)
            metadata = {"hash": caller["hash"], "target": caller["target"], **vars(options), **caller["env_vars"]}
            metadata["triton_version"] = __version__
            for name in names:
                where = f"in stage '{name}'"
                result = stages[name](result, metadata)
    except Exception as error:
        reason = (str(error).strip().splitlines() or [""])[0]
        return f"without the edits the kernel fails, too, {where}: {type(error).__name__}: {reason}"
    return "without the edits the kernel compiles"


def _compile_frame() -> Mapping[str, Any] | None:
    """The variables of the ``triton.compile`` that runs this; None if none does."""
    from triton.compiler import compiler

    frame = sys._getframe()
    while frame is not None and frame.f_code is not compiler.compile.__code__:
        frame = frame.f_back  # type: ignore[assignment]
    return frame.f_locals if frame is not None else None


@contextmanager
def watch(what: str) -> Iterator[int]:
    """While it lasts, a crash of this process says that it happened during `what`. Gives the slot of `_inspect`."""
    name = f"triton-ext-crash-{os.getpid()}-{time.time_ns():x}.mlir"
    slot = _inspect.begin(what, str(Path(tempfile.gettempdir(), name)))
    try:
        yield slot
    finally:
        _inspect.end(slot)


def check_result(edit: Edit, stage: str, result: Any, expected: type | None) -> None:
    """Refuses what the user's function returned for `stage` if the next one could not take it.

    Triton ends the process over some of it. How much this costs does not matter: few have such a function.

    Args:
        edit: the edit that has the function.
        stage: its stage.
        result: what it returned.
        expected: the type of what the stage itself returned, as far as it was run.

    Raises:
        PipelineError: what is wrong.
    """
    problem = _problem(stage, result, expected)
    if problem:
        raise ran(PipelineError(f"'{edit}': {problem}"))


def _problem(stage: str, result: Any, expected: Any) -> str | None:
    kind = type(result)
    wanted: dict[str, type] = {
        "llir": str,
        "ptx": str,
        "amdgcn": str,
        "asm": str,
        "linalgir": str,
        "cubin": bytes,
        "hsaco": bytes,
        "so": bytes,
    }
    expected = ir.module if stage in (*MODULE_STAGES, "cpuir") else wanted.get(stage, expected)
    if not isinstance(result, (ir.module, str, bytes) if expected is None else expected):
        hint = f", expected {expected.__name__}" if expected else ""
        return f"returned {kind.__name__}{hint}; see what inner(source, metadata) returns"
    if isinstance(result, ir.module):
        return None if result.verify() else f"returned a module that does not verify{_inspect.diagnosis(result)}"
    if not result.strip():
        return f"returned {kind.__name__} that is empty"
    if stage == "llir":
        problem = _inspect.check_llvm_ir(str(result))
        return f"returned text that is not LLVM IR: {problem}" if problem else None
    if isinstance(result, bytes) and stage in wanted and not result.startswith(_BINARIES):
        return f"returned bytes that are not a binary: expected an ELF file, found {result[:16]!r}"
    if isinstance(result, str) and "\0" in result:
        return "returned text with a null character"
    return None


def ran(error: PipelineError) -> PipelineError:
    """`error`, which something that ran has caused, and not the way in which an edit is written."""
    error.while_running = True
    return error


def explain(error: Exception, stage: str, edits: str, stages: Mapping[str, Stage]) -> None:
    """Adds to `error` what the edits have to do with it: errors of Triton's keep their type, by which some are caught.

    Args:
        error: what was raised in `stage`.
        stage: where.
        edits: all edits, as text.
        stages: without edits.
    """
    if isinstance(error, PipelineError):
        if error.while_running and (outcome := without_edits(stages)):
            error.message += f"\n{outcome}"
            error.while_running = False  # it has been said
        return
    error.add_note("; ".join(filter(None, (f"in stage '{stage}' with the pipeline '{edits}'", without_edits(stages)))))
