# SPDX-License-Identifier: Apache-2.0
"""Declarations that do not fit their operation: each call is an error in MLIR's words, and none ends the process."""

from __future__ import annotations

from typing import Any

import pytest
import triton
import triton.language as tl

import triton_ext as tx
from support.language import problem
from triton_ext.language import attr

pytestmark = pytest.mark.slow


@tx.language.op("tally.order")
def one_operand(lhs: tl.tensor, label: tl.constexpr = "l", mode: attr.i32 = 0) -> tl.tensor:
    """Has one operand of two."""


@tx.language.op("tally.order")
def three_operands(
    lhs: tl.tensor, rhs: tl.tensor, more: tl.tensor, label: tl.constexpr = "l", mode: attr.i32 = 0
) -> tl.tensor:
    """Has an operand too many."""


@tx.language.op("tally.order")
def no_operand(label: tl.constexpr = "l", mode: attr.i32 = 0) -> tl.tensor:
    """Has no operand to infer the types from."""


@tx.language.op("tally.order")
def no_label(lhs: tl.tensor, rhs: tl.tensor, mode: attr.i32 = 0) -> tl.tensor:
    """Lacks an attribute."""


@tx.language.op("tally.order")
def label_of_another_kind(lhs: tl.tensor, rhs: tl.tensor, label: attr.i32 = 1, mode: attr.i32 = 0) -> tl.tensor:
    """Has an integer where a string is wanted."""


@tx.language.op("tally.order")
def mode_that_there_is_not(lhs: tl.tensor, rhs: tl.tensor, label: attr.string = "l", mode: attr.i32 = 7) -> tl.tensor:
    """Has a value that the enum does not have."""


@tx.language.op("tally.order")
def one_result(lhs: tl.tensor, rhs: tl.tensor, label: tl.constexpr = "l", mode: attr.i32 = 0) -> tl.tensor:
    """Announces one result of two."""


@tx.language.op("tally.order", result=lambda lhs: (lhs.type,) * 3)
def three_results(lhs: tl.tensor, rhs: tl.tensor, label: tl.constexpr = "l", mode: attr.i32 = 0) -> tl.tensor:
    """Declares a result too many."""


@tx.language.op("tally.order", result=(tl.int8, tl.int8))
def other_results(lhs: tl.tensor, rhs: tl.tensor, label: tl.constexpr = "l", mode: attr.i32 = 0) -> tl.tensor:
    """Declares results of other types."""


@tx.language.op("tally.note")
def one_group(values: tuple[tl.tensor, ...], name: tl.constexpr = "n") -> None:
    """Knows one group of operands of two."""


@tx.language.op("tally.scope")
def region_left_out(name: tl.constexpr = "n") -> None:
    """Lacks the region."""


@tx.language.op("tally.count", region=True)
def region_too_many(x: tl.tensor) -> None:
    """Has a region that the operation does not have."""


@tx.language.op("tally.count", result=tx.language.opaque("!nobody.knows"))
def unknown_type(x: tl.tensor) -> None:
    """Declares a type of no dialect."""


@tx.language.op("tally.count", result=tx.language.opaque("tensor<"))
def malformed_type(x: tl.tensor) -> None:
    """Declares a type that does not parse."""


@tx.language.op("tally.tag")
def malformed_attribute(any: attr.text = "1 : i32 and more") -> None:  # noqa: A002
    """Has an attribute that does not parse."""


@tx.language.op("tally.tag")
def unknown_attribute(any: attr.text = "#nobody.knows<1>") -> None:  # noqa: A002
    """Has an attribute of no dialect."""


@tx.language.op("cf.br")
def branch() -> None:
    """Lacks the block to go to."""


@tx.language.op("tt.return")
def returns(x: tl.tensor) -> None:
    """Ends a function in its middle, with a value that the function does not return."""


@tx.language.op("tally.yield")
def yields() -> None:
    """Belongs into another operation."""


@tx.language.op("tally.end")
def wrong_operand(x: tl.tensor) -> None:
    """Takes a tensor where a token is wanted."""


CALLS: dict[Any, tuple[str, str]] = {
    one_operand: ("(v)", "its result types cannot be inferred from its operands"),
    three_operands: ("(v, v, v)", "expected 2 operands, but found 3"),
    no_operand: ("()", "its result types cannot be inferred"),
    no_label: ("(v, v)", "requires attribute 'label'"),
    label_of_another_kind: ("(v, v)", "Invalid attribute `label` in property conversion: 1 : i32"),
    mode_that_there_is_not: ("(v, v)", "Invalid attribute `mode` in property conversion: 7 : i32"),
    one_result: ("(v, v)", "'tally.order' has 2 results, the declaration 1"),
    three_results: ("(v, v)", "expected 2 results"),
    other_results: ("(v, v)", "failed to verify that all of {lhs, rhs, low, high} have same type"),
    one_group: ("((v, v))", "size mismatch in attribute conversion: 1 vs 2"),
    region_left_out: ("()", "requires one region"),
    unknown_type: ("(v)", "the result type does not parse: !nobody.knows: "),
    malformed_type: ("(v)", "the result type does not parse: tensor<"),
    malformed_attribute: ("()", "attribute 'any' does not parse: 1 : i32 and more: found trailing characters"),
    unknown_attribute: ("()", "attribute 'any' does not parse: #nobody.knows<1>: "),
    branch: ("()", "requires 1 successor but found 0"),
    returns: ("(v)", "op has 1 operands, but enclosing function (@kernel) returns 0"),
    yields: ("()", "expects parent op 'tally.scope'"),
    wrong_operand: ("(v)", "operand #0 must be"),
}


@pytest.mark.parametrize("function", CALLS, ids=lambda function: function.__name__)
def test_a_declaration_that_does_not_fit(function: Any) -> None:
    arguments, expected = CALLS[function]
    error = str(problem(kernel(f"called{arguments}", function)))
    assert expected in error
    assert "at 3:" in error


def test_a_region_too_many() -> None:
    assert "requires zero regions" in str(problem(with_region))


@triton.jit
def with_region(x):
    with region_too_many(tl.load(x)):
        tl.store(x, 1.0)


def kernel(call: str, called: Any) -> Any:
    """A kernel with this call; Triton reads the source of a kernel from its file."""
    import linecache

    text = f"def kernel(x):\n    v = tl.load(x)\n    {call}\n"
    file = f"<{called.__name__}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    scope = {"tl": tl, "called": called, "__name__": __name__}
    exec(compile(text, file, "exec"), scope)
    return triton.jit(scope["kernel"])
