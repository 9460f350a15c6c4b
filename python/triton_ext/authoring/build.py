# SPDX-License-Identifier: Apache-2.0
"""``triton-ext build``: configures and builds the extensions of a checkout, incrementally."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import click

from ..errors import BuildError
from ..support import resources
from ..support.lock import alone

# "CMake Error at FILE:LINE (function):" and indented paragraphs, or "CMake Error: text".
_CMAKE_ERROR = re.compile(
    r"^CMake Error(?: at (?P<where>[^\n]*?:\d+)[^\n]*)?:(?P<text>[^\n]*\n(?:[ \t]+[^\n]*\n|\n(?=[ \t]))*)", re.MULTILINE
)
_LEFT_OUT = re.compile(r"^-- triton-ext: leaving out (\w+), which needs (.*)$", re.MULTILINE)
_TARGET = re.compile(r"^triton_ext_(\w+): phony$", re.MULTILINE)
#: Of the library of an extension, as ninja lists it: its directory in the build, and the name of the extension.
_LIBRARY = re.compile(r"^([^/\s]\S*/)libtriton_ext_(\w+)\.so: CXX_", re.MULTILINE)
#: The target of triton-ext itself with the libraries that every extension needs in Python, as ninja lists it.
_CORE = re.compile(r"^(TritonExtCore): phony$", re.MULTILINE)
OLDEST_CMAKE = (3, 27)
#: The command that installs the programs for building and testing.
GET_TOOLS = "pip install 'triton-ext[build]'"
_COMPILER_ERROR = re.compile(r"^.*(?:\berror:|undefined symbol:|undefined reference to|hidden symbol).*$", re.MULTILINE)


def default_build_dir(source: Path) -> Path:
    """Returns the directory in which the command line builds the tree `source`."""
    return source / "build" / "dev"


def build_tree(
    source: Path,
    build_dir: Path,
    names: tuple[str, ...] = (),
    definitions: tuple[str, ...] = (),
    *,
    is_quiet: bool = False,
) -> None:
    """Configures a source tree and builds its extensions.

    The output of the compiler goes to standard output as it comes, unless `is_quiet`. If another build in the same
    directory is running, this one waits, because both would write the same files.

    Args:
        source: this repository, or a project that calls ``find_package(TritonExt)``.
        build_dir: the directory to build in, which is made if needed.
        names: the extensions to build, with those in their directories, and in triton-ext itself with the libraries
            that Python loads for every extension; empty for all.
        definitions: variables for CMake, as ``NAME=VALUE``.
        is_quiet: whether only an error is reported.

    Raises:
        BuildError: a tool is missing, or CMake or the compiler failed; the message has their first error.
    """
    check_tools("cmake", "ninja")
    try:
        build_dir.mkdir(parents=True, exist_ok=True)
        (build_dir / ".lock").touch()
    except OSError as error:
        raise BuildError(f"{build_dir}: {error.strerror}", fix=f"another --build-dir, or rm -r {build_dir}") from None
    waiting = f"triton-ext: another build in {build_dir} is going on, waiting for it"
    with alone(build_dir / ".lock", lambda text: click.echo(text, err=True), waiting):
        _build_alone(source, build_dir, names, definitions, is_quiet)


def _build_alone(
    source: Path, build_dir: Path, names: tuple[str, ...], definitions: tuple[str, ...], is_quiet: bool
) -> None:
    cmake = tool("cmake")
    configure = [cmake, "-S", str(source), "-B", str(build_dir), "-G", "Ninja"]
    modules = resources.infra_dir() / "cmake"
    settings = {
        "CMAKE_MAKE_PROGRAM": tool("ninja"),
        "CMAKE_PROJECT_TOP_LEVEL_INCLUDES": modules / "TritonExtCompiler.cmake",
        "Python3_EXECUTABLE": sys.executable,
        "TritonExt_DIR": modules,
    }
    configure += [f"-D{name}={value}" for name, value in settings.items()]
    configure += [f"-D{definition}" for definition in definitions]
    configured = subprocess.run(configure, capture_output=True, text=True, errors="replace", check=False)
    if configured.returncode:
        raise _configure_error(configured.stderr, build_dir)
    targets: list[str] = []
    if not names:
        _say_what_is_left_out(configured.stdout)
    else:
        listed = subprocess.run(
            [tool("ninja"), "-C", str(build_dir), "-t", "targets", "all"], capture_output=True, text=True, check=False
        )
        known = sorted(set(_TARGET.findall(listed.stdout)))
        if unknown := [name for name in names if name not in known]:
            raise BuildError(
                f"no extension '{unknown[0]}' in {source}; there is: {', '.join(known) or 'none'}",
                fix="triton-ext build",
            )
        targets = [
            *_CORE.findall(listed.stdout),
            *(f"triton_ext_{name}" for name in _with_nested(names, listed.stdout)),
        ]
    command = [cmake, "--build", str(build_dir), *(f"--target={target}" for target in targets)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as process:
        assert process.stdout is not None
        output = []
        for line in process.stdout:
            output.append(line)
            if not is_quiet:
                click.echo(line, nl=False)
    if process.returncode:
        first = _COMPILER_ERROR.search("".join(output))
        raise BuildError(
            f"the build failed: {first[0].strip() if first else 'see above'}", fix="mend it and build again"
        )


def _with_nested(names: tuple[str, ...], listed: str) -> list[str]:
    """Returns these extensions and the others in their directories: a dialect needs the pass that lowers it."""
    libraries: list[tuple[str, str]] = _LIBRARY.findall(listed)
    above = tuple(directory for directory, name in libraries if name in names)
    return sorted({*names, *(name for directory, name in libraries if directory.startswith(above))})


def _say_what_is_left_out(stdout: str) -> None:
    """Prints the extensions that CMake leaves out, a line for each reason."""
    left_out: dict[str, list[str]] = {}
    for name, reason in _LEFT_OUT.findall(stdout):
        left_out.setdefault(reason, []).append(name)
    for reason, without in left_out.items():
        click.echo(f"triton-ext: left out: {', '.join(without)}: needs {reason}", err=True)


def _configure_error(stderr: str, build_dir: Path) -> BuildError:
    """Returns the first error in CMake's output `stderr`."""
    match = _CMAKE_ERROR.search(stderr)
    what = " ".join((match["text"] if match else stderr).split())
    message, _, fix = what.removeprefix("triton-ext: ").removesuffix(")").partition(" (fix: ")
    if fix:  # the error comes from our CMake modules
        return BuildError(message, fix=fix)
    where = match["where"] if match else None
    if where:
        return BuildError(f"{where}: {what}", fix="mend that CMakeLists.txt")
    return BuildError(f"cmake: {what}", fix=f"another --build-dir, or rm -r {build_dir}")


def find_tool(name: str) -> str | None:
    """Returns the program `name` of this virtual environment, or else of the system; None if there is none."""
    return shutil.which(name, path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))


def tool(name: str) -> str:
    """Returns what `find_tool` returns.

    Raises:
        BuildError: there is no such program.
    """
    found = find_tool(name)
    if found is None:
        raise BuildError(f"{name} is not installed", fix=GET_TOOLS)
    return found


def cmake_version(program: str) -> tuple[int, ...]:
    """Returns the version of the CMake `program`; empty if it cannot be found out."""
    try:
        done = subprocess.run([program, "--version"], capture_output=True, text=True, errors="replace", check=False)
    except OSError:
        return ()
    match = re.search(r"version (\d+(?:\.\d+)*)", done.stdout)
    return tuple(map(int, match[1].split("."))) if match else ()


def check_tools(*names: str) -> None:
    """Checks that the programs `names` are installed, before the first of them runs.

    Raises:
        BuildError: some are missing or too old; the message names all of them.
    """
    problems = [f"{name} is not installed" for name in names if find_tool(name) is None]
    if "cmake" in names and (program := find_tool("cmake")) and (version := cmake_version(program)) < OLDEST_CMAKE:
        found, wanted = (".".join(map(str, numbers)) for numbers in (version, OLDEST_CMAKE))
        problems.insert(0, f"{program} is CMake {found or 'of an unknown version'}, expected {wanted} or newer")
    if problems:
        raise BuildError("; ".join(problems), fix=GET_TOOLS)
