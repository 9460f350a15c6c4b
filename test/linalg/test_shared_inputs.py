# SPDX-License-Identifier: Apache-2.0
"""What triton-shared's tests feed in converts in both ways to linalg and computes what the interpreter and torch do."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Literal

import pytest
import torch

import support
import triton_ext as tx
from support import ROOT
from support.linalg import execute, shared_page
from support.linalg.shared_inputs import FORMS, INPUTS, NUMBERS, REFUSED, TEXTS, run, texts


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[torch.Tensor]]:
    """Returns the memory after each input in the interpreter."""
    path = tmp_path_factory.mktemp("interpreted") / "expected.pt"
    command = [sys.executable, "-W", "ignore", "-m", "support.linalg.shared_inputs", str(path)]
    subprocess.run(command, check=True, env=support.environment(TRITON_INTERPRET="1"))
    return torch.load(path)


@pytest.mark.slow
@pytest.mark.usefixtures("stock")
@pytest.mark.parametrize("via", [None, "structured"])
@pytest.mark.parametrize("name", list(INPUTS))
def test_input_executed(name: str, via: Literal["structured"] | None, expected: dict[str, list[torch.Tensor]]) -> None:
    for numbers, memory in zip(NUMBERS, expected[name], strict=True):
        with execute.through_linalg(at_end=True, via=via):
            assert torch.equal(run(name, numbers), memory), numbers


#: Atomics go back to Triton's, for the conversion.
BY_INDEX = tx.Pipeline().at_start(
    "linalgir",
    tx.passes.ttir.triton_to_unstructured(),
    tx.passes.ttir.unstructured_to_memref(),
    tx.passes.ttir.lower_structured(),
)


@pytest.mark.slow
@pytest.mark.usefixtures("stock")
@pytest.mark.parametrize("name", list(INPUTS)[::5])
def test_input_executed_by_index(name: str, expected: dict[str, list[torch.Tensor]]) -> None:
    """Every access whose pointers have one base is a gather or scatter of `tts` before it is linalg."""
    for numbers, memory in zip(NUMBERS, expected[name], strict=True):
        with execute.through_linalg(at_end=True, pipeline=BY_INDEX):
            assert torch.equal(run(name, numbers), memory), numbers


@pytest.mark.slow
@pytest.mark.usefixtures("stock")
@pytest.mark.parametrize(("name", "way"), [(name, way) for name, text in TEXTS.items() for way in text.ways])
def test_text_executed(name: str, way: texts.Way, tmp_path: Path) -> None:
    for seed in range(2):
        found, expected = texts.run(name, seed, way, tmp_path)
        torch.testing.assert_close(found, expected, rtol=TEXTS[name].rtol, atol=TEXTS[name].rtol)


@pytest.mark.slow
@pytest.mark.usefixtures("stock")
@pytest.mark.parametrize("via", [None, "structured"])
@pytest.mark.parametrize("name", list(FORMS))
def test_form_converted(name: str, via: Literal["structured"] | None) -> None:
    dialect = execute.to_llvm(tx.linalg.convert(FORMS[name].module, lowered=True, via=via))
    assert "llvm.func @f(" in dialect
    assert "tt." not in dialect


@pytest.mark.parametrize("name", list(REFUSED))
def test_text_refused(name: str) -> None:
    command = [str(ROOT / ".venv" / "bin" / "triton-ext-opt"), "--load-extension=tts", "-triton-to-linalg-structured"]
    done = subprocess.run(command, input=REFUSED[name].module, capture_output=True, text=True, check=False)
    place, error = re.search(r":(\d+):\d+: error: (.*)", done.stderr).groups()
    assert (done.returncode, int(place)) == (1, REFUSED[name].line), done.stderr
    assert error.startswith(REFUSED[name].message)


def test_every_name_has_an_input() -> None:
    inputs = (*INPUTS.values(), *TEXTS.values(), *REFUSED.values())
    assert {name for found in inputs for name in found.names} == set(shared_page.names())


@pytest.mark.slow
def test_the_page_is_up_to_date() -> None:
    assert (ROOT / "docs" / "reference" / shared_page.PAGE).read_text() == shared_page.page(), "run make docs"
