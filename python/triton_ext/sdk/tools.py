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
from typing import Any

from ..errors import BuildError
from ..loading.host import find_triton
from ..support.json_shape import fits, parsed
from ..support.lock import alone
from ..support.storage import is_private_file, needed_cache_dir, private_dir, read_private
from . import INSTALL_COMMAND, program_files, sdk_root
from ._install import WAITING, _check_space, _runs, _staging, _storage_errors, _to_stderr
from .archive import Select, libraries, unpack
from .debian import MIRROR_ENV, connect, fetch_package
from .download import Say
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
    """The installed program `id_`, None if there is none or another would be installed today."""
    source = load_manifest().tool(id_)
    target = _target(source)
    if _recorded(source)[0] != _description(source):
        return None
    # It is about to be run.
    return target / "bin" / source.id if all(is_private_file(target / name) for name in program_files(target)) else None


def find_unverified(id_: str) -> tuple[str, ...]:
    """What of the installed program `id_` nothing has verified, and why; one line each."""
    return _recorded(load_manifest().tool(id_))[1]


def _recorded(source: ToolSource) -> tuple[object, tuple[str, ...]]:
    """What the installed tool was made from, None if there is none; and what of it was not verified."""
    present = parsed(read_private(_target(source) / "tool.json"), dict)
    unverified = present.pop("unverified", []) if present else []
    return (present, tuple(unverified)) if fits(unverified, [str]) else (None, ())


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
            present = find_tool(id_)
            if present is not None and not force:
                return present
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
    (staging / "tool.json").write_text(
        json.dumps(_description(source) | {"unverified": trust.unverified}, indent=2) + "\n"
    )
