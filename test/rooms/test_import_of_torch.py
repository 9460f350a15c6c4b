# SPDX-License-Identifier: Apache-2.0
"""Processes that tests start import torch without what only tracing needs, and import that when they trace."""

from __future__ import annotations

import subprocess
import sys

import pytest

from support import environment

pytest.importorskip("torch")

PROGRAM = """
import sys, torch
metas = sys.modules["torch._meta_registrations"]
print(hasattr(metas, "__wrapped__"), "torch._refs" in sys.modules, len(vars(metas)) > 100)
{}
print(len(vars(metas)) > 100)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asks", "is_loaded"),
    [
        ("torch.testing.assert_close(torch.zeros(4), torch.zeros(4))", False),
        ("torch.empty(4, device='meta') + 1", False),
        ("torch.Generator().manual_seed(1)", False),
        ("from torch._meta_registrations import register_meta", True),
        ("import torch._dynamo", True),
    ],
)
def test_it_is_imported_when_it_is_needed(asks: str, is_loaded: bool) -> None:
    command = [sys.executable, "-c", PROGRAM.format(asks)]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["False False False", str(is_loaded)]


@pytest.mark.slow
def test_other_processes_import_it() -> None:
    variables = {name: value for name, value in environment().items() if name != "PYTEST_CURRENT_TEST"}
    command = [sys.executable, "-c", PROGRAM.format("")]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["False True True", "True"]
