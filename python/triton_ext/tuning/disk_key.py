# SPDX-License-Identifier: Apache-2.0
"""The key of tuning results in Triton's cache directory."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from triton.runtime.driver import driver

from ..errors import PipelineError
from ..keys.fingerprint import fingerprint
from . import store
from .candidates import Candidate
from .outcome import device, inner_pipelines, state


def entry_name(
    jit: Any,
    function: Any,
    *,
    key: tuple[Any, ...],
    candidates: list[Candidate],
    functions: Iterable[Callable[..., Any] | None],
    tolerance: tuple[float, float] | None,
) -> str | None:
    """Returns the name of the entry for the results of tuning a kernel.

    Args:
        jit: the kernel below heuristics.
        function: what the tuner wraps, on which ``@tx.use`` may have put pipelines.
        key: the tuning key.
        candidates: what is tried.
        functions: the hooks, the reference and the check; None where one is not given.
        tolerance: for the reference.

    Returns:
        The name; None if one of `functions` depends on something that no key covers, so that an entry might be stale.
    """
    from triton._C.libtriton import get_cache_invalidating_env_vars
    from triton.compiler.compiler import make_backend
    from triton.runtime.cache import triton_key

    try:
        fingerprints = [fingerprint(one) if one is not None else "" for one in functions]
    except PipelineError:
        return None
    return store.digest(
        [
            triton_key(),
            make_backend(driver.active.get_current_target()).hash(),
            device(),
            jit.cache_key,
            sorted(get_cache_invalidating_env_vars().items()),
            str(key),
            [str(candidate) for candidate in candidates],
            [state(candidate.edits) for candidate in candidates],
            [state(pipeline) for pipeline in inner_pipelines(function)],
            fingerprints,
            tolerance,
        ]
    )
