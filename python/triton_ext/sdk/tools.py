# SPDX-License-Identifier: Apache-2.0
"""Installs programs of stock MLIR, such as ``mlir-opt``, which run an MLIR other than libtriton's in their own process.

A tool is a directory beside the SDKs, complete or absent. It runs with the C library that it was linked to and not with
the system's, so that it behaves the same on every machine.
"""

from __future__ import annotations

import json
import platform
import shutil
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import BuildError
from ..loading.host import find_triton
from ..support.json_shape import fits, parsed
from ..support.lock import alone
from ..support.storage import needed_cache_dir, private_dir, read_private, write_whole
from . import INSTALL_COMMAND, problem_of, program_files, sdk_root
from .archive import Select, libraries, unpack
from .debian import connect, fetch_package
from .debian_release import MIRROR_ENV
from .download import Say, file_sha256
from .install_steps import WAITING, check_space, complete_or_absent, runs, storage_errors, to_stderr, write_wrapper
from .source_file import load_source_list
from .sources import Runtime, SourceUnavailableError, ToolSource, contents
from .trust import Trust

_CHECK_NETWORK = f"check network and proxy, or set {MIRROR_ENV} to a Debian mirror"


def find_tool(id_: str) -> Path | None:
    """Returns the installed program `id_`.

    Returns None if it is not installed, was made from other packages than those of today, or was changed since.

    Raises:
        BuildError: there is no such tool.
    """
    source = load_source_list().tool(id_)
    return _target(source) / "bin" / source.id if _is_current(source) and _problem(source) is None else None


def _is_current(source: ToolSource) -> bool:
    return bool(_recorded(source).made_from == _description(source))


def _problem(source: ToolSource) -> str | None:
    """Returns why the installed tool must not run; None if all of its files are as installed."""
    return problem_of(_target(source), _recorded(source).programs, program_files, f"bin/{source.id}")


def find_unverified(id_: str) -> tuple[str, ...]:
    """Returns the unverified downloads of the installed program `id_`, with the reason, one line each."""
    return _recorded(load_source_list().tool(id_)).unverified


class _Record(NamedTuple):
    """The content of ``tool.json``.

    Attributes:
        made_from: the description of the packages that the tool was made from.
        unverified: the downloads that nothing has verified, with the reason, one line each.
        programs: SHA-256 of each program, by its path.
    """

    made_from: object = None
    unverified: tuple[str, ...] = ()
    programs: dict[str, str] = {}  # noqa: RUF012 - it is not changed


def _recorded(source: ToolSource) -> _Record:
    """Reads the record of the installed tool; it is empty if there is no tool, or one of an older triton-ext."""
    made_from = parsed(read_private(_target(source) / "tool.json"), dict) or {}
    unverified, programs = made_from.pop("unverified", []), made_from.pop("programs", None)
    if not fits(unverified, [str]) or not fits(programs, {str: str}):
        return _Record()
    return _Record(made_from, tuple(unverified), programs)


def install_tool(id_: str, *, force: bool = False, unverified: bool = False, say: Say | None = None) -> Path:
    """Installs the program `id_`; does nothing if it is there and `force` is false.

    Args:
        id_: name of the program.
        force: install again, even if it is installed.
        unverified: also use downloads that neither a pinned hash nor a signature verifies; the record lists them.
        say: is called with one line of news; by default news go to stderr.

    Returns:
        The path of the program.

    Raises:
        BuildError: there is no such tool, or it does not run on this machine.
        SourceUnavailableError: a package cannot be downloaded.
        TritonExtError: Triton is not installed, or plugins cannot be built for it.
    """
    source_list, say = load_source_list(), say or to_stderr
    source, triton = source_list.tool(id_), find_triton()
    if source.llvm_commits and triton.llvm_commit not in source.llvm_commits:
        raise BuildError(f"{id_} was not checked against LLVM {triton.llvm_commit[:8]}", fix="upgrade triton-ext")
    if source.arch != platform.machine():
        raise BuildError(f"{id_} is for {source.arch}, this machine is {platform.machine()}", fix="use another machine")
    target = _target(source)
    downloads = needed_cache_dir(INSTALL_COMMAND) / "downloads" / target.name
    with storage_errors(target.parent):
        private_dir(target.parent)
        with alone(Path(f"{target}.lock"), say, WAITING):
            if _is_current(source) and not force:
                if (problem := _problem(source)) is None:
                    return target / "bin" / id_
                say(f"the program in {target} is made anew: {problem}")
            check_space(target.parent, source.download_mb)
            private_dir(downloads)
            say(f"installing {id_} of LLVM {source.llvm_version}")
            try:
                with complete_or_absent(target) as staging:
                    _fill(staging, source, source_list.runtime, downloads, Trust(unverified, say))
            except SourceUnavailableError as error:
                raise SourceUnavailableError(error.message, fix=error.fix or _CHECK_NETWORK) from None
            shutil.rmtree(downloads)
    return target / "bin" / id_


def _target(source: ToolSource) -> Path:
    triton = find_triton()
    return sdk_root() / f"{triton.version}-{triton.llvm_commit[:8]}-{source.id}"


def _description(source: ToolSource) -> Any:
    """Returns what a tool is made from, as it reads back from JSON."""
    return json.loads(json.dumps(contents(source)))


def _program(name: str) -> Select:
    """Returns a selection for `unpack` that puts the program `name` into ``runtime``."""
    return lambda member: f"runtime/{name}" if member.endswith(f"/bin/{name}") else None


def _fill(staging: Path, source: ToolSource, runtime: Runtime, downloads: Path, trust: Trust) -> None:
    """Puts the program, its libraries and a C library into `staging`, and writes a script that runs them together."""
    base = connect(trust.say)
    wanted = (*source.libraries, *runtime.libraries)
    for package in (*source.packages, *source.library_packages, *runtime.packages):
        file, _ = fetch_package(package, base, downloads, trust)
        program = package.name == source.program_package
        select = _program(source.id) if program else libraries(wanted)
        unpack(file, staging, select, verified=True, most=1 if program else None)
    for name in (source.id, *source.libraries):
        if not (staging / "runtime" / name).is_file():
            raise BuildError(f"the packages of {source.id} have no '{name}'", fix="upgrade triton-ext")
    for path in (staging / "runtime").iterdir():
        if path.name not in (*wanted, source.id):
            path.unlink()
    script = staging / "bin" / source.id
    script.parent.mkdir()
    write_wrapper(script, runtime.loader)
    if not runs(script):
        raise BuildError(f"{source.id} does not run on this machine", fix="triton-ext doctor")
    programs = {name: file_sha256(staging / name) for name in program_files(staging)}
    record = _description(source) | {"unverified": trust.unverified, "programs": programs}
    write_whole(staging / "tool.json", (json.dumps(record, indent=2) + "\n").encode(), mode=0o600)
