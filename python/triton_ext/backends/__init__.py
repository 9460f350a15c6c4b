# SPDX-License-Identifier: Apache-2.0
"""Finds the backends that extensions add, and reads their ``backend.json``. No backend is named here.

A backend is a directory with ``compiler.py`` and ``driver.py``, which Triton imports as ``triton_ext.backends.<name>``.
It may also have these files:

- ``api.py``, or ``api/__init__.py`` of a package, is the module ``tx.<name>``, as it is of a dialect or a pass.
- ``api/commands/<command>.py`` defines ``command``, the click command ``triton-ext <command>``, also of a dialect or a
  pass. The file is imported when somebody asks for help, so it imports Triton only inside of its functions.
- ``backend.json`` declares the backend to the core, as an object with the keys

  - ``example``: an architecture, for messages: ``native`` of the backend ``cpu`` makes ``cpu:native``;
  - ``warp_size``: the warp size of its ``GPUTarget`` if the user writes none;
  - ``stages``: the stages that Triton's own backends do not have, in order. Each has ``result``, the kind of its result
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
_APIS = ("api/__init__.py", "api.py")  # the package first, as Python does


@dataclass(frozen=True)
class Stage:
    """A stage that a backend adds.

    Attributes:
        result: the kind of its result: ``module``, ``text`` or ``elf``.
        passes: the stages whose passes it takes; empty if no pass can be placed in it.
    """

    result: str
    passes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Declaration:
    """The declaration of a backend.

    Attributes:
        target: an example of a target, e.g. ``cpu:native``.
        warp_size: the warp size of a target for which the user writes none.
        stages: the stages that it adds, by name, in order.
    """

    target: str
    warp_size: int = 0
    stages: Mapping[str, Stage] = field(default_factory=dict)


@functools.cache
def declared() -> Mapping[str, Declaration]:
    """Returns the declarations of all backends, by name. One that cannot be read is left out, with a warning."""
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
    """Returns the stages that backends add, by name."""
    return {name: stage for backend in declared().values() for name, stage in backend.stages.items()}


def register(name: str) -> None:
    """Registers the backend `name` in Triton, if it is one of ours.

    Triton finds our backends by itself, unless ``TRITON_BACKENDS_IN_TREE`` is set, or the backend was added to a
    checkout after its installation.

    Raises:
        TritonExtError: Triton differs from what the patch expects.
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
    """Returns the class in a module of a backend that implements `base`."""
    import inspect

    found = vars(importlib.import_module(f"{__name__}.{name}.{module}")).values()
    return next(c for c in found if isinstance(c, type) and issubclass(c, base) and not inspect.isabstract(c))


def _with_apis() -> list[Path]:
    """Returns the directories of backends, dialects and passes. Each directory in them may have an API.

    The functions of a dialect or a pass belong to its library: in a wheel they are beside the libraries, in a checkout
    with its source.
    """
    from ..support.resources import library_dir

    libraries = library_dir()
    checkouts = [path for path in libraries.parents[2:3] if (path / "infra" / "cmake").is_dir()]
    roots = [libraries.parent, *checkouts]
    return [*map(Path, __path__), *(root / kind for kind in ("dialects", "passes") for root in roots)]


@functools.cache
def api_file(name: str) -> Path | None:
    """Returns the file of ``tx.<name>`` of a backend, a dialect or a pass; None if there is none."""
    return next((file for d in _with_apis() for api in _APIS if (file := d / name / api).is_file()), None)


def apis() -> list[str]:
    """Returns the names of the backends, dialects and passes that have a module ``tx.<name>``."""
    found = (file.relative_to(d).parts[0] for d in _with_apis() for api in _APIS for file in d.glob(f"*/{api}"))
    return sorted(set(found))


@functools.cache
def commands() -> Mapping[str, tuple[Path, ...]]:
    """Returns the files of the subcommands of ``triton-ext`` that backends, dialects and passes add, by name.

    A command with several files is an error of the extensions, which `triton_ext.cli` reports.
    """
    found: dict[str, list[Path]] = {}
    for directory in _with_apis():
        for file in sorted(directory.glob("*/api/commands/[!_]*.py")):
            found.setdefault(file.stem.replace("_", "-"), []).append(file)
    return {name: tuple(files) for name, files in found.items()}
