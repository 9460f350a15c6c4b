# SPDX-License-Identifier: Apache-2.0
"""Spaces: what is found, that every choice is an edit, and what a search leaves alone; the page; a missing Optuna."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import triton
import triton.language as tl

import triton_ext as tx
from support.search.studies import study, tell_all, timed
from triton_ext import TritonExtError, backends
from triton_ext.pipeline.records import StageRecord
from triton_ext.searching import Space
from triton_ext.searching.entry import seconds_of
from triton_ext.searching.extension_knobs import extension_knobs
from triton_ext.searching.knobs import OF_LAUNCHES
from triton_ext.searching.page import page_of
from triton_ext.searching.reporting import report_of


@triton.autotune([triton.Config({"BLOCK": b}, num_warps=w) for b in (64, 128) for w in (2, 4)], key=[])
@triton.jit
def double(x, y, BLOCK: tl.constexpr):
    """y = 2 * x."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i) * 2)


@pytest.fixture(scope="module")
def space() -> Space:
    return tx.space(double, "cuda:90", {"x": "*fp32:16", "y": "*fp32:16"})


@pytest.mark.slow
def test_what_is_found(space: Space) -> None:
    names = {knob.name: knob for knob in space.knobs}
    assert names["BLOCK"].choices == (64, 128)
    assert names["num_warps"].kind == "launch option"
    assert (names["num_warps"].default, names["num_stages"].default) == (2, 3)
    assert names["skip ttgir:ttgpuir.coalesce#1"].searched
    stages = names["ttgir:ttgpuir.pipeline#1.num_stages"]
    assert (stages.type, stages.low, stages.default, stages.changes_results) == ("int", 1, 3, "no")
    assert names["loop_split.max_splits"].high == 2**32 - 1
    assert {"llvm pipeline", "llvm after"} <= names.keys()
    assert all(knob.meaning for knob in space.knobs)


def test_layouts_and_options_of_llvm(space: Space) -> None:
    layout = space.knob("layout of load")
    assert layout.choices == ("Triton's", "1 along 0", "2 along 0", "4 along 0")  # of 4 bytes, a thread moves 16
    assert space.text({layout.name: "2 along 0"}) == (
        "ttgir: after(ttgpuir.coalesce#1, assign_layout{kind=load vector=2 dimension=0 optional=true})"
    )
    assert not any(knob.name == "layout of atomic" for knob in space.knobs)
    assert not space.knob("assign_layout.vector").searched  # by these knobs alone
    unroll = space.knob("llvm.unroll")
    assert (unroll.type, unroll.low, unroll.high, unroll.default) == ("int", 0, 1024, 0)
    assert space.text({"llvm.unroll": 4}) == "llvm: at_start(hint_llvm{unroll=4})"
    assert space.launch({"ptx_options": "--opt-level 1", "sched4reg": True})["ptx_options"] == "--opt-level 1"
    assert not any(knob.name in ("llvm_fn_attrs", "llvm.vector_width") for knob in space.knobs)  # of other targets
    kinds = {knob["kind"] for knob in json.loads(space.json())["knobs"]}
    assert {"layout", "llvm option"} <= kinds


@pytest.mark.slow
def test_options_of_other_targets() -> None:
    signature = {"x": "*fp32:16", "y": "*fp32:16"}
    amd, cpu = (tx.space(double, target, signature) for target in ("hip:gfx942", "cpu:native"))
    assert amd.knob("llvm_fn_attrs").default == ""
    assert (amd.knob("allow_flush_denorm").changes_results, amd.knob("allow_flush_denorm").searched) == ("yes", False)
    assert cpu.knob("llvm.vector_width").choices == (0, 256, 512)
    assert not any(knob.kind == "layout" for knob in cpu.knobs)


def test_an_extension_whose_knobs_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "broken" / "api" / "knobs.py"
    file.parent.mkdir(parents=True)
    file.write_text("def knobs(stages, backend):\n    raise ValueError('planted')\n")
    name = next(knob.name for knob in extension_knobs([StageRecord("ttir", 0.0, ())], "cpu", "x"))
    monkeypatch.setattr(backends, "knob_files", lambda: {name: file})
    with pytest.warns(UserWarning, match=f"the knobs of '{name}' are left out: planted"):
        assert any(knob.name == name for knob in extension_knobs([StageRecord("ttir", 0.0, ())], "cpu", "x"))


def test_passes_that_the_target_needs_are_not_turned(space: Space) -> None:
    membar = next(knob for knob in space.knobs if knob.name.startswith("skip llir:nvidia.ttgpuir.membar"))
    assert (membar.changes_results, membar.searched) == ("yes", False)
    assert not any(knob.changes_results == "yes" for knob in space.only(None).knobs)
    assert space.knob("loop_split.no_wrap").changes_results == "yes"  # it assumes something


@pytest.mark.slow
def test_every_choice_is_a_pipeline(space: Space) -> None:
    for knob in space.knobs:
        for choice in knob.choices if knob.kind not in OF_LAUNCHES else ():
            values = {knob.name: choice}
            if knob.kind == "extension option":
                values[knob.place] = space.knob(knob.place).choices[1]
            text = str(space.pipeline(space.checked(values)))
            assert (text == "") == (not space.changed(values))


def test_as_json(space: Space) -> None:
    content = json.loads(space.json())
    assert content["target"] == "cuda:90"
    assert {"name", "kind", "type", "choices", "default", "meaning", "changes_results"} <= content["knobs"][0].keys()
    assert "double for cuda:90" in str(space)


def test_wrong_values_and_names(space: Space) -> None:
    with pytest.raises(TritonExtError, match="did you mean 'num_warps'"):
        space.knob("num_warp")
    with pytest.raises(TritonExtError, match="expected one of 64, 128, got 3"):
        space.checked({"BLOCK": 3})
    with pytest.raises(TritonExtError, match="90s, 10m or 2h"):
        seconds_of("soon")
    assert [seconds_of(text) for text in ("90s", "10m", "2h", 5)] == [90, 600, 7200, 5]


def test_without_optuna(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(TritonExtError, match=r"pip install 'triton-ext\[search\]'"):
        tx.search(double, (1,), dict)


def test_the_page_of_a_study() -> None:
    made = study(sampler="grid")
    tell_all(made, 12, lambda v: timed(5.0 - len(v), str(v)) if "skip a" not in v else {"status": "wrong result"})
    made.note(finals={"0": 5.0}, best=made.best.number if made.best else 0)
    found = report_of(made.optuna)
    page = page_of(found, [("ttir", ["-a <b>", "+c"])], "")
    assert "<svg" in page
    assert "-a &lt;b&gt;" in page
    assert "wrong result" in page
    assert str(found).startswith("made up on a device: 13 trials")  # one is known to fail
