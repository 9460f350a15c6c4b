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
from dataclasses import dataclass
from pathlib import Path

from ..errors import BuildError
from ..loading.host import Triton, find_triton
from ..support.lock import alone
from ..support.resources import infra_dir
from ..support.storage import flush, needed_cache_dir, private_dir, settle
from . import INSTALL_COMMAND, USER_ENV, Sdk, find, program_files, sdk_root
from .archive import Select, libraries, sdk_files, unpack
from .debian import MIRROR_ENV, connect, fetch_package
from .download import Say, fetch, file_sha256
from .headers import apply_guards, llvm_commit, llvm_version, write_overlay
from .sources import Manifest, Package, Source, SourceUnavailableError, load_manifest
from .trust import Trust, checked_address

_INSTALLED_MB = 200
WAITING = "another process is installing this SDK, waiting for it"
_LARGER_DISK = f"free some space, or XDG_CACHE_HOME=/a/larger/disk {INSTALL_COMMAND}"
_CHECK_NETWORK = (
    f"check network and proxy, set {MIRROR_ENV} to a Debian mirror, or {INSTALL_COMMAND} --from DIR|ARCHIVE"
)
_OTHER_SOURCE = f"{INSTALL_COMMAND} without --source"
_NEEDED = ("include/mlir/IR/BuiltinOps.h", "include/llvm/Config/llvm-config.h", "bin/mlir-tblgen")
_WRAPPER = """\
#!/bin/sh
# Runs mlir-tblgen on the C library that it was linked to, which is newer than this system's.
runtime=$(dirname -- "$(readlink -f -- "$0")")/../runtime
exec "$runtime/{loader}" --library-path "$runtime" "$runtime/mlir-tblgen" "$@"
"""


def install(from_: str | None, source: str | None, force: bool, say: Say | None, unverified: bool) -> Sdk:
    """See `triton_ext.sdk.install`."""
    say = say or _to_stderr
    triton, manifest = find_triton(), load_manifest()
    named = from_ or (os.environ.get(USER_ENV) if source in (None, "user") else None)
    if named and source not in (None, "user"):
        raise BuildError(f"--from and --source {source} name two sources", fix=f"{INSTALL_COMMAND} --from {from_}")
    if source == "user" and not named:
        raise BuildError("the source 'user' needs a place", fix=f"{INSTALL_COMMAND} --from DIR|ARCHIVE")
    if named or source:
        chosen = manifest.source(source or "user")
        try:
            origin = _user_origin(named) if named else None
            return _Installer(chosen, triton, manifest, Trust(unverified, say), origin).run(force)
        except SourceUnavailableError as error:
            raise BuildError(f"{chosen.id} cannot be used: {error.message}", fix=error.fix or _CHECK_NETWORK) from None
    if not force and (found := find()):
        return found
    failures, fix = [], None
    for candidate in manifest.sources:
        if not candidate.automatic:
            continue
        try:
            return _Installer(candidate, triton, manifest, Trust(unverified, say)).run(force)
        except SourceUnavailableError as error:
            failures.append(f"{candidate.id}: {error.message}")
            fix = error.fix
            say(f"{candidate.id} cannot be used ({error}), going on to the next source")
    raise BuildError(
        f"no source of headers for LLVM {triton.llvm_commit[:8]} can be used: {'; '.join(failures)}",
        fix=fix or _CHECK_NETWORK,
    )


@dataclass(frozen=True)
class _Installer:
    """One attempt to install from one source."""

    source: Source
    triton: Triton
    manifest: Manifest
    trust: Trust
    origin: Path | None = None

    @property
    def say(self) -> Say:
        """Where news go."""
        return self.trust.say

    @property
    def target(self) -> Path:
        """The directory that the SDK will have."""
        return sdk_root() / f"{self.triton.version}-{self.triton.llvm_commit[:8]}-{self.source.id}"

    @property
    def downloads(self) -> Path:
        """Where downloads wait until the SDK is installed; one per target, so that its lock covers them."""
        return needed_cache_dir(INSTALL_COMMAND) / "downloads" / self.target.name

    @property
    def stamp(self) -> str:
        """What tells one user-named install from another."""
        return f"{self.origin}@{self.origin.stat().st_mtime_ns}" if self.origin else ""

    def run(self, force: bool) -> Sdk:
        """Installs, unless it is there already and `force` is false."""
        if self.source.arch and self.source.arch != platform.machine():
            raise SourceUnavailableError(f"it is for {self.source.arch}, this machine is {platform.machine()}")
        if self.source.llvm_commits and self.triton.llvm_commit not in self.source.llvm_commits:
            raise SourceUnavailableError(f"it was not checked against LLVM {self.triton.llvm_commit[:8]}")
        root = self.target.parent
        with _storage_errors(root):
            private_dir(root)
            with alone(Path(f"{self.target}.lock"), self.say, WAITING):
                present = Sdk.load(self.target)
                if present and present.fits(self.triton) and present.origin == self.stamp and not force:
                    if present.problem is None:
                        return present
                    self.say(f"the SDK in {self.target} is made anew: {present.problem}")
                _check_space(root, self.source.download_mb)
                private_dir(self.downloads)
                try:
                    with _staging(self.target) as staging:
                        self.say(f"installing the SDK for Triton {self.triton.version} from {self._place}")
                        sdk = self._finish(staging, self._unpack(staging))
                    shutil.rmtree(self.downloads)
                except BuildError as error:
                    # Nobody knows the hash of an archive, so a bad one would be bad again the next time.
                    if self.source.kind == "archive" and not isinstance(error, SourceUnavailableError):
                        shutil.rmtree(self.downloads)
                    raise
                finally:
                    # Only if it is empty: a .part file is what the next install resumes from.
                    with contextlib.suppress(OSError):
                        self.downloads.rmdir()
        return sdk

    @property
    def _place(self) -> str:
        return str(self.origin or self.source.id)

    def _unpack(self, staging: Path) -> dict[str, str]:
        """Fills `staging` with headers and mlir-tblgen; returns file name and hash of what was downloaded."""
        select = sdk_files(self.manifest.prune)
        if self.origin is not None:
            unpack(self.origin, staging, select, verified=False)
            return {}
        if self.source.kind == "archive":
            base = checked_address(os.environ.get(self.source.base_env, self.source.base), self.source.base_env)
            url = f"{base}/{self.source.path.format(llvm8=self.triton.llvm_commit[:8])}"
            self.trust.accept(url.rpartition("/")[2], "nobody has published its hash")
            archive = fetch(url, self.downloads, sha256=None, most=self.source.download_mb * 2_000_000, say=self.say)
            unpack(archive, staging, select, verified=False)
            return {archive.name: file_sha256(archive)}
        return self._unpack_packages(self.source.packages, staging, select)

    def _unpack_packages(self, packages: tuple[Package, ...], staging: Path, select: Select) -> dict[str, str]:
        base, hashes = connect(self.say), {}
        for wanted in packages:
            file, package = fetch_package(wanted, base, self.downloads, self.trust)
            unpack(file, staging, select, verified=True)
            hashes[file.name] = package.sha256
        return hashes

    def _finish(self, staging: Path, packages: dict[str, str]) -> Sdk:
        """Checks and adapts what `staging` holds and describes it in ``sdk.json``."""
        if missing := [name for name in _NEEDED if not (staging / name).is_file()]:
            raise BuildError(
                f"{self._place} is no LLVM install with MLIR: it has no {', '.join(missing)}",
                fix=f"{INSTALL_COMMAND} --from DIR|ARCHIVE with include/mlir, include/llvm and bin/mlir-tblgen",
            )
        include = staging / "include"
        version, commit = self._check_version(include), self._check_commit(include)
        if not (include / "llvm-c").is_dir():
            self.say("include/llvm-c, which LLVM's headers refer to, is missing: using triton-ext's stand-ins")
            shutil.copytree(infra_dir() / "sdk" / "llvm-c", include / "llvm-c")
        write_overlay(staging, self.triton.abi_breaking_checks)
        guarded = apply_guards(include, self.manifest.guards, version)
        if not _runs(staging / "bin" / "mlir-tblgen"):
            packages = packages | self._add_runtime(staging)
        sdk = Sdk(
            path=self.target,
            source=self.source.id,
            rank=self.source.rank,
            origin=self.stamp,
            triton=self.triton.version,
            llvm_commit=self.triton.llvm_commit,
            llvm_version=version,
            headers_commit=commit,
            abi_breaking_checks=self.triton.abi_breaking_checks,
            guarded_ops=tuple(guarded),
            packages=packages,
            programs={name: file_sha256(staging / name) for name in program_files(staging)},
            unverified=tuple(self.trust.unverified),
            runtime=(staging / "runtime").is_dir(),
            size=_disk_usage(staging),
        )
        sdk.save(staging)
        return sdk

    def _check_version(self, include: Path) -> str:
        """The version of the headers, which must be the one that the source promises."""
        version = llvm_version(include) or "of no stated version"
        wanted = self.source.llvm_version or self.triton.llvm_version.partition(".")[0]
        if not f"{version}.".startswith(f"{wanted}."):
            raise BuildError(
                f"the headers of {self._place} are of LLVM {version}, Triton {self.triton.version} needs LLVM {wanted}",
                fix=f"env -u {USER_ENV} {INSTALL_COMMAND}",
            )
        return version

    def _check_commit(self, include: Path) -> str | None:
        """The commit of the headers if it is known; one that is not libtriton's may do where a user named it."""
        commit, wanted = llvm_commit(include), self.triton.llvm_commit
        if commit is None:
            return self.source.headers_commit or None
        if commit != wanted and self.source.kind == "archive":
            raise BuildError(f"{self._place} holds LLVM {commit}, libtriton was built from {wanted}", fix=_OTHER_SOURCE)
        if commit != wanted:
            self.say(f"these headers are of LLVM {commit[:8]}, libtriton of {wanted[:8]}: check with triton-ext doctor")
        return commit

    def _add_runtime(self, staging: Path) -> dict[str, str]:
        """Gives mlir-tblgen its own C library, and a script of its name that uses it."""
        self.say("mlir-tblgen needs a newer C library than this system's: adding one to the SDK")
        runtime, tool = self.manifest.runtime, staging / "bin" / "mlir-tblgen"
        packages = self._unpack_packages(runtime.packages, staging, libraries(runtime.libraries))
        for path in (staging / "runtime").iterdir():
            if path.name not in runtime.libraries:
                path.unlink()
        tool.rename(staging / "runtime" / tool.name)
        tool.write_text(_WRAPPER.format(loader=runtime.loader))
        tool.chmod(0o755)
        if not _runs(tool):
            raise BuildError(f"mlir-tblgen of {self._place} runs on no C library that can be had", fix=_OTHER_SOURCE)
        return packages


def _runs(tool: Path) -> bool:
    try:
        return subprocess.run([tool, "--version"], capture_output=True, check=False, timeout=60).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _user_origin(named: str) -> Path:
    origin = Path(named).expanduser().resolve()
    if not os.access(origin, os.R_OK):
        raise BuildError(
            f"{named} does not exist or cannot be read",
            fix=f"{INSTALL_COMMAND} --from DIR|ARCHIVE, or unset {USER_ENV}",
        )
    return origin


@contextlib.contextmanager
def _staging(target: Path) -> Iterator[Path]:
    """A fresh directory that becomes `target` if the body succeeds and vanishes if it does not."""
    staging, old = (target.with_name(f".{target.name}.{suffix}") for suffix in ("new", "old"))
    for stale in (staging, old):
        shutil.rmtree(stale, ignore_errors=True)
    try:
        staging.mkdir(0o700)  # not what waits there, such as a link
        yield staging
        settle(staging)
        if target.exists():
            target.rename(old)
        staging.rename(target)
        flush(target.parent)
    finally:
        for stale in (staging, old):
            shutil.rmtree(stale, ignore_errors=True)


def _check_space(root: Path, download_mb: int) -> None:
    needed, free = (download_mb + _INSTALLED_MB) * 1_000_000, shutil.disk_usage(root).free
    if free < needed:
        # Another source may need less.
        raise SourceUnavailableError(
            f"the disk of {root} is full: {free / 1e6:.0f} MB are free, {needed / 1e6:.0f} MB are needed",
            fix=_LARGER_DISK,
        )


@contextlib.contextmanager
def _storage_errors(root: Path) -> Iterator[None]:
    """Says in one line what is wrong with the cache directory."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise BuildError(
                f"installing into {root} failed: this process may not write files of that size",
                fix="ulimit -f unlimited",
            ) from None
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise BuildError(f"the disk of {root} is full: {error.strerror}", fix=_LARGER_DISK) from None
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST):
            raise BuildError(
                f"the cache directory {root} cannot be written: {error.strerror}",
                fix=f"XDG_CACHE_HOME=/a/writable/directory {INSTALL_COMMAND}",
            ) from None
        raise BuildError(f"installing into {root} failed: {error}", fix=INSTALL_COMMAND) from None


def _disk_usage(root: Path) -> int:
    """Bytes that the files below `root` take on disk, as ``du`` counts them."""
    return sum(path.lstat().st_blocks * 512 for path in (root, *root.rglob("*")))


def _to_stderr(line: str) -> None:
    print(line, file=sys.stderr)
