# SPDX-License-Identifier: Apache-2.0
"""The arithmetic intensity of kernels: ``tx.intensity(kernel, signature=…)``.

Says what a kernel loads, stores and computes, as expressions in its arguments, without running it. The module is
itself the function `analyze`. docs/intensity.md says what is counted, RATIONALE.md explains why.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Mapping
from typing import Any

from triton_ext.errors import TritonExtError

from ._amount import Amount, Flops
from ._conditions import Reason
from ._costs import Cost, Summation
from ._expression import poly
from ._model import perf_model
from ._plot import plot
from ._result import Intensity
from ._roofline import Device, Point, Roofline
from .description import described, names_of, sampled, types_of

__all__ = [
    "Amount",
    "Cost",
    "Device",
    "Flops",
    "Intensity",
    "Point",
    "Reason",
    "Roofline",
    "analyze",
    "perf_model",
    "plot",
]


def analyze(
    kernel: object,
    *sample: object,
    signature: str | Mapping[str, object] | None = None,
    target: object = None,
    options: Mapping[str, Any] | None = None,
    told: Mapping[int | str, int] | None = None,
    **named: object,
) -> Intensity:
    """Returns what a kernel loads, stores and computes, as expressions in its arguments.

    Args:
        kernel: a kernel; an ``ASTSource``; the path of a file with IR; or ``FILE.py:kernel``.
        sample: arguments of a launch, instead of a signature; the results use them where they get no others.
        signature: type or value of each argument, as for `tx.describe`.
        target: e.g. ``cuda:90``, or a ``GPUTarget``; default: that of the active driver. No GPU is needed.
        options: options of the backend, e.g. ``{"num_warps": 8}``.
        told: trip counts of loops that cannot be known, such as ``while``, by line: ``{42: 7}`` or
            ``{"kernels.py:42": 7}``.
        named: more of `sample`, by name, and constexprs.

    Raises:
        TritonExtError: the kernel cannot be found, or its signature or the sample does not fit.
        PipelineError: a pass failed.
    """
    values: Mapping[str, object] = {}
    if sample or named:
        if signature is not None:
            raise TritonExtError("expected a signature or arguments of a launch, found both", fix="leave one away")
        signature, values = sampled(kernel, sample, named)
    wrong = [line for line, trips in (told or {}).items() if trips < 0]
    if wrong:
        raise TritonExtError(f"the trip count given for line {wrong[0]} is negative", fix="0 or more")
    description, request = described(kernel, target, signature, options or {})
    names = names_of(description, request)
    lines = {str(line): poly(trips) for line, trips in (told or {}).items()}
    costs = Summation(description, names, lines).costs
    constants = {
        request.source.fn.arg_names[path[0]]: value
        for path, value in getattr(request.source, "constants", {}).items()
        if len(path) == 1
    }
    types = types_of(description, request, names)
    return Intensity(description["kernel"], costs, names, types, constants, values)


class _Callable(types.ModuleType):
    __call__: Callable[..., Intensity] = staticmethod(analyze)


sys.modules[__name__].__class__ = _Callable
