# SPDX-License-Identifier: Apache-2.0
"""An environment with our wheel and nothing of this checkout."""

from __future__ import annotations

import shutil
import subprocess
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support import ROOT


@contextmanager
def with_wheel(wheel: Path, directory: Path, extra: str = "") -> Iterator[Path]:
    """Makes an environment in `directory`; yields the directory of its programs, and removes it at the end.

    Args:
        wheel: our wheel.
        directory: does not exist yet.
        extra: an extra of the wheel, such as ``build`` for the tools that build a wheel.
    """
    venv.create(directory, with_pip=True)
    wanted = f"{wheel}[{extra}]" if extra else wheel
    install = ["install", "-q", "--no-compile", "-c", ROOT / "constraints.txt", wanted]
    subprocess.run([directory / "bin" / "pip", *install], check=True, capture_output=True)
    yield directory / "bin"
    shutil.rmtree(directory)
