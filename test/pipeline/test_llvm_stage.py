# SPDX-License-Identifier: Apache-2.0
"""The stage ``llvm`` of pipelines: placement, Triton's own optimisation, failures, on every backend."""

from __future__ import annotations

import re

import pytest
import triton
import triton.language as tl

import triton_ext as tx
from support.pipeline.seen import llvm_text
from triton_ext.record import Compilation

TARGETS = ("cuda:90", "hip:gfx942", "cpu:native")
PLAIN = tx.Pipeline()
GVN = "function(instcombine,gvn)"


@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) * 2 + i // n, mask=i < n)


def traced(target: str, pipeline: tx.Pipeline | None = None) -> Compilation:
    return tx.trace(kernel, target=target, signature="*fp32, *fp32, i32, 128", pipeline=pipeline)


def names(compilation: Compilation) -> list[str]:
    return [r.name for stage in compilation.stages if stage.name == "llvm" for r in stage.passes if r.ran]


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_default_pipeline_is_tritons(target: str) -> None:
    replaced = traced(target, PLAIN.replace("llvm.optimize_module", tx.builtin.llvm("default<O3>")))
    assert names(replaced) == ["llvm"]
    assert llvm_text(replaced) == llvm_text(traced(target))


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_places(target: str) -> None:
    entry = tx.builtin.llvm(GVN)
    assert names(traced(target, PLAIN.at_start("llvm", entry))) == ["llvm", "llvm.optimize_module"]
    assert names(traced(target, PLAIN.at_end("llvm", entry))) == ["llvm.optimize_module", "llvm"]
    assert names(traced(target, PLAIN.before("llvm.optimize_module", entry))) == ["llvm", "llvm.optimize_module"]
    skipped = traced(target, PLAIN.skip("llvm.optimize_module"))
    assert names(skipped) == []
    (stage,) = (stage for stage in skipped.stages if stage.name == "llvm")
    assert stage.output is not None


@pytest.mark.slow
def test_the_texts_around_a_pass() -> None:
    (stage,) = (s for s in traced("cuda:90").stages if s.name == "llvm")
    (record,) = stage.passes
    assert record.changed
    assert record.ops_after < record.ops_before
    assert stage.source != record.ir
    assert str(stage.source).startswith("; ModuleID")


@pytest.mark.parametrize("point", ["peephole", "vectorizer_start", "optimizer_last"])
def test_extension_points(point: str) -> None:
    pipeline = PLAIN.after(
        f"llvm.{point}", tx.builtin.llvm("annotation2metadata" if "last" in point else "instcombine")
    )
    assert names(traced("cuda:90", pipeline)) == ["llvm.optimize_module", "llvm"]


@pytest.mark.parametrize(
    "edited",
    [
        PLAIN.replace("llvm.peephole", tx.builtin.llvm("sink")),
        PLAIN.skip("llvm.peephole"),
        PLAIN.set("llvm.peephole", level=2),
    ],
    ids=["replace", "skip", "set"],
)
def test_an_extension_point_is_no_pass(edited: tx.Pipeline) -> None:
    with pytest.raises(tx.PipelineError, match=r"'llvm\.peephole' is an extension point of LLVM's optimiser"):
        traced("cuda:90", edited)


def test_switch() -> None:
    described = traced("cuda:90", PLAIN.set("llvm.optimize_module", disable_slp_vectorizer=True))
    (record,) = (r for s in described.stages if s.name == "llvm" for r in s.passes)
    assert ("disable_slp_vectorizer", "true") in record.arguments


def test_the_text_tells_two_entries_apart() -> None:
    pipeline = PLAIN.at_end("llvm", tx.builtin.llvm(GVN), tx.builtin.llvm("function(dce)"))
    (stage,) = (s for s in traced("cuda:90", pipeline).stages if s.name == "llvm")
    assert [r.arguments for r in stage.passes[1:]] == [(("passes", GVN),), (("passes", "function(dce)"),)]


def test_text_form() -> None:
    pipeline = PLAIN.after("llvm.optimize_module", tx.builtin.llvm(GVN))
    assert str(pipeline) == f'llvm: after(llvm.optimize_module, llvm{{passes="{GVN}"}})'
    assert str(tx.Pipeline.parse(str(pipeline))) == str(pipeline)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("passes", "problem"),
    [
        ("nonsense", "unknown pass name 'nonsense'"),
        ("function(gvn", "invalid pipeline"),
        ("trigger-verifier-error", "does not verify"),
        ("trigger-crash-module", "it crashed"),
    ],
)
@pytest.mark.parametrize("target", TARGETS)
def test_failures(target: str, passes: str, problem: str) -> None:
    with pytest.raises(tx.PipelineError, match=problem) as error:
        traced(target, PLAIN.at_end("llvm", tx.builtin.llvm(passes)))
    assert "failed in stage 'llvm' on kernel 'kernel'" in str(error.value)
    assert names(traced(target)) == ["llvm.optimize_module"]


def test_missing_anchor() -> None:
    with pytest.raises(tx.PipelineError, match=re.escape("llvm.optimize_module")):
        traced("cuda:90", PLAIN.skip("llvm:common.cse"))


def test_wrong_kinds() -> None:
    with pytest.raises(tx.PipelineError, match="is for MLIR's modules"):
        PLAIN.at_end("llvm", tx.builtin.common.cse())
    with pytest.raises(tx.PipelineError, match="is for LLVM's modules"):
        PLAIN.at_end("ttir", tx.builtin.llvm(GVN))
