# SPDX-License-Identifier: Apache-2.0
"""What a process that is forked for a run of pytest does. Imports nothing of triton-ext, which reads variables."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import Phase, settings


def main(arguments: Sequence[str], environment: Mapping[str, str], output: str) -> None:
    """Runs pytest in this process, which ends with its status; writes to the file `output`.

    A failing test of Hypothesis fails with the first example that it finds. Looking for the smallest one takes most of
    the time of a run with a planted bug, and the caller needs to know only that the test fails.
    """
    file = os.open(output, os.O_WRONLY | os.O_APPEND)
    os.dup2(file, 1)
    os.dup2(file, 2)
    os.environ.clear()
    os.environ.update(environment)
    imported = {"triton", "triton_ext"}.intersection(sys.modules)
    assert not imported, f"{imported} has read other variables"
    gc.freeze()  # otherwise each collection of garbage looks at all of torch
    phases = (Phase.explicit, Phase.generate)
    settings.register_profile("planted", phases=phases, report_multiple_bugs=False, database=None)
    settings.load_profile("planted")
    sys.exit(int(pytest.main([*arguments])))
