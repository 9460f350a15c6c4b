# SPDX-License-Identifier: Apache-2.0
"""Finds names for the arguments of libtriton's ``passes.<group>.add_<pass>`` functions, which declare only types.

A pass prints its options by name (``pm.get_pipeline_str()``). So each argument is tried with two values, and the option
that changes with it gives the argument its name. No pass is named here.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

#: Two values of each type. The passes are only added with them and never run.
_SAMPLES: dict[str, tuple[Any, Any]] = {"int": (2, 4), "bool": (False, True), "str": ("gfx942", "gfx950")}
_SIGNATURE = re.compile(r"^add_\w+\(([^()]*)\)", re.MULTILINE)
_ELEMENT = re.compile(r"^any\((.*)\)$", re.DOTALL)
_OPTION = re.compile(r"([\w-]+)=(\{[^{}]*\}|'[^']*'|\"[^\"]*\"|[^ ]*)")


@functools.cache
def parameters(add: Callable[..., None]) -> tuple[tuple[str, str], ...]:
    """Returns name and type (``int``, ``bool`` or ``str``) of each argument after the pass manager.

    If there are several overloads, the longest counts. An argument that is not an option of the pass is called ``arg1``
    and so on.
    """
    types = max(_overloads(add), key=len, default=[])
    if not all(kind in _SAMPLES for kind in types):
        return tuple((f"arg{i}", kind) for i, kind in enumerate(types, 1))
    base = [_SAMPLES[kind][0] for kind in types]
    before = options(pipeline_of(add, *base))
    names = []
    for i, kind in enumerate(types):
        after = options(pipeline_of(add, *base[:i], _SAMPLES[kind][1], *base[i + 1 :]))
        follows = [name for name, value in after.items() if before.get(name) != value]
        names.append(follows[0].replace("-", "_") if len(follows) == 1 else f"arg{i + 1}")
    return tuple(zip(names, types, strict=True))


def callable_without_arguments(add: Callable[..., None]) -> bool:
    """Whether one overload of `add` takes the pass manager alone."""
    return [] in _overloads(add)


def _overloads(add: Callable[..., None]) -> list[list[str]]:
    """Returns the types of the arguments after the pass manager, for each overload."""
    signatures = _SIGNATURE.findall(add.__doc__ or "")
    return [re.findall(r": (?:[\w.]+\.)?(\w+)", arguments)[1:] for arguments in signatures]


def is_pass(add: object) -> bool:
    """Whether `add` adds a pass to a pass manager."""
    return callable(add) and "pass_manager" in (add.__doc__ or "").partition(",")[0].partition(")")[0]


def pipeline_of(add: Callable[..., None], *arguments: object) -> str:
    """Returns what ``add(manager, *arguments)`` adds in MLIR's spelling, e.g. ``tritongpu-pipeline{num-stages=3}``."""
    from triton._C.libtriton import ir

    manager = ir.pass_manager(_context())
    add(manager, *arguments)
    match = _ELEMENT.match(manager.get_pipeline_str())
    return match[1] if match else ""


def options(pipeline: str) -> dict[str, str]:
    """Returns the options of the first pass in `pipeline`, by their name in MLIR."""
    _, _, rest = pipeline.partition("{")
    return dict(_OPTION.findall(rest.removesuffix("}")))


@functools.cache
def _context() -> Any:
    from triton._C.libtriton import ir

    return ir.context()


def count(pipeline: str) -> int:
    """Returns how many passes the top level of `pipeline` has."""
    depth, number = 0, 1 if pipeline else 0
    for character in pipeline:
        depth += (character in "({") - (character in ")}")
        number += character == "," and depth == 0
    return number
