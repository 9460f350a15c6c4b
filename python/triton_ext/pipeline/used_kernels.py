# SPDX-License-Identifier: Apache-2.0
"""`use`: a kernel that is always compiled with a pipeline."""

from __future__ import annotations

import copy
import functools
from collections import defaultdict
from collections.abc import Callable
from typing import Any, TypeVar

from ..errors import PipelineError
from ..support.shown import shown
from . import scope
from .pipeline import Pipeline, loaded

_Kernel = TypeVar("_Kernel")


def use(pipeline: Pipeline) -> Callable[[_Kernel], _Kernel]:
    """Decorator: returns a copy of a kernel that is always compiled with `pipeline`; other kernels are not affected.

    It goes above ``@triton.jit``, ``@triton.autotune`` and ``@triton.heuristics``. Pipelines that are active at the
    launch apply, too, outside of this one. Directly above ``@triton.jit`` it also applies without a launch: in
    ``triton.compile(ASTSource(kernel, ...))`` and in Triton's ``tools/compile.py``.

    Raises:
        PipelineError: the decorated object is not a kernel.
    """
    if not isinstance(pipeline, Pipeline):
        raise PipelineError(f"use: expected a Pipeline, got {shown(pipeline)}", fix="@tx.use(tx.Pipeline().skip(...))")

    def decorate(kernel: _Kernel) -> _Kernel:
        from triton.runtime import KernelInterface

        if not isinstance(kernel, KernelInterface):
            raise PipelineError(f"use: expected a kernel, got {shown(kernel)}", fix="put it above @triton.jit")
        mine: Any = copy.copy(kernel)
        if hasattr(mine, "device_caches"):
            # `create_binder` makes an entry and also sets up its kernel, which has to be the copy.
            mine.device_caches = defaultdict(mine.create_binder)
            mine.pre_run_hooks = list(mine.pre_run_hooks)
        if hasattr(mine, "cache") and hasattr(mine, "configs"):
            mine.cache = {}  # of an autotuner: the best configuration depends on the pipeline
            mine.warmup = functools.partial(_run_with, pipeline, mine.warmup)
        mine.triton_ext_pipelines = (pipeline, *getattr(kernel, "triton_ext_pipelines", ()))
        scope.follow_used_kernels()
        mine.run = functools.partial(_run_with, pipeline, mine.run)
        return mine  # type: ignore[no-any-return]

    return decorate


def _run_with(pipeline: Pipeline, run: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    active = loaded(pipeline)
    scope.enter(active, by_use=True)
    try:
        return run(*args, **kwargs)
    finally:
        scope.leave(active)
