# SPDX-License-Identifier: Apache-2.0
"""The targets that extensions bring, and what each declares in its ``backend.json``. No backend is named here.

A backend is a directory with ``compiler.py`` and ``driver.py``, which Triton imports as ``triton_ext.backends.<name>``,
and these files, where it has them:

- ``api.py`` is ``tx.<name>``.
- ``backend.json`` has what the core asks a backend for: an object with the keys

  - ``example``: an architecture, for messages: ``native`` of the backend ``cpu`` makes ``cpu:native``;
  - ``warp_size``: of its ``GPUTarget``, where a user writes none;
  - ``stages``: those that Triton's own backends do not have, in order, each with ``result``, what it returns
    (``module``, ``text`` or ``elf``), and, if passes can be placed in it, ``passes``, the stages whose passes it takes;
  - ``programs``: console scripts, each with its function, e.g. ``opt:main`` in ``opt.py``.

In a checkout a backend lies in the directory ``backends``, in a wheel here.
"""

from __future__ import annotations

import functools
import importlib
import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_checkout = Path(__file__).resolve().parents[3]
if (_checkout / "infra" / "cmake").is_dir():
    __path__.append(str(_checkout / "backends"))

_RESULTS = ("module", "text", "elf")


@dataclass(frozen=True)
class Stage:
    """A stage that a backend brings.

    Attributes:
        result: what it returns: ``module``, ``text`` or ``elf``.
        passes: the stages whose passes it takes; empty if no pass can be placed in it.
    """

    result: str
    passes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Declaration:
    """What a backend declares.

    Attributes:
        target: one of its targets, e.g. ``cpu:native``.
        warp_size: of a target for which the user writes none.
        stages: the stages that it brings, by name, in order.
    """

    target: str
    warp_size: int = 0
    stages: Mapping[str, Stage] = field(default_factory=dict)


@functools.cache
def declared() -> Mapping[str, Declaration]:
    """The declarations of all backends, by name. One that cannot be read is left out, with a warning."""
    found: dict[str, Declaration] = {}
    for file in sorted(path for directory in __path__ for path in Path(directory).glob("*/backend.json")):
        try:
            found.setdefault(file.parent.name, _read(file))
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            warnings.warn(f"{file} declares no backend: {type(error).__name__}: {error}", stacklevel=2)
    return found


def _read(file: Path) -> Declaration:
    fields = json.loads(file.read_text())
    stages = {
        str(name): Stage(stage["result"], tuple(map(str, stage.get("passes", ()))))
        for name, stage in fields.get("stages", {}).items()
    }
    for name, stage in stages.items():
        if stage.result not in _RESULTS:
            raise ValueError(f"stage '{name}' returns '{stage.result}', expected one of: {', '.join(_RESULTS)}")
    return Declaration(f"{file.parent.name}:{fields['example']}", int(fields.get("warp_size", 0)), stages)


@functools.cache
def stages() -> Mapping[str, Stage]:
    """The stages that backends bring, by name."""
    return {name: stage for backend in declared().values() for name, stage in backend.stages.items()}


def register(name: str) -> None:
    """Makes Triton know the backend `name`, if it is one of ours.

    Triton knows ours by itself unless ``TRITON_BACKENDS_IN_TREE`` is set, or the backend was added to a checkout after
    that was installed.
    """
    if name not in declared():
        return
    from triton.backends.compiler import BaseBackend
    from triton.backends.driver import DriverBase

    from ..patches import backend_registry

    if not backend_registry.knows(name):
        compiler, driver = _concrete(name, "compiler", BaseBackend), _concrete(name, "driver", DriverBase)
        backend_registry.register(name, compiler, driver)


def _concrete(name: str, module: str, base: type) -> Any:
    """The class in a module of a backend that implements `base`."""
    import inspect

    found = vars(importlib.import_module(f"{__name__}.{name}.{module}")).values()
    return next(c for c in found if isinstance(c, type) and issubclass(c, base) and not inspect.isabstract(c))


@functools.cache
def api_file(name: str) -> Path | None:
    """The file that is ``tx.<name>``: ``api.py`` of the backend `name`; None if there is none."""
    return next((file for file in (Path(d, name, "api.py") for d in __path__) if file.is_file()), None)


def apis() -> list[str]:
    """The backends that have an ``api.py``."""
    return sorted({file.parent.name for directory in __path__ for file in Path(directory).glob("*/api.py")})
