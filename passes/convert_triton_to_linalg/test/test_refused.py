# SPDX-License-Identifier: Apache-2.0
"""The conversion changes nothing before it has found that it can convert every operation of the module."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import triton_ext as tx

PASS = "convert-triton-to-linalg"
#: Each piece has an operation that is refused.
PIECES = Path(__file__).with_name("negative.mlir").read_text().partition("\n")[2].split("// -----")
#: A function that can be converted. The conversion also erases its dead operations.
CONVERTIBLE = """
tt.func @convertible(%p: !tt.ptr<f32>, %n: i32) {
  %dead = arith.addi %n, %n : i32
  %range = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %range : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %unused = tt.addptr %ps, %range : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %v = tt.load %pp : tensor<8x!tt.ptr<f32>>
  tt.store %pp, %v : tensor<8x!tt.ptr<f32>>
  tt.return
}
"""
REFUSED = """
tt.func @refused(%p: !tt.ptr<f32>) {
  %0 = tt.load %p {isVolatile = true} : !tt.ptr<f32>
  tt.return
}
"""


QUIET = "triton_ext.quiet"
REASONS = re.compile(r'triton_ext\.refused = "(?:[^"\\]|\\.)*"(, )?')


def in_module(functions: str, attribute: str = "") -> str:
    """Returns a module with this attribute; one piece is a module already, with other attributes."""
    if "module attributes {" in functions:
        return functions.replace("module attributes {", f"module attributes {{{attribute}{attribute and ', '}")
    return f"module attributes {{{attribute}}} {{{functions}}}"


@pytest.mark.parametrize(
    "functions", [*PIECES, CONVERTIBLE + REFUSED, REFUSED + CONVERTIBLE, CONVERTIBLE.replace("8", "16") + REFUSED]
)
def test_a_refused_module_stays_as_it_is(functions: str) -> None:
    """With `QUIET`, the pass succeeds, writes the reasons and leaves the rest. Without, it decides alike and fails."""
    after = tx.opt(in_module(functions, QUIET), PASS)
    assert len(REASONS.findall(after)) == 1
    after = REASONS.sub("", after).replace("module attributes {} {", "module {")
    assert after == tx.opt(in_module(functions), "")


def test_the_pass_would_have_changed_the_functions() -> None:
    text = tx.opt(in_module(CONVERTIBLE), PASS)
    assert "tt.func" not in text
    assert "%dead" not in text
