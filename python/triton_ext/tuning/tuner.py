# SPDX-License-Identifier: Apache-2.0
"""`autotune`: Triton's autotuner, with pipelines beside the configurations.

What Triton's does stays as it is, in the same order: pruning, hooks, keys, the benchmarker, the listener. On top, the
candidates are compiled in parallel before the first is measured, one that fails is reported and left out, and results
can be checked, kept on disk and measured elsewhere.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any, TypeVar

from triton import knobs
from triton.runtime.autotuner import Autotuner as TritonAutotuner
from triton.runtime.driver import driver
from triton.runtime.jit import JITFunction, MockTensor

from .. import _hook
from ..errors import PipelineError, TritonExtError
from ..fingerprint import fingerprint
from ..pipeline import Pipeline
from . import store
from .candidates import Candidate, checked_pipelines
from .check import Arguments, Check, Checker, Reference
from .finals import settle
from .options import check_count, check_executor, check_function, check_seconds, checked_tolerance
from .outcome import Launch, Outcome, device, failure, inner_pipelines, state, synchronize
from .parallel import Compiled, CompileTimeoutError, compile_all, compile_here, contained, cores
from .progress import Bar
from .report import Report, TuningError

#: Seconds between two looks at the libraries of the pipelines to choose from.
_RECHECK = 0.5
_FAILED = [float("inf")] * 3
Kernel = TypeVar("Kernel")


class Autotuner(TritonAutotuner):  # type: ignore[misc]
    """A kernel that is tuned when it is first launched with a new key; made by `autotune`.

    Attributes:
        best_config: the `Candidate` that the last launch used.
        cache: the best candidate by tuning key.
        tuning_reports: what was tried, by tuning key.
        compile_timeout: see `autotune`.
        run_timeout: see `autotune`.
    """

    perf_model: Callable[..., float] | None
    nargs: Arguments | None

    def __init__(
        self,
        fn: Any,
        configs: Sequence[Any],
        key: Sequence[str],
        pipelines: dict[str, Pipeline],
        prune_configs_by: Mapping[str, Any] | None,
        *,
        reference: Reference | None,
        check: Check | None,
        tolerance: tuple[float, float] | None,
        executor: Executor | Callable[[], Executor] | None,
        arguments: Callable[[Arguments], Arguments] | None,
        workers: int | None,
        progress: bool | None,
        rounds: int,
        compile_timeout: float | None,
        run_timeout: float | None,
        **options: Any,
    ) -> None:
        super().__init__(fn, fn.arg_names, configs, key, prune_configs_by=prune_configs_by, **options)
        self.pipelines = pipelines
        self.executor = executor
        self.arguments = arguments
        self._reference, self._check, self._tolerance = reference, check, tolerance
        self._checks = reference is not None or check is not None
        self._workers = workers
        self._progress = progress
        self._rounds = rounds
        self.compile_timeout, self.run_timeout = compile_timeout, run_timeout
        self._prune_candidates = (prune_configs_by or {}).get("prune_candidates")
        self._names = frozenset(self.arg_names)
        self._edited = [pipeline for pipeline in self.pipelines.values() if pipeline.edits]
        self._forget()

    def _forget(self) -> None:
        self.cache: dict[tuple[Any, ...], Candidate] = {}
        self.tuning_reports: dict[tuple[Any, ...], Report] = {}
        self._last_report: Report | None = None
        self._lock = threading.RLock()
        self._next_check = 0.0
        self._libraries: tuple[str, ...] = ()

    def __copy__(self) -> Autotuner:
        """With results of its own: `tx.use` copies kernels."""
        copied = object.__new__(type(self))
        copied.__dict__.update(self.__dict__)
        copied._forget()
        return copied

    @property
    def tuning_report(self) -> Report | None:
        """What was tried when the kernel was last tuned, or taken from the disk cache."""
        return self._last_report

    @property
    def executor(self) -> Executor | Callable[[], Executor] | None:
        """Where candidates are measured; may be set at any time."""
        return self._executor

    @executor.setter
    def executor(self, executor: Executor | Callable[[], Executor] | None) -> None:
        check_executor(executor)
        self._executor = executor

    @property
    def best_pipeline(self) -> Pipeline:
        """The pipeline of `best_config`."""
        edits: Pipeline = self.best_config.edits
        return edits

    # Launches

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Launches the kernel with the best candidate for its key, which is found first if it is not known."""
        launch = Launch(args, kwargs, dict(zip(self.arg_names, args, strict=False)))
        if kwargs.get("warmup"):
            return self._compile_only(launch)
        if self._checks or len(self.configs) * len(self.pipelines) > 1:
            key = self._key(launch)
            candidate = self.cache.get(key)
            if candidate is None:
                with self._lock:
                    candidate = self.cache.get(key) or self._tune(key, launch)
        else:
            candidate = Candidate(self.configs[0], *next(iter(self.pipelines.items())))
        self.best_config = candidate
        if candidate.pre_hook is not None:
            candidate.pre_hook(launch.with_config(candidate))
        return self._run(candidate, args, kwargs)

    def warmup(self, *args: Any, **kwargs: Any) -> list[Any]:
        """Compiles every candidate that is not pruned, and returns the kernels; tensors may be given as their types.

        Raises:
            TuningError: none compiles.
        """
        args = tuple(map(MockTensor.wrap_dtype, args))
        kwargs = {**kwargs, "warmup": True}
        return self._compile_only(Launch(args, kwargs, dict(zip(self.arg_names, args, strict=False))))

    def _run(self, candidate: Candidate, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        active = candidate.active
        if active is None:
            return self.fn.run(*args, **kwargs, **candidate.all_kwargs())
        _hook.enter(active)
        try:
            return self.fn.run(*args, **kwargs, **candidate.all_kwargs())
        finally:
            _hook.leave(active)

    def _key(self, launch: Launch) -> tuple[Any, ...]:
        """Triton's key, and that of the pipelines and hooks that are active here if there are any."""
        arguments = {k: v for k, v in {**launch.named, **launch.kwargs}.items() if k in self._names}
        key = [arguments[name] for name in self.keys if name in arguments]
        key += [str(value.dtype) for value in arguments.values() if hasattr(value, "dtype")]
        hook = knobs.runtime.add_stages_inspection_hook
        if hook is not None:
            key.append(str(hook()[0]))
        if self._edited and time.monotonic() > self._next_check:
            self._look_at_libraries()
        return tuple(key)

    def _look_at_libraries(self) -> None:
        """Forgets what is best if a pipeline to choose from does something else now."""
        if not self._lock.acquire(blocking=False):
            return  # another thread is tuning
        try:
            libraries = tuple(state(pipeline) for pipeline in self._edited)
            if libraries != self._libraries:
                self.cache.clear()
                self._libraries = libraries
            self._next_check = time.monotonic() + _RECHECK
        finally:
            self._lock.release()

    # Tuning

    def _tune(self, key: tuple[Any, ...], launch: Launch) -> Candidate:
        candidates = self._pruned(launch)
        if len(candidates) == 1 and not self._checks:
            self.cache[key] = candidates[0]
            return candidates[0]
        started = time.perf_counter()
        entry = self._entry(key, candidates) if self.cache_results else None
        report = store.find(entry, self.base_fn.__name__, candidates) if entry else None
        error: Exception | None = None
        if report is None:
            outcomes = self._evaluate(candidates, launch)
            error = next((o.error for o in outcomes if o.error is not None), None)
            report = self._report(key, candidates, outcomes, time.perf_counter() - started)
        self._last_report = self.tuning_reports[key] = report
        self.configs_timings = {
            candidate: list(row.milliseconds) or _FAILED for candidate, row in zip(candidates, report.rows, strict=True)
        }
        self._announce(key, report, candidates)
        if report.best is None:
            raise _all_failed(report) from error
        best = self.cache[key] = candidates[report.best]
        if not report.cached:
            self.bench_time = report.seconds
            self.pre_hook(launch.with_config(best), reset_only=True)
            if entry:
                store.put(entry, report.kernel, report)
        if knobs.autotuning.listener is not None:
            knobs.autotuning.listener(
                fn=self._jit,
                key=key,
                best_config=best,
                configs_timings=self.configs_timings,
                duration=None if report.cached else report.seconds,
                cache_hit=report.cached,
            )
        return best

    def _pruned(self, launch: Launch) -> list[Candidate]:
        """The candidates that are worth trying."""
        self.nargs = launch.named
        try:
            model = self.perf_model
            self.perf_model = None
            ranks_pipelines = model is not None and "pipeline" in inspect.signature(model).parameters
            if not ranks_pipelines:
                self.perf_model = model
            try:
                configs = self.prune_configs(launch.kwargs)
            finally:
                self.perf_model = model
            candidates = [Candidate(c, name, edits) for c in configs for name, edits in self.pipelines.items()]
            if self._prune_candidates is not None:
                candidates = list(self._prune_candidates(candidates, launch.named, **launch.kwargs))
                if not candidates:
                    raise TritonExtError(f"{self.base_fn.__name__}: prune_candidates left nothing to try")
            if model is not None and ranks_pipelines:
                top = self.configs_top_k
                top = max(1, int(len(candidates) * top)) if isinstance(top, float) else top
                everything = {**launch.named, **launch.kwargs}
                estimates = {c: model(**everything, **c.all_kwargs(), pipeline=c.pipeline) for c in candidates}
                candidates = sorted(candidates, key=estimates.__getitem__)[:top]
            return candidates
        finally:
            self.nargs = None

    def _evaluate(self, candidates: list[Candidate], launch: Launch) -> list[Outcome]:
        for candidate in candidates:
            conflicts = launch.kwargs.keys() & candidate.kwargs.keys()
            if conflicts:
                raise ValueError(
                    f"Conflicting meta-parameters: {', '.join(conflicts)}."
                    " Make sure that you don't re-define auto-tuned symbols."
                )
        if self.executor is not None:
            from .jobs import evaluate_on
            from .workers import Workers

            with (
                contextlib.closing(Workers(self.executor)) as workers,
                Bar(self.base_fn.__name__, len(candidates), self._progress) as bar,
            ):
                outcomes = evaluate_on(workers, self, candidates, launch, bar)

                def elsewhere(indices: list[int]) -> list[Outcome]:
                    bar.more(len(indices))
                    return evaluate_on(workers, self, [candidates[i] for i in indices], launch, bar)

                return settle(outcomes, elsewhere, self._rounds)
        # The reference first: a mistake in it costs no compilation.
        with Bar(self.base_fn.__name__, 2 * len(candidates), self._progress) as bar, self.checking(launch) as checker:
            compiled = self.compile_all(candidates, launch, lambda: bar.step("compiling"))
            outcomes = []
            seen: dict[tuple[object, ...], int] = {}
            first: list[int] = []
            for number, (candidate, result) in enumerate(zip(candidates, compiled, strict=True)):
                bar.step("measuring", len(candidates) + number)
                first.append(seen.setdefault(self._identity(candidate, result) or (number,), number))
                if first[number] == number:
                    outcomes.append(self.measure(candidate, result, launch, checker))
                else:
                    pipeline = candidates[first[number]].pipeline
                    outcomes.append(replace(outcomes[first[number]], compile_seconds=result.seconds, same_as=pipeline))

            def again(indices: list[int]) -> list[Outcome]:
                bar.more(len(indices))
                outcomes = []
                for i in indices:
                    bar.step("measuring again")
                    outcomes.append(self.measure(candidates[i], compiled[i], launch, None))
                return outcomes

            return settle(outcomes, again, self._rounds, first)

    def _identity(self, candidate: Candidate, compiled: Compiled) -> tuple[object, ...] | None:
        """What a launch of `candidate` depends on: with two that agree in it, only noise could differ.

        None if that is not known.
        """
        if compiled.kernel is None or self.user_defined_pre_hook:
            return None
        metadata = compiled.kernel.metadata._asdict()
        metadata.pop("hash", None)
        config, _ = store.describe(candidate)
        return config, candidate.pre_hook, compiled.kernel.kernel, repr(sorted(metadata.items()))

    def compile_all(
        self, candidates: list[Candidate], launch: Launch, done: Callable[[], None] = lambda: None
    ) -> list[Compiled]:
        """Compiles in parallel what can be compiled without launching it."""
        ready = []
        results = [Compiled()] * len(candidates)
        for i, candidate in enumerate(candidates):
            try:
                if candidate.edits.edits:
                    candidate.edits._active()
                ready.append(i)
            except (Exception, SystemExit) as error:  # its libraries, or its functions
                results[i] = Compiled(error=contained(error))
                done()
        if self._jit is None:  # interpreted
            return results
        jobs = [functools.partial(self._compile, candidates[i], launch) for i in ready]
        workers = min(len(jobs), cores() if self._workers is None else self._workers)
        compiled = compile_all(jobs, workers, done, self.compile_timeout) if workers > 0 else None
        for i, result in zip(ready, compiled or (), strict=False):
            results[i] = result
        return results

    def _compile(self, candidate: Candidate, launch: Launch) -> Any:
        if candidate.pre_hook is not None:
            candidate.pre_hook(launch.with_config(candidate))  # may set a descriptor's block shape
        return self._run(candidate, launch.args, {**launch.kwargs, "warmup": True})

    def _compile_only(self, launch: Launch) -> list[Any]:
        started = time.perf_counter()
        with self._lock:
            candidates = self._pruned(launch)
        compiled = self.compile_all(candidates, launch)
        kernels = []
        for i, (candidate, result) in enumerate(zip(candidates, compiled, strict=True)):
            if result.error is None and result.kernel is None:  # interpreted, or asynchronous
                try:
                    compiled[i] = Compiled(self._compile(candidate, launch))
                except (Exception, SystemExit) as error:
                    compiled[i] = Compiled(error=contained(error))
            if compiled[i].error is None:
                kernels.append(compiled[i].kernel)
        if not kernels:
            outcomes = [failure(result.error, result) for result in compiled]
            report = self._report((), candidates, outcomes, time.perf_counter() - started)
            raise _all_failed(report) from outcomes[0].error
        return kernels

    @contextlib.contextmanager
    def checking(self, launch: Launch) -> Iterator[Checker | None]:
        """A checker for launches like `launch`, or None; puts everything back at the end."""
        checker = self.checker(launch)
        try:
            yield checker
        finally:
            if checker is not None:
                checker.restore()

    def checker(self, launch: Launch) -> Checker | None:
        """What compares the results of launches like `launch`; None if there is nothing to compare with."""
        if not self._checks:
            return None
        kept = {*self.reset_to_zero, *self.restore_value}
        arguments = {**launch.named, **launch.kwargs}
        return Checker(self._reference, self._check, self._tolerance, kept, arguments)

    def measure(self, candidate: Candidate, compiled: Compiled, launch: Launch, checker: Checker | None) -> Outcome:
        """Checks and times one candidate; whatever goes wrong with it is part of the outcome."""
        if self._workers == 0 and compiled == Compiled() and self._jit is not None:
            compiled = compile_here(lambda: self._compile(candidate, launch), self.compile_timeout) or compiled
        # With hooks of the user, what was compiled ahead may not be what is launched.
        is_late = isinstance(compiled.error, CompileTimeoutError)
        if compiled.error is not None and (is_late or not self.user_defined_pre_hook):
            return failure(compiled.error, compiled)
        if knobs.autotuning.print:
            print(f"Autotuning kernel {self.base_fn.__name__} with config {candidate}")
        call = _Call(self, candidate, launch, self.run_timeout)
        try:
            with _launches_end_after(self.run_timeout):
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
        except (TypeError, ValueError):
            milliseconds = ()
        if not milliseconds:  # it is the same for every candidate
            raise TritonExtError(f"do_bench: expected milliseconds, one number or several, got {times!r}")
        if not 0 < milliseconds[0] < float("inf"):
            reason = f"do_bench returned {times!r}, expected a finite time above 0"
            return Outcome("launch error", (), compiled.seconds, None, reason)
        return Outcome("ok", milliseconds, compiled.seconds)

    # Reports

    @property
    def _jit(self) -> Any:
        """The kernel below heuristics; None if it is interpreted."""
        function = self.fn
        while not isinstance(function, JITFunction):
            function = getattr(function, "fn", None)
            if function is None:
                return None
        return function

    def _report(
        self, key: tuple[Any, ...], candidates: list[Candidate], outcomes: list[Outcome], seconds: float
    ) -> Report:
        rows = tuple(outcome.row(candidate) for candidate, outcome in zip(candidates, outcomes, strict=True))
        good = [i for i, row in enumerate(rows) if row.status == "ok"]
        from ..edits import text_of_edits

        return Report(
            kernel=self.base_fn.__name__,
            key=str(tuple(part for part in key if not str(part).startswith("triton-ext:"))),  # that is `outer`
            device=device(),
            outer=text_of_edits(_hook.active_edits()),
            rows=rows,
            best=min(good, key=lambda i: rows[i].milliseconds) if good else None,
            pruned=len(self.configs) * len(self.pipelines) - len(candidates),
            seconds=seconds,
        )

    def _announce(self, key: tuple[Any, ...], report: Report, candidates: list[Candidate]) -> None:
        if not knobs.autotuning.print:
            return
        if report.best is not None and not report.cached:
            print(
                f"Triton autotuning for function {self.base_fn.__name__},\nwith key as {key},\n"
                f"finished after {report.seconds:.2f}s,\nbest config selected: {candidates[report.best]};"
            )
        from rich.console import Console

        console = Console()
        (console if console.is_terminal else Console(width=160)).print(report)

    def _entry(self, key: tuple[Any, ...], candidates: list[Candidate]) -> str | None:
        """The name of the disk cache's entry; None if it would not be safe."""
        from triton._C.libtriton import get_cache_invalidating_env_vars
        from triton.compiler.compiler import make_backend
        from triton.runtime.cache import triton_key

        if not key or self._jit is None:
            return None
        try:
            functions = [fingerprint(c.pre_hook) if c.pre_hook is not None else "" for c in candidates]
            functions += [fingerprint(f) if f is not None else "" for f in (self._reference, self._check)]
        except PipelineError:
            return None
        return store.digest(
            [
                triton_key(),
                make_backend(driver.active.get_current_target()).hash(),
                device(),
                self._jit.cache_key,
                sorted(get_cache_invalidating_env_vars().items()),
                str(key),
                [str(candidate) for candidate in candidates],
                [state(c.edits) for c in candidates],
                [state(pipeline) for pipeline in inner_pipelines(self.fn)],
                functions,
                self._tolerance,
            ]
        )


def _all_failed(report: Report) -> TuningError:
    who = f"each of {len(report.rows)} candidates" if len(report.rows) > 1 else "the only candidate"
    return TuningError(f"{report.kernel}: {who} failed\n  {report.failures()}", report)


def _launches_end_after(seconds: float | None) -> contextlib.AbstractContextManager[None]:
    """Ends the launches of this thread after so many seconds, on a device that can do so: the CPU, between programs."""
    limit = getattr(driver.active, "time_limit", None) if seconds is not None and not knobs.runtime.interpret else None
    return contextlib.nullcontext() if limit is None else limit(seconds)


class _Call:
    """What `do_bench` is given: one launch of a candidate, with the hooks around it.

    Attributes:
        config: the candidate.
    """

    def __init__(self, tuner: Autotuner, candidate: Candidate, launch: Launch, timeout: float | None) -> None:
        self.config = candidate
        self._end = float("inf") if timeout is None else time.monotonic() + timeout
        self._tuner = tuner
        self._launch = launch
        self._arguments = launch.with_config(candidate)

    def is_late(self) -> bool:
        """Whether the candidate has had its time."""
        return time.monotonic() >= self._end

    def __call__(self, look: Callable[[Arguments], str | None] | None = None) -> str | None:
        """Launches; `look` sees the arguments before the hooks put them back."""
        tuner, found = self._tuner, None
        if self.is_late():
            raise TimeoutError
        if self.config.pre_hook is not None:
            self.config.pre_hook(self._arguments)
        tuner.pre_hook(self._arguments)
        try:
            tuner._run(self.config, self._launch.args, self._launch.kwargs)
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


def autotune(  # noqa: PLR0917 - the order is Triton's
    configs: Sequence[Any],
    key: Sequence[str],
    prune_configs_by: Mapping[str, Any] | None = None,
    reset_to_zero: Sequence[str] | None = None,
    restore_value: Sequence[str] | None = None,
    pre_hook: Callable[..., Any] | None = None,
    post_hook: Callable[..., Any] | None = None,
    warmup: int | None = None,
    rep: int | None = None,
    use_cuda_graph: bool = False,
    do_bench: Callable[..., Any] | None = None,
    cache_results: bool = False,
    *,
    pipelines: Mapping[str, Pipeline] | None = None,
    reference: Reference | None = None,
    check: Check | None = None,
    tolerance: tuple[float, float] | None = None,
    executor: Executor | Callable[[], Executor] | None = None,
    arguments: Callable[[Arguments], Arguments] | None = None,
    workers: int | None = None,
    progress: bool | None = None,
    rounds: int = 5,
    compile_timeout: float | None = 300.0,
    run_timeout: float | None = 120.0,
) -> Callable[[Any], Autotuner]:
    """Decorator: `triton.autotune`, which tries pipelines as well.

    Everything up to `cache_results` is what `triton.autotune` calls so; only what differs is described here. What it
    makes has `tuning_report`, `tuning_reports` (by key), `best_config` and `best_pipeline`.

    Args:
        configs: each is tried with each of `pipelines`.
        key: names of arguments; the pipelines that are active around a launch are part of the key, too.
        prune_configs_by: as for Triton, where it prunes `configs`. If ``perf_model`` has a parameter ``pipeline``, it
            ranks the candidates instead. ``prune_candidates(candidates, named_args, **kwargs)`` returns those to keep;
            each is a `Candidate`, a ``triton.Config`` with the name of its ``pipeline``.
        reset_to_zero: see Triton.
        restore_value: see Triton.
        pre_hook: see Triton.
        post_hook: see Triton.
        warmup: see Triton.
        rep: see Triton.
        use_cuda_graph: see Triton.
        do_bench: as for Triton; the function that it times has the candidate as its attribute ``config``.
        cache_results: keep the results on disk. They are found again by the same Triton, device, kernel, key and
            candidates, the same active pipelines, and the same bytes of their libraries.
        pipelines: what to try, by name. `sweep` and `product` make such mappings.
        reference: ``reference(arguments)`` returns, by name, what arguments have to hold after a launch. It gets
            tensors before anything ran. What it names is filled with NaN (other types: with something else than what is
            expected) before each candidate, unless it is in `reset_to_zero` or `restore_value`.
        check: ``check(arguments)`` is called after one launch of each candidate, and returns False or raises
            AssertionError if something is wrong.
        tolerance: relative and absolute, for `reference`; default: those of ``torch.testing.assert_close``.
        executor: measures the candidates there, or in what the function returns; default: here. Its workers import
            the kernel.
        arguments: for `executor`: ``arguments(described)`` makes a worker's arguments from those of the launch, in
            which tensors are `TensorSpec`; default: random numbers for floats, zeros otherwise.
        workers: how many threads compile; default: one for each core; 0: compile when measured.
        progress: whether to draw a progress bar; default: if standard error is a terminal.
        rounds: how often those are measured, in turns, that come close to the fastest; the medians decide. 1: only
            once, as Triton does.
        compile_timeout: seconds that a candidate may take to compile, without turning its source into IR; None for no
            limit.
        run_timeout: seconds that the check and the measurement of a candidate may take, from one launch to the next; a
            launch on the CPU ends then. None for no limit. With `executor`, a worker that exceeds one of the two by ten
            seconds is ended.

    Raises:
        PipelineError: `pipelines` is no mapping of names to pipelines.
        TritonExtError: another argument after `cache_results` is not what is said here.
        TuningError: at a launch, no candidate compiled, ran and was right.
    """
    tried = checked_pipelines(pipelines)
    pair = checked_tolerance(tolerance)
    for name, function in (("reference", reference), ("check", check), ("arguments", arguments)):
        check_function(name, function)
    check_executor(executor)
    if workers is not None:
        check_count("workers", workers, 0)
    check_count("rounds", rounds, 1)
    check_seconds("compile_timeout", compile_timeout)
    check_seconds("run_timeout", run_timeout)

    def decorate(function: Any) -> Autotuner:
        return Autotuner(
            function,
            configs,
            key,
            tried,
            prune_configs_by,
            reset_to_zero=reset_to_zero,
            restore_value=restore_value,
            pre_hook=pre_hook,
            post_hook=post_hook,
            warmup=warmup,
            rep=rep,
            use_cuda_graph=use_cuda_graph,
            do_bench=do_bench,
            cache_results=cache_results,
            reference=reference,
            check=check,
            tolerance=pair,
            executor=executor,
            arguments=arguments,
            workers=workers,
            progress=progress,
            rounds=rounds,
            compile_timeout=compile_timeout,
            run_timeout=run_timeout,
        )

    return decorate
