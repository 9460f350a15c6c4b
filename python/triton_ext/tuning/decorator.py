# SPDX-License-Identifier: Apache-2.0
"""`autotune`: the decorator, which checks its arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from typing import Any

from ..pipeline.pipeline import Pipeline
from .candidates import checked_pipelines
from .check import Arguments, Check, Reference
from .options import check_count, check_executor, check_function, check_seconds, checked_tolerance
from .tuner import Autotuner


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
    """Decorator: `triton.autotune` that also tries pipelines.

    The arguments up to `cache_results` are those of `triton.autotune`; only differences are described here. The
    decorated kernel has the attributes `tuning_report`, `tuning_reports` (by key), `best_config` and `best_pipeline`.

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
            tensors before anything ran. The arguments that it names are filled with NaN (other types: with something
            else than what is expected) before each candidate, unless they are in `reset_to_zero` or `restore_value`.
        check: ``check(arguments)`` is called after one launch of each candidate, and returns False or raises
            AssertionError if something is wrong.
        tolerance: relative and absolute, for `reference`; default: those of ``torch.testing.assert_close``.
        executor: the executor that measures the candidates, or a function that returns one; default: this process. Its
            workers import the kernel.
        arguments: for `executor`: ``arguments(described)`` makes a worker's arguments from those of the launch, in
            which tensors are `TensorSpec`; default: random numbers for floats, zeros otherwise.
        workers: how many threads compile; default: one for each core; 0: compile when measured.
        progress: whether to draw a progress bar; default: if standard error is a terminal.
        rounds: how often the candidates that come close to the fastest are measured, in turns; the medians decide. 1:
            only once, as Triton does.
        compile_timeout: seconds that a candidate may take to compile, not counting the frontend, which turns its source
            into IR; None for no limit.
        run_timeout: seconds that the check and the measurement of a candidate may take, from one launch to the next; a
            launch on the CPU ends then. None for no limit. With `executor`, a worker that exceeds one of the two by ten
            seconds is ended.

    Raises:
        PipelineError: `pipelines` is not a mapping of names to pipelines.
        TritonExtError: another argument after `cache_results` has a wrong type or value.
        TuningError: in a launch: no candidate compiled, ran and computed the right result.
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
