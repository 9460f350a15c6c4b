# SPDX-License-Identifier: Apache-2.0
"""Records what each pass of a Triton ``pass_manager`` does, with libTritonExtInspect.so (``infra/inspect``).

    with Inspection(Level.SUMMARY) as inspection:
        inspection.attach(manager)
        manager.run(module, "")
        result = inspection.result()

After a run that raised, `Inspection.result` says which pass failed.
"""

from __future__ import annotations

import contextlib
import json
import os
import weakref
from dataclasses import dataclass
from enum import IntEnum
from types import TracebackType
from typing import Any

from ..errors import TritonExtError, UnsupportedError
from ..patches import manager_runs
from .inspection_library import load


class Level(IntEnum):
    """How much an `Inspection` records; each level includes those before it.

    Attributes:
        FAILURES: which passes ran, their times, which of them failed, and their diagnostics.
        SUMMARY: the number of operations around each pass, and whether the pass changed the module.
        IR: the text of the module after each pass that changed it.
    """

    FAILURES = 0
    SUMMARY = 1
    IR = 2


@dataclass(frozen=True)
class Event:
    """One run of a pass that is directly in a pass manager, or of a nested pipeline.

    Attributes:
        manager: the number of the pass manager; 0 for the one that was attached first.
        index: position among the passes that were added to that manager.
        span: how many added passes the event stands for: MLIR merges nested pipelines that are adjacent.
        argument: MLIR's name of the pass; empty for a nested pipeline.
        pipeline: the textual form, e.g. ``cse`` or ``tt.func(canonicalize{max-iterations=10})``.
        ns: wall time in nanoseconds, including the verifier; 0 if the pass did not return.
        ops_before: operations in the module before the pass, including nested ones; 0 at `Level.FAILURES`.
        ops_after: operations after the pass; the same as before if it failed.
        changed: whether the text of the module changed, including locations; False if the pass failed, and at
            `Level.FAILURES`.
        failed: whether the pass signalled failure, left an invalid module, crashed or threw an exception.
        ir: the module after the pass, with locations; None if it did not change, and below `Level.IR`.
        remarks: the remarks of the pass, ``file:line:column: remark: message``; each note is on a line of its own.
        diagnostics: the errors and warnings in the same form.
    """

    manager: int
    index: int
    span: int
    argument: str
    pipeline: str
    ns: int
    ops_before: int
    ops_after: int
    changed: bool
    failed: bool
    ir: str | None
    remarks: tuple[str, ...]
    diagnostics: tuple[str, ...]


@dataclass(frozen=True)
class Result:
    """What an `Inspection` has recorded so far.

    Attributes:
        events: the runs of passes, in order.
        diagnostics: all errors and warnings, including those between passes.
        source_ir: the module before the first pass; None below `Level.IR`, or if no pass ran.
        before: the module before the pass that failed, if `Inspection.mark` asked to keep it; otherwise empty.
        command: a shell command that runs that pass on a file, with `FILE` for its name.
    """

    events: tuple[Event, ...]
    diagnostics: tuple[str, ...]
    source_ir: str | None
    before: str = ""
    command: str = ""


class Inspection:
    """Records what the passes of pass managers do, until it is closed or deleted.

    Args:
        level: how much to record.
        slot: the number that `crash_reports.begin` returned for the compilation, so that the report of a crash names
            the pass.

    Raises:
        BuildError: the library is not built, or does not fit the installed Triton.
    """

    def __init__(self, level: Level, slot: int = -1) -> None:
        self._library, self._add, self._mark, self._listen = load()
        self._handle = self._library.tritonExtInspectOpen(level, slot)
        self._close = weakref.finalize(self, self._library.tritonExtInspectClose, self._handle)

    def attach(self, manager: Any) -> None:
        """Records the next run of `manager`. May be called for several managers.

        Args:
            manager: the pass manager, to which all passes have been added.

        Raises:
            TritonExtError: the inspection is closed.
        """
        self._check_open()
        self._add(manager, [str(self._handle)])

    def listen(self, module: Any) -> None:
        """Records the diagnostics of `module`'s context, also outside of passes. May be called once.

        While a manager runs without this inspection, Triton handles the diagnostics.
        """
        from triton._C.libtriton import ir

        self._listen(ir.pass_manager(module.context), [str(self._handle)])

    def mark(self, manager: Any, label: str, driver: str) -> None:
        """Names the passes that were added to `manager` since the last call, for the report of a crash.

        Args:
            manager: the pass manager, which must be the one that is attached next.
            label: the name, e.g. ``pass 'cse'``; if it is empty, each pass has MLIR's name.
            driver: a shell command that runs ``triton-ext-opt`` with such a pass. If it is not empty, the module before
                the pass is kept until the pass returns.
        """
        self._mark(manager, [str(self._handle), label, driver])

    def result(self) -> Result:
        """Returns what has been recorded so far; also after a run that raised.

        Raises:
            TritonExtError: the inspection is closed.
        """
        self._check_open()
        read = json.loads(self._library.tritonExtInspectRead(self._handle))
        return Result(
            tuple(map(_event, read["events"])),
            tuple(read["diagnostics"]),
            read["source_ir"],
            read["before"],
            read["command"],
        )

    def close(self) -> None:
        """Frees what has been recorded. Attached managers can still run, without being recorded."""
        self._close()

    def __enter__(self) -> Inspection:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _check_open(self) -> None:
        if not self._close.alive:
            raise TritonExtError("the inspection is closed")


def _event(fields: dict[str, Any]) -> Event:
    values: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in fields.items()}
    return Event(**values)


def run(manager: Any, module: Any, label: str) -> None:
    """Runs ``manager.run(module, label)`` for a backend of ours or a user's function, with better errors.

    Raises:
        RuntimeError: a pass failed; the message names it and has its diagnostics.
    """
    from triton._C.libtriton import ir

    if type(manager) is not ir.pass_manager:  # a `Manager` of an edited stage, which is inspected when it runs
        manager.run(module, label)
        return
    with Inspection(Level.FAILURES) as inspection:
        inspection.attach(manager)
        try:
            manager_runs.run(manager, module, label)
        except RuntimeError as error:
            result = inspection.result()
            culprit = next((event.argument or event.pipeline for event in result.events if event.failed), "a pass")
            said = "\n".join(result.diagnostics) or str(error)
            raise RuntimeError(f"pass '{culprit}' failed in {label}: {said}") from error


def is_debugging() -> bool:
    """Whether libtriton shall print the module and its passes when a conversion of ours refuses the module."""
    return os.environ.get("TRITON_EXT_DEBUG", "0") not in ("", "0")


def run_quietly(manager: Any, module: Any, label: str) -> None:
    """Does `run` for a manager with a conversion of ours; if that refuses the module, libtriton prints nothing.

    With ``TRITON_EXT_DEBUG=1`` the conversion fails instead, and libtriton prints the module and the passes.

    Raises:
        UnsupportedError: the conversion refuses the module; the message has its reasons.
        RuntimeError: a pass failed.
    """
    from triton._C.libtriton import ir

    if not is_debugging():  # see Refuse.h
        module.set_attr("triton_ext.quiet", ir.builder(module.context).get_int32_attr(1))
    run(manager, module, label)
    if reasons := module.get_operation().get_str_attr("triton_ext.refused"):
        raise UnsupportedError(reasons)


def check_llvm_ir(text: str) -> str | None:
    """Returns why `text` is not LLVM IR that defines a function; None if it is."""
    encoded = text.encode(errors="surrogateescape")
    problem: bytes | None = load()[0].tritonExtCheckLLVMIR(encoded, len(encoded))
    return problem.decode(errors="replace") if problem is not None else None


def diagnosis(module: Any) -> str:
    """Returns why `module` does not verify, as ``: file:line: error``; empty if it does.

    Diagnostics of the verifier are recorded only while a pass runs. So a pass is run that changes nothing.
    """
    from triton._C.libtriton import ir, passes

    manager = ir.pass_manager(module.context)
    passes.convert.add_reconcile_unrealized_casts(manager)  # changes nothing, because there are no such casts
    with Inspection(Level.FAILURES) as inspection:
        inspection.attach(manager)
        with contextlib.suppress(RuntimeError):
            manager.run(module, "triton_ext.verify")
        return "".join(f": {text}" for text in inspection.result().diagnostics[:1])
