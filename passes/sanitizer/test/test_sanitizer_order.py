# SPDX-License-Identifier: Apache-2.0
"""Blocks that do not end in the order of a stack: each follows what torch writes until its own end."""

from __future__ import annotations

import random
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
import torch
import triton
import triton.language as tl
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils import _python_dispatch as modes
from torch.utils._python_dispatch import TorchDispatchMode

import triton_ext as tx
from support import forked_python

pytestmark = pytest.mark.usefixtures("on_native_backend")


@triton.jit
def copied(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.load(x + i))


class Counting(TorchDispatchMode):
    count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.count += 1
        return func(*args, **(kwargs or {}))


def state() -> tuple[Any, ...]:
    """What torch knows of modes."""
    flags = (modes._is_in_torch_dispatch_mode, modes._is_in_non_infra_torch_dispatch_mode)
    return (modes._get_current_dispatch_mode_stack(), *flags, modes._is_in_any_mode_without_ignore_compile_internals)


def read_new() -> None:
    copied[(1,)](torch.empty(16), torch.zeros(16), B=16)


def lanes(report: Any) -> int:
    return sum(one.lanes for one in report.findings)


@pytest.mark.parametrize("seed", range(8))
def test_any_order(seed: int) -> None:
    """The innermost block that has not ended has the finding."""
    chosen, before = random.Random(seed), state()
    active: list[tuple[Any, Any]] = []
    for _ in range(12):
        if active and chosen.random() < 0.5:
            active.pop(chosen.randrange(len(active)))[0].__exit__(None, None, None)
        else:
            block = tx.sanitize("uninit")
            active.append((block, block.__enter__()))
        before_it = [lanes(report) for _, report in active]
        read_new()
        new = [lanes(report) - number for (_, report), number in zip(active, before_it, strict=True)]
        assert new == [0] * (len(active) - 1) + [16] * bool(active)
    while active:
        active.pop(0)[0].__exit__(None, None, None)
    assert state() == before


def test_a_mode_of_the_program_stays() -> None:
    before = state()
    outer, inner = tx.sanitize("uninit"), tx.sanitize("uninit")
    outer.__enter__()
    with Counting() as mode:
        report = inner.__enter__()
        outer.__exit__(None, None, None)
        read_new()
        assert report.findings
        inner.__exit__(None, None, None)
        number = mode.count
        torch.ones(1)
        assert mode.count > number
    with tx.sanitize("uninit") as report:  # takes what has ended off
        read_new()
    assert report.findings
    assert state() == before


def test_a_block_among_fake_tensors() -> None:
    before = state()
    with FakeTensorMode():
        within = state()[1:]
        with tx.sanitize("uninit"):
            pass
        assert state()[1:] == within
    assert state() == before


def test_a_block_that_another_thread_ends() -> None:
    before = state()
    block = tx.sanitize("uninit")
    block.__enter__()
    thread = threading.Thread(target=block.__exit__, args=(None, None, None))
    thread.start()
    thread.join()
    with tx.sanitize("uninit") as report:
        read_new()
    assert report.findings
    assert state() == before


FIXTURES = """
import pytest, torch, triton, triton_ext as tx
import triton.language as tl

@triton.jit
def copied(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.load(x + i))

@pytest.fixture
def reads_behind():
    yield
    copied[(1,)](torch.empty(16), torch.zeros(16), B=16)

@pytest.fixture
def block():
    with tx.sanitize("uninit"):
        yield

def test_behind(reads_behind, block): pass
"""


@pytest.mark.slow
def test_a_fixture_that_ends_its_block_before_another_reads(tmp_path: Path) -> None:
    file = tmp_path / "test_fixtures.py"
    file.write_text(FIXTURES)
    options = ("-q", "-p", "no:cacheprovider", "--triton-sanitize", "--triton-sanitize-checks=uninit")
    command = [sys.executable, "-m", "pytest", *options, file]
    done = forked_python.run(command, cwd=tmp_path)
    assert "ERROR test_fixtures.py::test_behind - Failed: error[uninit]" in done.stdout, done.stdout
