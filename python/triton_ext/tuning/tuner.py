# SPDX-License-Identifier: Apache-2.0
"""`autotune`: Triton's autotuner, with pipelines beside the configurations.

Pruning, hooks, keys, the benchmarker and the listener work as in Triton, in the same order. In addition, candidates are
compiled in parallel before the first is measured, one that fails is reported and left out, and results can be checked,
kept on disk, and measured in other processes.
"""

from __future__ import annotations

import inspect
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from typing import Any

from triton import knobs
from triton.runtime import driver
from triton.runtime.jit import MockTensor

from ..errors import TritonExtError
from ..pipeline import scope
from ..pipeline.pipeline import Pipeline
from . import disk_key, store
from .candidates import Candidate
from .check import Arguments, Check, Reference
from .measure_all import measure_all
from .measuring import Measurer
from .options import check_executor
from .outcome import Launch, Outcome, device, failure, state
from .parallel import Compiled, contained
from .report import Report, all_failed, announce

#: Seconds between two checks whether the libraries of the pipelines were built again.
_RECHECK = 0.5
_FAILED = [float("inf")] * 3


class Autotuner(Measurer):
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
        self._first_driver = ""  # the module of the driver of the first launch; with it, keys are Triton's
        self._next_check = 0.0
        self._libraries: tuple[str, ...] = ()

    def __copy__(self) -> Autotuner:
        """Returns a copy without results, for `tx.use`, which copies kernels."""
        copied = object.__new__(type(self))
        copied.__dict__.update(self.__dict__)
        copied._forget()
        return copied

    @property
    def tuning_report(self) -> Report | None:
        """The report of the last tuning, or of the last entry that was taken from the disk cache."""
        return self._last_report

    @property
    def executor(self) -> Executor | Callable[[], Executor] | None:
        """The executor that measures candidates, or a function that returns one; may be set at any time."""
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
        """Launches the kernel with the best candidate for its key, after finding it if it is not known."""
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
        return self.launch_with(candidate, args, kwargs)

    def warmup(self, *args: Any, **kwargs: Any) -> list[Any]:
        """Compiles every candidate that is not pruned, and returns the kernels; a tensor may be given as its type.

        Raises:
            TuningError: no candidate compiles.
        """
        args = tuple(map(MockTensor.wrap_dtype, args))
        kwargs = {**kwargs, "warmup": True}
        return self._compile_only(Launch(args, kwargs, dict(zip(self.arg_names, args, strict=False))))

    def _key(self, launch: Launch) -> tuple[Any, ...]:
        """Returns Triton's tuning key, followed by the key of the hook if one is set or a pipeline is active."""
        arguments = {k: v for k, v in {**launch.named, **launch.kwargs}.items() if k in self._names}
        key = [arguments[name] for name in self.keys if name in arguments]
        key += [str(value.dtype) for value in arguments.values() if hasattr(value, "dtype")]
        if (hook := knobs.runtime.add_stages_inspection_hook) is not None:
            key.append(str(hook()[0]))
        if self.jit is not None:  # what is best on one target need not compile for another
            name = type(driver.active).__module__
            self._first_driver = self._first_driver or name
            key += [f"triton-ext:{name}"] * (name != self._first_driver)
        if self._edited and time.monotonic() > self._next_check:
            self._look_at_libraries()
        return tuple(key)

    def _look_at_libraries(self) -> None:
        """Forgets the best candidates if a library or a function of one of the pipelines has changed."""
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
            outcomes = measure_all(
                self, candidates, launch, executor=self._executor, rounds=self._rounds, progress=self._progress
            )
            error = next((o.error for o in outcomes if o.error is not None), None)
            report = self._report(key, candidates, outcomes, time.perf_counter() - started)
        self._last_report = self.tuning_reports[key] = report
        self.configs_timings = {
            candidate: list(row.milliseconds) or _FAILED for candidate, row in zip(candidates, report.rows, strict=True)
        }
        if knobs.autotuning.print:
            announce(report, key, candidates)
        if report.best is None:
            raise all_failed(report) from error
        best = self.cache[key] = candidates[report.best]
        if not report.cached:
            self.bench_time = report.seconds
            self.pre_hook(launch.with_config(best), reset_only=True)
            if entry:
                store.put(entry, report.kernel, report)
        if knobs.autotuning.listener is not None:
            knobs.autotuning.listener(
                fn=self.jit,
                key=key,
                best_config=best,
                configs_timings=self.configs_timings,
                duration=None if report.cached else report.seconds,
                cache_hit=report.cached,
            )
        return best

    def _pruned(self, launch: Launch) -> list[Candidate]:
        """Returns the candidates that pruning leaves."""
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

    def _compile_only(self, launch: Launch) -> list[Any]:
        started = time.perf_counter()
        with self._lock:
            candidates = self._pruned(launch)
        compiled = self.compile_all(candidates, launch)
        kernels = []
        for i, (candidate, result) in enumerate(zip(candidates, compiled, strict=True)):
            if result.error is None and result.kernel is None:  # interpreted, or asynchronous
                try:
                    compiled[i] = Compiled(self.compile_one(candidate, launch))
                except (Exception, SystemExit) as error:
                    compiled[i] = Compiled(error=contained(error))
            if compiled[i].error is None:
                kernels.append(compiled[i].kernel)
        if not kernels:
            outcomes = [failure(result.error, result) for result in compiled]
            report = self._report((), candidates, outcomes, time.perf_counter() - started)
            raise all_failed(report) from outcomes[0].error
        return kernels

    # Reports

    def _report(
        self, key: tuple[Any, ...], candidates: list[Candidate], outcomes: list[Outcome], seconds: float
    ) -> Report:
        rows = tuple(outcome.row(candidate) for candidate, outcome in zip(candidates, outcomes, strict=True))
        good = [i for i, row in enumerate(rows) if row.status == "ok"]
        from ..pipeline.edits import text_of_edits

        return Report(
            kernel=self.base_fn.__name__,
            key=str(tuple(part for part in key if not str(part).startswith("triton-ext:"))),  # that is `outer`
            device=device(),
            outer=text_of_edits(scope.active_edits()),
            rows=rows,
            best=min(good, key=lambda i: rows[i].milliseconds) if good else None,
            pruned=len(self.configs) * len(self.pipelines) - len(candidates),
            seconds=seconds,
        )

    def _entry(self, key: tuple[Any, ...], candidates: list[Candidate]) -> str | None:
        if not key or self.jit is None:
            return None
        functions = [self._reference, self._check, *(candidate.pre_hook for candidate in candidates)]
        return disk_key.entry_name(
            self.jit, self.fn, key=key, candidates=candidates, functions=functions, tolerance=self._tolerance
        )
