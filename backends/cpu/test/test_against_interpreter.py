# SPDX-License-Identifier: Apache-2.0
"""Compares every family of operations, for each type, with ``TRITON_INTERPRET=1`` (support.cpu.interpreter_cases)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from support.cpu import interpreter_cases
from support.fixture_types import MakeOnce
from support.interpreter import run_in_interpreter

pytestmark = pytest.mark.keeps_kernels


@pytest.fixture(scope="module")
def interpreted(make_once: MakeOnce) -> Iterator[dict[str, np.ndarray]]:
    """The results of the interpreter, by case."""

    def interpret(directory: Path) -> None:
        script = Path(interpreter_cases.__file__).with_name("__main__.py")
        run_in_interpreter(str(script), directory / "results.npz")

    with np.load(make_once("interpreted", interpret) / "results.npz") as file:
        yield {name: file[name] for name in file.files}


def operation(case: str) -> str:
    """Returns the operation of a case, such as ``add-int8``."""
    return case.partition("-")[0]


@pytest.mark.sampled(by=operation)
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
