# SPDX-License-Identifier: Apache-2.0
"""Installs an SDK: picks a source, downloads, unpacks, adapts, and only then gives the result its name.

All of this happens in one temporary directory beside the target, under a lock per target. If it is stopped by an error,
Ctrl-C or a power loss, the target is either complete or absent. Nothing outside the user's cache is written.
"""

from __future__ import annotations

import contextlib
import os
import platform
import shutil
from dataclasses import dataclass
from pathlib import Path

from ..errors import BuildError
from ..loading.host import Triton, find_triton
from ..support.lock import alone
from ..support.resources import infra_dir
from ..support.storage import needed_cache_dir, private_dir
from . import INSTALL_COMMAND, USER_ENV, Sdk, find, program_files, sdk_root
from .archive import Select, libraries, sdk_files, unpack
from .debian import connect, fetch_package
from .debian_release import MIRROR_ENV
from .download import Say, fetch, file_sha256
from .headers import apply_guards, llvm_commit, llvm_version, write_overlay
from .install_steps import WAITING, check_space, complete_or_absent, runs, storage_errors, to_stderr, write_wrapper
from .source_file import load_source_list
from .sources import Package, Source, SourceList, SourceUnavailableError
from .trust import Trust, checked_address

_CHECK_NETWORK = (
    f"check network and proxy, set {MIRROR_ENV} to a Debian mirror, or {INSTALL_COMMAND} --from DIR|ARCHIVE"
)
_OTHER_SOURCE = f"{INSTALL_COMMAND} without --source"
_NEEDED = ("include/mlir/IR/BuiltinOps.h", "include/llvm/Config/llvm-config.h", "bin/mlir-tblgen")


def install(from_: str | None, source: str | None, force: bool, say: Say | None, unverified: bool) -> Sdk:
    """See `triton_ext.sdk.install`."""
    say = say or to_stderr
    triton, source_list = find_triton(), load_source_list()
    named = from_ or (os.environ.get(USER_ENV) if source in (None, "user") else None)
    if named and source not in (None, "user"):
        raise BuildError(f"--from and --source {source} name two sources", fix=f"{INSTALL_COMMAND} --from {from_}")
    if source == "user" and not named:
        raise BuildError("the source 'user' needs a place", fix=f"{INSTALL_COMMAND} --from DIR|ARCHIVE")
    if named or source:
        chosen = source_list.source(source or "user")
        try:
            origin = _user_origin(named) if named else None
            return _Installer(chosen, triton, source_list, Trust(unverified, say), origin).run(force)
        except SourceUnavailableError as error:
            raise BuildError(f"{chosen.id} cannot be used: {error.message}", fix=error.fix or _CHECK_NETWORK) from None
    if not force and (found := find()):
        return found
    failures, fix = [], None
    for candidate in source_list.sources:
        if not candidate.automatic:
            continue
        try:
            return _Installer(candidate, triton, source_list, Trust(unverified, say)).run(force)
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
    source_list: SourceList
    trust: Trust
    origin: Path | None = None

    @property
    def say(self) -> Say:
        """The function that is called with one line of news."""
        return self.trust.say

    @property
    def target(self) -> Path:
        """The directory of the SDK to be."""
        return sdk_root() / f"{self.triton.version}-{self.triton.llvm_commit[:8]}-{self.source.id}"

    @property
    def downloads(self) -> Path:
        """The directory for downloads until the SDK is installed; one per target, so that its lock covers it."""
        return needed_cache_dir(INSTALL_COMMAND) / "downloads" / self.target.name

    @property
    def stamp(self) -> str:
        """Path and time stamp of the install that the user named; empty for other sources."""
        return f"{self.origin}@{self.origin.stat().st_mtime_ns}" if self.origin else ""

    def run(self, force: bool) -> Sdk:
        """Installs the SDK, unless it is there already and `force` is false; returns it.

        Raises:
            SourceUnavailableError: the source does not serve this machine; another may.
            BuildError: the installation failed.
        """
        if self.source.arch and self.source.arch != platform.machine():
            raise SourceUnavailableError(f"it is for {self.source.arch}, this machine is {platform.machine()}")
        if self.source.llvm_commits and self.triton.llvm_commit not in self.source.llvm_commits:
            raise SourceUnavailableError(f"it was not checked against LLVM {self.triton.llvm_commit[:8]}")
        root = self.target.parent
        with storage_errors(root):
            private_dir(root)
            with alone(Path(f"{self.target}.lock"), self.say, WAITING):
                present = Sdk.load(self.target)
                if present and present.fits(self.triton) and present.origin == self.stamp and not force:
                    if present.problem is None:
                        return present
                    self.say(f"the SDK in {self.target} is made anew: {present.problem}")
                check_space(root, self.source.download_mb)
                private_dir(self.downloads)
                try:
                    with complete_or_absent(self.target) as staging:
                        self.say(f"installing the SDK for Triton {self.triton.version} from {self._place}")
                        sdk = self._finish(staging, self._unpack(staging))
                    shutil.rmtree(self.downloads)
                except BuildError as error:
                    # The hash of an archive is unknown, so a damaged download would be used again the next time.
                    if self.source.kind == "archive" and not isinstance(error, SourceUnavailableError):
                        shutil.rmtree(self.downloads)
                    raise
                finally:
                    # This fails if a .part file is left, which the next installation resumes.
                    with contextlib.suppress(OSError):
                        self.downloads.rmdir()
        return sdk

    @property
    def _place(self) -> str:
        return str(self.origin or self.source.id)

    def _unpack(self, staging: Path) -> dict[str, str]:
        """Fills `staging` with headers and mlir-tblgen; returns file name and hash of what was downloaded."""
        select = sdk_files(self.source_list.prune)
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
        """Checks and adapts the files in `staging`, and describes them in ``sdk.json``."""
        if missing := [name for name in _NEEDED if not (staging / name).is_file()]:
            raise BuildError(
                f"{self._place} is not an LLVM install with MLIR: it has no {', '.join(missing)}",
                fix=f"{INSTALL_COMMAND} --from DIR|ARCHIVE with include/mlir, include/llvm and bin/mlir-tblgen",
            )
        include = staging / "include"
        version, commit = self._check_version(include), self._check_commit(include)
        if not (include / "llvm-c").is_dir():
            self.say("include/llvm-c, which LLVM's headers refer to, is missing: using triton-ext's stand-ins")
            shutil.copytree(infra_dir() / "sdk" / "llvm-c", include / "llvm-c")
        write_overlay(staging, self.triton.abi_breaking_checks)
        guarded = apply_guards(include, self.source_list.guards, version)
        if not runs(staging / "bin" / "mlir-tblgen"):
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
        """Returns the version of the headers.

        Raises:
            BuildError: it is not the version that the source promises.
        """
        version = llvm_version(include) or "of no stated version"
        wanted = self.source.llvm_version or self.triton.llvm_version.partition(".")[0]
        if not f"{version}.".startswith(f"{wanted}."):
            raise BuildError(
                f"the headers of {self._place} are of LLVM {version}, Triton {self.triton.version} needs LLVM {wanted}",
                fix=f"env -u {USER_ENV} {INSTALL_COMMAND}",
            )
        return version

    def _check_commit(self, include: Path) -> str | None:
        """Returns the commit of the headers; None if it is unknown.

        Raises:
            BuildError: an archive is of another commit than libtriton. For an install that the user named this is only
                a warning, because the headers may fit nevertheless.
        """
        commit, wanted = llvm_commit(include), self.triton.llvm_commit
        if commit is None:
            return self.source.headers_commit or None
        if commit != wanted and self.source.kind == "archive":
            raise BuildError(f"{self._place} holds LLVM {commit}, libtriton was built from {wanted}", fix=_OTHER_SOURCE)
        if commit != wanted:
            self.say(f"these headers are of LLVM {commit[:8]}, libtriton of {wanted[:8]}: check with triton-ext doctor")
        return commit

    def _add_runtime(self, staging: Path) -> dict[str, str]:
        """Adds a C library for mlir-tblgen, and replaces it by a script that runs it with that C library."""
        self.say("mlir-tblgen needs a newer C library than this system's: adding one to the SDK")
        runtime, tool = self.source_list.runtime, staging / "bin" / "mlir-tblgen"
        packages = self._unpack_packages(runtime.packages, staging, libraries(runtime.libraries))
        for path in (staging / "runtime").iterdir():
            if path.name not in runtime.libraries:
                path.unlink()
        tool.rename(staging / "runtime" / tool.name)
        write_wrapper(tool, runtime.loader)
        if not runs(tool):
            raise BuildError(
                f"mlir-tblgen of {self._place} does not run, with a newer C library either", fix=_OTHER_SOURCE
            )
        return packages


def _user_origin(named: str) -> Path:
    origin = Path(named).expanduser().resolve()
    if not os.access(origin, os.R_OK):
        raise BuildError(
            f"{named} does not exist or cannot be read",
            fix=f"{INSTALL_COMMAND} --from DIR|ARCHIVE, or unset {USER_ENV}",
        )
    return origin


def _disk_usage(root: Path) -> int:
    """Returns the bytes that the files below `root` take on disk, as ``du`` counts them."""
    return sum(path.lstat().st_blocks * 512 for path in (root, *root.rglob("*")))
