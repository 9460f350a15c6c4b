# SPDX-License-Identifier: Apache-2.0
"""Finds wrong accesses, values and hints of running kernels: ``with tx.sanitize() as report:``.

The module is itself the function `sanitize`. docs/sanitizer.md shows how to use it, RATIONALE.md explains its design.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterable

from ._check_launch import Decision, LaunchReport, check_launch
from ._finding import Finding
from ._first_size import FirstSize
from ._memory import Tensor
from ._names import DEFAULT
from ._report import Report, SanitizerError
from ._session import Sanitizer
from ._verdicts import Verdict

__all__ = [
    "Decision",
    "Finding",
    "FirstSize",
    "LaunchReport",
    "Report",
    "SanitizerError",
    "Tensor",
    "Verdict",
    "check_launch",
    "sanitize",
]


def sanitize(
    checks: str | Iterable[str] = DEFAULT,
    *,
    action: str = "report",
    raises: bool = False,
    static: bool = True,
    corners: bool = True,
) -> Sanitizer:
    """Returns a context manager, in whose block the kernels of all threads are compiled with checks.

    It gives the `Report` of the block. Blocks nest: kernels of an inner block have the checks of that one.

    Args:
        checks: names, or a text with commas between them: ``bounds``, ``lanes``, ``uninit``, ``race``, ``overflow``,
            ``hints``, ``arith``, or ``all``.
        action: what becomes of an access out of bounds: ``report`` lets it through, ``suppress`` masks it off, ``trap``
            ends the kernel.
        raises: whether a failed check becomes a `SanitizerError`: at the next function of torch that waits for a GPU,
            such as ``torch.cuda.synchronize``, ``Tensor.item`` or ``Tensor.cpu``, at the end of the block, and on the
            CPU at the launch.
        static: whether ``bounds`` and ``lanes`` are proved before the kernel runs, or from the numbers of a launch,
            where they can be; and whether it is proved that programs touch bytes of their own. Without it the kernel
            compares the corners of each tile, follows lanes that are off, and for ``race`` looks at each access to
            memory that it writes, which shows what the proofs save. Only where the mask of a store is the load's own
            one, nothing is compared: no lane can be off in one of them and on in the other.
        corners: whether tiles with affine addresses are checked by their corners. Without it each lane is compared, and
            nothing is proved, to test the corners.

    Raises:
        TritonExtError: a check or the action has an unknown name.
    """
    return Sanitizer(checks, action, raises, static=static, corners=corners)


class _Callable(types.ModuleType):
    __call__: Callable[..., Sanitizer] = staticmethod(sanitize)


sys.modules[__name__].__class__ = _Callable
