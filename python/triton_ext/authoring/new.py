# SPDX-License-Identifier: Apache-2.0
"""``triton-ext new``: writes an extension that builds and whose tests pass, from the files in ``templates/``."""

from __future__ import annotations

import ast
import importlib.util
import json
import re
import subprocess
from pathlib import Path
from string import Template

import click

from .. import __version__
from ..backends import declared
from ..errors import DuplicateExtensionError, TritonExtError
from ..loading.discovery import extensions
from ..loading.host import triton_version
from ..pipeline.extension_passes import ANY, STAGES
from ..support import resources
from ..support.storage import whole_directory
from .build import find_tool
from .project import KINDS, Project, find_project

_TEMPLATES = Path(__file__).parent / "templates"
_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_LONGEST_NAME = 40
#: By kind, the directory of a project that it goes to. A layout is an attribute of a dialect.
_DIRECTORIES = KINDS | {"layout": KINDS["dialect"]}
_NAME_LISTS = {
    "TRITON_EXT_RESERVED_NAMES": ("TritonExtExtension.cmake", "is reserved in Python or C++"),
    "TRITON_EXT_TRITON_DIALECTS": ("TritonExtDialect.cmake", "is the name of a dialect of Triton"),
}
#: The names of Triton's own backends and of their targets.
_TRITON_TARGETS = ("amd", "cuda", "hip", "nvidia")
#: By stage of a backend: the stage whose text the test of a new pass reads, and the target that it compiles for.
_TARGETS = {
    stage: json.dumps({[n for n, s in backend.stages.items() if s.result == "text" or n == stage][-1]: backend.target})
    for backend in declared().values()
    for stage in backend.stages
    if stage in STAGES
}
_FORMATTERS = (
    ((".cpp", ".h"), ("clang-format", "--style=LLVM", "-i")),
    ((".py",), ("ruff", "format", "--isolated", "--no-cache", "--line-length=120", "--quiet")),
)


def create(kind: str, name: str, parent: Path | None = None, stage: str | None = None) -> None:
    """Writes the extension `name`, and prints what was written and what to do next.

    Args:
        kind: ``pass``, ``dialect``, ``layout``, ``backend`` or ``bundle``.
        name: name of the extension.
        parent: write a separate project into this directory. By default the extension goes to the project in the
            working directory, or, if there is none, to a new project there.
        stage: the stage that a pass is for; default: ``ttir``.

    Raises:
        TritonExtError: the name or the place is taken, or cannot be used.
    """
    here = Path.cwd()
    project = find_project(here) if parent is None else None
    again = f"triton-ext new {kind}"
    check_name(kind, name, again)
    if stage and kind not in ("pass", "bundle"):
        raise TritonExtError(f"a {kind} has no stage, --stage is for a pass", fix=f"{again} {name}")
    if project and kind == "bundle":
        raise TritonExtError(f"{here} is a project already, a bundle is one of its own", fix=f"{again} {name} --dir ..")
    check_free(name, project, again)
    if kind == "backend":
        check_backend_name(name, again)
    package = project.package if project else name
    module = [(_TEMPLATES / "module", Path())] if kind == "dialect" else []
    if project:
        target = project.root / _DIRECTORIES[kind] / name
        parts = [(_TEMPLATES / _template(kind, stage), Path()), *(module if package is None else [])]
        written = write(target, parts, kind, name, stage or "ttir", package=package)
        if module and package is not None:  # the functions of a bundle's dialect are in the bundle's package
            written.append(write_module(project.libraries, name, package))
    else:
        if importlib.util.find_spec(name):
            raise DuplicateExtensionError(
                f"'{name}' is the name of an installed Python module, which the bundle would hide",
                fix=f"{again} {_other(name)}",
            )
        target = (parent or here) / name
        extension = "pass" if kind == "bundle" else kind
        parts = [
            (_TEMPLATES / "bundle", Path()),
            (_TEMPLATES / _template(extension, stage), Path(_DIRECTORIES[extension], name)),
        ]
        written = write(target, parts, extension, name, stage or "ttir", package=name)
        if module:
            written.append(write_module(target / "src" / name, name, name))
    for path in written:
        click.echo(f"wrote {_shown(path)}")
    enter = "" if project else f"cd {_shown(target)} && "
    click.echo(f"next: {enter}triton-ext test {name}")
    if not project:
        click.echo("then: pip install .")


def _template(kind: str, stage: str | None) -> str:
    """Returns the directory of templates for an extension."""
    return "llvm_pass" if kind == "pass" and stage == "llvm" else kind


def check_name(kind: str, name: str, again: str) -> None:
    """Checks that `name` can be the name of an extension.

    Args:
        kind: ``pass``, ``dialect``, ``layout``, ``backend`` or ``bundle``.
        name: the name.
        again: the command to suggest with another name.

    Raises:
        TritonExtError: the name is malformed or reserved.
    """
    if not _NAME.fullmatch(name) or len(name) > _LONGEST_NAME:
        words = re.findall(r"[A-Z]*[a-z0-9]+|[A-Z]+", name if name.isascii() else "")
        better = "_".join(words).lower().lstrip("0123456789_")[:_LONGEST_NAME].strip("_") or "loop_split"
        raise TritonExtError(
            f"'{name}' is not a name for a {kind}: expected lower-case letters and digits in words joined by '_', "
            f"a letter first, {_LONGEST_NAME} at most",
            fix=f"{again} {better}",
        )
    for variable, (file, problem) in _NAME_LISTS.items():
        text = (resources.infra_dir() / "cmake" / file).read_text()
        names = re.search(rf"set\({variable}([^)]*)\)", text)
        assert names
        if name in names[1].split() and (kind in ("dialect", "layout") or variable == "TRITON_EXT_RESERVED_NAMES"):
            raise TritonExtError(f"'{name}' {problem}", fix=f"{again} {_other(name)}")


def check_backend_name(name: str, again: str) -> None:
    """Checks that `name` can be the name of a target: its stage, too, has to be new.

    Raises:
        TritonExtError: Triton, the stages of the other targets or the Python of a new backend have the name.
    """
    if name in _TRITON_TARGETS:
        problem = "is the name of a target of Triton"
    elif f"{name}ir" in STAGES:
        problem = f"would have the stage '{name}ir', which there is already"
    elif name in _names_of_template("backend"):
        problem = "is a name that the Python of a new backend uses"
    else:
        return
    raise TritonExtError(f"'{name}' {problem}", fix=f"{again} {_other(name)}")


def _names_of_template(kind: str) -> set[str]:
    """Returns the names of variables and imported modules in the Python files of a template, without its own name."""
    found: set[str] = set()
    for file in (_TEMPLATES / kind).glob("*.py.in"):
        for node in ast.walk(ast.parse(Template(file.read_text()).safe_substitute(name="name_", stem="Name"))):
            if isinstance(node, ast.Name | ast.arg):
                found.add(node.id if isinstance(node, ast.Name) else node.arg)
            elif isinstance(node, ast.alias):
                found.add(node.asname or node.name.partition(".")[0])
    return found


def check_free(name: str, project: Project | None, again: str) -> None:
    """Checks that neither a directory of the project nor an installed extension has the name.

    Raises:
        DuplicateExtensionError: the name is taken.
    """
    owners = [str(project.extensions()[name])] if project and name in project.extensions() else []
    owners += [f"{e.path} ({e.origin})" for e in extensions() if e.name == name]
    if owners:
        raise DuplicateExtensionError(f"the name '{name}' is taken by {owners[0]}", fix=f"{again} {_other(name)}")


def write_module(directory: Path, name: str, package: str) -> Path:
    """Writes the functions of the dialect `name` into the Python package `package` of a bundle, and returns the file.

    Raises:
        TritonExtError: the file exists or cannot be written.
    """
    path = directory / f"{name}.py"
    if path.exists():
        raise TritonExtError(f"{_shown(path)} exists already", fix="another name, or remove it")
    try:
        _write_file(_TEMPLATES / "module" / "api.py.in", path, {"name": name, "module": package})
    except OSError as error:
        raise TritonExtError(f"cannot write {_shown(path)}: {error.strerror}", fix="another --dir") from None
    _format([path])
    return path


def write(
    target: Path, parts: list[tuple[Path, Path]], kind: str, name: str, stage: str, *, package: str | None
) -> list[Path]:
    """Writes the directory `target`, complete or not at all.

    Args:
        target: the directory, which must not exist.
        parts: directories of templates, each with the directory in `target` for its files.
        kind: ``pass``, ``dialect``, ``layout`` or ``backend``.
        name: name of the extension.
        stage: the stage that a pass is for.
        package: the package of the bundle that it belongs to; None in a checkout of triton-ext.

    Returns:
        The files that were written.

    Raises:
        TritonExtError: `target` exists or cannot be written.
    """
    if target.exists() or target.is_symlink():
        raise TritonExtError(f"{_shown(target)} exists already", fix="another name, or remove it")
    stem = "".join(word.capitalize() for word in name.split("_"))
    values = {
        "name": name,
        "stem": stem,
        "upper": stem.upper(),
        "dashed": name.replace("_", "-"),
        "project": name.replace("_", "-"),
        "directory": _DIRECTORIES[kind],
        "version": __version__,
        "triton": triton_version(),
        "stage": stage,
        "module": package or "triton_ext",
        "place": "ttir" if stage == ANY else stage,
        "targets": _TARGETS.get(stage, '{"ptx": "cuda:90", "amdgcn": "hip:gfx942"}'),
    }
    try:
        # Not where CMake looks for extensions, before it is complete.
        ancestor = next(parent for parent in target.absolute().parents if parent.is_dir())
        with whole_directory(target, beside=ancestor) as scratch:
            written = [
                _write_file(source, scratch / place / _renamed(source.relative_to(templates), name, stem), values)
                for templates, place in parts
                for source in sorted(p for p in templates.rglob("*.in") if p.is_file())
            ]
            _format(written)
            target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TritonExtError(f"cannot write {_shown(target)}: {error.strerror}", fix="another --dir") from None
    return [target / path.relative_to(scratch) for path in written]


def _write_file(source: Path, path: Path, values: dict[str, str]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(Template(source.read_text()).substitute(values))
    return path


def _renamed(path: Path, name: str, stem: str) -> Path:
    """Returns ``test/test_name.py.in`` or ``Name.cpp.in`` with the extension's name, and without ``.in``."""
    return Path(str(path.with_suffix("")).replace("name", name).replace("Name", stem))


def _format(files: list[Path]) -> None:
    """Formats the files, because line breaks depend on the length of the name; skips formatters that are missing."""
    for suffixes, (tool, *flags) in _FORMATTERS:
        program = find_tool(tool)
        named = [str(file) for file in files if file.suffix in suffixes]
        if program and named:
            subprocess.run([program, *flags, *named], check=False, capture_output=True)


def _other(name: str) -> str:
    return f"{name}_2"


def _shown(path: Path) -> Path:
    """Returns `path`, relative to the working directory if it is below it."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
