# SPDX-License-Identifier: Apache-2.0
"""What a compilation with edits says when it fails, and whether it would without them."""

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
from ..patches.compile_requests import Request
from ..support import storage
from . import crash_reports, inspection
from .edits import Edit

Stage = Callable[[Any, dict[str, Any]], Any]
#: Stages that end in a module; `triton.compiler.parse` knows the same three.
MODULE_STAGES = ("ttir", "glir", "ttgir")
#: How a binary begins that a driver takes: an ELF file, or NVIDIA's container of several.
_BINARIES = (b"\x7fELF", b"\x50\xed\x55\xba")


@dataclass(frozen=True)
class Trial:
    """The outcome of a compilation without edits.

    Attributes:
        outcome: a sentence that says whether the kernel compiles.
        metadata: the entries of Triton's metadata that were set, up to the stage that failed if one did.
    """

    outcome: str
    metadata: frozenset[str]


#: What is known of kernels without edits, by Triton's key of them.
_known: dict[str, Trial] = {}
_MOST_KNOWN = 256


@dataclass(frozen=True)
class Unedited:
    """The compilation that is under way, as it would be without edits.

    Attributes:
        stages: of the backend.
        backend: that of the compilation.
        request: what ``triton.compile`` was asked for; None where something else runs the stages.
    """

    stages: Mapping[str, Stage]
    backend: Any
    request: Request | None

    def trial(self) -> Trial | None:
        """Compiles the kernel, and returns how that ended; None where ``triton.compile`` does not run the stages.

        That is done on a module of its own: nothing is cached, and nobody else hears of it. The answer is kept, because
        a tuner may try many pipelines on one kernel.
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
    """Makes a crash of this process within the block report that it happened during `what`.

    Yields the slot that `crash_reports.begin` returned.
    """
    name = f"triton-ext-crash-{os.getpid()}-{secrets.token_hex(8)}.mlir"
    root = storage.scratch_root()
    slot = crash_reports.begin(what, os.path.join(root, name) if root else "")
    try:
        yield slot
    finally:
        crash_reports.end(slot)


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


def check_source(edit: Edit, stage: str, source: Any) -> None:
    """Refuses what the user's function gives to ``inner`` if that ends the process over it: bad LLVM IR.

    Args:
        edit: the edit that has the function.
        stage: the one before its stage, of whose result `source` takes the place.
        source: what the function gives.

    Raises:
        PipelineError: what is wrong.
    """
    if stage == "llir" and isinstance(source, str) and (problem := inspection.check_llvm_ir(source)):
        raise ran(PipelineError(f"'{edit}': gave inner text that is not LLVM IR: {problem}"))


def check_kept(edit: Edit, needed: Set[str], metadata: Mapping[str, Any]) -> None:
    """Refuses metadata from which the user's function has removed something, or that does not get what a stage sets.

    Args:
        edit: the edit that has the function.
        needed: the entries that the function was given, and those that were there after ``inner``.
        metadata: what it has left.

    Raises:
        PipelineError: an entry is missing.
    """
    if missing := sorted(needed - metadata.keys()):
        names = ", ".join(f"metadata['{name}']" for name in missing)
        raise ran(PipelineError(f"'{edit}': its function has left the kernel without {names}"))


def check_binary(edits: Sequence[Edit], kernel: str, problem: str | None) -> None:
    """Refuses a binary that a launch could not load.

    Args:
        edits: those with a stage function.
        kernel: its name.
        problem: what the backend says of the binary; None for nothing.

    Raises:
        PipelineError: there is a problem.
    """
    if problem:
        functions = " or ".join(f"'{edit}'" for edit in edits)
        raise ran(PipelineError(f"{functions}: the binary of kernel '{kernel}' cannot be launched: {problem}"))


#: The type of what a stage returns, as a backend declares it.
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
    """Returns `error`, marked as caused by something that ran, and not by an edit that is written wrongly."""
    error.while_running = True
    return error


def check_metadata(edits: Sequence[Edit], metadata: Mapping[str, Any], unedited: Unedited) -> None:
    """Refuses a kernel without what the stages set in its metadata: launching it, or the next stage, needs that.

    Args:
        edits: those with a stage function that has not called the stage.
        metadata: of the kernel, after its last stage.
        unedited: the compilation without edits.

    Raises:
        PipelineError: something is not set.
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
    """The exception to raise for `error`: one that says what the edits have to do with it.

    Triton's own errors keep their type, by which autotuners catch some of them, and get a note. So do errors of ours
    that are not about edits, such as that of a library which is not built.

    Args:
        error: what was raised in `stage`.
        stage: where.
        kernel: its name.
        edits: all edits, as text.
        unedited: the compilation without edits.
    """
    if isinstance(error, PipelineError) and not isinstance(error, UnsupportedError):
        if error.while_running and (trial := unedited.trial()):
            error.message += f"\n{trial.outcome}"
            error.while_running = False  # it has been said
        return error
    trial = unedited.trial()
    outcome = trial.outcome if trial else ""
    if isinstance(error, TritonError | TritonExtError) and not isinstance(error, UnsupportedError):
        error.add_note("; ".join(filter(None, (f"in stage '{stage}' with the pipeline '{edits}'", outcome))))
        return error
    name = "" if type(error) in (RuntimeError, UnsupportedError) else f"{type(error).__name__}: "
    text = f"stage '{stage}' failed on kernel '{kernel}', in the pipeline '{edits}': {name}{error}"
    return PipelineError("\n".join(filter(None, (text, outcome))))
