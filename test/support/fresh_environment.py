# SPDX-License-Identifier: Apache-2.0
"""Environments with our wheel and nothing of this checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support import ROOT
from support.fixture_types import MakeOnce


@contextmanager
def with_wheel(make_once: MakeOnce, wheel: Path, directory: Path, extra: str = "") -> Iterator[Path]:
    """Makes an environment in `directory`; yields the directory of its programs, and removes it at the end.

    It is a copy of one that a run of the tests makes once, because to install Triton takes most of the time.

    Args:
        make_once: the fixture.
        wheel: our wheel.
        directory: does not exist yet.
        extra: an extra of the wheel, such as ``build`` for the tools that build a wheel.
    """

    def fill(original: Path) -> None:
        venv.create(original, with_pip=True)
        _install(original, str(wheel))

    _copy(make_once("environment", fill), directory)
    if extra:
        _install(directory, f"{wheel}[{extra}]")
    yield directory / "bin"
    shutil.rmtree(directory)


def _install(directory: Path, wanted: str) -> None:
    command = [directory / "bin" / "pip", "install", "-q", "--no-compile", "-c", ROOT / "constraints.txt", wanted]
    subprocess.run(command, check=True, capture_output=True)


def _copy(original: Path, directory: Path) -> None:
    """Copies an environment, but its packages' files by hard links: pip and Python replace files and write into none.

    The programs get the path of the new environment's Python.
    """
    shutil.copytree(original, directory, symlinks=True, copy_function=os.link)
    for file in (directory / "pyvenv.cfg", *(directory / "bin").iterdir()):
        if not file.is_symlink():
            content, mode = file.read_bytes(), file.stat().st_mode
            file.unlink()
            file.write_bytes(content.replace(bytes(original), bytes(directory)))
            file.chmod(mode)
