# SPDX-License-Identifier: Apache-2.0
"""A wrong call of a probe is the same error in each mode: compiled, in the interpreter, and there in a session."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler.errors import CompilationError

from support.interpreter import run_in_interpreter
from triton_ext import probe
from triton_ext.errors import TritonExtError


@triton.jit
def mask_of_numbers(x, N: tl.constexpr):
    probe.count("lanes", tl.arange(0, N))


@triton.jit
def mask_that_is_a_number(x, N: tl.constexpr):
    probe.record("lanes", tl.arange(0, N), mask=3)


@triton.jit
def condition_of_numbers(x, N: tl.constexpr):
    probe.check(tl.load(x), "small")


@triton.jit
def condition_that_is_a_number(x, N: tl.constexpr):
    probe.check(1, "one")


@triton.jit
def two_shapes(x, N: tl.constexpr):
    probe.record("both", tl.arange(0, N), tl.arange(0, 2 * N))


@triton.jit
def shape_of_the_mask(x, N: tl.constexpr):
    i = tl.arange(0, N)
    probe.minmax("x", tl.load(x + i), tl.arange(0, 2 * N)[None, :] < 3)


@triton.jit
def shape_of_the_condition(x, N: tl.constexpr):
    probe.check(tl.arange(0, N) < 3, "small", tl.load(x + tl.arange(0, 2 * N)))


@triton.jit
def pointers_have_no_least_one(x, N: tl.constexpr):
    probe.minmax("x", x + tl.arange(0, N))


@triton.jit
def no_name(x, N: tl.constexpr):
    probe.stats("", tl.load(x))


@triton.jit
def name_that_is_a_value(x, N: tl.constexpr):
    probe.count(tl.program_id(0))


@triton.jit
def name_that_is_a_number(x, N: tl.constexpr):
    probe.count(7)


@triton.jit
def value_that_is_a_text(x, N: tl.constexpr):
    probe.record("text", "text")


@triton.jit
def many_values(x, N: tl.constexpr):
    probe.record("many", 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)


@triton.jit
def many_bins(x, N: tl.constexpr):
    probe.histogram("x", tl.load(x), 1025, 0, 1)


@triton.jit
def no_bins(x, N: tl.constexpr):
    probe.histogram("x", tl.load(x), 0, 0, 1)


@triton.jit
def edges(x, N: tl.constexpr):
    probe.histogram("x", tl.load(x), 8, 1.5, -2)


@triton.jit
def arguments(x, N: tl.constexpr):
    probe.count("calls", None, 3)


@triton.jit
def region_without_a_name(x, N: tl.constexpr):
    with probe.region(""):
        tl.store(x, 1.0)


KERNELS: dict[str, Any] = {name: one for name, one in globals().items() if hasattr(one, "fn")}


def message(launch: Callable[[], object]) -> str:
    """Returns what the error of a launch says, without the place in the kernel."""
    try:
        launch()
    except Exception as error:  # the interpreter's is one of its own
        while not isinstance(error, TritonExtError | CompilationError) and error.__cause__ is not None:
            error = error.__cause__  # type: ignore[assignment]
        return str(error.error_message if isinstance(error, CompilationError) else error)
    return "no error"


def compiled(kernel: Any) -> None:
    source = triton.compiler.ASTSource(kernel, {"x": "*fp32", "N": "constexpr"}, {"N": 16})
    triton.compile(source, target=GPUTarget("cuda", 90, 32))


@pytest.fixture(scope="module")
def interpreted() -> list[dict[str, str]]:
    """The messages of each kernel in the interpreter: outside of a session, and inside."""
    pytest.importorskip("torch")
    found: list[dict[str, str]] = json.loads(run_in_interpreter(str(Path(__file__))))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", KERNELS)
def test_the_error_is_the_same(name: str, interpreted: list[dict[str, str]]) -> None:
    expected = message(lambda: compiled(KERNELS[name]))
    assert "expected" in expected or "must be" in expected or "too many" in expected
    assert [one[name] for one in interpreted] == [expected, expected]


if __name__ == "__main__":
    import torch

    x = torch.ones(64)
    results = []
    for scope in (nullcontext(), probe.session()):
        with scope:
            results.append({name: message(lambda one=one: one[(1,)](x, N=16)) for name, one in KERNELS.items()})
    sys.stdout.write(json.dumps(results))
    sys.stdout.flush()
    os._exit(0)
