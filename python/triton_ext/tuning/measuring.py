# SPDX-License-Identifier: Apache-2.0
"""Compiles, launches, checks and times one candidate of a kernel."""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from triton import knobs
from triton.runtime.autotuner import Autotuner as TritonAutotuner
from triton.runtime.jit import JITFunction

from ..errors import TritonExtError
from ..pipeline import scope
from ..pipeline.pipeline import ready
from ..support.shown import shown
from .candidates import Candidate
from .check import Arguments, Check, Checker, Reference
from .limits import launches_end_after
from .outcome import Launch, Outcome, failure, synchronize
from .parallel import Compiled, CompileTimeoutError, compile_all, compile_here, contained, cores


class Measurer(TritonAutotuner):  # type: ignore[misc]
    """A kernel whose candidates can be measured; its subclass `Autotuner` chooses among them.

    Attributes:
        arguments: makes a worker's arguments; see `autotune`.
        compile_timeout: see `autotune`.
        run_timeout: see `autotune`.
    """

    arguments: Callable[[Arguments], Arguments] | None
    compile_timeout: float | None
    run_timeout: float | None
    _reference: Reference | None
    _check: Check | None
    _checks: bool
    _tolerance: tuple[float, float] | None
    _workers: int | None

    def launch_with(self, candidate: Candidate, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Launches the kernel with one candidate."""
        active = candidate.active
        if active is None:
            return self.fn.run(*args, **kwargs, **candidate.all_kwargs())
        scope.enter(active)
        try:
            return self.fn.run(*args, **kwargs, **candidate.all_kwargs())
        finally:
            scope.leave(active)

    def compile_all(
        self, candidates: list[Candidate], launch: Launch, done: Callable[[], None] = lambda: None
    ) -> list[Compiled]:
        """Compiles `candidates` in parallel, as far as they can be compiled without a launch.

        Args:
            candidates: the candidates.
            launch: the launch that needs a choice.
            done: is called whenever a candidate has ended.

        Returns:
            How each compilation ended.
        """
        prepared = []
        results = [Compiled()] * len(candidates)
        for i, candidate in enumerate(candidates):
            try:
                if candidate.edits.edits:
                    ready(candidate.edits)
                prepared.append(i)
            except (Exception, SystemExit) as error:  # a library or a function of the pipeline cannot be used
                results[i] = Compiled(error=contained(error))
                done()
        if self.jit is None:  # interpreted
            return results
        jobs = [functools.partial(self.compile_one, candidates[i], launch) for i in prepared]
        workers = min(len(jobs), cores() if self._workers is None else self._workers)
        compiled = compile_all(jobs, workers, done, self.compile_timeout) if workers > 0 else None
        for i, result in zip(prepared, compiled or (), strict=False):
            results[i] = result
        return results

    def compile_one(self, candidate: Candidate, launch: Launch) -> Any:
        """Compiles one candidate, and returns the kernel."""
        if candidate.pre_hook is not None:
            candidate.pre_hook(launch.with_config(candidate))  # may set a descriptor's block shape
        return self.launch_with(candidate, launch.args, {**launch.kwargs, "warmup": True})

    @contextlib.contextmanager
    def checking(self, launch: Launch) -> Iterator[Checker | None]:
        """Yields a checker for launches like `launch`, or None if nothing is checked; restores the arguments."""
        checker = self.checker(launch)
        try:
            yield checker
        finally:
            if checker is not None:
                checker.restore()

    def checker(self, launch: Launch) -> Checker | None:
        """Returns a checker for launches like `launch`; None if there is neither a reference nor a check."""
        if not self._checks:
            return None
        kept = {*self.reset_to_zero, *self.restore_value}
        arguments = {**launch.named, **launch.kwargs}
        return Checker(self._reference, self._check, self._tolerance, kept, arguments)

    def measure(self, candidate: Candidate, compiled: Compiled, launch: Launch, checker: Checker | None) -> Outcome:
        """Checks and times one candidate; an exception of the candidate becomes part of the outcome."""
        if self._workers == 0 and compiled == Compiled() and self.jit is not None:
            compiled = compile_here(lambda: self.compile_one(candidate, launch), self.compile_timeout) or compiled
        # With hooks of the user, the launch may need another kernel than the one that was compiled ahead.
        is_late = isinstance(compiled.error, CompileTimeoutError)
        if compiled.error is not None and (is_late or not self.user_defined_pre_hook):
            return failure(compiled.error, compiled)
        if knobs.autotuning.print:
            print(f"Autotuning kernel {self.base_fn.__name__} with config {candidate}")
        call = _Call(self, candidate, launch, self.run_timeout)
        try:
            with launches_end_after(self.run_timeout):
                if checker is not None:
                    checker.spoil()
                    problem = call(checker.problem)
                    if problem is not None:
                        return Outcome("wrong result", (), compiled.seconds, None, problem)
                times = self.do_bench(call, quantiles=(0.5, 0.2, 0.8))
        except (Exception, SystemExit) as raised:
            error = contained(raised)
            if call.is_late():
                reason = f"checking and measuring took longer than {self.run_timeout:g} s (fix: run_timeout=seconds)"
                return Outcome("time limit", (), compiled.seconds, error, reason)
            return failure(error, compiled)
        try:
            milliseconds = tuple(float(t) for t in (times if isinstance(times, Sequence) else [times]))
        except (TypeError, ValueError, OverflowError):
            milliseconds = ()
        if not milliseconds:  # every candidate would fail alike
            raise TritonExtError(f"do_bench: expected milliseconds, one number or several, got {shown(times)}")
        if not 0 < milliseconds[0] < float("inf"):
            reason = f"do_bench returned {shown(times)}, expected a finite time above 0"
            return Outcome("launch error", (), compiled.seconds, None, reason)
        return Outcome("ok", milliseconds, compiled.seconds)

    @property
    def jit(self) -> Any:
        """The kernel below heuristics; None if it is interpreted."""
        function = self.fn
        while not isinstance(function, JITFunction):
            function = getattr(function, "fn", None)
            if function is None:
                return None
        return function


class _Call:
    """The function that `do_bench` calls: one launch of a candidate, with the hooks around it.

    Attributes:
        config: the candidate.
    """

    def __init__(self, tuner: Measurer, candidate: Candidate, launch: Launch, timeout: float | None) -> None:
        self.config = candidate
        self._end = float("inf") if timeout is None else time.monotonic() + timeout
        self._tuner = tuner
        self._launch = launch
        self._arguments = launch.with_config(candidate)

    def is_late(self) -> bool:
        """Whether the time of the candidate is over."""
        return time.monotonic() >= self._end

    def __call__(self, look: Callable[[Arguments], str | None] | None = None) -> str | None:
        """Launches the candidate.

        Args:
            look: is called with the arguments after the launch, before the hooks restore them.

        Returns:
            The result of `look`.

        Raises:
            TimeoutError: the time of the candidate is over.
        """
        tuner, found = self._tuner, None
        if self.is_late():
            raise TimeoutError
        if self.config.pre_hook is not None:
            self.config.pre_hook(self._arguments)
        tuner.pre_hook(self._arguments)
        try:
            tuner.launch_with(self.config, self._launch.args, self._launch.kwargs)
            if look is not None:
                synchronize()
                found = look(self._arguments)
        except BaseException as error:  # Ctrl-C leaves the arguments as they were, too
            try:
                tuner.post_hook(self._arguments, exception=error)
            finally:
                raise
        tuner.post_hook(self._arguments, exception=None)
        return found
