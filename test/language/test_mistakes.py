# SPDX-License-Identifier: Apache-2.0
"""Each mistake in a kernel is an error at its line that says what to do; those in a declaration come at once."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest
import triton
import triton.language as tl

import triton_ext as tx
from support import environment, forked_python
from support.language import problem
from support.language.tally import (
    count,
    floor,
    note,
    open_scope,
    order,
    scope,
    tag_unknown,
    tag_wrongly,
    uncounted,
)  # fmt: skip

HERE = Path(__file__).parent

pytestmark = pytest.mark.slow


@triton.jit
def too_few(x):
    a = 1
    order(a, a)


@triton.jit
def too_many(x):
    tag_wrongly(1, 2)


@triton.jit
def no_tensor(x):
    count("text")


@triton.jit
def no_constant(x):
    v = tl.load(x)
    order(v, v, v)


@triton.jit
def wrong_constant(x):
    v = tl.load(x)
    order(v, v, "l", mode="sideways")


@triton.jit
def wrong_kind(x):
    tag_wrongly(1)


@triton.jit
def wrong_name(x):
    tag_unknown(1)


@triton.jit
def wrong_types(x):
    v = tl.load(x)
    order(v, 1, "l")


@triton.jit
def refused(x):
    order(x, x, "l")


@triton.jit
def not_inferred(x):
    uncounted(tl.load(x))


@triton.jit
def no_overload(x):
    floor(tl.load(x).to(tl.float64))


@triton.jit
def called_without_with(x):
    scope("s")


@triton.jit
def with_what_is_no_block(x):
    with note("n"):
        tl.store(x, 1.0)


@triton.jit
def no_terminator(x):
    with open_scope("s"):
        tl.store(x, 1.0)


@triton.jit
def assigned_in_region(x):
    v = 1.0
    with scope("s"):
        v = tl.load(x)
    tl.store(x, v)


@triton.jit
def defined_in_region(x):
    with scope("s"):
        w = tl.load(x)
    tl.store(x, w)


@pytest.mark.parametrize(
    ("kernel", "line", "expected"),
    [
        (too_few, 3, "order(lhs, rhs, label, mode='value', seed=None): missing a required argument: 'label'"),
        (too_many, 2, "tag_wrongly(count): too many positional arguments"),
        (no_tensor, 2, "count(x): 'x': expected a tensor, got 'text'"),
        (no_constant, 3, "'label' is an attribute: expected a constant that is known when the kernel is compiled"),
        (wrong_constant, 3, "'mode': expected one of 'value', 'magnitude', got 'sideways'"),
        (wrong_kind, 2, "tag_wrongly(count): "),
        (wrong_name, 2, "tag_unknown(colour): 'tally.tag' op has no attribute 'colour'"),
        (wrong_types, 3, "'tally.order' op failed to verify that all of {lhs, rhs, low, high} have same type"),
        (refused, 2, "'tally.order' op expected numbers, got '!tt.ptr<f32>'"),
        (not_inferred, 2, "its result types cannot be inferred (fix: declare them with result="),
        (no_overload, 2, "'x' has elements of type fp64, expected int32, uint32"),
        (called_without_with, 2, "scope(name): opens a block (fix: with scope(...):)"),
        (with_what_is_no_block, 2, "does not open a block"),
        (no_terminator, 2, "open_scope(name): "),
        (assigned_in_region, 3, "'v' is assigned in the block of `with scope(...)`, which no value leaves"),
        (defined_in_region, 4, "w is not defined"),
    ],
)
def test_mistakes(kernel: Any, line: int, expected: str) -> None:
    error = problem(kernel)
    assert expected in str(error)
    assert f"at {line}:" in str(error)


@tx.language.op("nowhere.op")
def nowhere(x: tl.tensor) -> None:
    """Its dialect is not installed."""


@triton.jit
def calls_nowhere(x):
    nowhere(x)


def test_a_dialect_that_is_not_installed() -> None:
    text = str(problem(calls_nowhere))
    assert "no extension has the dialect 'nowhere'" in text
    assert "pip install the project that brings it, or in its directory: triton-ext build nowhere" in text


@tx.language.op("tally.nothing")
def nothing(x: tl.tensor) -> None:
    """Its dialect has no such operation."""


@triton.jit
def calls_nothing(x):
    nothing(x)


def test_an_operation_that_there_is_not() -> None:
    assert "the dialect 'tally' has no operation 'tally.nothing'" in str(problem(calls_nothing))


def test_a_context_from_before() -> None:
    program = f"""
import sys
sys.path.insert(0, {str(HERE)!r})
from triton._C.libtriton import ir
context = ir.context()
ir.load_dialects(context)
import triton, triton.language as tl
from triton.compiler import ASTSource, make_backend
from triton.compiler.code_generator import ast_to_ttir
from triton.backends.compiler import GPUTarget
from support.language import source
from test_operations import sorts
backend = make_backend(GPUTarget("cuda", 90, 32))
options = backend.parse_options({{}})
ast_to_ttir(sorts, source(sorts, "*fp32 *fp32 128"), context, options, backend.get_codegen_implementation(options),
            backend.get_module_map())
"""
    done = forked_python.run([sys.executable, "-c", program], env=environment())
    assert "the dialect 'tally' is not in this context, which was set up before" in done.stderr


def test_out_of_a_kernel() -> None:
    with pytest.raises(tx.language.LanguageError, match=r"order: can be called in a @triton.jit function only"):
        order(1, 2, "label")


@pytest.mark.parametrize(
    ("declare", "expected"),
    [
        (lambda: tx.language.op("tally")(lambda: None), "expected an operation such as 'quant.scale', got 'tally'"),
        (lambda: tx.language.op()(test_out_of_a_kernel), "expected an operation, e.g. @tx.language.op("),
        (lambda: tx.language.op("tally.note")(lambda x: None), "parameter 'x' has no annotation, expected tl.tensor"),
        (lambda: tx.language.op("tally.note", dtypes={"y": tl.int32})(lambda: None), "names 'y', which is not a"),
        (lambda: tx.language.op("tally.note")(3), "op: expected a function, got 3"),
    ],
)
def test_wrong_declarations(declare: Any, expected: str) -> None:
    with pytest.raises(tx.language.LanguageError, match=re.escape(expected)):
        declare()


def test_help() -> None:
    import pydoc

    text = pydoc.plain(pydoc.render_doc(note))
    assert "note(name: attr.string, *values: tl.tensor, mask: tl.tensor | None = None) -> None" in text
    assert "Notes values." in text
