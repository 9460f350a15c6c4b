# SPDX-License-Identifier: Apache-2.0
"""What a worker of a search does: prepares the launches, compiles, checks and measures candidates.

Every problem of a candidate is part of the result. A crash or an endless kernel ends the worker, which its caller
notices.
"""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from triton.runtime.driver import driver

from ..compilation.requests import find_target
from ..errors import TritonExtError
from ..pipeline import scope
from ..pipeline.inspection import Level
from ..pipeline.pipeline import Pipeline, loaded
from ..pipeline.stack import Observer
from ..tuning import limits
from ..tuning.job import below_tuners, import_named
from ..tuning.outcome import Outcome, device_name, failure, state, synchronize, text_of_error
from ..tuning.parallel import Compiled as Compilation
from ..tuning.parallel import compile_here, contained
from ..tuning.workers import process
from .checking import Cases, CheckFailedError
from .describing import drivers_stand_in, shapes_of, stand_ins
from .figures import binary_hash, figures_of
from .task import Assignment, Candidate, Compiled, Measured, Prepared, Task
from .turns import runs_beside_the_compiler, turn, turn_to_compile

#: Milliseconds of warming up and of measuring for `triton.testing.do_bench`: of a few launches, and of many.
FEW, MANY = (2, 8), (5, 40)


class Kernel:
    """The kernel of a task in this process.

    Attributes:
        inner: what is launched: the kernel below autotuners.
        hook: the ``pre_hook`` of its configurations; None if there is none.
    """

    def __init__(self, task: Task) -> None:
        found = import_named(*task.kernel)
        configs = getattr(found, "configs", ())
        self.inner: Any = below_tuners(found)
        hooks = list({id(c.pre_hook): c.pre_hook for c in configs if getattr(c, "pre_hook", None) is not None}.values())
        if len(hooks) > 1:
            raise TritonExtError(
                "the configurations of the kernel have different pre_hooks", fix="one pre_hook for all"
            )
        self.hook = hooks[0] if hooks else None
        self.grid = task.grid.load()
        self.default = Candidate(dict(task.configs[0]) if task.configs else {}, "")

    def launch(self, candidate: Candidate, arguments: dict[str, Any], *, warmup: bool = False) -> Any:
        """Launches a candidate, or with `warmup` compiles it; returns the ``CompiledKernel``."""
        everything = {**arguments, **candidate.launch}
        if self.hook is not None:
            self.hook(everything)
        if not candidate.edits:
            return self.inner.run(**everything, grid=self.grid, warmup=warmup)
        active = loaded(_parsed(candidate.edits))
        scope.enter(active)
        try:
            return self.inner.run(**everything, grid=self.grid, warmup=warmup)
        finally:
            scope.leave(active)


def prepare(job: Assignment) -> Prepared | Outcome:
    """Makes the launches, runs the unedited kernel, and returns what a search needs to know."""
    try:
        task = job.task
        activate(task)
        observer = Observer(Level.IR)
        with turn():
            kernel, cases = _of(task)
        with turn_to_compile(), ends_after(task, task.compile_timeout):
            first, *others = cases.to_compile
            with contextlib.ExitStack() as scopes:
                scopes.callback(scope.stop_observing, scope.observe(observer))
                compiled = kernel.launch(kernel.default, first, warmup=True)
            for arguments in others:
                kernel.launch(kernel.default, arguments, warmup=True)
        if observer.compilation is None:
            raise TritonExtError("the backend does not call Triton's hook, so its pipeline cannot be seen")
        with turn(), ends_after(task, task.run_timeout):
            cases.run_unedited()
        target = driver.active.get_current_target()
        return Prepared(
            device_name(),
            (target.backend, target.arch, target.warp_size),
            observer.stages,
            _plain(compiled.metadata._asdict()),
            cases.described,
            tuple(case.name for case in cases.cases),
            shapes_of(first),
            all(case.exact for case in cases.cases),
        )
    except (Exception, SystemExit) as error:
        return Outcome("worker error", reason=text_of_error(contained(error)))


def prepare_compiled(job: Assignment) -> Prepared | Outcome:
    """Compiles the unedited kernel for `Task.described`, without a device, and returns what a search needs to know."""
    try:
        task = job.task
        assert task.described is not None
        target = find_target(task.target)
        drivers_stand_in(target)
        kernel, observer = _kernel_of(task), Observer(Level.IR)
        with ends_after(task, task.compile_timeout), contextlib.ExitStack() as scopes:
            scopes.callback(scope.stop_observing, scope.observe(observer))
            compiled = kernel.launch(kernel.default, stand_ins(task.described[0]), warmup=True)
        return Prepared(
            "",
            (target.backend, target.arch, target.warp_size),
            observer.stages,
            _plain(compiled.metadata._asdict()),
            task.described,
            (),
            "",
            exact=True,
        )
    except (Exception, SystemExit) as error:
        return Outcome("compile error", reason=text_of_error(contained(error)))


def compile_candidate(job: Assignment) -> Compiled:
    """Compiles a candidate; with `Assignment.described` without its arguments and without a device."""
    task = job.task
    with contextlib.ExitStack() as scopes:
        try:
            if job.described is not None:
                drivers_stand_in(find_target(task.target))
                kernel, launches = _kernel_of(task), [stand_ins(one) for one in job.described]
            else:
                activate(task)
                scopes.enter_context(turn_to_compile())
                kernel, cases = _of(task)
                launches = cases.to_compile
            if state(_parsed(job.candidate.edits)) != job.candidate.key:
                raise TritonExtError("the worker has other versions of the pipeline's libraries or functions")
        except (Exception, SystemExit) as error:
            ended = contained(error)
            status = failure(ended, Compilation()).status if isinstance(error, TritonExtError) else "worker error"
            return Compiled(Outcome(status, reason=text_of_error(ended)), {}, "")
        with ends_after(task, task.compile_timeout):
            return _built(job, kernel, launches)


def _built(job: Assignment, kernel: Kernel, launches: list[dict[str, Any]]) -> Compiled:
    binaries, figures, seconds = [], {}, 0.0
    # Every launch that is checked counts: an edit may change only the kernel for unaligned tensors, for example.
    for number, arguments in enumerate(launches):
        launch = functools.partial(kernel.launch, job.candidate, arguments, warmup=True)
        result = compile_here(launch, job.task.compile_timeout)
        assert result is not None, "a worker is not in Triton's asynchronous mode"
        if result.error is not None or result.kernel is None:
            ended = failure(result.error or RuntimeError("nothing was compiled"), result)
            return Compiled(replace(ended, error=None), {}, "")
        if number == 0:
            seconds = result.seconds or 0.0
            figures = {**figures_of(result.kernel), "compile_time": seconds}
        binaries.append(binary_hash(result.kernel))
    return Compiled(Outcome("ok", (), seconds), figures, "-".join(binaries))


def measure_candidate(job: Assignment) -> Measured:
    """Checks a candidate and times a few launches; with `Assignment.compared`, times many in turns with those."""
    task = job.task
    with contextlib.ExitStack() as scopes:
        try:
            activate(task)
            _compile_before_the_turn(job)
            scopes.enter_context(turn())
            started = time.perf_counter()
            kernel, cases = _of(task)
            cases.run_unedited()
        except (Exception, SystemExit) as error:
            return Measured(Outcome("worker error", reason=text_of_error(contained(error))))
        return _measured(job, kernel, cases, started)


def _compile_before_the_turn(job: Assignment) -> None:
    """Compiles a kernel, or reads it from Triton's cache, before the turn in which no other process uses the GPU."""
    beside = runs_beside_the_compiler(driver.active.get_current_target().backend)
    if not beside or _last is None or _last[0] != job.task.group:
        return
    _, kernel, cases = _last
    with ends_after(job.task, job.task.compile_timeout), contextlib.suppress(Exception, SystemExit):  # it fails again
        for candidate in (job.candidate, *job.compared):
            for arguments in cases.to_compile:
                kernel.launch(candidate, arguments, warmup=True)


def _measured(job: Assignment, kernel: Kernel, cases: Cases, started: float) -> Measured:
    task = job.task
    everybody = (job.candidate, *job.compared)
    seen: list[list[tuple[float, ...]]] = [[] for _ in everybody]
    try:
        with ends_after(task, task.run_timeout), limits.launches_end_after(task.run_timeout):
            if not job.compared:
                cases.check(lambda arguments: kernel.launch(job.candidate, arguments), exact=job.candidate.exact)
            arguments = cases.timed()
            for _ in range(job.rounds):
                for one, times in zip(everybody, seen, strict=True):
                    launch = functools.partial(kernel.launch, one, arguments)
                    times.append(_benched(launch, MANY if job.compared else FEW))
    except CheckFailedError as error:
        spent = time.perf_counter() - started
        return Measured(Outcome("wrong result", reason=str(error)), case=error.case, seconds=spent)
    except (Exception, SystemExit) as error:
        late = task.run_timeout is not None and time.perf_counter() - started >= task.run_timeout
        reason = f"checking and measuring took longer than {task.run_timeout} s" if late else ""
        ended = replace(failure(contained(error), Compilation()), error=None)
        ended = replace(ended, status="time limit", reason=reason) if late else ended
        return Measured(ended, seconds=time.perf_counter() - started)
    own, *others = [tuple(sorted(part)[len(part) // 2] for part in zip(*times, strict=True)) for times in seen]
    outcome = Outcome("ok", own, measured=job.rounds)
    return Measured(outcome, "", tuple(o[0] for o in others), time.perf_counter() - started)


def activate(task: Task) -> None:
    """Has kernels of this process run on the task's target.

    Raises:
        TritonExtError: this machine has another one.
    """
    if not task.target:
        return
    from ..target import activate as on

    wanted = find_target(task.target)
    if wanted.backend in ("cuda", "hip"):
        with contextlib.suppress(ImportError):  # Triton makes another driver if PyTorch is imported later
            import torch  # noqa: F401
    current = driver._active.get_current_target() if driver._active is not None else None
    if current is None or current.backend != wanted.backend:
        on({"cuda": "nvidia", "hip": "amd"}.get(wanted.backend, wanted.backend))
        current = driver.active.get_current_target()
    if wanted.backend in ("cuda", "hip") and str(current.arch) != str(wanted.arch):
        found = f"{current.backend}:{current.arch}"
        raise TritonExtError(f"this machine has {found}, not {task.target}: results cannot be checked here")


@contextlib.contextmanager
def ends_after(task: Task, seconds: float | None) -> Iterator[None]:
    """Ends this process if the block takes much longer than `seconds`, unless this process is the searching one."""
    limit = None if seconds is None or task.sender == process() else seconds + limits.GRACE
    with limits.ends_process_after(limit):
        yield


def _benched(launch: Callable[[], object], milliseconds: tuple[int, int]) -> tuple[float, ...]:
    warmup, rep = milliseconds
    times = driver.active.get_benchmarker()(launch, warmup=warmup, rep=rep, quantiles=(0.5, 0.2, 0.8))
    synchronize()
    return tuple(float(t) for t in times)


@functools.lru_cache(maxsize=64)
def _parsed(edits: str) -> Pipeline:
    return Pipeline.parse(edits)


def _plain(options: dict[str, Any]) -> dict[str, Any]:
    return {n: v for n, v in options.items() if v is None or v in ((), []) or isinstance(v, bool | int | float | str)}


_last: tuple[str, Kernel, Cases] | None = None
_compiled: tuple[str, Kernel] | None = None


def _kernel_of(task: Task) -> Kernel:
    """Returns the kernel of `task`, for a process that only compiles."""
    global _compiled  # noqa: PLW0603
    if _compiled is None or _compiled[0] != task.group:
        _compiled = task.group, Kernel(task)
    return _compiled[1]


def _of(task: Task) -> tuple[Kernel, Cases]:
    """Returns kernel and launches of `task`, which are made once for all its candidates."""
    global _last  # noqa: PLW0603
    if _last is None or _last[0] != task.group:
        _last = None  # frees the memory of other arguments first
        kernel = Kernel(task)
        _last = task.group, kernel, Cases(task, kernel)
    return _last[1], _last[2]
