# SPDX-License-Identifier: Apache-2.0
"""A model of the time of a kernel for autotuning: the time that its roofline allows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from triton_ext.errors import TritonExtError

from ._roofline import Device, device_named
from .description import sampled

_OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg")


def perf_model(
    kernel: Any, device: str | Device, *, requested: bool = False, target: object = None
) -> Callable[..., float]:
    """Returns a model for ``prune_configs_by={"perf_model": ...}`` of `tx.autotune` and `triton.autotune`.

    It returns the milliseconds that the roofline of the device allows for a configuration; infinity where a number is
    not known, and where the kernel does not compile with the configuration. It translates each configuration up to
    ttir.

    Args:
        kernel: the kernel below the tuner, with ``@triton.jit``.
        device: see `Intensity.roofline`.
        requested: see `Intensity.roofline`. Requested bytes depend on the size of tiles, different ones do not.
        target: see `analyze`.
    """
    from triton.compiler.errors import CompilationError

    from . import analyze

    chip = device_named(device) if isinstance(device, str) else device

    def model(*, grid: Any = None, **arguments: Any) -> float:
        names = set(kernel.arg_names)
        values: Mapping[str, object] = {name: value for name, value in arguments.items() if name in names}
        options = {name: arguments[name] for name in _OPTIONS if arguments.get(name) is not None}
        signature, _ = sampled(kernel, (), values)
        try:
            found = analyze(kernel, signature=signature, target=target, options=options)
        except CompilationError:
            return math.inf  # the kernel rejects this configuration
        runtime = {name: value for name, value in values.items() if name not in found.constants}
        try:
            return found.roofline(chip, requested=requested, grid=grid, **runtime).seconds * 1e3
        except TritonExtError:
            return math.inf

    return model
