# SPDX-License-Identifier: Apache-2.0
"""Finds the backends that extensions add, and reads their ``backend.json``. No backend is named here.

A backend is a directory with ``compiler.py`` and ``driver.py``, which Triton imports as ``triton_ext.backends.<name>``.
It may also have these files:

- ``api.py``, or ``api/__init__.py`` of a package, is the module ``tx.<name>``, as it is of a dialect or a pass.
  ``name`` is that of the directory, or the one that ``api/api.json`` gives: ``{"name": "check", "needs": ["other"]}``.
  Without the extensions that it needs, the module and everything below do not exist.
- ``api/startup/<variable>.py`` defines ``start(value)``. Before the first kernel of a process, that is called with the
  value of the environment variable ``TRITON_EXT_<VARIABLE>``, if it is set and not empty.
- ``api/pytest_plugin.py`` is a plugin of pytest, which every run of pytest gets; `triton_ext.pytest_plugin` finds it.
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
import importlib.util
import json
import sys
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
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


def _declared_by(directory: Path) -> dict[str, Any]:
    """Returns what ``api/api.json`` of an extension says; nothing, with a warning, if it cannot be read."""
    file = directory / "api" / "api.json"
    if not file.is_file():
        return {}
    try:
        return dict(json.loads(file.read_text()))
    except (OSError, ValueError, TypeError) as error:
        warnings.warn(f"{file} is not a declaration: {type(error).__name__}: {error}", stacklevel=2)
        return {}


def _files_of_apis(pattern: str) -> Iterator[tuple[Path, Path]]:
    """Yields the directory and each file of all extensions whose ``needs`` are there; `pattern` begins below."""
    roots = _with_apis()
    for root in roots:
        for directory in sorted({root / file.relative_to(root).parts[0] for file in root.glob(f"*/{pattern}")}):
            if all(
                any((other / need).is_dir() for other in roots) for need in _declared_by(directory).get("needs", ())
            ):
                yield from ((directory, file) for file in sorted(directory.glob(pattern)))


@functools.cache
def _api_files() -> Mapping[str, Path]:
    """Returns the files of all modules ``tx.<name>`` of backends, dialects and passes, by name."""
    found: dict[str, Path] = {}
    for api in _APIS:
        for directory, file in _files_of_apis(api):
            found.setdefault(str(_declared_by(directory).get("name", directory.name)), file)
    return found


def api_file(name: str) -> Path | None:
    """Returns the file of ``tx.<name>`` of a backend, a dialect or a pass; None if there is none."""
    return _api_files().get(name)


def apis() -> list[str]:
    """Returns the names of the modules ``tx.<name>`` of backends, dialects and passes."""
    return sorted(_api_files())


def startups() -> dict[str, Path]:
    """Returns the files that extensions want to be run before the first kernel, by the environment variable."""
    found: dict[str, Path] = {}
    for _, file in _files_of_apis("api/startup/[!_]*.py"):
        found.setdefault(f"TRITON_EXT_{file.stem.upper()}", file)
    return found


def pytest_plugins() -> list[Path]:
    """Returns the files of the plugins of pytest that extensions bring."""
    found: dict[str, Path] = {}
    for directory, file in _files_of_apis("api/pytest_plugin.py"):
        found.setdefault(directory.name, file)
    return list(found.values())


def import_file(file: Path, name: str) -> ModuleType:
    """Imports a Python file as the module `name`."""
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)  # where dataclasses look for it
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


@functools.cache
def commands() -> Mapping[str, tuple[Path, ...]]:
    """Returns the files of the subcommands of ``triton-ext`` that backends, dialects and passes add, by name.

    A command with several files is an error of the extensions, which `triton_ext.cli` reports.
    """
    found: dict[str, list[Path]] = {}
    for _, file in _files_of_apis("api/commands/[!_]*.py"):
        found.setdefault(file.stem.replace("_", "-"), []).append(file)
    return {name: tuple(files) for name, files in found.items()}
