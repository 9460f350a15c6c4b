# SPDX-License-Identifier: Apache-2.0
"""What each pass of a Triton ``pass_manager`` did, told by libTritonExtInspect.so (``infra/inspect``).

    with Inspection(Level.SUMMARY) as inspection:
        inspection.attach(manager)
        manager.run(module, "")
        result = inspection.result()

After a run that raised, `Inspection.result` says which pass failed.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import json
import os
import threading
import weakref
from dataclasses import dataclass
from enum import IntEnum
from types import TracebackType
from typing import Any

from . import _resources
from ._infra import private_copy
from .errors import BuildError, TritonExtError


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
    """

    events: tuple[Event, ...]
    diagnostics: tuple[str, ...]
    source_ir: str | None


class Inspection:
    """Records what the passes of the managers do that it is attached to, until it is closed or forgotten.

    Raises:
        BuildError: the library is not built, or does not fit the installed Triton.
    """

    def __init__(self, level: Level) -> None:
        self._library, self._add = _load()
        self._handle = self._library.tritonExtInspectOpen(level)
        self._close = weakref.finalize(self, self._library.tritonExtInspectClose, self._handle)

    def attach(self, manager: Any) -> None:
        """Records what `manager`, which has all its passes, will do. Several managers may be attached, one by one.

        Raises:
            TritonExtError: the inspection is closed.
        """
        self._check_open()
        self._add(manager, [str(self._handle)])

    def result(self) -> Result:
        """What has been recorded so far, also after a run that raised.

        Raises:
            TritonExtError: the inspection is closed.
        """
        self._check_open()
        read = json.loads(self._library.tritonExtInspectRead(self._handle))
        return Result(tuple(map(_event, read["events"])), tuple(read["diagnostics"]), read["source_ir"])

    def close(self) -> None:
        """Frees what has been recorded. Managers that it is attached to run as if they had never been."""
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


_loading = threading.Lock()


@functools.cache
def _load() -> tuple[ctypes.CDLL, Any]:
    """The library, and the function that attaches an inspection to a pass manager.

    Raises:
        BuildError: it does not load.
    """
    from triton._C.libtriton import passes

    path = _resources.library_dir() / "libTritonExtInspect.so"
    try:
        content = path.read_bytes()
        # Not the staged file itself, which a build replaces; see the loader.
        copy = private_copy(path, hashlib.sha256(content).hexdigest(), content)
        with _loading:
            library = ctypes.CDLL(copy, mode=os.RTLD_NOW)
            passes.plugin.extend_with(copy)
            add = passes.plugin.__dict__.pop("add_triton_ext_inspect")
    except (OSError, RuntimeError, KeyError) as error:
        raise BuildError(f"the inspection of passes does not load: {error}", fix="triton-ext build") from None
    library.tritonExtInspectOpen.restype = ctypes.c_uint64
    library.tritonExtInspectClose.argtypes = (ctypes.c_uint64,)
    library.tritonExtInspectCount.restype = ctypes.c_size_t
    library.tritonExtInspectRead.argtypes = (ctypes.c_uint64,)
    library.tritonExtInspectRead.restype = ctypes.c_char_p
    return library, add
