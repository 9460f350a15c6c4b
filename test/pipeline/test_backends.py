# SPDX-License-Identifier: Apache-2.0
"""Edits in every MLIR stage of every target, compiled to the binary that would be launched."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import pytest
import triton
from elftools.elf.elffile import ELFFile
from triton._C.libtriton import ir
from triton.backends import backends

import triton_ext as tx
from support.pipeline.seen import (
    CUDA80,
    CUDA90,
    CUDA100,
    GFX942,
    KERNELS,
    MARK,
    TARGETS,
    describe,
    everything,
    mark,
    names,
)
from triton_ext.compilation.requests import request_for

ASSEMBLY = {"cuda": ("ptx", "cubin"), "hip": ("amdgcn", "hsaco")}


def stamp(module: Any) -> None:
    """Counts, in the module itself, how often it ran; LLVM IR does not show it."""
    module.set_attr("test.stamped", ir.builder(module.context).get_int32_attr(1))


def compiled(pipeline: tx.Pipeline, target: str, kernel: str) -> Any:
    function, signature = KERNELS[kernel]
    task = request_for(function, target, signature.format(warp=64 if target == GFX942 else 32))
    with pipeline:
        return triton.compile(task.source, target=task.target)


def symbols(binary: bytes) -> set[str]:
    table = ELFFile(BytesIO(binary)).get_section_by_name(".symtab")
    return {symbol.name for symbol in table.iter_symbols()}


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kernel", ["softmax", "matmul"])
def test_an_edit_in_each_stage_reaches_the_binary(target: str, kernel: str) -> None:
    old = KERNELS[kernel][0].__name__
    seen: dict[str, int] = {}

    def count(module: Any) -> None:
        stage = "llir" if "llvm.func" in str(module) else "ttgir" if "ttg.num-warps" in str(module) else "ttir"
        seen[stage] = seen.get(stage, 0) + 1

    count.cache_key = "count"  # type: ignore[attr-defined]
    pipeline = (
        tx.Pipeline()
        .at_end("ttir", tx.passes.ttir.rename(old=old, new=f"{old}_new"), count)
        .before("ttgpuir.coalesce", tx.builtin.common.cse(), stamp, count)
        .after("llir:common.symbol_dce", tx.builtin.common.cse(), count)
    )
    built = compiled(pipeline, target, kernel)
    assembly, binary = ASSEMBLY[target.partition(":")[0]]
    assert seen == {"ttir": 1, "ttgir": 1, "llir": 1}
    assert "test.stamped" in built.asm["ttgir"]
    assert "test.stamped" not in built.asm["ttir"]
    for stage in ("ttir", "ttgir", "llir", assembly):
        assert f"{old}_new" in built.asm[stage]
    assert any(f"{old}_new" in name for name in symbols(built.asm[binary]))
    assert old not in symbols(built.asm[binary])

    def renamed_text(text: str, metadata: dict[str, Any], inner: Any) -> Any:
        made = inner(text, metadata).replace(f"{old}_new", f"{old}_newest")
        metadata["name"] = f"{old}_newest"
        return made

    built = compiled(pipeline.stage(assembly, renamed_text), target, kernel)
    assert built.metadata.name == f"{old}_newest"
    assert any(f"{old}_newest" in name for name in symbols(built.asm[binary]))


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_gluon(target: str) -> None:
    pipeline = (
        tx.Pipeline()
        .at_start("glir", mark)
        .at_end("glir", stamp)
        .before("gluon.infer_coalesced_encodings", mark)
        .skip("ttgir:gluon.canonicalizer#1")
        .at_end("ttgir", tx.builtin.common.cse())
        .after("to_llvmir", mark)
        .at_end("llir", tx.builtin.common.canonicalizer())
    )
    plain = describe(None, target, "add_one")
    edited = describe(pipeline, target, "add_one")
    assert names(plain, "glir") == []
    assert names(edited, "glir") == [MARK, "test_backends:stamp"]
    expected = names(plain, "ttgir")
    if target != GFX942:
        expected.remove("gluon.canonicalizer")
    else:
        expected = [name for name in expected if name != "gluon.canonicalizer"]
    expected.insert(expected.index("gluon.infer_coalesced_encodings"), MARK)
    assert names(edited, "ttgir") == [*expected, "common.cse"]
    assert names(edited, "llir").count(MARK) == 1
    assert names(edited, "llir")[-1] == "common.canonicalizer"
    built = compiled(pipeline, target, "add_one")
    assembly, binary = ASSEMBLY[target.partition(":")[0]]
    assert "test.stamped" in built.asm["ttgir"]
    assert "add_one" in built.asm[assembly]
    assert any("add_one" in name for name in symbols(built.asm[binary]))
    with pytest.raises(tx.PipelineError, match="no stage 'ttir', it has: glir, ttgir, llir"):
        compiled(tx.Pipeline().at_end("ttir", mark), target, "add_one")


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kernel", ["softmax", "matmul", "add_one"])
def test_edits_that_do_nothing_leave_the_same_binary(target: str, kernel: str) -> None:
    """Passes run in our managers in the order in which they would have run in the backend's."""
    nothing = tx.Pipeline().before("*", mark).at_end("llir", mark)
    plain, edited = (compiled(p, target, kernel) for p in (tx.Pipeline(), nothing))
    assert plain.hash != edited.hash
    for one, other, but in (
        (plain.asm, edited.asm, "source"),
        (plain.metadata._asdict(), edited.metadata._asdict(), "hash"),
    ):
        assert {k: v for k, v in one.items() if k != but} == {k: v for k, v in other.items() if k != but}


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_moved_and_swapped_passes(target: str) -> None:
    """Rebuilds the passes of one stage from the record: written in another way, but in the same order."""
    plain = describe(None, target, "matmul")
    first = next(r for s in plain.stages for r in s.passes if r.name == "ttgpuir.coalesce")
    pipeline = tx.Pipeline().skip("ttgpuir.coalesce").before("ttgpuir.f32_dot_tc", tx.builtin.ttgpuir.coalesce())
    assert everything(describe(pipeline, target, "matmul")) == everything(plain)
    assert first.ordinal == 1
    built = compiled(pipeline, target, "matmul")
    assert built.asm["ttgir"] == compiled(tx.Pipeline(), target, "matmul").asm["ttgir"]


@pytest.mark.slow
def test_the_code_paths_differ() -> None:
    """The targets differ as expected: Ampere prefetches, Hopper specialises warps, Blackwell has tensor memory."""
    ran = {target: {name for _, name, _ in everything(describe(None, target))} for target in TARGETS}
    for name, targets in {
        "ttgpuir.prefetch": {CUDA80},
        "nvidia.hopper.hopper_warpspec": {CUDA80, CUDA90},
        "nvidia.ttnvgpuir.promote_lhs_to_tmem": {CUDA100},
        "ttir.rewrite_tensor_descriptor_to_pointer": {CUDA80, GFX942},
        "amd.ttgpuir.convert_to_buffer_ops": {GFX942},
    }.items():
        assert {target for target in TARGETS if name in ran[target]} == targets


@pytest.mark.slow
@pytest.mark.skipif("cpu" not in backends, reason="the CPU backend is not in this checkout")
def test_a_backend_of_ours() -> None:
    target = backends["cpu"].driver().get_current_target()

    def edited(pipeline: tx.Pipeline) -> dict[str, list[str]]:
        seen = tx.describe(KERNELS["softmax"][0], target=target, signature=KERNELS["softmax"][1], pipeline=pipeline)
        return {stage.name: names(seen, stage.name) for stage in seen.stages}

    def twice(module: Any, metadata: dict[str, Any], inner: Any) -> Any:
        return inner(module, metadata)

    plain = edited(tx.Pipeline())
    rename = tx.passes.ttir.rename(old="softmax", new="renamed")
    pipeline = (
        tx.Pipeline().at_end("ttir", rename).before("cpu.lower_tiles", mark).at_end("cpuir", mark)
        .after("cpuir:common.*#last", tx.builtin.common.cse()).at_end("llir", mark).stage("cpuir", twice)
    )  # fmt: skip
    after = edited(pipeline)
    assert after["ttir"] == [*plain["ttir"], "rename"]
    lower = plain["cpuir"].index("cpu.lower_tiles")
    assert after["cpuir"] == [*plain["cpuir"][:lower], MARK, *plain["cpuir"][lower:], "common.cse", MARK]
    assert after["llir"] == [*plain["llir"], MARK]
