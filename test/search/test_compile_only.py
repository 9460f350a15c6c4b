# SPDX-License-Identifier: Apache-2.0
"""Searches that only compile, for a GPU that is not here: what wins, what is said of it, and the checks of its file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from click.testing import CliRunner

import support
import triton_ext as tx
from support.search import unrolled
from support.search.studies import SPACE, study, tell_all
from triton_ext import TritonExtError
from triton_ext.cli.search import search as command
from triton_ext.searching import SearchResult, verify
from triton_ext.searching.compile_only import arguments_of
from triton_ext.searching.objectives import checked_objectives, values_of
from triton_ext.searching.page import page_of

SIGNATURE = {"x": "*fp32:16", "y": "*fp32:16", "n": "i32"}


@pytest.fixture
def result(monkeypatch: pytest.MonkeyPatch) -> SearchResult:
    """Returns the result of a search for the least code, which unrolling makes larger."""
    monkeypatch.setenv("PYTHONPATH", support.PYTHONPATH)
    return tx.search(
        unrolled.accumulate,
        compile_only=True,
        signature=SIGNATURE,
        configs=unrolled.CONFIGS,
        target="cuda:90",
        objectives=("code_size", "instructions.branch"),
        knobs=["llvm.unroll"],
        sampler="grid",
        workers=1,
        progress=False,
    )


@pytest.mark.slow
def test_a_winner_that_nobody_has_run(result: SearchResult, tmp_path: Path) -> None:
    assert result.best.values == {"llvm.unroll": 1}
    assert {trial.status for trial in result.history} == {"ok"}
    assert all(trial.milliseconds is None for trial in result.history)
    assert result.best.objectives[0] < result.plain.objectives[0]
    assert (result.checked, result.gain, result.device, dict(result.finals)) == (False, None, "", {})
    for text in (str(result), str(result.report), page_of(result.report, [], "")):
        assert "nothing was run, so no result was checked" in text
        assert "code size" in text
    file = tmp_path / "winners.json"
    result.save(file)
    with pytest.raises(TritonExtError, match="was compiled only: its results were never checked"):
        tx.found(file, unrolled.accumulate)
    found = tx.found(file, unrolled.accumulate, unchecked=True)
    assert (found.checked, found.edits) == (False, "llvm: at_start(hint_llvm{unroll=1})")
    with pytest.raises(TritonExtError, match="was compiled only"):
        CliRunner().invoke(command, ["show", str(file)], catch_exceptions=False)
    shown = CliRunner().invoke(command, ["show", str(file), "--unchecked"])
    assert shown.stdout == f"{found.edits}\n"
    assert "never run or checked" in shown.stderr
    # The check compiles again. It needs no GPU, and says that it runs nothing.
    (verdict,) = verify(file)
    assert verdict.status == "ok"
    assert "compiled only, never run or checked" in str(verdict)
    content = json.loads(file.read_text())
    content["findings"][0]["figures"]["code_size"] -= 128
    file.write_text(json.dumps(content))
    (verdict,) = verify(file)
    assert verdict.status == "worse"
    assert "now code size" in verdict.reason


def test_a_checked_winner_goes_first(tmp_path: Path) -> None:
    from triton_ext.searching.stored import Finding, findings, save

    fields: dict[str, Any] = {
        **dict.fromkeys(("kernel", "target", "shapes", "device", "triton", "objective"), "k"),
        **{"milliseconds": 1.0, "plain_milliseconds": 2.0, "plain_launch": {}, "gain": 2.0, "exact": True},
        **{"tolerance": None, "unaligned": True, "source": None, "launch": {}},
    }
    file = tmp_path / "winners.json"
    unchecked = {"checked": False, "gain": None, "figures": {"shared": 1.0}, "signature": (("x", ("torch.int8", 16)),)}
    save(file, Finding(edits="a", **(fields | unchecked)))
    save(file, Finding(edits="b", **fields))
    assert [one.edits for one in findings(file)] == ["a", "b"]
    assert tx.found(file, "k").edits == "b"
    assert findings(file)[0].signature == (("x", ("torch.int8", 16)),)
    # A file of format 1 says nothing of all this: its winners were checked.
    content = json.loads(file.read_text())
    old = [{n: v for n, v in entry.items() if n in fields or n == "edits"} for entry in content["findings"][1:]]
    file.write_text(json.dumps({"triton_ext_search": 1, "findings": old}))
    assert tx.found(file).checked


def test_arguments() -> None:
    def made(signature: Any, inputs: Any = None) -> Any:
        configs = [{"BLOCK": 64, "num_warps": 2}]
        options: dict[str, Any] = {"signature": signature, "inputs": inputs, "configs": configs, "seed": 0}
        return arguments_of(unrolled.accumulate, "cuda:90", **options)

    assert made(SIGNATURE).arguments == (
        (("x", ("torch.float32", 16)), ("y", ("torch.float32", 16)), ("n", 7), ("BLOCK", 64)),
    )
    assert made("*bf16, *fp8e4nv:16, i64:16, 32").arguments[0][:3] == (
        ("x", ("torch.bfloat16", 1)),
        ("y", ("torch.float8_e4m3fn", 16)),
        ("n", 2**40),
    )
    assert made(SIGNATURE).shapes == "x: *fp32:16, y: *fp32:16, n: i32"
    from_inputs = made(None, lambda: [{"x": torch.ones(16), "y": torch.ones(4), "n": n} for n in (3, 5, 32)])
    assert [dict(one)["n"] for one in from_inputs.arguments] == [5, 32]  # Triton compiles one kernel for 3 and 5
    with pytest.raises(TritonExtError, match="no argument of type 'i8'"):
        made("*fp32, *fp32, i8, 32")
    with pytest.raises(TritonExtError, match="needs a signature"):
        made(None)


@pytest.mark.slow
def test_objectives_without_a_run(tmp_path: Path) -> None:
    assert checked_objectives(None, "cuda", compile_only=True) == ("spills", "registers", "shared")
    assert checked_objectives(None, "cpu") == ("time",)
    with pytest.raises(TritonExtError, match="'time': nothing is run"):
        checked_objectives(["time"], "cuda", compile_only=True)
    with pytest.raises(TritonExtError, match=r"no objective 'instructions\.magic'"):
        checked_objectives(["instructions.magic"], "cuda")
    figures = {"instructions.local": 3.0, "instructions.other": 4.0}
    names = ("instructions", "instructions.local", "instructions.matrix")
    assert values_of(names, None, figures) == (7, 3, 0)
    with pytest.raises(TritonExtError, match="does not say it"):
        values_of(names, None, {})
    with pytest.raises(TritonExtError, match="give grid and inputs"):
        tx.search(unrolled.accumulate)
    with pytest.raises(TritonExtError, match="needs a target"):
        tx.search(unrolled.accumulate, compile_only=True)
    study(tmp_path / "a.db")
    with pytest.raises(TritonExtError, match="is of a search that runs"):
        study(tmp_path / "a.db", compile_only=True)


def test_the_best_of_equal_first_objectives() -> None:
    made = study(objectives=("spills", "registers"), space=SPACE.only(["num_warps"]), sampler="grid", compile_only=True)
    values = iter([(0.0, 40.0), (0.0, 32.0), (0.0, 32.0)])
    tell_all(made, 3, lambda v: {"status": "ok", "objectives": next(values), "binary": str(v)})
    assert made.best is not None
    assert (made.best.number, made.best.objectives) == (1, (0.0, 32.0))


def test_an_interrupted_save_keeps_the_file_and_leaves_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import os

    from triton_ext.searching.stored import Finding, findings, save

    fields: dict[str, Any] = {
        **dict.fromkeys(("kernel", "target", "shapes", "device", "triton", "objective"), "k"),
        **{"milliseconds": 1.0, "plain_milliseconds": 2.0, "plain_launch": {}, "gain": 2.0, "exact": True},
        **{"tolerance": None, "unaligned": True, "source": None, "launch": {}},
    }
    file, stranger = tmp_path / "winners.json", tmp_path / "stranger"
    (tmp_path / "winners.json.new").symlink_to(stranger)  # what an earlier version wrote through
    save(file, Finding(edits="a", **fields))
    assert not stranger.exists()
    before = {path.name for path in tmp_path.iterdir()}

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(tx.TritonExtError, match="cannot be written: No space left on device"):
        save(file, Finding(edits="b", **fields))
    assert [one.edits for one in findings(file)] == ["a"]
    assert {path.name for path in tmp_path.iterdir()} == before
