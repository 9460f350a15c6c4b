# SPDX-License-Identifier: Apache-2.0
"""The errors of a compilation with edits, and the trial whether the kernel compiles without them."""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from triton._C.libtriton import ir
from triton.errors import TritonError

from .. import backends
from ..errors import PipelineError, TritonExtError, UnsupportedError
from ..patches import hints
from ..patches.compile_requests import Request
from ..support import scratch
from . import crash_reports, inspection
from .edits import Edit

Stage = Callable[[Any, dict[str, Any]], Any]
#: Stages that end in a module; `triton.compiler.parse` knows the same three.
MODULE_STAGES = ("ttir", "glir", "ttgir")
#: The first bytes of the binaries that drivers take: an ELF file, or NVIDIA's container of several.
_BINARIES = (b"\x7fELF", b"\x50\xed\x55\xba")


@dataclass(frozen=True)
class Trial:
    """The outcome of a compilation without edits.

    Attributes:
        outcome: a sentence that says whether the kernel compiles.
        metadata: names of the entries of Triton's metadata that the stages set; if one failed, those before it.
    """

    outcome: str
    metadata: frozenset[str]


#: The trials that were made, by Triton's key of the kernel.
_known: dict[str, Trial] = {}
_MOST_KNOWN = 256


@dataclass(frozen=True)
class Unedited:
    """The current compilation as it would be without edits.

    Attributes:
        stages: the stages of the backend by name, in order.
        backend: the backend that compiles.
        request: the call of ``triton.compile``; None if something else runs the stages.
    """

    stages: Mapping[str, Stage]
    backend: Any
    request: Request | None

    def trial(self) -> Trial | None:
        """Compiles the kernel without edits, and returns the outcome; None if ``triton.compile`` is not the caller.

        The trial has a module of its own and puts nothing into Triton's cache. Its outcome is kept, because a tuner may
        try many pipelines on one kernel.
        """
        if self.request is None:
            return None
        if self.request.key not in _known:
            if len(_known) >= _MOST_KNOWN:
                _known.clear()
            _known[self.request.key] = _try(self.stages, self.backend, self.request)
        return _known[self.request.key]


def _try(stages: Mapping[str, Stage], backend: Any, request: Request) -> Trial:
    from triton import __version__
    from triton.compiler.compiler import IRSource

    src, options = request.source, request.options
    names = list(stages)
    where = "before its first stage"
    metadata: dict[str, Any] = {}
    try:
        with hints.paused(), watch(f"compiling '{src.name}' without edits, to see whether that fails, too"):
            context = ir.context()
            if isinstance(src, IRSource):
                src = IRSource(src.path, context, backend)
                names = names[names.index(src.ext) + 1 :]
            else:
                ir.load_dialects(context)
                backend.load_dialects(context)
                names = names[names.index(src.ext) :]
            functions = backend.get_codegen_implementation(options)
            result = src.make_ir(backend.target, options, functions, backend.get_module_map(), context)
            key = hashlib.sha256(request.key.encode()).hexdigest()
            metadata |= {"hash": key, "target": backend.target, **vars(options), **request.variables}
            metadata["triton_version"] = __version__
            for name in names:
                where = f"in stage '{name}'"
                result = stages[name](result, metadata)
    except Exception as error:
        reason = (str(error).strip().splitlines() or [""])[0]
        outcome = f"without the edits the kernel fails, too, {where}: {type(error).__name__}: {reason}"
        return Trial(outcome, frozenset(metadata))
    return Trial("without the edits the kernel compiles", frozenset(metadata))


@contextmanager
def watch(what: str) -> Iterator[int]:
    """Has a crash of this process within the block report that it happened during `what`.

    Yields the number of the report, as `crash_reports.begin` returns it.
    """
    name = f"triton-ext-crash-{os.getpid()}-{secrets.token_hex(8)}.mlir"
    root = scratch.scratch_root()
    slot = crash_reports.begin(what, os.path.join(root, name) if root else "")
    try:
        yield slot
    finally:
        crash_reports.end(slot)


def check_result(edit: Edit, stage: str, result: Any, expected: type | None) -> None:
    """Checks that the next stage can take what a stage function of the user has returned.

    With some wrong results Triton would end the process. The check may be slow, because few pipelines have such a
    function.

    Args:
        edit: the edit that has the function.
        stage: name of its stage.
        result: what the function returned.
        expected: the type of what the stage itself returned; None if it was not run.

    Raises:
        PipelineError: the result cannot be used; the message says why.
    """
    problem = _problem(stage, result, expected)
    if problem:
        raise ran(PipelineError(f"'{edit}': {problem}"))


def check_source(edit: Edit, stage: str, source: Any) -> None:
    """Checks what a stage function of the user gives to ``inner``: malformed LLVM IR would end the process.

    Args:
        edit: the edit that has the function.
        stage: name of the stage before, whose result `source` replaces.
        source: the argument of ``inner``.

    Raises:
        PipelineError: `source` should be LLVM IR and is not.
    """
    if stage == "llir" and isinstance(source, str) and (problem := inspection.check_llvm_ir(source)):
        raise ran(PipelineError(f"'{edit}': gave inner text that is not LLVM IR: {problem}"))


def check_kept(edit: Edit, needed: Set[str], metadata: Mapping[str, Any]) -> None:
    """Checks that a stage function of the user has kept all entries of the metadata.

    Args:
        edit: the edit that has the function.
        needed: names of the entries that the function was given, and of those that were there after ``inner``.
        metadata: the metadata after the function.

    Raises:
        PipelineError: an entry is missing.
    """
    if missing := sorted(needed - metadata.keys()):
        names = ", ".join(f"metadata['{name}']" for name in missing)
        raise ran(PipelineError(f"'{edit}': its function has left the kernel without {names}"))


def check_binary(edits: Sequence[Edit], kernel: str, problem: str | None) -> None:
    """Reports a binary that a launch could not load.

    Args:
        edits: the edits with a stage function.
        kernel: name of the kernel.
        problem: why the backend cannot load the binary; None if it can.

    Raises:
        PipelineError: there is a problem.
    """
    if problem:
        functions = " or ".join(f"'{edit}'" for edit in edits)
        raise ran(PipelineError(f"{functions}: the binary of kernel '{kernel}' cannot be launched: {problem}"))


#: The types of results that ``backend.json`` declares for a stage.
_RESULTS: dict[str, type] = {"module": ir.module, "text": str, "elf": bytes}


def _problem(stage: str, result: Any, expected: Any) -> str | None:
    kind = type(result)
    wanted: dict[str, type] = {
        "llir": str,
        "ptx": str,
        "amdgcn": str,
        "cubin": bytes,
        "hsaco": bytes,
    } | {name: _RESULTS[declared.result] for name, declared in backends.stages().items()}
    expected = ir.module if stage in MODULE_STAGES else wanted.get(stage, expected)
    if not isinstance(result, (ir.module, str, bytes) if expected is None else expected):
        hint = f", expected {expected.__name__}" if expected else ""
        return f"returned {kind.__name__}{hint}; see what inner(source, metadata) returns"
    if isinstance(result, ir.module):
        return None if result.verify() else f"returned a module that does not verify{inspection.diagnosis(result)}"
    if not result.strip():
        return f"returned {kind.__name__} that is empty"
    if stage == "llir":
        problem = inspection.check_llvm_ir(str(result))
        return f"returned text that is not LLVM IR: {problem}" if problem else None
    if isinstance(result, bytes) and stage in wanted and not result.startswith(_BINARIES):
        return f"returned bytes that are not a binary: expected an ELF file, found {result[:16]!r}"
    if isinstance(result, str) and "\0" in result:
        return "returned text with a null character"
    return None


def ran(error: PipelineError) -> PipelineError:
    """Returns `error`, marked as caused by a pass or function that ran and not by an edit that is written wrongly."""
    error.while_running = True
    return error


def check_metadata(edits: Sequence[Edit], metadata: Mapping[str, Any], unedited: Unedited) -> None:
    """Checks that the metadata has all entries that the stages set, because launching the kernel needs them.

    Args:
        edits: the edits whose stage function has not called ``inner``.
        metadata: the metadata of the kernel after its last stage.
        unedited: the compilation without edits, which shows the entries that are needed.

    Raises:
        PipelineError: an entry is not set.
    """
    trial = unedited.trial()
    missing = sorted(trial.metadata - metadata.keys()) if trial else ()
    if missing:
        names = ", ".join(f"metadata['{name}']" for name in missing)
        functions = " or ".join(f"'{edit}'" for edit in edits)
        raise ran(
            PipelineError(f"{functions}: its function has not called inner, which sets {names}; call it, or set them")
        )


def explained(error: Exception, stage: str, kernel: str, edits: str, unedited: Unedited) -> Exception:
    """Returns the exception to raise for `error`, which names the edits and says whether the kernel compiles without.

    Triton's own errors keep their type and get a note, because autotuners catch some of them by type. So do errors of
    ours that are not about edits, e.g. that a library is not built.

    Args:
        error: the exception that was raised.
        stage: name of the stage that raised it.
        kernel: name of the kernel.
        edits: all edits, as text.
        unedited: the compilation without edits.
    """
    if isinstance(error, PipelineError) and not isinstance(error, UnsupportedError):
        if error.while_running and (trial := unedited.trial()):
            error.message += f"\n{trial.outcome}"
            error.while_running = False  # the message has the outcome now
        return error
    trial = unedited.trial()
    outcome = trial.outcome if trial else ""
    if isinstance(error, TritonError | TritonExtError) and not isinstance(error, UnsupportedError):
        error.add_note("; ".join(filter(None, (f"in stage '{stage}' with the pipeline '{edits}'", outcome))))
        return error
    name = "" if type(error) in (RuntimeError, UnsupportedError) else f"{type(error).__name__}: "
    text = f"stage '{stage}' failed on kernel '{kernel}', in the pipeline '{edits}': {name}{error}"
    return PipelineError("\n".join(filter(None, (text, outcome))))
