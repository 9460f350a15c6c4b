# SPDX-License-Identifier: Apache-2.0
"""What a process that is forked for a run of pytest does. Imports nothing of triton-ext, which reads variables."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

import pytest


def main(arguments: Sequence[str], environment: Mapping[str, str], output: str) -> None:
    """Runs pytest in this process, which ends with its status; writes to the file `output`."""
    file = os.open(output, os.O_WRONLY | os.O_APPEND)
    os.dup2(file, 1)
    os.dup2(file, 2)
    os.environ.clear()
    os.environ.update(environment)
    imported = {"triton", "triton_ext"}.intersection(sys.modules)
    assert not imported, f"{imported} has read other variables"
    sys.exit(int(pytest.main([*arguments])))
