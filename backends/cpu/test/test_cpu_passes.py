# SPDX-License-Identifier: Apache-2.0
"""The backend's passes are declared like passes of extensions: their options have names, and edits can set them."""

from __future__ import annotations

import re

import pytest
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton_ext.backends.cpu import _library
from triton_ext.backends.cpu.compiler import cpu

import triton_ext as tx
from triton_ext.authoring.catalogue import catalogue
from triton_ext.authoring.reference import passes_page
from triton_ext.compilation.requests import request_for
from triton_ext.patches.signatures import parameters

HASWELL = GPUTarget("cpu", "haswell", 1)


@triton.jit
def multiply_add(x, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x + i, tl.fma(tl.load(x + i), 2.0, 1.0) + tl.sin(tl.load(x + i).to(tl.float64)).to(tl.float32))


def lowered(pipeline: tx.Pipeline) -> str:
    """Returns the kernel's ``cpuir``, compiled for a CPU that has FMA."""
    task = request_for(multiply_add, HASWELL, "*fp32,64")
    with pipeline:
        return str(triton.compile(task.source, target=HASWELL).asm["cpuir"])


def test_options_have_the_names_of_the_declaration() -> None:
    assert parameters(cpu.passes.add_lower_tiles) == (
        *(("vector_bytes", "int"), ("has_fma", "bool"), ("dot_units", "int"), ("quiet", "bool")),
        *(("most_for_two_views", "int"), ("most_for_replication", "int"), ("most_shared_bytes", "int")),
    )
    assert parameters(cpu.passes.add_allow_inlining) == ()


@pytest.mark.slow
def test_an_edit_sets_an_option() -> None:
    with_fma, without = lowered(tx.Pipeline()), lowered(tx.Pipeline().set("cpuir:lower_tiles", has_fma=False))
    assert "vector.reduce.or" in with_fma  # vector code, unless a lane is large
    assert "vector.reduce.or" not in without


def test_they_have_a_place_in_the_reference() -> None:
    page = passes_page()
    for name in ("allow_inlining", "clear_module", "lower_tiles"):
        assert f"\n## cpu.{name}\n" in page
    assert "| `vector-bytes` | `vector_bytes` | `int32_t` | `32` |" in page
    # The backend gives these to each kernel.
    for limit, number in zip(("for-two-views", "for-replication", "shared-bytes"), _library.LIMITS, strict=True):
        assert re.search(rf"\| `most-{limit}` \| `\w+` \| `int32_t` \| `{number}` \|", page), limit


@pytest.mark.slow
def test_they_are_listed_with_the_stages_that_run_them() -> None:
    listed = {p.argument: p for p in catalogue() if p.binding.startswith("cpu.passes.")}
    assert {argument: p.stages for argument, p in listed.items()} == {
        "triton-ext-cpu-allow-inlining": ("ttir",),
        "triton-ext-cpu-clear-module": (),
        "triton-ext-cpu-fuse-multiply-add": ("cpuir",),
        "triton-ext-cpu-lower-tiles": ("cpuir",),
    }
    assert [o.name for o in listed["triton-ext-cpu-lower-tiles"].options] == [
        *("vector-bytes", "has-fma", "dot-units", "quiet"),
        *("most-for-two-views", "most-for-replication", "most-shared-bytes"),
    ]
    assert all(p.summary.endswith("(triton-ext-opt needs --load-extension=cpu)") for p in listed.values())
