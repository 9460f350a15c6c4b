# SPDX-License-Identifier: Apache-2.0
"""Programs of stock MLIR, such as ``mlir-opt``: an MLIR that is not libtriton's, as a process of its own.

A tool is a directory beside the SDKs, complete or absent. It runs on the C library that it was linked to, whatever
the system's, so that it is the same everywhere.
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
from ._install import WAITING, _check_space, _runs, _staging, _storage_errors, _to_stderr
from .archive import Select, libraries, unpack
from .debian import MIRROR_ENV, connect, fetch_package
from .download import Say, file_sha256
from .sources import Runtime, SourceUnavailableError, ToolSource, contents, load_manifest
from .trust import Trust

_CHECK_NETWORK = f"check network and proxy, or set {MIRROR_ENV} to a Debian mirror"
_WRAPPER = """\
#!/bin/sh
# Runs {name} on the C library that it was linked to.
runtime=$(dirname -- "$(readlink -f -- "$0")")/../runtime
exec "$runtime/{loader}" --library-path "$runtime" "$runtime/{name}" "$@"
"""


def find_tool(id_: str) -> Path | None:
    """The installed program `id_`, None if there is none, another would be installed today, or it was changed."""
    source = load_manifest().tool(id_)
    return _target(source) / "bin" / source.id if _is_current(source) and _problem(source) is None else None


def _is_current(source: ToolSource) -> bool:
    return bool(_recorded(source).made_from == _description(source))


def _problem(source: ToolSource) -> str | None:
    """Why the installed tool may not run: a file of it is not what was installed."""
    return problem_of(_target(source), _recorded(source).programs, program_files, f"bin/{source.id}")


def find_unverified(id_: str) -> tuple[str, ...]:
    """What of the installed program `id_` nothing has verified, and why; one line each."""
    return _recorded(load_manifest().tool(id_)).unverified


class _Record(NamedTuple):
    """What ``tool.json`` says: what the tool was made from, what nothing has verified, the SHA-256 of each program."""

    made_from: object = None
    unverified: tuple[str, ...] = ()
    programs: dict[str, str] = {}  # noqa: RUF012 - nobody changes it


def _recorded(source: ToolSource) -> _Record:
    """What is recorded of the installed tool; an empty record if there is none, or one of an older triton-ext."""
    made_from = parsed(read_private(_target(source) / "tool.json"), dict) or {}
    unverified, programs = made_from.pop("unverified", []), made_from.pop("programs", None)
    if not fits(unverified, [str]) or not fits(programs, {str: str}):
        return _Record()
    return _Record(made_from, tuple(unverified), programs)


def install_tool(id_: str, *, force: bool = False, unverified: bool = False, say: Say | None = None) -> Path:
    """Installs the program `id_`; does nothing if it is there and `force` is false.

    Args:
        id_: name of the program.
        force: install again what is installed already.
        unverified: also install what neither a pinned hash nor a signature verifies; the record of it says so.
        say: called with one line of news; by default news go to stderr.

    Returns:
        The program.

    Raises:
        BuildError: there is no such tool, or it cannot be had; `SourceUnavailableError` where the network is to blame.
        TritonExtError: no Triton, or one that plugins cannot be built for.
    """
    manifest, say = load_manifest(), say or _to_stderr
    source, triton = manifest.tool(id_), find_triton()
    if source.llvm_commits and triton.llvm_commit not in source.llvm_commits:
        raise BuildError(f"{id_} was not checked against LLVM {triton.llvm_commit[:8]}", fix="upgrade triton-ext")
    if source.arch != platform.machine():
        raise BuildError(f"{id_} is for {source.arch}, this machine is {platform.machine()}", fix="use another machine")
    target = _target(source)
    downloads = needed_cache_dir(INSTALL_COMMAND) / "downloads" / target.name
    with _storage_errors(target.parent):
        private_dir(target.parent)
        with alone(Path(f"{target}.lock"), say, WAITING):
            if _is_current(source) and not force:
                if (problem := _problem(source)) is None:
                    return target / "bin" / id_
                say(f"the program in {target} is made anew: {problem}")
            _check_space(target.parent, source.download_mb)
            private_dir(downloads)
            say(f"installing {id_} of LLVM {source.llvm_version}")
            try:
                with _staging(target) as staging:
                    _fill(staging, source, manifest.runtime, downloads, Trust(unverified, say))
            except SourceUnavailableError as error:
                raise SourceUnavailableError(error.message, fix=error.fix or _CHECK_NETWORK) from None
            shutil.rmtree(downloads)
    return target / "bin" / id_


def _target(source: ToolSource) -> Path:
    triton = find_triton()
    return sdk_root() / f"{triton.version}-{triton.llvm_commit[:8]}-{source.id}"


def _description(source: ToolSource) -> Any:
    """What an installed tool was made from, as JSON reads it back."""
    return json.loads(json.dumps(contents(source)))


def _program(name: str) -> Select:
    """A selection for `unpack`: the program `name`, in ``runtime``."""
    return lambda member: f"runtime/{name}" if member.endswith(f"/bin/{name}") else None


def _fill(staging: Path, source: ToolSource, runtime: Runtime, downloads: Path, trust: Trust) -> None:
    """Puts program, libraries and C library into `staging`, and a script that brings them together."""
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
    script.write_text(_WRAPPER.format(name=source.id, loader=runtime.loader))
    script.chmod(0o755)
    if not _runs(script):
        raise BuildError(f"{source.id} does not run on this machine", fix="triton-ext doctor")
    programs = {name: file_sha256(staging / name) for name in program_files(staging)}
    record = _description(source) | {"unverified": trust.unverified, "programs": programs}
    write_whole(staging / "tool.json", (json.dumps(record, indent=2) + "\n").encode(), mode=0o600)
