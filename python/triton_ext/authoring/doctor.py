# SPDX-License-Identifier: Apache-2.0
"""``triton-ext doctor``: everything that must hold for extensions to be built and used, in one table.

A small function makes each row. If it raises, the row is a failing one. So one problem, even a broken Triton, does not
hide the others.
"""

from __future__ import annotations

import contextlib
import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import click

from .. import sdk
from ..errors import TritonExtError
from ..loading import host, libraries
from ..loading.elf import read_library
from ..loading.manifest import Manifest
from ..support import clang, resources
from ..support.clang import get_clang
from . import addresses
from .build import GET_TOOLS, OLDEST_CMAKE, build_tree, cmake_version, default_build_dir, find_tool
from .checks import Row, State, dotted, row_of, short
from .sdk_checks import abi_flag, headers, llvm_commit, sdk_downloads, sdk_installed
from .selftest import LIBRARY, run_selftest

OLDEST_PYTHON = (3, 11)
GET_PYTHON = "apt-get install python3.11"
_MOST_FAILURES = 5


def examine() -> list[Row]:
    """Runs all checks and returns the rows of the table."""
    return [row for name, check in _CHECKS.items() for row in _rows(name, check)]


def python() -> Row:
    """Checks the version of Python."""
    found = sys.version_info[:2]
    return row_of(
        "Python", found >= OLDEST_PYTHON, f">= {dotted(OLDEST_PYTHON)}", platform.python_version(), GET_PYTHON
    )


def triton() -> Row:
    """Checks that a Triton is installed."""
    return Row("Triton", "ok", f">= {dotted(host.OLDEST_TRITON)}", host.triton_version())


def compiler() -> Row:
    """Checks that the compiler that a build would take is clang."""
    chosen = os.environ.get("CXX")
    names = [chosen] if chosen else clang.names_of("clang++")
    path = next(filter(None, map(_which, names)), None)
    wanted = "clang"
    if path is None:
        found = f"CXX={chosen}, which is not found" if chosen else "none"
        return Row("compiler", "fail", wanted, found, f"unset CXX; {get_clang()}" if chosen else get_clang())
    says = _first_line([path])
    if "clang version" not in says:
        fix = f"unset CXX; {get_clang()}" if chosen else get_clang()
        return Row("compiler", "fail", wanted, f"{'CXX=' if chosen else ''}{path}: {says}", fix)
    return Row("compiler", "ok", wanted, f"{Path(path).name}: {says}")


def cmake() -> Row:
    """Checks the version of CMake."""
    path = _which("cmake")
    if path is None:
        raise TritonExtError("not found", fix=GET_TOOLS)
    version = cmake_version(path)
    wanted = f">= {dotted(OLDEST_CMAKE)}"
    return row_of("CMake", version >= OLDEST_CMAKE, wanted, dotted(version), GET_TOOLS)


def ninja() -> Row:
    """Checks that Ninja is installed."""
    path = _which("ninja")
    if path is None:
        raise TritonExtError("not found", fix=GET_TOOLS)
    return Row("Ninja", "ok", "any", _first_line([path]))


def infra_library() -> Row:
    """Checks that the library that every pass needs was built for the installed Triton."""
    path = libraries.infra_library()
    if not path.is_file():
        raise TritonExtError(f"{path} does not exist", fix=_rebuild())
    library, wanted = read_library(path), host.find_triton()
    if library.note is None:
        return Row("infra library", "ok", "built", f"{path.name}, {path.stat().st_size / 1e3:.0f} kB")
    manifest = Manifest.parse(library.note)
    fits = (manifest.triton, manifest.llvm_commit) == (wanted.version, wanted.llvm_commit)
    found = f"{path.name}: Triton {manifest.triton}, LLVM {manifest.llvm_commit[:12]}, {manifest.compiler}"
    return row_of("infra library", fits, f"Triton {wanted.version}, LLVM {wanted.llvm_commit[:12]}", found, _rebuild())


def build_selftest() -> None:
    """Builds the ABI self-test if this is a checkout that has none, which takes half a minute; says so on stderr.

    If it does not build, the row of the ABI self-test reports that it is missing.
    """
    if not _in_checkout() or (resources.library_dir() / LIBRARY).is_file():
        return
    click.echo("triton-ext: building the ABI self-test, once", err=True)
    root = resources.infra_dir().parent
    with contextlib.suppress(TritonExtError):
        build_tree(root, default_build_dir(root), ("selftest",), is_quiet=True)


def abi_selftest() -> Iterator[Row]:
    """Runs the ABI self-test, which compares headers and compiler with libtriton; a row for each disagreement."""
    name, wanted = "ABI self-test", "agreement"
    result = run_selftest()
    if result.problem:
        raise TritonExtError(result.problem, fix=f"{_rebuild()} selftest" if _in_checkout() else _rebuild())
    count = f"{sum(result.checks.values())} checks in {len(result.checks)} groups"
    guarded = f", {len(result.guarded)} known disagreements guarded" if result.guarded else ""
    mend = f"{sdk.INSTALL_COMMAND} --force; {_rebuild()}"
    if result.ok:
        yield Row(name, "ok", wanted, f"{count}{guarded}")
        return
    yield Row(name, "fail", wanted, f"{count}, {len(result.failures)} disagree{guarded}", mend)
    if result.crashed:
        yield Row(name, "fail", "no crash", result.crashed, mend)
    for failure in result.failures[:_MOST_FAILURES]:
        yield Row(name, "fail", "agreement", str(failure), mend)
    if (more := len(result.failures) - _MOST_FAILURES) > 0:
        yield Row(name, "fail", "agreement", f"and {more} more", "triton-ext doctor --json")


def singletons() -> Iterator[Row]:
    """Checks that objects which must exist once per process do; a row for each library with copies."""
    name, wanted = "header objects", "one per process"
    compared = addresses.compare_all()
    wrong = [each for each in compared if each.wrong]
    if not wrong:
        found = f"{sum(each.same for each in compared)} addresses in {len(compared)} libraries are the only ones"
        yield Row(name, "ok", wanted, found)
    for each in wrong:
        # Only a warning for a foreign library, which triton-ext cannot build again.
        state: State = "warn" if each.foreign else "fail"
        found = (
            f"{each.library} ({each.origin}) has copies of its own of {len(each.wrong)}, e.g. {each.wrong[0]}: "
            "passes take effects of its operations for independent of all others"
        )
        fix = f"link it as in {short(resources.infra_dir() / 'cmake')}" if each.foreign else _mend(Path(each.library))
        yield Row(name, state, wanted, found, fix)


def extensions() -> Iterator[Row]:
    """Returns a row for each extension that is found."""
    from ..loading import discovery

    for found in discovery.extensions():
        what = " ".join(filter(None, (found.kind, found.stage, found.version)))
        state: State = "fail" if found.problem else "ok"
        text = found.problem or f"{what} ({found.origin})"
        yield Row(f"extension {found.name}", state, "usable", text, _mend(found.path) if found.problem else "")


# The rows about building. For a user of the wheel they are warnings.
_TO_BUILD = ("Triton's headers", "SDK", "SDK's downloads", "LLVM", "ABI checks", "compiler", "CMake", "Ninja")
_CHECKS: dict[str, Callable[[], Row | Iterator[Row]]] = {
    "Python": python,
    "Triton": triton,
    "Triton's headers": headers,
    "SDK": sdk_installed,
    "SDK's downloads": sdk_downloads,
    "LLVM": llvm_commit,
    "ABI checks": abi_flag,
    "compiler": compiler,
    "CMake": cmake,
    "Ninja": ninja,
    "infra library": infra_library,
    "ABI self-test": abi_selftest,
    "header objects": singletons,
    "extensions": extensions,
}


def _rows(name: str, check: Callable[[], Row | Iterator[Row]]) -> list[Row]:
    """Returns the rows of `check`; an exception becomes a failing row."""
    try:
        found = check()
        rows = [found] if isinstance(found, Row) else list(found)
    except TritonExtError as error:
        rows = [Row(name, "fail", "", error.message, error.fix or "triton-ext --debug doctor")]
    except Exception as error:
        rows = [Row(name, "fail", "", f"{type(error).__name__}: {error}", "triton-ext --debug doctor")]
    if name in _TO_BUILD and not _in_checkout():
        rows = [replace(row, state="warn", wanted="to build") if row.state == "fail" else row for row in rows]
    return rows


def _rebuild() -> str:
    """Returns the command that makes the libraries of this installation anew."""
    return "triton-ext build" if _in_checkout() else "pip install --force-reinstall triton-ext"


def _in_checkout() -> bool:
    return resources.infra_dir().parent.joinpath("CMakeLists.txt").is_file()


def _mend(library: Path) -> str:
    return _rebuild() if library.is_relative_to(resources.PACKAGE_DIR) else f"rebuild or remove {library}"


def _which(command: str) -> str | None:
    """Returns the program that `command` runs, except a compiler cache; this virtual environment is searched first."""
    words = [word for word in shlex.split(command) if Path(word).name not in ("ccache", "sccache")]
    return find_tool(words[0]) if words else None


def _first_line(command: list[str]) -> str:
    """Returns the first line that `command --version` prints."""
    result = subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=20, check=False)
    lines = (result.stdout or result.stderr).splitlines()
    return lines[0].strip() if lines else "does not print its version"
