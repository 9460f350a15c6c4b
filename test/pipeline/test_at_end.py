# SPDX-License-Identifier: Apache-2.0
"""`Pipeline.at_end` on real compilations, to the binary."""

from __future__ import annotations

import threading
from typing import Any

import pytest
import triton
from triton import knobs
from triton.backends.compiler import GPUTarget

import triton_ext as tx
from support.pipeline.kernels import softmax, source, squares

TARGETS = [
    pytest.param(GPUTarget("cuda", 80, 32), "ptx", id="cuda80"),
    pytest.param(GPUTarget("cuda", 90, 32), "ptx", id="cuda90"),
    pytest.param(GPUTarget("cuda", 100, 32), "ptx", id="cuda100"),
    pytest.param(GPUTarget("hip", "gfx942", 64), "amdgcn", id="gfx942"),
]
CUDA90 = GPUTarget("cuda", 90, 32)


def rename(**options: str) -> tx.Pipeline:
    return tx.Pipeline().at_end("ttir", tx.passes.ttir.rename(**options))


@pytest.mark.parametrize(("target", "assembly"), TARGETS)
def test_the_new_name_reaches_the_binary_and_the_launcher(target: GPUTarget, assembly: str) -> None:
    with rename(old="softmax", new="renamed"):
        kernel = triton.compile(source(softmax), target=target)
    assert "@renamed" in kernel.asm["ttir"]
    assert "renamed" in kernel.asm[assembly]
    assert "@softmax" not in kernel.asm["ttir"]
    assert kernel.metadata.name == "renamed"  # the name that the driver looks up in the binary
    assert b"renamed" in kernel.kernel


@pytest.mark.slow
def test_calls_follow_a_renamed_function() -> None:
    plain = triton.compile(source(squares), target=CUDA90)
    callee = next(line for line in plain.asm["ttir"].splitlines() if "tt.func private" in line)
    callee = callee.split("@")[1].split("(")[0].strip('"')
    with rename(old=callee, new="callee"):
        kernel = triton.compile(source(squares), target=CUDA90)
    assert "tt.call @callee(" in kernel.asm["ttir"]
    assert kernel.metadata.name == "squares"


@pytest.mark.slow
def test_only_the_block_is_affected_and_the_slot_is_given_back() -> None:
    assert knobs.runtime.add_stages_inspection_hook is None
    with rename(old="softmax", new="inside"):
        inside = triton.compile(source(softmax), target=CUDA90)
    outside = triton.compile(source(softmax), target=CUDA90)
    assert (inside.metadata.name, outside.metadata.name) == ("inside", "softmax")
    assert knobs.runtime.add_stages_inspection_hook is None


@pytest.mark.slow
def test_passes_run_in_order_and_blocks_nest_inside_out() -> None:
    first, second = tx.passes.ttir.rename(old="softmax", new="one"), tx.passes.ttir.rename(old="one", new="two")
    with tx.Pipeline().at_end("ttir", first, second):
        assert triton.compile(source(softmax), target=CUDA90).metadata.name == "two"
    with tx.Pipeline().at_end("ttir", second), tx.Pipeline().at_end("ttir", first):
        assert triton.compile(source(softmax), target=CUDA90).metadata.name == "two"
    with tx.Pipeline().at_end("ttir", first), tx.Pipeline().at_end("ttir", second):
        assert triton.compile(source(softmax), target=CUDA90).metadata.name == "one"


@pytest.mark.slow
def test_a_pipeline_object_may_be_entered_twice_and_by_threads() -> None:
    names: dict[str, str] = {}
    # All threads are inside at the same time.
    compiled = threading.Barrier(4, timeout=120)

    def compile_with(pipeline: tx.Pipeline | None, label: str) -> None:
        if pipeline is None:
            names[label] = triton.compile(source(softmax), target=CUDA90).metadata.name
            compiled.wait()
            return
        with pipeline, pipeline:
            names[label] = triton.compile(source(softmax), target=CUDA90).metadata.name
            compiled.wait()

    shared = rename(old="softmax", new="shared")
    jobs = {"a": shared, "b": shared, "c": rename(old="softmax", new="other"), "none": None}
    threads = [threading.Thread(target=compile_with, args=(p, label)) for label, p in jobs.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert names == {"a": "shared", "b": "shared", "c": "other", "none": "softmax"}


def test_a_hook_of_the_user_keeps_working() -> None:
    seen: list[bool] = []

    def hook(backend: Any = None, stages: Any = None, *_: Any) -> tuple[str, str]:
        seen.append(stages is not None)
        return "theirs", "theirs"

    knobs.runtime.add_stages_inspection_hook = hook
    try:
        with rename(old="softmax", new="both"):
            kernel = triton.compile(source(softmax), target=CUDA90)
        assert kernel.metadata.name == "both"
        assert set(seen) == {True, False}
        assert knobs.runtime.add_stages_inspection_hook is hook
    finally:
        knobs.runtime.add_stages_inspection_hook = None


def test_wrong_edits_are_refused_when_the_object_is_built() -> None:
    with pytest.raises(tx.PipelineError, match="for stage 'ttir', not for 'ttgir'"):
        tx.Pipeline().at_end("ttgir", tx.passes.ttir.rename())
    with pytest.raises(tx.PipelineError, match="expected a pass"):
        tx.Pipeline().at_end("ttir", "rename")  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_failing_pass_names_edit_pass_and_kernel_and_leaves_nothing_behind() -> None:
    with rename(old="softmax", new="1st"), pytest.raises(tx.PipelineError) as error:
        triton.compile(source(softmax), target=CUDA90)
    for part in ("ttir: at_end", "rename{new=1st old=softmax}", "kernel 'softmax'"):
        assert part in str(error.value)
    assert knobs.runtime.add_stages_inspection_hook is None
    assert triton.compile(source(softmax), target=CUDA90).metadata.name == "softmax"


def test_an_exception_in_the_block_ends_the_pipeline() -> None:
    with pytest.raises(ZeroDivisionError), rename(old="softmax", new="x"):
        raise ZeroDivisionError
    assert knobs.runtime.add_stages_inspection_hook is None
