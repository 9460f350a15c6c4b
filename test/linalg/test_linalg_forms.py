# SPDX-License-Identifier: Apache-2.0
"""Stock mlir-opt, without our dialects, reads every form in which `tx.linalg.compile` returns a module."""

from __future__ import annotations

import subprocess

import pytest
import triton
import triton.language as tl

import triton_ext as tx
from support.linalg import execute

SIGNATURE = "*fp32, *fp32, *fp32, i32, 64"


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n)
    tl.store(out + i, total, mask=i < n)


def stock_reads(module: str | bytes, *options: str) -> str:
    """Returns a module as stock mlir-opt prints it."""
    data = module.encode() if isinstance(module, str) else module
    command = [str(execute.mlir_opt()), *options]
    done = subprocess.run(command, input=data, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


@pytest.mark.slow
@pytest.mark.usefixtures("stock")
def test_lowered_text_and_bytecode_are_one_module() -> None:
    text = tx.linalg.compile(add, SIGNATURE, lowered=True)
    bytecode = tx.linalg.compile(add, SIGNATURE, lowered=True, form="bytecode")
    assert isinstance(bytecode, bytes)
    assert bytecode[:4] == b"ML\xefR"
    assert stock_reads(bytecode) == stock_reads(text)
    assert "linalg.map { arith.addf }" in stock_reads(bytecode)


@pytest.mark.slow
@pytest.mark.usefixtures("stock")
def test_generic_form_needs_no_dialect() -> None:
    """Stock mlir-opt does not know `tt`, `aux` and `linalg_ext`, and verifies the other dialects."""
    generic = tx.linalg.compile(add, SIGNATURE, form="generic")
    assert "func.func @add" not in generic
    for name in ('"func.func"', '"aux.view"', '"linalg_ext.pad"', '"tt.get_program_id"', '"linalg.map"'):
        assert name in generic
    read = stock_reads(generic, "--allow-unregistered-dialect")
    assert "func.func @add(" in read
    assert read.count('"aux.view"') == 3
    # The bytecode holds the same module as the text: our own driver prints both alike.
    assert tx.opt(generic, "triton-to-linalg") == tx.opt(tx.linalg.compile(add, SIGNATURE), "triton-to-linalg")

    lowered = tx.linalg.compile(add, SIGNATURE, lowered=True, form="generic")
    assert stock_reads(lowered) == stock_reads(tx.linalg.compile(add, SIGNATURE, lowered=True))


def test_bytecode_of_what_stock_mlir_does_not_know() -> None:
    with pytest.raises(tx.TritonExtError, match=r"does not know aux, linalg_ext and math_ext \(fix: lowered=True\)"):
        tx.linalg.compile(add, SIGNATURE, form="bytecode")


def test_no_such_form() -> None:
    with pytest.raises(tx.TritonExtError, match="form: expected one of text, generic, bytecode, got 'bitcode'"):
        tx.linalg.compile(add, SIGNATURE, form="bitcode")  # type: ignore[call-overload]


def test_bytecode_without_stock_mlir(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("triton_ext.sdk.tools.find_tool", lambda _: None)
    with pytest.raises(tx.TritonExtError, match=r"stock mlir-opt is not installed \(fix: triton-ext sdk install"):
        tx.linalg.compile(add, SIGNATURE, lowered=True, form="bytecode")


def test_convert_takes_a_pipeline() -> None:
    """The passes of the stage run one by one and can be edited; messages name the module as the caller does."""
    seen: list[str] = []
    see = tx.Pipeline().before("linalgir.convert_triton_to_linalg", lambda module: seen.append(str(module)))
    with tx.Pipeline().at_end("ttir", lambda module: seen.append(str(module))):
        compiled = tx.linalg.compile(add, SIGNATURE)
    ttir = seen.pop()
    converted = tx.linalg.convert(ttir, pipeline=see)
    assert "tt.load" in seen[0]
    assert len(seen) == 1
    assert converted.strip() == compiled.strip() == tx.linalg.convert(ttir).strip()
    assert "tts." not in tx.linalg.convert(ttir, pipeline=see, via="structured", lowered=True)

    skipped = tx.Pipeline().skip("linalgir.convert_triton_to_linalg")
    assert "tt.load" in tx.linalg.convert(ttir, pipeline=skipped)
    with pytest.raises(tx.PipelineError, match="nowhere"):
        tx.linalg.convert(ttir, pipeline=tx.Pipeline().skip("linalgir.nowhere"))
    with pytest.raises(tx.PipelineError, match=r"mine\.ttir:2"):
        tx.linalg.convert("module {\n  wrong\n}\n", pipeline=see, name="mine.ttir")
