# SPDX-License-Identifier: Apache-2.0
"""Kernels that go through linalg and stock MLIR to the machine give the results of NumPy and torch."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from support.interpreter import run_in_interpreter
from support.linalg import execute, kernels

ROUNDS = 3


pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("stock")]


@pytest.mark.parametrize("name", list(kernels.CASES))
def test_kernel_executed(name: str) -> None:
    """Every tensor ends, and in other rounds begins, at a page without access rights."""
    for seed in range(ROUNDS):
        with execute.through_linalg(at_end=seed % 2 == 0):
            kernels.check(name, seed)


@pytest.mark.parametrize("name", list(kernels.CASES))
def test_kernel_executed_by_way_of_tts(name: str) -> None:
    with execute.through_linalg(at_end=True, via="structured"):
        kernels.check(name, 0)


_BEYOND = """
import torch, triton, triton.language as tl
from support.linalg import execute

@triton.jit
def kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < {limit}), mask=i < n)

with execute.through_linalg(at_end=True):
    kernel[(1,)](torch.zeros(100), torch.zeros(100), 100, BLOCK=128)
"""


@pytest.mark.parametrize(("limit", "code"), [("n", 0), ("n + 1", -signal.SIGSEGV)])
def test_one_element_too_many_is_found(limit: str, code: int, tmp_path: Path) -> None:
    done = execute.run_alone(_BEYOND.format(limit=limit), tmp_path)
    assert done.returncode == code, done.stderr


_TALKING = """
import torch, triton, triton.language as tl
from support.linalg import execute

@triton.jit
def kernel(x, n, BLOCK: tl.constexpr):
    value = tl.load(x + tl.arange(0, BLOCK))
    tl.device_print("x", value)
    tl.device_print("n", n, hex=True)
    tl.device_print("both", tl.reshape(value, (2, 2)), n)
    tl.device_print("done")

with execute.through_linalg(at_end=True):
    kernel[(1, 2)](torch.arange(4, dtype=torch.int32) - 1, 16, BLOCK=4)
"""


def test_prints(tmp_path: Path) -> None:
    """Each line names the program, and the element, as Triton's own targets print them."""
    done = execute.run_alone(_TALKING, tmp_path)
    assert done.returncode == 0, done.stderr
    expected: list[str] = []
    for y in range(2):
        pid = f"pid (0, {y}, 0)"
        expected += [f"{pid} idx ({i}) x: {i - 1}" for i in range(4)]
        expected += [f"{pid} idx () n: 0x10"]
        expected += [f"{pid} idx ({i // 2}, {i % 2}) both: (operand 0) {i - 1}" for i in range(4)]
        expected += [f"{pid} idx () both: (operand 1) 16", f"{pid} done"]
    assert done.stdout.splitlines() == expected


def test_a_module_may_have_attributes() -> None:
    """Passes leave attributes on a module when a session has compiled the kernel."""
    text = """module attributes {llvm.module_asm = [], llvm.ident = "x"} {
  llvm.func @seven() -> i32 {
    %0 = llvm.mlir.constant(7 : i32) : i32
    llvm.return %0 : i32
  }
}
"""
    assert execute.build(text, "seven").seven() == 7


def test_there_are_enough() -> None:
    assert len(kernels.CASES) >= 60


def test_interpreter_has_the_same_numbers() -> None:
    printed = run_in_interpreter(str(Path(kernels.__file__).with_name("__main__.py")))
    assert int(printed) == len(kernels.CASES) - len(kernels.NOT_INTERPRETED)
