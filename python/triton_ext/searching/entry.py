# SPDX-License-Identifier: Apache-2.0
"""`search`: looks for the best compilation of a kernel, and keeps what it tried."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any

from triton.backends.compiler import GPUTarget

from ..compilation.requests import find_target, load_kernel
from ..errors import TritonExtError
from ..pipeline.pipeline import Pipeline
from ..support.shown import shown
from ..tuning.check import Arguments, Reference
from ..tuning.job import below_tuners, find_name
from ..tuning.options import checked_tolerance
from ..tuning.outcome import Outcome
from ..tuning.progress import Bar
from ..tuning.workers import process
from .arguments import check_arguments, seconds_of
from .compile_only import arguments_of
from .history import Trial
from .launches import MakeInputs
from .objectives import checked_objectives
from .optimiser import optuna, storage_of
from .pools import Pools, compilers_for
from .result import SearchResult
from .run import Loop
from .samplers import Learned, sampler_named
from .spaces import Space, declared_configs, label_of, named_choices, space_of
from .study import Study
from .targets import named_target, runnable
from .task import Assignment, Candidate, Prepared, Task, refer_to
from .winners import result_of, winner_of
from .worker import prepare, prepare_compiled

#: The part of a budget that the last comparison gets.
_FINAL_PART = 0.1


def search(
    kernel: object,
    grid: Any = None,
    inputs: MakeInputs | None = None,
    *,
    compile_only: bool = False,
    signature: str | Mapping[str, object] | None = None,
    budget: str | float = "10m",
    trials: int | None = None,
    target: str | None = None,
    objectives: Iterable[str] | None = None,
    sampler: str = "tpe",
    knobs: Iterable[str] | None = None,
    configs: Iterable[Any] | None = None,
    pipelines: Mapping[str, Mapping[str, Pipeline]] | None = None,
    reference: Reference | None = None,
    tolerance: tuple[float, float] | None = None,
    unaligned: bool = True,
    storage: str | os.PathLike[str] | None = None,
    name: str | None = None,
    resume: bool = True,
    executor: Executor | Callable[[], Executor] | None = None,
    workers: int | None = None,
    seed: int = 0,
    compile_timeout: float | None = 60.0,
    run_timeout: float | None = 60.0,
    progress: bool | None = None,
    on_trial: Callable[[Trial, Trial | None], None] | None = None,
) -> SearchResult:
    """Looks for the best compilation of `kernel` that computes the same results.

    Each candidate is compiled, checked and measured in a worker process. A candidate that is wrong once, on any launch,
    is out.

    Args:
        kernel: a kernel, autotuned or not, that is a global of a module in a file; or ``FILE.py:kernel``.
        grid: the grid of a launch, or a function that takes the launch's arguments and constexprs by name.
        inputs: returns the arguments of a launch by name, or yields those of several launches, with other shapes for
            example; it may take a seed. All are checked, the first is timed.
        compile_only: whether candidates are compiled and never run, for a target that this machine need not have.
            Figures of the binaries are the objectives. Nobody checks that the winner computes the same results.
        signature: with `compile_only`, the type or value of each argument, as for `describe`; otherwise `inputs` have
            the types.
        budget: seconds, or a text such as ``90s``, ``10m`` or ``2h``.
        trials: the most candidates; default: no limit.
        target: e.g. ``cpu`` or ``cuda:90``; default: that of the active driver. It has to run here unless nothing does.
        objectives: what is minimised, the most important first: ``time``, ``shared``, ``registers``, ``spills``,
            ``compile_time``, ``code_size``, ``instructions``, or one kind of these, e.g. ``instructions.local``.
            Default: the time; with `compile_only` spills, registers, shared memory, on the CPU the size of the code.
        sampler: ``tpe``, ``random``, ``grid`` or ``climb``.
        knobs: names of the knobs to turn; default: those that `space` calls searched.
        configs: ``triton.Config`` objects; default: those that the kernel declares.
        pipelines: more knobs by name, each with pipelines by name to choose from, as `sweep` returns them.
        reference: ``reference(arguments)`` returns, by name, what arguments have to hold after a launch.
        tolerance: relative and absolute, for the reference and for candidates that may round in another way; default:
            those of ``torch.testing.assert_close``. Other candidates have to give equal bits.
        unaligned: whether launches with tensors at unaligned addresses are checked, too.
        storage: the storage of the study: a file for SQLite, or a URL such as ``postgresql://host/database``; default:
            memory.
        name: the name of the study; default: that of the kernel and the target.
        resume: whether to go on with a study that is in the storage; otherwise that is an error.
        executor: the executor that measures the candidates, or a function that returns one, as in `autotune`; default:
            a process of this machine.
        workers: how many processes compile beside the one that measures; default: for a GPU one for each core but one,
            for the CPU none.
        seed: the seed of random numbers.
        compile_timeout: seconds that a candidate may take to compile; None for no limit.
        run_timeout: seconds that its checks and its measurement may take, each; None for no limit.
        progress: whether to draw a progress bar; default: if standard error is a terminal.
        on_trial: is called after each trial with it and the best so far.

    Returns:
        What was found; ``print`` shows it.

    Raises:
        TritonExtError: an argument is wrong, Optuna is missing, the kernel cannot be run, or nothing valid was found.
    """
    optuna()
    found = load_kernel(*kernel.rpartition(":")[::2]) if isinstance(kernel, str) else kernel
    declared, seconds = declared_configs(found, configs), seconds_of(budget)
    check_arguments(executor, trials, workers, (inputs, reference, on_trial), (compile_timeout, run_timeout))
    only = None
    if compile_only:
        inner, named = below_tuners(found), named_target(target)
        only = arguments_of(inner, named, signature=signature, inputs=inputs, configs=declared, seed=seed)
    elif grid is None or inputs is None:
        raise TritonExtError("a search runs the kernel: give grid and inputs", fix="or compile_only=True")
    task = _task(
        found,
        grid if only is None else (),
        inputs if only is None else None,
        configs=declared,
        reference=reference,
        target=target,
        seed=seed,
        tolerance=checked_tolerance(tolerance),
        unaligned=unaligned,
        compile_timeout=compile_timeout,
        run_timeout=run_timeout,
        described=None if only is None else only.arguments,
    )
    with contextlib.ExitStack() as scopes:
        backend = find_target(named_target(target)).backend
        wanted = checked_objectives(objectives, backend, compile_only=compile_only)
        pools = Pools(executor, compilers_for(backend, runs=not compile_only) if workers is None else workers)
        scopes.callback(pools.close)
        prepared = _prepared(pools, task, "" if only is None else only.shapes)
        where = GPUTarget(*prepared.target)
        label = label_of(where)
        task = replace(task, target=runnable(where))
        everything = space_of(
            task.kernel[2],
            where,
            prepared.stages,
            configs=list(task.configs),
            options=prepared.options,
            more=named_choices(pipelines),
        )
        space = everything.only(knobs)
        if not space.knobs:
            raise TritonExtError(
                f"there is nothing to turn for '{task.kernel[2]}'", fix="knobs=, configs= or pipelines="
            )
        about = {
            "kernel": task.kernel[2],
            "target": label,
            "device": prepared.device,
            "shapes": prepared.shapes,
            "cases": list(prepared.cases),
            "space": [knob.as_dict() for knob in space.knobs],
            "sampler": sampler,
            "signature": _signature(prepared),
            "file": task.kernel[1],
            "name": task.kernel[2],
            "compile_only": compile_only,
        }
        learned = Learned()
        study = Study(
            storage_of(storage),
            name or f"{task.kernel[2]} {label}{' compiled only' if compile_only else ''}",
            space,
            wanted,
            sampler=sampler_named(sampler, space, seed, learned),
            learned=learned,
            about=about,
            resume=resume,
        )
        plain = _plain(space, task)
        if not study.trials:
            for values in plain:
                study.enqueue(values)
        bar = scopes.enter_context(Bar(task.kernel[2], int(seconds), progress))

        def told(study: Study) -> None:
            best = study.best
            text = f", best {best.milliseconds:.4g} ms" if best and best.milliseconds else ""
            bar.step(f"{len(study.trials)} trials{text}, searching", min(int(study.elapsed), int(seconds)))
            if on_trial is not None:
                on_trial(study.trials[-1], best)

        loop = Loop(study, task, prepared, pools, told)
        loop.run(seconds * (1 - _FINAL_PART) if "time" in wanted else seconds, trials)
        keys = [space.changed(values) for values in plain]
        numbers = [t.number for t in study.trials if t.is_valid and t.values in keys]
        finals = loop.finals(numbers) if "time" in wanted else {}
        study.refresh()
        winner = winner_of(study, finals, numbers)
        simple = loop.simplified(winner) if winner.pipeline else winner
        return result_of(
            study,
            task,
            prepared,
            space=space,
            best=simple,
            plain=numbers,
            finals=finals,
            storage=storage,
            label=label,
        )


def _task(
    kernel: object, grid: Any, inputs: MakeInputs | None, *, configs: list[dict[str, Any]], **others: Any
) -> Task:
    reference, target = others.pop("reference"), others.pop("target")
    if target is not None:
        target = runnable(find_target(named_target(target)))
    if not callable(grid) and not isinstance(grid, tuple | list):
        raise TritonExtError(f"grid: expected a tuple or a function, got {shown(grid)}", fix="grid=(256,)")
    return Task(
        group=uuid.uuid4().hex,
        kernel=find_name(kernel),
        grid=refer_to("grid", grid),
        inputs=refer_to("inputs", inputs),
        reference=None if reference is None else refer_to("reference", reference),
        configs=tuple(configs),
        target=target or "",
        sender=process(),
        **others,
    )


def _prepared(pools: Pools, task: Task, shapes: str) -> Prepared:
    """Returns the facts that the first job of a worker finds out. `shapes` is the shape class if nothing is run."""
    job = Assignment(task, Candidate({}, ""))
    is_run = task.described is None
    (result,) = (pools.measure(prepare, {0: job}) if is_run else pools.compile(prepare_compiled, {0: job})).values()
    if isinstance(result, Prepared):
        return result if is_run else replace(result, shapes=shapes)
    reason = result.reason if isinstance(result, Outcome) else str(result)
    raise TritonExtError(f"the unedited kernel cannot be {'run' if is_run else 'compiled'}: {reason}")


def _plain(space: Space, task: Task) -> list[dict[str, Any]]:
    """Returns the default and the declared configurations as knob values, as far as the space has them."""
    found = [space.default]
    for config in task.configs:
        values = {k.name: config[k.name] for k in space.knobs if config.get(k.name) in k.choices and k.name in config}
        if (one := space.default | values) not in found:
            found.append(one)
    return found


def _signature(prepared: Prepared) -> list[list[Any]] | None:
    return [list(pair) for pair in prepared.described[0]] if prepared.described is not None else None


__all__ = ["Arguments", "search", "seconds_of"]
