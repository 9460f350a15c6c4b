# SPDX-License-Identifier: Apache-2.0
"""`cpu`: the module through which this backend adds its own passes to a pass manager, ``cpu.passes.add_<name>(pm)``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

from . import _library


def _names() -> list[str]:
    """Returns the names of the functions of ``cpu.passes``."""
    return sorted(f"add_{name}" for name in (*_library.compiler().passes, *_library.EXTENSIONS))


def _add_pass(attribute: str) -> Callable[..., None]:
    """Returns the function ``cpu.passes.add_<name>(pm, *values)``; the first call loads the compiler library.

    The `values` are the values of the pass's options; without them, every option has its default.
    """
    name = attribute.removeprefix("add_")
    if attribute not in _names():
        raise AttributeError(f"the CPU backend has no '{attribute}'")
    options = _library.OPTIONS.get(name, {})

    def add_pass(pm: Any, *values: int) -> None:
        own = _library.compiler().passes.get(name)
        add = own or _library.extension_passes()[name].add[name]
        add(pm, [f"{option}={int(value)}" for option, value in zip(options, values, strict=bool(values))])

    manager = "triton._C.libtriton.ir.pass_manager"
    signatures = [f"{attribute}(arg: {manager}, /) -> None"]
    if options:
        types = "".join(f", arg{i}: {kind}" for i, kind in enumerate(options.values(), 1))
        signatures.append(f"{attribute}(arg0: {manager}{types}, /) -> None")
    add_pass.__name__ = attribute
    add_pass.__doc__ = "\n".join(signatures)
    return add_pass


#: The module through which this backend calls its own passes. Its name and the signatures in its docstrings have the
#: form of Triton's module `nvidia`. Therefore pipelines can record and edit these passes as they do Triton's.
cpu = ModuleType("triton._C.libtriton.cpu")
cpu.passes = ModuleType("triton._C.libtriton.cpu.passes")  # type: ignore[attr-defined]
cpu.passes.__getattr__ = functools.cache(_add_pass)
cpu.passes.__dir__ = _names
