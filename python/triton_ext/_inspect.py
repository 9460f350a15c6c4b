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
import ctypes
import functools
import json
import os
import shlex
import sys
import threading
import weakref
from dataclasses import dataclass
from enum import IntEnum
from types import TracebackType
from typing import Any

from . import _resources
from ._infra import in_memory, in_words, read_bytes
from .errors import BuildError, TritonExtError, UnsupportedError

#: Stands for the file in `Result.command`.
FILE = "\1"


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
        self._library, self._add, self._mark, self._listen = _load()
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
    """Does ``manager.run(module, label)`` for a backend of ours: with and without a pipeline, an error says why.

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
            manager.run(module, label)
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


def begin(what: str, file: str) -> int:
    """Makes a crash of the process report that it happened during `what`, until `end` is called.

    Args:
        what: e.g. ``kernel 'softmax', stage 'ttir'``.
        file: where a crash writes the module before the pass, if that was kept.

    Returns:
        A slot, for `end` and `begin_step`.
    """
    slot: int = _load()[0].tritonExtCrashBegin(what.encode(errors="replace"), os.fsencode(file))
    return slot


@dataclass(frozen=True)
class Place:
    """Where a compilation is.

    Attributes:
        step: the pass that runs, e.g. ``pass 'cse'``; empty between passes.
        what: as for `begin`.
        before: the module before the pass, if it was kept.
        command: what runs the pass on a file, for which `FILE` stands; empty if the module was not kept.
    """

    step: str
    what: str
    before: str = ""
    command: str = ""

    @classmethod
    def parse(cls, published: bytes) -> Place | None:
        """What `publish` has written; None if no compilation is under way."""
        step, _, rest = published.decode(errors="replace").partition("\0")
        what, _, rest = rest.partition("\0")
        command, _, before = rest.partition("\0")
        return cls(step, what, before, command) if what else None

    def __str__(self) -> str:
        return f"in {self.step}, {self.what}" if self.step else f"outside of any pass, {self.what}"


def publish(file: int) -> None:
    """Writes where this process is to the open file `file`, before every pass; a crash then says nothing itself."""
    _load()[0].tritonExtCrashPublish(file)


def isolated_command() -> str:
    """The command that runs this process again so that a crash is an exception."""
    words = shlex.join([sys.executable, *sys.orig_argv[1:]])
    # A crash has a buffer of some thousand bytes for it.
    return "TRITON_EXT_ISOLATE=1 " + (words if len(words.encode()) < 5000 else "and the command that was used")


def begin_step(slot: int, what: str | None) -> None:
    """Says that the compilation `slot` runs `what`, which is not a pass of MLIR, e.g. a Python function.

    None ends that.
    """
    _load()[0].tritonExtCrashPass(slot, what.encode(errors="replace") if what is not None else None)


def end(slot: int) -> None:
    """Ends the report that `begin` returned `slot` for."""
    _load()[0].tritonExtCrashEnd(slot)


def check_llvm_ir(text: str) -> str | None:
    """Returns why `text` is not LLVM IR that defines a function; None if it is."""
    encoded = text.encode(errors="surrogateescape")
    problem: bytes | None = _load()[0].tritonExtCheckLLVMIR(encoded, len(encoded))
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


_loading = threading.Lock()


@functools.cache
def _load() -> tuple[ctypes.CDLL, Any, Any, Any]:
    """The library, and its functions of a pass manager: attach an inspection, mark passes, listen to the context.

    Raises:
        BuildError: it does not load.
    """
    from triton._C.libtriton import passes

    path = _resources.library_dir() / "libTritonExtInspect.so"
    try:
        copy = in_memory(read_bytes(path))  # not the file, which a build replaces
        with _loading:
            library = ctypes.CDLL(copy, mode=os.RTLD_NOW)
            passes.plugin.extend_with(copy)
            names = ("inspect", "mark", "listen")
            add, mark, listen = (passes.plugin.__dict__.pop(f"add_triton_ext_{name}") for name in names)
    except (OSError, RuntimeError, KeyError, TritonExtError) as error:
        raise BuildError(f"the inspection of passes does not load: {in_words(error)}", fix="triton-ext build") from None
    library.tritonExtInspectOpen.restype = ctypes.c_uint64
    library.tritonExtCrashBegin.argtypes = (ctypes.c_char_p, ctypes.c_char_p)
    library.tritonExtCrashPass.argtypes = (ctypes.c_int, ctypes.c_char_p)
    library.tritonExtCrashPublish.argtypes = (ctypes.c_int,)
    library.tritonExtCrashIsolated.argtypes = (ctypes.c_char_p,)
    library.tritonExtCrashIsolated(isolated_command().encode(errors="replace"))
    library.tritonExtCheckLLVMIR.argtypes = (ctypes.c_char_p, ctypes.c_size_t)
    library.tritonExtCheckLLVMIR.restype = ctypes.c_char_p
    library.tritonExtInspectClose.argtypes = (ctypes.c_uint64,)
    library.tritonExtInspectCount.restype = ctypes.c_size_t
    library.tritonExtInspectRead.argtypes = (ctypes.c_uint64,)
    library.tritonExtInspectRead.restype = ctypes.c_char_p
    return library, add, mark, listen
