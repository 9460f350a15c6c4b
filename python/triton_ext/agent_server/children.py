# SPDX-License-Identifier: Apache-2.0
"""Runs actions in child processes, one at a time, and bounds time and output of each.

The children are forked from a process that has imported torch and Triton and does nothing else (`multiprocessing` calls
it the fork server). So an action begins at once, in a process that no earlier action has touched: the user's files are
read anew, and nothing is left of an action that crashed.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import multiprocessing
import os
import re
import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from typing import Any

import anyio
import anyio.to_thread

from ..support.scratch import scratch_dir
from . import processes
from .child_process import run
from .limits import PRINTED_BYTES, Limits

#: Seconds that the fork server may take to import what it imports, before the time of the first action begins.
STARTUP = 120.0
#: How often a process is started, if the fork server ends meanwhile.
_ATTEMPTS = 3
#: What a crash prints to users who have started the process themselves.
_ADVICE = re.compile(r"^triton-ext: to get an exception instead.*\n?", re.MULTILINE)
_PRELOADED = "triton_ext.agent_server.preloaded"


@dataclass(frozen=True)
class Result:
    """How an action ended.

    Attributes:
        status: ``ok``, or why it did not do what it was asked to: the status that the action gave, or ``time limit`` or
            ``crash``.
        text: the answer for the agent.
        figures: numbers and short texts for programs.
    """

    status: str
    text: str
    figures: dict[str, Any] = field(default_factory=dict)


class Printed:
    """The beginning and the end of what a process prints."""

    def __init__(self) -> None:
        self._head = self._tail = b""
        self._length = 0

    def add(self, data: bytes) -> None:
        """Adds `data`, of which at most twice `PRINTED_BYTES` are kept."""
        self._length += len(data)
        room = PRINTED_BYTES - len(self._head)
        self._head += data[:room]
        self._tail = (self._tail + data[room:])[-PRINTED_BYTES:]

    def __str__(self) -> str:
        left_out = self._length - len(self._head) - len(self._tail)
        between = f"\n[... {left_out:,} bytes left out ...]\n".encode() if left_out else b""
        return (self._head + between + self._tail).decode(errors="replace").strip()


class Children:
    """Runs actions in child processes, one at a time.

    Args:
        limits: what an action may use.
        owns_children: whether every other child that this process gets during an action is a remainder of it.
    """

    def __init__(self, limits: Limits, *, owns_children: bool) -> None:
        self.limits = limits
        self._owns_children = owns_children
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload([_PRELOADED])
        self._one_at_a_time = anyio.Lock()

    def warm_up(self) -> None:
        """Starts the fork server, unless it runs; it imports torch and Triton in the background."""
        forkserver.ensure_running()

    async def call(self, action: str, arguments: dict[str, Any], seconds: float | None = None) -> Result:
        """Runs `action` in a child process, and returns how it ended, whatever happens to the process.

        Args:
            action: a name that `actions.action` knows.
            arguments: values of JSON's types.
            seconds: a shorter time limit than that of `limits`; None for none.
        """
        limits = self.limits
        if seconds is not None and seconds < limits.seconds:
            limits = dataclasses.replace(limits, seconds=seconds)
        async with self._one_at_a_time:
            for _ in range(_ATTEMPTS):
                result = await self._try(action, arguments, limits)
                if result is not None:
                    return result
                await anyio.sleep(0.2)  # the fork server is ending, because something has killed it
            return Result("crash", "no process could be started")

    async def _try(self, action: str, arguments: dict[str, Any], limits: Limits) -> Result | None:
        """Returns how the action ended; None if no process could be started for it."""
        await anyio.to_thread.run_sync(self.warm_up)
        known = processes.children() if self._owns_children else set()
        with scratch_dir("triton-ext-action-") as directory:
            process = _Process(self._context, (action, arguments), limits, str(directory))
            try:
                return await process.result() if await process.starts() else None
            finally:
                with anyio.CancelScope(shield=True):
                    await anyio.to_thread.run_sync(process.end)
                    if self._owns_children:
                        await anyio.to_thread.run_sync(processes.kill_remainders, known)


class _Process:
    """The process of one action, from its start to its end."""

    def __init__(self, context: Any, call: tuple[str, dict[str, Any]], limits: Limits, directory: str) -> None:
        self._limits = limits
        self._answer, answer = context.Pipe(duplex=False)
        self._print, printed = context.Pipe(duplex=False)
        self._theirs: tuple[Connection[Any, Any], ...] = (answer, printed)
        self._process = context.Process(target=run, args=(answer, printed, call, limits, directory), daemon=False)
        self._printed = Printed()
        self._text = b""
        for pipe in (self._answer, self._print):
            os.set_blocking(pipe.fileno(), False)

    async def starts(self) -> bool:
        """Starts the process; returns False if the fork server does not answer.

        A cancelled request waits for the start, too, because a process without a known id cannot be ended.
        """
        try:
            with anyio.move_on_after(STARTUP, shield=True) as time:
                await anyio.to_thread.run_sync(self._process.start, abandon_on_cancel=True)
        except (OSError, EOFError):
            return False
        if time.cancelled_caught:
            return False  # if it starts later, it finds its pipe closed and ends
        for pipe in self._theirs:
            pipe.close()
        return True

    async def result(self) -> Result:
        """Waits for the answer of the process, its end or the time limit."""
        with anyio.move_on_after(self._limits.seconds) as time:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._drain)
                await self._wait()
                tasks.cancel_scope.cancel()
        self._read(self._print, self._printed.add)
        if time.cancelled_caught:
            said = f"; it printed:\n{self._printed}" if str(self._printed) else ""
            return Result("time limit", f"the action took longer than {self._limits.seconds:g} s and was killed{said}")
        return self._ended()

    async def _wait(self) -> None:
        """Waits for a whole answer, or for the end of the process."""
        async with anyio.create_task_group() as tasks:

            async def watch_end() -> None:
                await anyio.wait_readable(self._process.sentinel)
                tasks.cancel_scope.cancel()

            tasks.start_soon(watch_end)
            while True:
                await anyio.wait_readable(self._answer.fileno())
                if not self._read(self._answer, self._add) or b"\n" in self._text[-1:]:
                    break
            if b"\n" in self._text[-1:]:
                tasks.cancel_scope.cancel()  # otherwise the end of the process tells why the pipe has ended
        self._read(self._answer, self._add)

    def _add(self, data: bytes) -> None:
        self._text = (self._text + data)[: self._limits.answer_bytes]

    async def _drain(self) -> None:
        """Reads what the process prints, so that it never waits for a reader."""
        while True:
            await anyio.wait_readable(self._print.fileno())
            if not self._read(self._print, self._printed.add):
                return

    @staticmethod
    def _read(pipe: Connection[Any, Any], take: Callable[[bytes], None]) -> bool:
        """Passes what is in `pipe` to `take`, up to 1 MiB; returns False at the end of the pipe."""
        for _ in range(16):
            try:
                data = os.read(pipe.fileno(), 1 << 16)
            except BlockingIOError:
                return True
            except OSError:
                return False
            if not data:
                return False
            take(data)
        return True

    def _ended(self) -> Result:
        answer = _parsed(self._text)
        said = str(self._printed)
        said = _ADVICE.sub("", said).strip()
        printed = f"\n\nprinted:\n{said}" if said else ""
        if isinstance(answer, dict) and isinstance(answer.get("text"), str) and isinstance(answer.get("status"), str):
            figures = answer.get("figures")
            return Result(answer["status"], answer["text"] + printed, figures if isinstance(figures, dict) else {})
        self._process.join(1)
        code = self._process.exitcode
        how = "without an answer" if code is None else f"with exit status {code}"
        if code is not None and code < 0:
            how = f"by {signal.Signals(-code).name}" if -code in set(signal.Signals) else f"by signal {-code}"
        return Result("crash", f"the process ended {how}{printed}")

    def end(self) -> None:
        """Kills the process, and releases what belongs to it."""
        if self._process.pid is not None:
            processes.kill_group(self._process.pid)
            self._process.join(5)
        with contextlib.suppress(ValueError):  # it does not end, because it waits for a device
            self._process.close()
        for pipe in (self._answer, self._print, *self._theirs):
            pipe.close()


def _parsed(text: bytes) -> Any:
    """Returns the value of a line of JSON; None if the line is not JSON or its value cannot be sent on.

    Python's JSON has numbers and characters that the protocol has not: NaN and single halves of surrogate pairs.
    """
    if not text.endswith(b"\n"):
        return None
    try:
        value = json.loads(text, parse_constant=lambda _: None)
        return json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
