# SPDX-License-Identifier: Apache-2.0
"""What triton-shared's tests feed in converts in both ways to linalg and computes what the interpreter does."""

from __future__ import annotations

import subprocess
import sys
from typing import Literal

import pytest
import torch

import support
import triton_ext as tx
from support import ROOT
from support.linalg import execute, shared_page
from support.linalg.shared_inputs import INPUTS, NUMBERS, elsewhere, run


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[torch.Tensor]]:
    """Returns the memory after each input in the interpreter."""
    path = tmp_path_factory.mktemp("interpreted") / "expected.pt"
    command = [sys.executable, "-W", "ignore", "-m", "support.linalg.shared_inputs", str(path)]
    subprocess.run(command, check=True, env=support.environment(TRITON_INTERPRET="1", PYTHONPATH=str(ROOT / "test")))
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


def test_every_name_is_in_one_place() -> None:
    places = [name for found in INPUTS.values() for name in found.names]
    places += [*elsewhere.TESTED_IN, *elsewhere.REFUSED_BY_TRITON, *elsewhere.MISSING]
    assert sorted(places) == shared_page.names()


@pytest.mark.slow
def test_the_page_is_up_to_date() -> None:
    assert (ROOT / "docs" / "reference" / shared_page.PAGE).read_text() == shared_page.page(), "run make docs"


BLOCK_POINTER = """
tt.func @f(%p: !tt.ptr<tensor<4x8xf32>>) {
  tt.return
}
"""
ADDRESS_SPACE = """
tt.func @f(%p: !tt.ptr<bf16, 1>) {
  tt.return
}
"""


@pytest.mark.parametrize("text", [BLOCK_POINTER, ADDRESS_SPACE])
def test_triton_refuses_the_input(text: str) -> None:
    opt = [str(ROOT / ".venv" / "bin" / "triton-ext-opt"), "-"]
    done = subprocess.run(opt, input=text, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "-:2:" in done.stderr or "<stdin>:2:" in done.stderr, done.stderr
