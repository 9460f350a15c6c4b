# SPDX-License-Identifier: Apache-2.0
"""What each pass of a Triton ``pass_manager`` did, told by libTritonExtInspect.so (``infra/inspect``).

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
        FAILURES: which passes ran, for how long, which failed, and what they reported.
        SUMMARY: how many operations there were, and whether they changed.
        IR: the module's text.
    """

    FAILURES = 0
    SUMMARY = 1
    IR = 2


@dataclass(frozen=True)
class Event:
    """One run of a pass that is directly in a pass manager, or of a nested pipeline.

    Attributes:
        manager: 0 for the pass manager that was attached first.
        index: position among the passes that were added to that manager.
        span: how many of them it stands for: MLIR merges nested pipelines that are adjacent.
        argument: MLIR's name of the pass; empty for a nested pipeline.
        pipeline: its textual form, e.g. ``cse`` or ``tt.func(canonicalize{max-iterations=10})``.
        ns: wall time, that of the verifier included; 0 if it did not return.
        ops_before: operations in the module before it, nested ones included; 0 at `Level.FAILURES`.
        ops_after: the same after it; as before it if it failed.
        changed: whether the module's text changed, locations included; False if it failed, and at `Level.FAILURES`.
        failed: whether it signalled failure, left an invalid module, crashed or threw.
        ir: the module after it, with locations; None if it did not change, and below `Level.IR`.
        remarks: remarks that it emitted, ``file:line:column: remark: message`` with notes on lines of their own.
        diagnostics: errors and warnings in the same form.
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
    """What an `Inspection` has seen so far.

    Attributes:
        events: in the order in which the passes ran.
        diagnostics: all errors and warnings, those between passes included.
        source_ir: the module before the first pass; None below `Level.IR`, or if no pass ran.
        before: the module before a pass that was marked so and did not succeed; empty for others.
        command: what runs that pass on a file, for which `FILE` stands.
    """

    events: tuple[Event, ...]
    diagnostics: tuple[str, ...]
    source_ir: str | None
    before: str = ""
    command: str = ""


class Inspection:
    """Records what the passes of the managers do that it is attached to, until it is closed or forgotten.

    Args:
        level: how much.
        slot: what `begin` returned for the compilation, so that a crash says in which pass it happened.

    Raises:
        BuildError: the library is not built, or does not fit the installed Triton.
    """

    def __init__(self, level: Level, slot: int = -1) -> None:
        self._library, self._add, self._mark, self._listen = load()
        self._handle = self._library.tritonExtInspectOpen(level, slot)
        self._close = weakref.finalize(self, self._library.tritonExtInspectClose, self._handle)

    def attach(self, manager: Any) -> None:
        """Records what `manager` will do, to which all passes have been added. May be called for several managers.

        Raises:
            TritonExtError: the inspection is closed.
        """
        self._check_open()
        self._add(manager, [str(self._handle)])

    def listen(self, module: Any) -> None:
        """Records the diagnostics of `module`'s context, outside of passes, too. May be called once.

        While a manager runs that this is not attached to, Triton takes the diagnostics.
        """
        from triton._C.libtriton import ir

        self._listen(ir.pass_manager(module.context), [str(self._handle)])

    def mark(self, manager: Any, label: str, driver: str) -> None:
        """Sets what a crash says of the passes that were added to `manager` since the last call.

        Args:
            manager: the pass manager, which has to be the one that is attached next.
            label: what to call them, e.g. ``pass 'cse'``; empty for MLIR's name of each.
            driver: the command of a shell that runs ``triton-ext-opt`` with such a pass. If it is not empty, the module
                before the pass is kept until the pass returns.
        """
        self._mark(manager, [str(self._handle), label, driver])

    def result(self) -> Result:
        """What has been recorded so far, also after a run that raised.

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
        """Frees what has been recorded. Managers that this is attached to run on without being recorded."""
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
    """Does ``manager.run(module, label)`` for a backend of ours or a user's function; an error says why a pass failed.

    Raises:
        RuntimeError: a pass failed; the message is its diagnostics.
    """
    from triton._C.libtriton import ir

    if type(manager) is not ir.pass_manager:  # one of a pipeline's, which inspects itself
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
    """Whether a refusal comes with all that libtriton prints: the module, and the passes that it went through."""
    return os.environ.get("TRITON_EXT_DEBUG", "0") not in ("", "0")


def run_quietly(manager: Any, module: Any, label: str) -> None:
    """`run` for a manager with a conversion of ours: where that refuses the module, nothing is printed.

    With ``TRITON_EXT_DEBUG=1`` the conversion fails instead, and libtriton prints what it prints of every failure.

    Raises:
        UnsupportedError: the conversion refuses it.
        RuntimeError: as of `run`.
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
    """Returns why `module` does not verify, as ``: file:line: error``.

    The verifier tells it only while a pass runs, so a pass that changes nothing is run.
    """
    from triton._C.libtriton import ir, passes

    manager = ir.pass_manager(module.context)
    passes.convert.add_reconcile_unrealized_casts(manager)  # has nothing to do
    with Inspection(Level.FAILURES) as inspection:
        inspection.attach(manager)
        with contextlib.suppress(RuntimeError):
            manager.run(module, "triton_ext.verify")
        return "".join(f": {text}" for text in inspection.result().diagnostics[:1])
