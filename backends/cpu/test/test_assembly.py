# SPDX-License-Identifier: Apache-2.0
"""``kernel.asm["asm"]`` is made when somebody asks for it, and is the assembly of the library."""

from __future__ import annotations

import copy
import io
import pickle
from pathlib import Path
from typing import Any

import pytest
import triton
import triton.language as tl
from elftools.elf.elffile import ELFFile
from triton import knobs
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton_ext.backends.cpu import _assembly, _machine_code

import triton_ext as tx

NAMES = ["source", "ttir", "cpuir", "llir", "asm", "so"]
TARGET = GPUTarget("cpu", "x86-64", 1)


@triton.jit
def doubled(x, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x + i, tl.load(x + i) * 2)


def compiled(n: int) -> Any:
    source = ASTSource(doubled, signature={"x": "*fp32", "N": "constexpr"}, constexprs={"N": n})
    return triton.compile(source, target=TARGET)


@pytest.fixture
def generated(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The LLVM IR of each assembly that is generated while the test runs."""
    sources: list[str] = []
    generate = _machine_code.assembly

    def assembly(llir: str, *arguments: Any) -> str:
        sources.append(llir)
        return generate(llir, *arguments)

    monkeypatch.setattr(_machine_code, "assembly", assembly)
    return sources


def code_of(library: bytes) -> bytes:
    data: bytes = ELFFile(io.BytesIO(library)).get_section_by_name(".text").data()
    return data


def test_made_on_demand(generated: list[str]) -> None:
    """Neither a compilation nor a look at the keys generates assembly; a second look does not generate it again."""
    for kernel in (compiled(32), compiled(32)):  # the second one is from Triton's cache
        before = len(generated)
        assert list(kernel.asm) == list(kernel.asm.keys()) == NAMES
        assert "asm" in kernel.asm
        assert len(generated) == before
        text = kernel.asm["asm"]
        assert "doubled:" in text
        assert kernel.asm["asm"] is text
        assert generated[before:] == [kernel.asm["llir"]]
        assert code_of(_machine_code.library_of_assembly(text, ("x86-64", ""))) == code_of(kernel.asm["so"])


@pytest.mark.parametrize(
    "read",
    [
        lambda asm: dict(asm)["asm"],
        lambda asm: dict(asm.items())["asm"],
        lambda asm: dict(zip(asm, asm.values(), strict=True))["asm"],
        lambda asm: {**asm}["asm"],
        lambda asm: asm.get("asm"),
        lambda asm: asm.pop("asm"),
        lambda asm: copy.copy(asm)["asm"],
        lambda asm: pickle.loads(pickle.dumps(asm))["asm"],
        lambda asm: (asm | {})["asm"],
        lambda asm: asm.copy()["asm"],
    ],
)
def test_every_way_to_read_it(read: Any) -> None:
    assert "doubled:" in read(compiled(32).asm)


def test_another_key_is_missing_as_in_triton() -> None:
    asm = compiled(32).asm
    assert asm.get("ptx") is None
    with pytest.raises(KeyError, match="ptx"):
        asm["ptx"]


def test_a_pipeline_for_other_stages(generated: list[str]) -> None:
    """The library is the one of a compilation without a pipeline, byte for byte."""
    edits = tx.Pipeline().before("ttir.combine", tx.passes.ttir.rename(old="none", new="other"))
    for_others = edits.stage("ttgir", lambda source, _metadata, inner: inner(source), on_missing="ignore")
    for pipeline in (edits, for_others):  # the CPU has no stage ttgir
        with pipeline:
            kernel = compiled(32)
        assert not generated
        assert kernel.asm["so"] == compiled(32).asm["so"]
        assert "doubled:" in kernel.asm["asm"]
        generated.clear()


def test_who_looks_at_the_stage_gets_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The stage runs for a pipeline's function, TRITON_KERNEL_DUMP and TRITON_KERNEL_OVERRIDE."""
    seen: list[str] = []

    def watch(source: str, metadata: Any, inner: Any) -> Any:
        seen.append(inner(source, metadata))
        return seen[-1]

    with tx.Pipeline().stage("asm", watch):
        assert compiled(32).asm["asm"] == seen[0]
    assert "asm" in [record.name for record in tx.describe(doubled, signature="*fp32, 32", target="cpu:x86-64").stages]
    assert not _assembly.is_wanted(None)
    assert not _assembly.is_wanted("kernel.llir")
    assert _assembly.is_wanted("kernel.asm")
    monkeypatch.setattr(knobs.compilation, "override", True)
    assert _assembly.is_wanted(None)
    monkeypatch.setattr(knobs.compilation, "override", False)
    monkeypatch.setattr(knobs.compilation, "dump_ir", True)
    monkeypatch.setattr(knobs.cache, "dump_dir", str(tmp_path / "dump"))
    kernel = compiled(64)
    assert [file.read_text() for file in (tmp_path / "dump").rglob("doubled.asm")] == [kernel.asm["asm"]]
