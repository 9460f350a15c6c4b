# SPDX-License-Identifier: Apache-2.0
"""Kernels compute the same after `collapse_shape`, on tensors of fewer dimensions."""

from __future__ import annotations

import re

import pytest

import triton_ext as tx
from support import ROOT
from support.linalg import execute, kernels, ways_page

pytestmark = pytest.mark.slow

#: Cases with tensors of several dimensions.
NAMES = [
    "broadcast",
    "descriptors",
    "embedding",
    "matmul_of_float16",
    "sort_and_flip",
    "three_dimensions",
    "transpose",
    "tutorial_attention",
    "two_dimensions",
]
COLLAPSED = tx.Pipeline().before(
    "linalgir.lower_linalg_ext", tx.passes.linalgir.collapse_shape(), tx.builtin.common.canonicalizer()
)


@pytest.mark.usefixtures("stock")
@pytest.mark.parametrize("name", NAMES)
def test_case_executed(name: str) -> None:
    with execute.through_linalg(at_end=True, pipeline=COLLAPSED):
        kernels.check(name, 0)


def dimensions(text: str) -> int:
    """Returns the number of dimensions of all results of operations of linalg."""
    types = re.findall(r"linalg\.(?:map|fill|broadcast|reduce) .*outs\(%\S+ : tensor<([^>]*)>", text)
    return sum(kind.count("x") for kind in types)


@pytest.mark.parametrize("name", NAMES)
def test_dimensions_are_not_more(name: str) -> None:
    for kernel, signature in ways_page.launches(name):
        text = tx.linalg.compile(kernel, signature)
        before, after = dimensions(text), dimensions(tx.opt(text, "collapse-shape,canonicalize"))
        assert after <= before
        if name == "sort_and_flip":
            page = " ".join((ROOT / "docs" / "linalg.md").read_text().split())
            assert f"have {after} dimensions in place of {before}" in page
