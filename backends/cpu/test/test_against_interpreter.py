# SPDX-License-Identifier: Apache-2.0
"""Every family of operations, type by type, against ``TRITON_INTERPRET=1`` (see interpreter_cases.py)."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from interpreter import run_in_interpreter

sys.path.insert(0, str(Path(__file__).parent))
import interpreter_cases

sys.path.pop(0)


@pytest.fixture(scope="module")
def interpreted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, np.ndarray]]:
    """What the interpreter has computed."""
    path = tmp_path_factory.mktemp("interpreter") / "results.npz"
    run_in_interpreter(interpreter_cases.__file__, path)
    with np.load(path) as file:
        yield {name: file[name] for name in file.files}


@pytest.mark.parametrize("name", interpreter_cases.CASES)
def test_same_as_interpreter(name: str, interpreted: dict[str, np.ndarray]) -> None:
    case = interpreter_cases.CASES[name]
    for i, ours in enumerate(interpreter_cases.results(name)):
        theirs = interpreted[f"{name} {i}"]
        assert ours.dtype == theirs.dtype
        if case.rtol or case.atol:
            np.testing.assert_allclose(ours, theirs, rtol=case.rtol, atol=case.atol)
        else:
            np.testing.assert_array_equal(ours, theirs)
