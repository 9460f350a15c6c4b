# SPDX-License-Identifier: Apache-2.0
"""`Sanitizer`: the block in which kernels are compiled with checks, and what is raised where one has failed."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterable
from dataclasses import replace
from types import TracebackType
from typing import Any, NamedTuple

from triton_ext.probe import _launches
from triton_ext.probe._session import Session
from triton_ext.probe._tokens import hand_on, tokens_of

import triton_ext as tx
from triton_ext.errors import TritonExtError
from triton_ext.loading.discovery import discovered_once
from triton_ext.patches.kernel_launches import BEFORE_ARGUMENTS, Launch, wrap_launches

from . import _inductor, _looks, _synchronisation, _verdicts
from ._at_launch import Facts
from ._gaps import Gaps
from ._hints import keep_hints
from ._launched import Launches
from ._names import ACTIONS, checked_names, found_by, of_pass
from ._overflows import Launched, Overflows, count_again
from ._report import Report, SanitizerError, identity
from ._shadows import Shadows

#: Bytes for records on each device, and how many kernels have room for their counters.
CAPACITY, KERNELS = 2**22, 256

#: The checks for which a block needs to know of launches: their integers, and the values on the lines of findings.
_NOTING = (frozenset({"overflow"}), frozenset({"bounds", "uninit", "race", "lanes", "arith"}))
#: How many launches of a kernel with different arguments are remembered.
_MOST_KNOWN = 1024

_lock = threading.RLock()
#: The blocks that have begun, the innermost one last; they are of the process.
_active: list[Sanitizer] = []
#: How often `_active` has changed.
_changes = 0
#: Counts the launches of kernels with checks; another number is given each time.
_launched = itertools.count(1)
_last_launched = 0


class _Right(NamedTuple):
    """A launch in which the host finds nothing.

    Attributes:
        tokens: of its arguments.
        changes: the number of changes of `_active` before it.
        launched: what counts those like it in the blocks.
    """

    tokens: tuple[Any, ...]
    changes: int
    launched: tuple[Launched, ...]


class Sanitizer:
    """A block in which the kernels of all threads are compiled with checks; made by `tx.sanitize`."""

    def __init__(
        self, checks: str | Iterable[str], action: str, raises: bool, *, static: bool = True, corners: bool = True
    ) -> None:
        if action not in ACTIONS:
            raise TritonExtError(f"sanitize: there is no action '{action}', there are: {', '.join(ACTIONS)}")
        self._names = checked_names(checks)
        self._action = action
        self._raises = raises
        self._static = static and corners
        self._corners = corners
        self._pipeline: Any = None
        self._seen = 0  # activity of the session and wrong launches at the last look
        self._seen_launched = -1  # `_last_launched` before it
        self._told: dict[str, int] = {}  # of each finding that an error has told, its lanes
        self._session = Session(CAPACITY, KERNELS, True, waits=True, checks=found_by(self._names))
        self._session._looker, self._session._looked = _looks.look, frozenset({"bounds", "lanes"})
        self._shadows = Shadows(self._names, static=self._static)
        self._overflows = Overflows(is_checked="overflow" in self._names)
        self.report = Report(self._session, self._names, self._shadows, self._overflows)

    def __enter__(self) -> Report:
        with discovered_once():
            return self._begin()

    def _begin(self) -> Report:
        global _changes  # noqa: PLW0603 - of the process
        from triton import knobs

        if knobs.runtime.interpret:
            raise TritonExtError(
                "TRITON_INTERPRET=1: the interpreter runs no passes, so nothing is checked", fix="unset it"
            )
        of_kernel = tx.passes.ttir.sanitizer(
            checks=of_pass(self._names), action=self._action, static=self._static, corners=self._corners,
            calls=_looks.CALLS,
        )  # fmt: skip
        passes = [of_kernel]
        is_of_host = bool({"bounds", "uninit", "race", *(() if self._static else ("lanes",))} & {*self._names})
        if is_of_host:  # what the host decides of each launch, it does from this description
            passes.insert(0, tx.passes.ttir.intensity())
        wrap_launches(_seen, outer=True)  # a launch is then known to be over
        if "hints" in self._names:
            keep_hints(_wants_hints)
        self._session.__enter__()
        _looks.begin()
        self._shadows.__enter__()
        with _lock:
            self._pipeline = tx.Pipeline().at_end("ttir", *passes, on_missing="warn")
            if is_of_host:
                self._pipeline = self._pipeline.stage("ttir", _looks.following, on_missing="ignore")
            if _active:
                _active[-1]._pipeline.uninstall()
            self._pipeline.install()
            _active.append(self)
            _changes += 1
        _inductor.begin()
        if self._raises:
            _synchronisation.follow(self._look)
        return self.report

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        global _changes  # noqa: PLW0603 - of the process
        _inductor.end()
        with _lock:
            is_innermost = _active[-1] is self
            _active.remove(self)
            _changes += 1
            if is_innermost:
                self._pipeline.uninstall()
                if _active:
                    _active[-1]._pipeline.install()
        self._shadows.__exit__(kind, error, traceback)
        _looks.end()
        self._session.__exit__(kind, error, traceback)
        if self._raises:
            _synchronisation.forget(self._look)
        if self._raises and error is None:
            self._raise_if_failed()

    def _begin_fork(self) -> None:
        """Forgets, in a fork, what the process before has seen, which has it in its own report."""
        session = self._session
        _launches.forget()
        session._buffers.clear()
        session._slots.clear()
        session._others.clear()
        session._launches.clear()
        self.report._begin_fork()
        self._shadows.looked.clear()
        self._shadows.mixed.clear()
        self._overflows.clear()
        self._seen = 0
        self._told.clear()

    def _look(self) -> None:
        """Does what `_raise_if_failed` does, unless no kernel can have run since the last time."""
        slots = tuple(self._session._slots.values())
        if self._seen_launched != _last_launched or any(one._of_graphs for one in slots):
            self._raise_if_failed()

    def _raise_if_failed(self) -> None:
        """Raises SanitizerError if a check has failed since the last time. Waits for the devices.

        Raises:
            SanitizerError: it has.
        """
        self._seen_launched = _last_launched
        seen = self._session._activity() + self.report._launches_with_findings + self._overflows.count()
        if seen != self._seen:  # else there is no need to read the buffers; the records may also be the kernel's own
            self._seen = seen
            told, self._told = self._told, {}
            new = []
            for one in self.report.findings:
                key, lanes = identity(one), max(one.lanes, 1)
                self._told[key] = self._told.get(key, 0) + lanes
                if lanes > told.get(key, 0):
                    new.append(replace(one, lanes=lanes - told.get(key, 0)) if one.lanes else one)
            if new:
                raise SanitizerError(self.report, new)


def _pipelines() -> tuple[Any, ...]:
    """Returns the pipelines with which the blocks and their sessions compile kernels, as a stack has them."""
    with _lock:
        pipelines = [one for block in _active for one in (block._pipeline, block._session._pipeline)]
    return tuple(one._loaded[0] for one in pipelines if one is not None and one._loaded)


def _wants_hints() -> bool:
    """Whether kernels that are translated now get checks of hints."""
    with _lock:
        return bool(_active) and "hints" in _active[-1]._names


def _for_gaps(active: tuple[Sanitizer, ...]) -> Sanitizer | None:
    """Returns the innermost block that checks bounds; None if there is none."""
    for one in reversed(active):
        if "bounds" in one._names:
            return one
    return None


def _noting(active: tuple[Sanitizer, ...]) -> list[Sanitizer]:
    """Returns the blocks that need to know of a launch: the innermost one that checks its integers, or what it does."""
    found: list[Sanitizer] = []
    for checks in _NOTING:
        for one in reversed(active):
            if not checks.isdisjoint(one._names):
                if one not in found:
                    found.append(one)
                break
    return found


def _note_launch() -> None:
    """Notes that there is a launch. Called behind it: a look between the two may have missed it."""
    global _last_launched  # noqa: PLW0603 - of the process
    _last_launched = next(_launched)


def _seen(kernel: Any, launch: Launch) -> Launch | None:
    """Has the reports of active blocks learn which kernels run; on the CPU, a launch is a synchronisation, too."""
    verdicts = _verdicts.of(kernel)
    if verdicts is None:
        return None
    _synchronisation.imported()
    device = kernel.metadata.target.backend
    facts, gaps, launches = Facts(kernel), Gaps(kernel), Launches(kernel)
    #: The launches in which the host finds nothing, by the grid and tokens of the arguments.
    right: dict[Any, _Right] = {}

    def is_right(active: tuple[Sanitizer, ...], grid: Any, arguments: tuple[Any, ...]) -> bool:
        """Adds to the reports what is wrong with a launch. Returns whether it is nothing."""
        wrong = list(facts.wrong(grid, arguments)) if facts else []
        for found in wrong:
            chosen = (one for one in reversed(active) if found.check in one._names)
            if (innermost := next(chosen, None)) is not None:
                innermost.report._add_launch(found)
        inner = _for_gaps(active)
        between = () if inner is None else gaps.found(grid, arguments)
        for found in between:
            inner.report._add_launch(found)  # type: ignore[union-attr]
        return not wrong and not between

    def tell(active: tuple[Sanitizer, ...], changes: int, args: tuple[Any, ...], tokens: Any) -> None:
        grid, arguments = args[:3], args[BEFORE_ARGUMENTS:]
        key = launches.key(grid, arguments)
        is_known = is_right(active, grid, arguments)
        launched = tuple(one._overflows.note(launches, key, arguments) for one in _noting(active))
        if is_known and tokens is not None:
            if len(right) >= _MOST_KNOWN:
                right.clear()
            right[grid, tokens] = _Right(tokens, changes, launched)

    def launch_and_tell(*args: Any) -> None:
        changes = _changes  # before the blocks, so that one that begins meanwhile makes what is remembered old
        if active := tuple(_active):
            tokens = tokens_of(args[BEFORE_ARGUMENTS:])
            known = right.get((args[:3], tokens))
            if known is not None and known.changes == changes and count_again(known.launched):
                tokens = known.tokens
            else:
                tell(active, changes, args, tokens)
            hand_on(kernel, tokens)
        try:
            launch(*args)
        finally:
            _note_launch()
        for one in tuple(_active):
            if one.report._last is not verdicts:
                one.report._add_kernel(verdicts)
            if one._raises and device not in ("cuda", "hip"):
                one._raise_if_failed()

    return launch_and_tell
