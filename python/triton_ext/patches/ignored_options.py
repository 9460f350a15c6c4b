# SPDX-License-Identifier: Apache-2.0
"""Options that a backend ignores select no kernel: launches that differ in them share one, and tuners try one.

``compute_cache_key`` makes the key of a kernel in memory from the options of a launch, and keeps it by these options.
For options that it has not seen, ours leaves the ignored ones out. A launch whose key is known runs the same code as
before.

Claim: the configurations that ``Autotuner.prune_configs`` leaves out have the same kernel, launched in the same way.
Reason: options reach a kernel only through the backend, which ignores them, through ``triton.heuristics`` below the
tuner, and through ``pre_hook``. So nothing is left out if there are heuristics, or if the hooks differ. Example: with
``BLOCK = 16 * num_warps`` in a heuristic, configurations with other ``num_warps`` have other kernels.
"""

from __future__ import annotations

import functools
from collections.abc import Collection
from typing import Any

from .table import expected

_ignored: dict[str, frozenset[str]] = {}


def ignore_options(backend: str, ignored: Collection[str]) -> None:
    """Leaves options out of the keys of kernels in memory, and out of the comparison of a tuner's configurations.

    Args:
        backend: the ``backend`` of the active ``GPUTarget``, e.g. ``cpu``.
        ignored: the names of the options; an argument of a kernel that has one of these names still counts.

    Raises:
        TritonExtError: Triton differs from what the patch expects.
    """
    _ignored[backend] = frozenset(ignored)
    _wrap()


def _ignored_now() -> frozenset[str]:
    from triton.runtime.driver import driver

    return _ignored.get(driver.active.get_current_target().backend, frozenset())


@functools.cache
def _wrap() -> None:
    from triton.runtime import JITFunction, autotuner, jit

    parameters = ("kernel_key_cache", "specialization", "options")
    compute = expected("ignored_options", jit, "compute_cache_key", parameters)
    tuner: Any = expected("ignored_options", autotuner, "Autotuner")
    prune = expected("ignored_options", tuner, "prune_configs", ("self", "kwargs"))

    @functools.wraps(compute)
    def compute_without(kernel_key_cache: dict[Any, str], specialization: list[Any], options: dict[str, Any]) -> str:
        key = (tuple(specialization), str(options))
        known = kernel_key_cache.get(key)
        if known is None:
            ignored = _ignored_now()
            rest = {name: value for name, value in options.items() if name not in ignored}
            known = kernel_key_cache[key] = compute(kernel_key_cache, specialization, rest)
        return known

    @functools.wraps(prune)
    def prune_and_drop(self: Any, kwargs: Any) -> Any:
        configs = prune(self, kwargs)
        if len(configs) < 2 or not isinstance(self.fn, JITFunction):
            return configs
        ignored = _ignored_now().difference(self.arg_names)
        found: dict[Any, Any] = {}
        for config in configs:
            options = sorted((name, repr(value)) for name, value in config.all_kwargs().items() if name not in ignored)
            found.setdefault((tuple(options), config.pre_hook), config)
        return list(found.values())

    jit.compute_cache_key = compute_without
    tuner.prune_configs = prune_and_drop
