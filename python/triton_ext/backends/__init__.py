# SPDX-License-Identifier: Apache-2.0
"""Finds the backends that extensions add, and reads their ``backend.json``. No backend is named here.

A backend is a directory with ``compiler.py`` and ``driver.py``, which Triton imports as ``triton_ext.backends.<name>``.
It may also have these files:

- ``api.py``, or ``api/__init__.py`` of a package, is the module ``tx.<name>``, as it is of a dialect or a pass.
  ``name`` is that of the directory, or the one that ``api/api.json`` gives: ``{"name": "check", "needs": ["other"]}``.
  Without the extensions that it needs, the module and everything below do not exist.
- ``api/startup/<variable>.py`` defines ``start(value)``. Before the first kernel of a process, that is called with the
  value of the environment variable ``TRITON_EXT_<VARIABLE>``, if it is set and not empty. If it also defines
  ``imported(value, start)``, that is called while a program imports Triton; ``start()`` then does the same as the first
  kernel, as soon as Triton is imported completely.
- ``api/pytest_plugin.py`` is a plugin of pytest, which every run of pytest gets; `triton_ext.pytest_plugin` finds it.
- ``api/commands/<command>.py`` defines ``command``, the click command ``triton-ext <command>``, also of a dialect or a
  pass. The file is imported when somebody asks for help, so it imports Triton only inside of its functions.
- ``api/knobs.py`` of a pass defines ``knobs(stages, backend)``, which yields what `tx.space` lists for that pass beside
  its options.
- ``backend.json`` declares the backend to the core, as an object with the keys

  - ``example``: an architecture, for messages: ``native`` of the backend ``cpu`` makes ``cpu:native``;
  - ``warp_size``: the warp size of its ``GPUTarget`` if the user writes none;
  - ``stages``: the stages that Triton's own backends do not have, in order. Each has ``result``, the kind of its result
    (``module``, ``text`` or ``elf``), and, if passes can be placed in it, ``passes``, the stages whose passes it takes;
  - ``programs``: console scripts, each with its function, e.g. ``opt:main`` in ``opt.py``;
  - ``runtime``: whether it needs the library of the files after ``RUNTIME`` in its ``CMakeLists.txt``.

In a checkout a backend lies in the directory ``backends``, in a wheel here, and in a bundle in the directory
``backends`` of its package. It is a package ``triton_ext.backends.<name>`` everywhere. Triton's dictionary of backends
has an entry for it (`offer`), which imports it when Triton first asks for it.
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
from typing import TYPE_CHECKING, Any

from ..errors import TritonExtError
from ._places import Places
from ._registry import Entry

if TYPE_CHECKING:
    from ..loading.discovery import Extension

__path__ = Places()  # type: ignore[assignment]

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
        has_runtime: whether it needs its library ``libTritonExt<Name>Runtime.so``.
    """

    target: str
    warp_size: int = 0
    stages: Mapping[str, Stage] = field(default_factory=dict)
    has_runtime: bool = False


def directories() -> dict[str, list[Path]]:
    """Returns the directories of each backend, by its name; of several only the first is used."""
    found: dict[str, list[Path]] = {}
    for file in (path for directory in __path__ for path in sorted(Path(directory).glob("*/backend.json"))):
        found.setdefault(file.parent.name, []).append(file.parent)
    return found


@functools.cache
def declared() -> Mapping[str, Declaration]:
    """Returns the declarations of all backends, by name. One that cannot be read is left out, with a warning."""
    found: dict[str, Declaration] = {}
    for name, (directory, *_) in sorted(directories().items()):
        try:
            found[name] = declaration_in(directory)
        except TritonExtError as error:
            warnings.warn(str(error), stacklevel=2)
    return found


def declaration_in(directory: Path) -> Declaration:
    """Returns the declaration of the backend in `directory`.

    Raises:
        TritonExtError: its ``backend.json`` cannot be read.
    """
    file = directory / "backend.json"
    try:
        return _read(file)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise TritonExtError(f"{file} declares no backend: {type(error).__name__}: {error}") from None


def _read(file: Path) -> Declaration:
    fields = json.loads(file.read_text())
    stages = {
        str(name): Stage(stage["result"], tuple(map(str, stage.get("passes", ()))))
        for name, stage in fields.get("stages", {}).items()
    }
    for name, stage in stages.items():
        if stage.result not in _RESULTS:
            raise ValueError(f"stage '{name}' returns '{stage.result}', expected one of: {', '.join(_RESULTS)}")
    target = f"{file.parent.name}:{fields['example']}"
    return Declaration(target, int(fields.get("warp_size", 0)), stages, bool(fields.get("runtime", False)))


@functools.cache
def stages() -> Mapping[str, Stage]:
    """Returns the stages that backends add, by name."""
    return {name: stage for backend in declared().values() for name, stage in backend.stages.items()}


def listed() -> list[Extension]:
    """Returns all extensions and backends, each backend with what keeps it from being used, for ``triton-ext list``."""
    from . import _rows

    return _rows.listed()


def offer() -> None:
    """Adds all backends to those that Triton knows, once Triton has found its own.

    Raises:
        TritonExtError: Triton differs from what the patch expects.
    """
    from ..patches import backend_registry

    backend_registry.offer(lambda: {name: Entry(name) for name in declared()})


def register(name: str) -> None:
    """Registers the backend `name` in Triton, if it is one of ours.

    Triton has it already, unless ``TRITON_BACKENDS_IN_TREE`` is set, or it was added after the import of Triton.

    Raises:
        TritonExtError: Triton differs from what the patch expects.
    """
    from ..patches import backend_registry

    if name in declared() and not backend_registry.knows(name):
        backend_registry.register(name, Entry(name))


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


@functools.cache
def knob_files() -> Mapping[str, Path]:
    """Returns the files in which passes declare their own knobs for searches, by the pass."""
    found: dict[str, Path] = {}
    for directory, file in _files_of_apis("api/knobs.py"):
        found.setdefault(directory.name, file)
    return found
