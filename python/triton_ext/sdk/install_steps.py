# SPDX-License-Identifier: Apache-2.0
"""The steps that every installation takes: an SDK (`install_sdk`), a program (`tools`) and a part (`build_part`).

Each is installed into a directory that is complete or absent, whatever stops the installation: an error, Ctrl-C or a
power loss.
"""

from __future__ import annotations

import contextlib
import errno
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from ..errors import BuildError
from ..support.storage import flush, settle
from . import INSTALL_COMMAND
from .sources import SourceUnavailableError

WAITING = "another process is installing this SDK, waiting for it"
_INSTALLED_MB = 200
_WRAPPER = """\
#!/bin/sh
# Runs {program} on the C library that it was linked to, which may be newer than this system's.
runtime=$(dirname -- "$(readlink -f -- "$0")")/../runtime
exec "$runtime/{loader}" --library-path "$runtime" "$runtime/{program}" "$@"
"""
_LARGER_DISK = f"free some space, or XDG_CACHE_HOME=/a/larger/disk {INSTALL_COMMAND}"


@contextlib.contextmanager
def complete_or_absent(target: Path) -> Iterator[Path]:
    """Yields an empty directory, which becomes `target` if the body succeeds and is removed if it does not.

    The names of the temporary directories do not vary, so the next installation removes what a killed one has left.
    The content is on the disk before `target` appears, so a power loss leaves it complete or absent, too.
    """
    staging, old = (target.with_name(f".{target.name}.{suffix}") for suffix in ("new", "old"))
    for stale in (staging, old):
        shutil.rmtree(stale, ignore_errors=True)
    try:
        staging.mkdir(0o700)  # fails if something else has this name, such as a link
        yield staging
        settle(staging)
        if target.exists():
            target.rename(old)
        staging.rename(target)
        flush(target.parent)
    finally:
        for stale in (staging, old):
            shutil.rmtree(stale, ignore_errors=True)


def check_space(root: Path, download_mb: int) -> None:
    """Checks that the disk of `root` has room for a download of `download_mb` MB and for what it unpacks to.

    Raises:
        SourceUnavailableError: it does not; another source may need less.
    """
    needed, free = (download_mb + _INSTALLED_MB) * 1_000_000, shutil.disk_usage(root).free
    if free < needed:
        raise SourceUnavailableError(
            f"the disk of {root} is full: {free / 1e6:.0f} MB are free, {needed / 1e6:.0f} MB are needed",
            fix=_LARGER_DISK,
        )


@contextlib.contextmanager
def storage_errors(root: Path) -> Iterator[None]:
    """Turns an OSError of the body into one line about the cache directory `root`.

    Raises:
        BuildError: the body raised an OSError.
    """
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


def write_wrapper(script: Path, loader: str) -> None:
    """Writes the program `script`, which runs the file of the same name in ``../runtime`` with the `loader` there."""
    script.write_text(_WRAPPER.format(program=script.name, loader=loader))
    script.chmod(0o755)


def runs(tool: Path) -> bool:
    """Whether the program `tool` starts on this machine and prints its version."""
    try:
        return subprocess.run([tool, "--version"], capture_output=True, check=False, timeout=60).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def to_stderr(line: str) -> None:
    """Prints one line of news where the caller has given no function for them."""
    print(line, file=sys.stderr)
