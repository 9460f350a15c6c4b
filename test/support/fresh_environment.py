# SPDX-License-Identifier: Apache-2.0
"""Environments with our wheel and nothing of this checkout.

What the wheel requires is copied from the environment that runs the tests, so that pip installs the wheel alone: making
an environment with pip and installing Triton takes 8 s of processor time. ``test/wheel/test_install.py`` installs
everything as a user does.
"""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from packaging.requirements import Requirement

from support import ROOT
from support.fixture_types import MakeOnce


@contextmanager
def with_wheel(make_once: MakeOnce, wheel: Path, directory: Path, extra: str = "") -> Iterator[Path]:
    """Makes an environment in `directory`; yields the directory of its programs, and removes it at the end.

    It is a copy of one that a run of the tests makes once.

    Args:
        make_once: the fixture.
        wheel: our wheel.
        directory: does not exist yet.
        extra: an extra of the wheel, such as ``build`` for the tools that build a wheel.
    """

    def fill(original: Path) -> None:
        venv.create(original, with_pip=_found("pip") is None)
        _copy_required(wheel, original)
        _install(original, str(wheel))

    _copy(make_once("environment", fill), directory)
    if extra:
        _copy_required(wheel, directory, extra)
        _install(directory, f"{wheel}[{extra}]")
    yield directory / "bin"
    shutil.rmtree(directory)


def _copy_required(wheel: Path, directory: Path, extra: str = "") -> None:
    """Copies pip and what `wheel` requires to an environment; pip installs later what is not found here."""
    (described,) = importlib.metadata.distributions(path=[str(wheel)])
    wanted = [Requirement(line) for line in ("pip", *(described.requires or ()))]
    extras = {extra, ""}
    seen: set[str] = set()
    while wanted:
        requirement = wanted.pop()
        if requirement.marker and not any(requirement.marker.evaluate({"extra": name}) for name in extras):
            continue
        key = str(requirement.name).lower().replace("-", "_")
        if key in seen:
            continue
        seen.add(key)
        if found := _found(requirement.name):
            _copy_distribution(found, directory)
            wanted += map(Requirement, found.requires or ())
            extras |= requirement.extras


def _found(name: str) -> importlib.metadata.Distribution | None:
    """Returns a distribution of the environment that runs the tests."""
    for found in importlib.metadata.distributions(name=name):
        if Path(str(found.locate_file(""))).is_relative_to(sys.prefix):
            return found
    return None


def _copy_distribution(distribution: importlib.metadata.Distribution, directory: Path) -> None:
    for file in distribution.files or ():
        source = Path(os.path.normpath(str(distribution.locate_file(file))))
        target = directory / source.relative_to(sys.prefix)
        if source.is_file() and source.suffix != ".pyc" and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
            if target.parent == directory / "bin":
                content = target.read_bytes()
                target.write_bytes(content.replace(sys.prefix.encode(), bytes(directory)))


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
