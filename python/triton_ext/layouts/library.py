# SPDX-License-Identifier: Apache-2.0
"""The functions of libTritonExtOpt.so that ask libtriton about layouts (``infra/opt/Layouts.cpp``)."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable, Sequence
from typing import Any

from .. import driver
from .errors import LayoutError

_Receiver = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_char), ctypes.c_size_t)

#: A linear layout as JSON has it: bases by input dimension, and the output dimensions with their sizes.
Plain = dict[str, list[list[Any]]]


def read(module: str, shape: Sequence[int]) -> dict[str, Any]:
    """Returns what the attribute ``triton_ext.layout`` of the module `module` is on `shape`.

    Args:
        module: a module in MLIR's syntax.
        shape: powers of two.

    Returns:
        ``kind``, ``text``, ``padding`` and ``linear``, which is `Plain`.

    Raises:
        LayoutError: the module does not parse, the attribute is not a layout, or the shape does not fit it.
    """
    sizes = (ctypes.c_int64 * len(shape))(*shape)
    return dict(_asked("tritonExtLayoutRead", module.encode(), ctypes.c_size_t(len(shape)), sizes))


def combine(operation: str, left: Plain, right: Plain) -> Plain | None:
    """Returns the product (``product``) or the quotient (``left``, ``right``) of two layouts; None if there is none."""
    found = _asked("tritonExtLayoutCombine", operation.encode(), _packed(left), _packed(right))
    return None if found is None else dict(found)


def bank_conflicts(registers: Plain, shared: Plain, bits: int) -> int:
    """Returns Triton's count of excess wavefronts of one access, as Gluon's ``bank_conflicts`` does."""
    return int(_asked("tritonExtLayoutBankConflicts", _packed(registers), _packed(shared), ctypes.c_int(bits)))


def conversion(module: str) -> dict[str, Any]:
    """Returns how Triton lowers the only ``ttg.convert_layout`` in `module`.

    Returns:
        ``registers``, ``shuffles`` and ``shared``: whether it only reorders registers, shuffles in warps, or goes
        through shared memory; ``scratch``: elements of shared memory.

    Raises:
        LayoutError: the module does not parse.
    """
    return dict(_asked("tritonExtLayoutConversion", module.encode()))


def _packed(layout: Plain) -> bytes:
    return json.dumps(layout).encode()


def _asked(name: str, *arguments: object) -> Any:
    answers: list[str] = []
    problems: list[str] = []
    function: Callable[..., int] = getattr(driver.opt_library(), name)
    if function(*arguments, _receiver(answers), _receiver(problems)):
        raise LayoutError(f"Triton says: {problems[0] or 'this cannot be parsed'}")
    return json.loads(answers[0])


def _receiver(into: list[str]) -> Any:
    return _Receiver(lambda text, size: into.append(ctypes.string_at(text, size).decode(errors="replace")))
