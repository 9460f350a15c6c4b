# SPDX-License-Identifier: Apache-2.0
"""Installs an SDK: picks a source, downloads, unpacks, adapts, and only then gives the result its name.

Everything happens in one temporary directory beside the target, under a lock per target. Whatever stops it,
an error, Ctrl-C or the power, the target is either complete or absent. Nothing outside the user's cache is written.
"""

from __future__ import annotations

import contextlib
import errno
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from .._resources import cache_dir, infra_dir
from ..errors import BuildError
from ..host import Triton, find_triton
from . import INSTALL_COMMAND, Sdk, find, sdk_root
from .archive import libraries, sdk_files, unpack
from .debian import MIRROR_ENV, fetch_package
from .download import Say, fetch, file_sha256
from .headers import apply_guards, llvm_commit, llvm_version, write_overlay
from .sources import Manifest, Source, SourceUnavailableError, load_manifest

USER_ENV = "TRITON_EXT_LLVM_DIR"
_INSTALLED_MB = 200
_NEEDED = ("include/mlir/IR/BuiltinOps.h", "include/llvm/Config/llvm-config.h", "bin/mlir-tblgen")
_WRAPPER = """\
#!/bin/sh
# Runs mlir-tblgen on the C library that it was linked to, which is newer than this system's.
runtime=$(dirname -- "$(readlink -f -- "$0")")/../runtime
exec "$runtime/{loader}" --library-path "$runtime" "$runtime/mlir-tblgen" "$@"
"""


def install(from_: str | None, source: str | None, force: bool, say: Say | None) -> Sdk:
    """See `triton_ext.sdk.install`."""
    say = say or _to_stderr
    triton, manifest = find_triton(), load_manifest()
    named = from_ or (os.environ.get(USER_ENV) if source in (None, "user") else None)
    if named:
        if source not in (None, "user"):
            raise BuildError(
                f"--from names the source, so it cannot be '{source}'", fix=f"{INSTALL_COMMAND} --from {from_}"
            )
        return _install_source(manifest.source("user"), triton, manifest, force, say, _user_origin(named))
    if source is not None:
        chosen = manifest.source(source)
        if chosen.kind == "user":
            raise BuildError("the source 'user' needs a place", fix=f"{INSTALL_COMMAND} --from DIR|ARCHIVE")
        return _install_source(chosen, triton, manifest, force, say)
    if not force and (found := find()):
        return found
    failures = []
    for candidate in manifest.sources:
        if candidate.kind == "user":
            continue
        try:
            return _install_source(candidate, triton, manifest, force, say)
        except SourceUnavailableError as error:
            failures.append(f"{candidate.id}: {error.message}")
            say(f"{candidate.id} cannot be used ({error}), going on to the next source")
    raise BuildError(
        f"no source of headers for LLVM {triton.llvm_commit[:8]} can be used: " + "; ".join(failures),
        fix=f"check the network and its proxy, set {MIRROR_ENV} to a Debian mirror, or {INSTALL_COMMAND} --from DIR|ARCHIVE",
    )


def _install_source(
    source: Source, triton: Triton, manifest: Manifest, force: bool, say: Say, origin: Path | None = None
) -> Sdk:
    """Installs from `source` alone."""
    if source.arch and source.arch != platform.machine():
        raise SourceUnavailableError(f"it is for {source.arch}, this machine is {platform.machine()}")
    if source.llvm_commits and triton.llvm_commit not in source.llvm_commits:
        raise SourceUnavailableError(f"it was not checked against LLVM {triton.llvm_commit[:8]}")
    target = sdk_root() / f"{triton.version}-{triton.llvm_commit[:8]}-{source.id}"
    stamp = f"{origin}@{origin.stat().st_mtime_ns}" if origin else ""
    with _storage_errors(target.parent):
        target.parent.mkdir(parents=True, exist_ok=True)
        with _locked(target, say):
            present = Sdk.load(target)
            if present and present.fits(triton) and present.origin == stamp and not force:
                return present
            _check_space(target.parent, source)
            with _staging(target) as staging:
                say(f"installing the SDK for Triton {triton.version} from {origin or source.id}")
                packages = _unpack_source(source, triton, manifest, origin, target, staging, say)
                sdk = _finish(source, triton, manifest, stamp, target, staging, packages, say)
            shutil.rmtree(_downloads(target), ignore_errors=True)
    return sdk


def _unpack_source(
    source: Source, triton: Triton, manifest: Manifest, origin: Path | None, target: Path, staging: Path, say: Say
) -> dict[str, str]:
    """Fills `staging` with headers and mlir-tblgen; returns file name and hash of what was downloaded."""
    select = sdk_files(manifest.prune)
    if origin is not None:
        unpack(origin, staging, select)
        return {}
    downloads = _downloads(target)
    downloads.mkdir(parents=True, exist_ok=True)
    if source.kind == "archive":
        base = os.environ.get(source.base_env, source.base).rstrip("/")
        archive = fetch(f"{base}/{source.path.format(llvm8=triton.llvm_commit[:8])}", downloads, sha256=None, say=say)
        unpack(archive, staging, select)
        return {archive.name: file_sha256(archive)}
    packages = {}
    for wanted in source.packages:
        file, package = fetch_package(wanted, downloads, say)
        unpack(file, staging, select)
        packages[file.name] = package.sha256
    return packages


def _finish(
    source: Source,
    triton: Triton,
    manifest: Manifest,
    stamp: str,
    target: Path,
    staging: Path,
    packages: dict[str, str],
    say: Say,
) -> Sdk:
    """Checks and adapts what `staging` holds and describes it in ``sdk.json``."""
    missing = [name for name in _NEEDED if not (staging / name).is_file()]
    if missing:
        raise BuildError(
            f"{stamp.rpartition('@')[0] or source.id} is no LLVM install with MLIR: it has no {', '.join(missing)}",
            fix=f"{INSTALL_COMMAND} --from DIR|ARCHIVE with include/mlir, include/llvm and bin/mlir-tblgen",
        )
    include = staging / "include"
    version = _check_version(source, triton, include)
    commit = llvm_commit(include) or source.headers_commit or None
    if commit and source.kind == "archive" and not triton.llvm_commit.startswith(commit):
        raise BuildError(f"{source.id} holds LLVM {commit}, libtriton was built from {triton.llvm_commit}")
    if commit and source.kind == "user" and not triton.llvm_commit.startswith(commit):
        say(
            f"these headers are of LLVM {commit[:12]}, libtriton was built from {triton.llvm_commit[:12]}: run triton-ext doctor"
        )
    if not (include / "llvm-c").is_dir():
        say("there is no include/llvm-c, which LLVM's headers refer to: using triton-ext's stand-ins")
        shutil.copytree(infra_dir() / "sdk" / "llvm-c", include / "llvm-c")
    write_overlay(staging, triton.abi_breaking_checks)
    guarded = apply_guards(include, manifest.guards, version)
    if not _runs(staging / "bin" / "mlir-tblgen"):
        packages = packages | _add_runtime(manifest, target, staging, say)
    sdk = Sdk(
        path=target,
        source=source.id,
        rank=source.rank,
        origin=stamp,
        triton=triton.version,
        llvm_commit=triton.llvm_commit,
        llvm_version=version,
        headers_commit=commit,
        abi_breaking_checks=triton.abi_breaking_checks,
        guarded_ops=tuple(guarded),
        packages=packages,
        runtime=(staging / "runtime").is_dir(),
        size=_disk_usage(staging),
    )
    sdk.save(staging)
    return sdk


def _check_version(source: Source, triton: Triton, include: Path) -> str:
    """The version of the headers, which must be the one that the source promises."""
    version = llvm_version(include) or "of no stated version"
    wanted = source.llvm_version or triton.llvm_version.partition(".")[0]
    if not f"{version}.".startswith(f"{wanted}."):
        raise BuildError(
            f"these headers are of LLVM {version}, Triton {triton.version} needs LLVM {wanted}", fix=INSTALL_COMMAND
        )
    return version


def _add_runtime(manifest: Manifest, target: Path, staging: Path, say: Say) -> dict[str, str]:
    """Gives mlir-tblgen its own C library, and a script of its name that uses it."""
    say("mlir-tblgen needs a newer C library than this system's: adding one to the SDK")
    downloads, packages = _downloads(target), {}
    downloads.mkdir(parents=True, exist_ok=True)
    for wanted in manifest.runtime.packages:
        file, package = fetch_package(wanted, downloads, say)
        unpack(file, staging, libraries(manifest.runtime.libraries))
        packages[file.name] = package.sha256
    for path in (staging / "runtime").iterdir():
        if path.name not in manifest.runtime.libraries:
            path.unlink()
    tool = staging / "bin" / "mlir-tblgen"
    tool.rename(staging / "runtime" / tool.name)
    tool.write_text(_WRAPPER.format(loader=manifest.runtime.loader))
    tool.chmod(0o755)
    if not _runs(tool):
        raise BuildError(
            "mlir-tblgen does not run, not even on a newer C library", fix=f"{INSTALL_COMMAND} --from DIR|ARCHIVE"
        )
    return packages


def _runs(tool: Path) -> bool:
    try:
        return subprocess.run([tool, "--version"], capture_output=True, check=False, timeout=60).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _user_origin(named: str) -> Path:
    origin = Path(named).expanduser().resolve()
    if not origin.exists():
        raise BuildError(f"{named} does not exist", fix=f"{INSTALL_COMMAND} --from DIR|ARCHIVE, or unset {USER_ENV}")
    return origin


def _downloads(target: Path) -> Path:
    """Where the downloads for `target` wait until it is installed; one per target, so that locks cover them."""
    return cache_dir() / "downloads" / target.name


@contextlib.contextmanager
def _locked(target: Path, say: Say) -> Iterator[None]:
    """Holds the lock of `target`, waiting for another process that has it."""
    lock = FileLock(f"{target}.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        say("another process is installing this SDK, waiting for it")
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


@contextlib.contextmanager
def _staging(target: Path) -> Iterator[Path]:
    """A fresh directory that becomes `target` if the body succeeds and vanishes if it does not."""
    staging, old = (target.with_name(f".{target.name}.{suffix}") for suffix in ("new", "old"))
    for stale in (staging, old):
        shutil.rmtree(stale, ignore_errors=True)
    try:
        staging.mkdir()
        yield staging
        if target.exists():
            target.rename(old)
        staging.rename(target)
    finally:
        for stale in (staging, old):
            shutil.rmtree(stale, ignore_errors=True)


def _check_space(root: Path, source: Source) -> None:
    needed, free = (source.download_mb + _INSTALLED_MB) * 1_000_000, shutil.disk_usage(root).free
    if free < needed:
        raise _full_disk(root, f"{free / 1e6:.0f} MB are free, {needed / 1e6:.0f} MB are needed")


def _full_disk(root: Path, detail: str) -> BuildError:
    return BuildError(
        f"the disk of {root} is full: {detail}",
        fix=f"free some space, or XDG_CACHE_HOME=/a/larger/disk {INSTALL_COMMAND}",
    )


@contextlib.contextmanager
def _storage_errors(root: Path) -> Iterator[None]:
    """Says in one line what is wrong with the cache directory."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise _full_disk(root, error.strerror or "no space left") from None
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST):
            raise BuildError(
                f"the cache directory {root} cannot be written: {error.strerror}",
                fix=f"XDG_CACHE_HOME=/a/writable/directory {INSTALL_COMMAND}",
            ) from None
        raise


def _disk_usage(root: Path) -> int:
    """Bytes that the files below `root` take on disk, as ``du`` counts them."""
    return sum(path.lstat().st_blocks * 512 for path in (root, *root.rglob("*")))


def _to_stderr(line: str) -> None:
    print(line, file=sys.stderr)
