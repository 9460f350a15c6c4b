# SPDX-License-Identifier: Apache-2.0
"""`describe`, and the forms of its result: tables, differences, and listings that are edited and used as pipelines."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import triton
from hypothesis import given, settings
from hypothesis import strategies as st
from triton.backends import backends
from triton.backends.compiler import GPUTarget, Language
from triton.compiler.compiler import make_backend
from triton.runtime import driver

import triton_ext as tx
from support.pipeline import kernels
from support.pipeline.kernels import SIGNATURE, matmul, softmax, source
from support.pipeline.seen import (
    CUDA80,
    CUDA90,
    CUDA100,
    GFX942,
    KERNELS,
    MARK,
    TARGETS,
    describe,
    mark,
    names,
    records,
)
from triton_ext.compilation.records import Compilation
from triton_ext.compilation.rendering import difference, listing
from triton_ext.compilation.requests import find_target
from triton_ext.pipeline import scope
from triton_ext.pipeline.inspection import Level
from triton_ext.pipeline.listing_form import CUT as _CUT
from triton_ext.pipeline.listing_form import entry_text
from triton_ext.pipeline.records import PassRecord
from triton_ext.pipeline.stack import Observer

P = tx.Pipeline
RENAME = tx.passes.ttir.rename(old="softmax", new="renamed")


# ---------------------------------------------------------------------------
# What it tells
# ---------------------------------------------------------------------------


def test_every_stage_and_pass_in_order() -> None:
    seen = describe()
    assert [stage.name for stage in seen.stages] == ["ttir", "ttgir", "llir", "llvm", "ptx", "cubin"]
    assert (seen.kernel, seen.target, seen.triton, seen.pipeline) == ("softmax", "cuda:90", triton.__version__, "")
    assert seen.file == softmax.fn.__code__.co_filename
    assert names(seen, "ttir") == [
        "common.inliner", "common.canonicalizer", "ttir.combine", "ttir.reorder_broadcast", "common.cse",
        "common.symbol_dce", "ttir.loop_unroll",
    ]  # fmt: skip
    assert names(seen, "ttgir")[:2] == ["ttir.convert_to_ttgpuir", "ttgpuir.coalesce"]
    assert names(seen, "llir")[-1] == "llvmir.di_scope"
    assert names(seen, "ptx") == names(seen, "cubin") == []


@pytest.mark.slow
def test_arguments_times_and_changes() -> None:
    seen = describe(None, CUDA80, "matmul")
    convert = records(seen, "ttgir")[0]
    assert convert.pipeline.startswith("convert-triton-to-tritongpu{")
    assert convert.arguments[:4] == (
        ("target", "cuda:80"), ("num_warps", "4"), ("threads_per_warp", "32"), ("num_ctas", "1"),
    )  # fmt: skip
    inliner, *_, unroll = records(seen, "ttir")
    assert (inliner.changed, inliner.ops_before > inliner.ops_after > 20) == (True, True)
    assert (unroll.changed, unroll.ops_before) == (False, unroll.ops_after)
    for stage in seen.stages:
        for before, after in zip(stage.passes, stage.passes[1:], strict=False):
            assert before.ops_after == after.ops_before
            assert after.changed or after.ops_before == after.ops_after
        assert 0 <= sum(r.seconds for r in stage.passes) <= stage.seconds
    assert sum(stage.seconds for stage in seen.stages) <= seen.seconds
    assert all(r.edit is None and r.ran and r.ir is None for s in seen.stages for r in s.passes)


@pytest.mark.slow
def test_which_entries_are_edits() -> None:
    pipeline = (
        P().after("ttir.combine", RENAME, mark).skip("ttir:common.cse").set("ttgpuir.pipeline", num_stages=5)
        .replace("ttgpuir.coalesce", tx.builtin.ttgpuir.coalesce())
    )  # fmt: skip
    seen = describe(pipeline)
    edits = {(r.name, r.ran): r.edit for s in seen.stages for r in s.passes if r.edit}
    placed = f"ttir: after(ttir.combine, rename{{new=renamed old=softmax}}, {MARK})"
    assert edits == {
        ("rename", True): placed,
        (MARK, True): placed,
        ("common.cse", False): "ttir: skip(common.cse)",
        ("ttgpuir.pipeline", True): "set(ttgpuir.pipeline, num_stages=5)",
        ("ttgpuir.coalesce", False): "replace(ttgpuir.coalesce, ttgpuir.coalesce)",
        ("ttgpuir.coalesce", True): "replace(ttgpuir.coalesce, ttgpuir.coalesce)",
    }
    assert seen.pipeline == str(pipeline)
    with P().at_end("ttir", mark):
        assert describe(pipeline).pipeline == str(P().at_end("ttir", mark)) + f"; {pipeline}".replace("; ttir: ", ", ")


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_it_compiles_what_a_compilation_without_it_does(target: str) -> None:
    """Order, arguments and results of the passes are the same as in a compilation without `describe`."""
    function, signature = KERNELS["matmul"]
    found: list[Any] = []
    with P().at_end("ttgir", lambda module: found.append(str(module))) as pipeline:
        tx.describe(function, target=target, signature=signature)
        tx.describe(function, target=target, signature=signature)
    plain = triton.compile(
        triton.compiler.ASTSource(
            matmul,
            {"a": "*fp16", "b": "*fp16", "c": "*fp32", "K": "i32", "BLOCK": "constexpr"},
            {"BLOCK": 32},
            {(i,): [["tt.divisibility", 16]] for i in range(4)},
        ),
        target=find_target(target),
    )
    assert found[0] == found[1]
    assert re.sub(r"\s*loc\(.*|#loc.*", "", found[0]) == re.sub(r"\s*loc\(.*|#loc.*", "", plain.asm["ttgir"])
    assert pipeline.edits


@pytest.mark.slow
def test_nothing_of_it_stays_in_the_cache(kernel_cache: Path) -> None:
    describe()
    describe(P().skip("ttir:common.cse"))
    assert not [path for path in kernel_cache.glob("*") if path.is_dir()]
    kernel = triton.compile(source(softmax), target=GPUTarget("cuda", 90, 32))
    describe()
    assert [path.parent.name for path in kernel_cache.glob("*/softmax.cubin")] != []
    assert triton.compile(source(softmax), target=GPUTarget("cuda", 90, 32)).hash == kernel.hash


@pytest.mark.slow
def test_ways_to_name_a_kernel(tmp_path: Path) -> None:
    def ran(*arguments: Any, **named: Any) -> list[str]:
        return names(tx.describe(*arguments, **{"target": "cuda:90", **named}), "ttgir")

    expected = ran(softmax, signature="*fp32, *fp32, i32, 256")
    assert ran(source(softmax)) == expected
    assert ran(softmax, signature={**SIGNATURE, "BLOCK": 256}) == expected
    assert ran(f"{kernels.__file__}:softmax", signature="*fp32,*fp32,i32,256") == expected
    tuned = triton.autotune([triton.Config({"BLOCK": 256})], key=["n"])(triton.heuristics({})(softmax))
    assert ran(tuned, signature={"x": "*fp32", "y": "*fp32", "n": "i32", "BLOCK": 256}) == expected
    assert ran(softmax, signature="*fp32, *fp32, i32, 256", target=GPUTarget("cuda", 90, 32)) == expected
    assert ran(softmax, signature="*fp32:16, *fp32:16, i32:1, 256", options={"num_warps": 8}) == expected
    file = tmp_path / "kernel.ttir"
    file.write_text(triton.compile(source(softmax), target=GPUTarget("cuda", 90, 32)).asm["ttir"])
    seen = tx.describe(file, target="cuda:90")
    assert [stage.name for stage in seen.stages] == ["ttgir", "llir", "llvm", "ptx", "cubin"]
    assert names(seen, "ttgir") == expected


@triton.jit
def with_default(x, y, n, BLOCK: triton.language.constexpr = 64):
    triton.language.store(y + triton.language.arange(0, BLOCK), n)


def test_signatures() -> None:
    from triton_ext.compilation.requests import request_for

    def parts(kernel: Any, signature: Any) -> Any:
        made = request_for(kernel, "cuda:90", signature).source
        return made.signature, made.constants, made.attrs

    types = {"x": "*fp32", "y": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    assert parts(softmax, "*fp32, *fp32:16, i32:16, 256") == (
        types, {(3,): 256}, {(1,): [["tt.divisibility", 16]], (2,): [["tt.divisibility", 16]]},
    )  # fmt: skip
    assert parts(with_default, {"x": "*fp32", "y": "*fp32", "n": "i32"}) == (types, {(3,): 64}, {})
    assert parts(softmax, "*fp32, *fp32, 1, 256")[1] == {(2,): 1, (3,): 256}
    assert parts(softmax, "tensordesc<fp16[64, 64]>, *fp32, i32, True")[0]["x"] == "tensordesc<fp16[64, 64]>"
    assert parts(softmax, "*fp32, *fp32, i32, fp16")[1] == {(3,): "fp16"}


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no signature": ({}, "kernel 'softmax' needs a signature: types or values for x, y, n, BLOCK"),
    "too short": ({"signature": "*fp32"}, "the signature has 1 entries, 'softmax' takes x, y, n, BLOCK"),
    "an unknown argument": ({"signature": {"z": "i32"}}, "has no argument 'z', it takes x, y, n, BLOCK"),
    "a missing one": ({"signature": {"x": "*fp32"}}, "the signature lacks 'y'"),
    "a wrong hint": ({"signature": "*fp32:8, *fp32, i32, 256"}, "the hints are :16 (a multiple of 16) and :1 (is 1)"),
    "no target": (
        {"signature": "*fp32, *fp32, i32, 256", "target": "cuda"},
        "'cuda' is not a target, expected one such as cuda:90, hip:gfx942, cpu:native or linalg:generic",
    ),
    "no number": ({"signature": "*fp32, *fp32, i32, 256", "target": "cuda:x"}, "'cuda:x' is not a target"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_requests(case: str) -> None:
    arguments, says = WRONG[case]
    with pytest.raises(tx.TritonExtError) as error:
        tx.describe(softmax, **{"target": "cuda:90", **arguments})
    assert says in str(error.value)


def test_targets_are_suggested_that_this_triton_has(monkeypatch: pytest.MonkeyPatch) -> None:
    arguments, _ = WRONG["no target"]
    monkeypatch.delitem(backends, "amd", raising=False)
    with pytest.raises(tx.TritonExtError, match=r"such as cuda:90, cpu:native or linalg:generic$"):
        tx.describe(softmax, **arguments)
    monkeypatch.setattr(type(driver), "active", property(raises_runtime_error))
    with pytest.raises(tx.TritonExtError, match=r"no GPU .* one of cuda:90, cpu:native or linalg:generic"):
        tx.describe(softmax, signature=arguments["signature"])


def raises_runtime_error(self: object) -> None:
    raise RuntimeError("0 active drivers")


def test_wrong_kernels(tmp_path: Path) -> None:
    (tmp_path / "empty.py").write_text("x = 1\n")
    (tmp_path / "broken.py").write_text("1 / 0\n")
    for kernel, says in {
        f"{tmp_path}/empty.py:x": "1 is not a kernel (fix: put @triton.jit on it)",
        f"{tmp_path}/empty.py:y": "has no kernel 'y', it has: none",
        f"{tmp_path}/broken.py:y": "broken.py raised ZeroDivisionError: division by zero",
        f"{tmp_path}/nowhere.py:y": "no such file",
        "kernel.ptx": "'kernel.ptx' is not a kernel: expected FILE.py:KERNEL, or a file with ttir, ttgir or glir",
        "kernel.ttir": "no such file: kernel.ttir",
    }.items():
        with pytest.raises(tx.TritonExtError) as error:
            tx.describe(kernel, target="cuda:90", signature="i32")
        assert says in str(error.value)
    with pytest.raises(tx.TritonExtError, match="is not a kernel"):
        tx.describe(softmax.fn, target="cuda:90")


@pytest.mark.slow
def test_a_file_of_a_name_that_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Modules that the program has imported are used, and not replaced."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    text = f"import triton\n{inspect.getsource(with_default.fn)}"
    (tmp_path / "json.py").write_text(text)
    assert tx.describe(f"{tmp_path}/json.py:with_default", target="cuda:90", signature="*fp32, *fp32, i32, 64").stages
    assert sys.modules["json"] is json
    (tmp_path / "free_name.py").write_text(text)
    for _ in range(2):
        assert tx.describe(f"{tmp_path}/free_name.py:with_default", target="cuda:90", signature="*fp32, *fp32, i32, 64")
    monkeypatch.delitem(sys.modules, "free_name")


def test_pipelines_that_the_kernel_and_the_block_bring() -> None:
    used = tx.use(P().at_end("ttir", tx.passes.ttir.rename(old="given", new="used")))(softmax)
    with P().at_end("ttir", tx.passes.ttir.rename(old="used", new="block")):
        seen = tx.describe(
            used, target="cuda:90", signature=KERNELS["softmax"][1],
            pipeline=P().at_end("ttir", tx.passes.ttir.rename(old="softmax", new="given")),
        )  # fmt: skip
    assert [r.arguments[1] for r in records(seen, "ttir") if r.edit] == [
        ("old", "softmax"), ("old", "given"), ("old", "used"),
    ]  # fmt: skip
    assert [r.changed for r in records(seen, "ttir") if r.edit] == [True, True, True]


# ---------------------------------------------------------------------------
# Views
# ---------------------------------------------------------------------------


@pytest.mark.slow
def test_the_table() -> None:
    table = str(
        describe(P().skip("ttir:common.cse").after("ttir.combine", RENAME).set("ttgpuir.pipeline", num_stages=5))
    )
    head, edits, empty, columns, *rows = table.splitlines()
    assert head.startswith("softmax for cuda:90, Triton ")
    assert edits.startswith("pipeline  ttir: skip(common.cse), after(ttir.combine, rename{new=renamed old=softmax})")
    assert (empty, columns.split()) == ("", ["stage", "#", "ms", "ops", "changed", "pass", "and", "arguments"])
    text = "\n".join(rows)
    assert re.search(r"^ttir +\d+\.\d$", text, re.MULTILINE)
    assert re.search(r"^ +1 +\d+\.\d\d +\d+ → \d+ +yes +common\.inliner$", text, re.MULTILINE)
    assert re.search(r"^ +common\.cse\n +dropped by ttir: skip\(common\.cse\)$", text, re.MULTILINE)
    assert re.search(r"^ +4 .* yes +rename\{new=renamed old=softmax\}\n +by ttir: after\(", text, re.MULTILINE)
    assert re.search(r"ttgpuir\.pipeline\{num-stages=5 dump-intermediate-steps=false\}\n +by set\(", text)
    assert not [row for row in rows if row != row.rstrip()]


@pytest.mark.slow
def test_the_difference() -> None:
    edited = describe(P().skip("ttir:common.cse").after("ttir.loop_unroll", RENAME), kernel="softmax")
    lines = list(difference(describe(), edited))
    ttir = lines[: lines.index(("@", "ttgir"))]
    assert [line for line in ttir if line[0] in "+-@"] == [
        ("@", "ttir"), ("-", "common.cse"), ("+", "rename{new=renamed old=softmax}"),
    ]  # fmt: skip
    assert next(text for kind, text in ttir if kind == "~").startswith("common.symbol_dce  (")
    assert {kind for kind, _ in difference(describe(), describe())} == {"@", " "}


def test_it_is_plain_data() -> None:
    seen = describe(P().at_end("ttir", RENAME, mark))
    again = json.loads(json.dumps(dataclasses.asdict(seen)))
    assert again["stages"][0]["passes"][-2]["arguments"] == [["new", "renamed"], ["old", "softmax"]]
    assert again["kernel"] == "softmax"


# ---------------------------------------------------------------------------
# Listings
# ---------------------------------------------------------------------------


@functools.cache
def plain(target: str, kernel: str) -> Compilation:
    return describe(None, target, kernel)


def ran(compilation: Compilation) -> dict[str, list[str]]:
    stages = {s.name: [entry_text(r) for r in s.passes if r.ran] for s in compilation.stages}
    return {stage: entries for stage, entries in stages.items() if entries}


def upper_part(text: str) -> dict[str, list[str]]:
    """Returns the passes that a listing asks for, by the simplest possible reading."""
    stages: dict[str, list[str]] = {}
    for line in text[: text.index("---")].splitlines():
        if line.endswith(":"):
            entries = stages[line[:-1]] = []
        elif line.startswith("  "):
            entries.append(line.strip())
    return stages


def fed_back(
    change: Callable[[list[str]], None], target: str = CUDA90, kernel: str = "softmax", stage: str = "ttgir"
) -> str:
    """Changes the lines of one stage of a listing, and checks that exactly the passes of the new listing run. Returns
    the edits."""
    usual = plain(target, kernel)
    text = listing(usual, usual)
    entries = upper_part(text)[stage]
    changed = list(entries)
    change(changed)
    head, cut, tail = text.partition(_CUT)
    old, new = ("".join(f"  {line}\n" for line in lines) for lines in (entries, changed))
    assert head.count(f"{stage}:\n{old}") == 1
    text = head.replace(f"{stage}:\n{old}", f"{stage}:\n{new}") + cut + tail
    pipeline = P.parse(text)
    assert ran(describe(pipeline, target, kernel)) == {**ran(usual), stage: changed}
    assert P.parse(str(pipeline)) == pipeline
    return str(pipeline)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_fed_back_as_it_is_it_means_no_edits(target: str, kernel: str) -> None:
    usual = plain(target, kernel)
    text = listing(usual, usual)
    assert upper_part(text) == ran(usual)
    assert P.parse(text) == P()
    assert P.parse(text.replace("\n", "\r\n")) == P()


def delete(name: str, which: int = 0) -> Callable[[list[str]], None]:
    def change(lines: list[str]) -> None:
        del lines[[i for i, line in enumerate(lines) if line.partition("{")[0] == name][which]]

    return change


@pytest.mark.slow
def test_deleted_lines() -> None:
    assert fed_back(delete("ttgpuir.coalesce")) == "ttgir: skip(ttgpuir.coalesce)"
    assert fed_back(delete("common.canonicalizer", 1)) == "ttgir: skip(common.canonicalizer#2)"
    assert fed_back(delete("ttgpuir.remove_layout_conversions", -1), GFX942, "matmul") == (
        "ttgir: skip(ttgpuir.remove_layout_conversions#4)"
    )
    assert fed_back(delete("common.inliner"), stage="ttir") == "ttir: skip(common.inliner)"


def test_all_lines_of_a_stage_deleted() -> None:
    usual = plain(CUDA90, "matmul")
    text = listing(usual, usual)
    ttir = text[text.index("ttir:\n") : text.index("\nttgir:")]
    pipeline = P.parse(text.replace(ttir, "ttir:\n", 1))
    assert [edit.verb for edit in pipeline.edits] == ["skip"] * 7
    assert P.parse(text.replace(ttir, "", 1)) == P()  # a stage that the listing does not name stays as it is


def move(name: str, to: int) -> Callable[[list[str]], None]:
    def change(lines: list[str]) -> None:
        (line,) = [line for line in lines if line.partition("{")[0] == name]
        lines.remove(line)
        lines.insert(to, line)

    return change


@pytest.mark.slow
def test_moved_lines() -> None:
    assert fed_back(move("ttir.loop_unroll", 0), stage="ttir") == (
        "ttir: before(common.inliner, ttir.loop_unroll), skip(ttir.loop_unroll)"
    )
    assert fed_back(move("common.inliner", 6), stage="ttir") == (
        "ttir: skip(common.inliner), after(ttir.loop_unroll, common.inliner)"
    )
    assert fed_back(move("ttgpuir.f32_dot_tc", 4), CUDA80, "matmul").endswith(
        "after(ttgpuir.remove_layout_conversions#1, ttgpuir.f32_dot_tc{emu-tf32=true})"
    )
    assert fed_back(move("ttgpuir.reduce_data_duplication", 12), GFX942, "matmul")


def replace(old: str, new: str) -> Callable[[list[str]], None]:
    def change(lines: list[str]) -> None:
        (i,) = [i for i, line in enumerate(lines) if old in line]
        lines[i] = lines[i].replace(old, new)

    return change


@pytest.mark.slow
def test_changed_arguments() -> None:
    change = replace("ttgpuir.pipeline{num-stages=3", "ttgpuir.pipeline{num-stages=6")
    assert fed_back(change, CUDA80, "matmul") == "ttgir: set(ttgpuir.pipeline, num_stages=6)"
    change = replace(
        "amd.ttgpuir.pipeline{use-async-copy=false use-pingpong=true",
        "amd.ttgpuir.pipeline{use-async-copy=false use-pingpong=false",
    )
    assert fed_back(change, GFX942, "matmul") == "ttgir: set(amd.ttgpuir.pipeline, use_pingpong=false)"
    change = replace("target=cuda:90 num-warps=4", "target=cuda:90 num-warps=4")
    assert fed_back(change) == ""
    with pytest.raises(tx.PipelineError, match="missing argument 'dump_intermediate_steps'"):
        fed_back(replace("pipeline{num-stages=3 dump-intermediate-steps=false}", "pipeline{num-stages=3}"))


ADDED = ["rename{new=renamed old=softmax}", "common.cse", MARK, "ttir.triton_licm", 'rename{new=b old="a b"}']


@pytest.mark.parametrize("line", ADDED)
@pytest.mark.parametrize("at", [0, 3, 7])
def test_added_lines(line: str, at: int) -> None:
    assert fed_back(lambda lines: lines.insert(at, line), stage="ttir") in (
        f"ttir: before(common.inliner, {line})",
        f"ttir: after(ttir.combine, {line})",
        f"ttir: after(ttir.loop_unroll, {line})",
    )


@pytest.mark.slow
def test_added_in_llir_with_arguments() -> None:
    line = "nvidia.ttnvgpuir.proxy_fence_insertion{compute-capability=90}"
    fed_back(lambda lines: lines.insert(5, line), stage="llir")
    fed_back(lambda lines: lines.append("common.cse"), GFX942, "matmul", "llir")


@pytest.mark.slow
def test_several_changes_and_lines_of_people() -> None:
    usual = plain(CUDA90, "softmax")
    text = listing(usual, usual).replace(
        "  ttir.combine\n  ttir.reorder_broadcast\n  common.cse\n",
        "  # not ttir.combine\n\n\tcommon.cse   # earlier\n  rename {new=x old=softmax}\n    ttir.reorder_broadcast\n",
        1,
    )
    edited = describe(P.parse(text))
    assert names(edited, "ttir") == [
        "common.inliner", "common.canonicalizer", "common.cse", "rename", "ttir.reorder_broadcast",
        "common.symbol_dce", "ttir.loop_unroll",
    ]  # fmt: skip


@pytest.mark.slow
def test_a_listing_of_an_edited_pipeline_means_the_same_edits() -> None:
    pipeline = P().skip("ttir:common.cse").after("ttir.combine", RENAME, mark).at_start("ttir", mark)
    pipeline = pipeline.set("ttgpuir.pipeline", num_stages=5).at_end("llir", tx.builtin.common.cse())
    pipeline = pipeline.at_end("ttir", tx.passes.ttir.rename(old='a "b" #c', new=""))
    edited = describe(pipeline)
    again = describe(P.parse(listing(edited, describe())))
    assert ran(again) == ran(edited)


@pytest.mark.slow
def test_a_listing_with_the_pass_of_a_foreign_plugin() -> None:
    """A plugin's pass takes texts of any form as arguments."""
    tx.load(Path(triton.__file__).parent / "plugins" / "libTritonPluginsTestLib.so")
    pipeline = P().at_end("ttir", tx.passes.plugin.plugin("a_b=c", "x y", '"', "{#}"), mark)
    edited = describe(pipeline)
    text = listing(edited, describe())
    assert '  plugin.plugin{a_b=c "x y" "\\"" "{#}"}\n' in text
    assert P.parse(text) == P().after("ttir:ttir.loop_unroll", *pipeline.edits[0].entries)
    assert ran(describe(P.parse(text))) == ran(edited)


@pytest.mark.slow
def test_an_older_listing_survives_a_newer_triton() -> None:
    """The lower part of a listing shows the passes at the time of the listing. A pass that is new since is kept; a pass
    that is gone is an error if an edit needs it."""
    usual = plain(CUDA90, "softmax")
    text = listing(usual, usual)
    for new in ("  ttir.combine\n", "  ttgpuir.coalesce\n"):  # Triton did not have them when the listing was made
        text = text.replace(new, "")
    pipeline = P.parse(text.replace("  common.cse\n", "", 1))
    assert pipeline == P.parse("ttir: skip(common.cse)")
    assert names(describe(pipeline), "ttir").count("ttir.combine") == 1
    gone = text.replace("  common.symbol_dce\n", "  common.symbol_dce\n  ttir.gone\n")
    assert P.parse(gone) == P()
    with pytest.raises(tx.PipelineError, match=r"no pass 'ttir.gone' in stage ttir"):
        describe(P.parse(gone.replace("  ttir.gone\n", "", 1)))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("  common.inliner\n", "  common.inlner\n"), "libtriton has no pass 'common.inlner'; did you mean"),
        (("ttir:\n", ""), "pipeline listing, line 3: expected a stage such as 'ttir:', found 'common.inliner'"),
        (("ttir:\n", "ttri:\n"), "stage 'ttri' is not in its lower part, which has ttir, ttgir, llir"),
        (("  ttir.combine\n", "  ttir.combine{a=1}\n"), "unknown argument 'a'"),
        (("  ttir.combine\n", "  ttir.combine)\n"), "expected"),
    ],
)
def test_wrong_listings(change: tuple[str, str], says: str) -> None:
    usual = plain(CUDA90, "softmax")
    with pytest.raises(tx.PipelineError) as error:
        P.parse(listing(usual, usual).replace(*change, 1))
    assert says in str(error.value)


# ---------------------------------------------------------------------------
# Generated listings
# ---------------------------------------------------------------------------


@functools.cache
def stage_of(target: str) -> Callable[[tx.Pipeline], list[PassRecord]]:
    """Runs the first stage only, which stays valid under any order of its passes."""
    where = find_target(target)
    backend = make_backend(where)
    options = backend.parse_options({})
    context = triton._C.libtriton.ir.context()
    triton._C.libtriton.ir.load_dialects(context)
    backend.load_dialects(context)
    made = source(softmax)

    def run(pipeline: tx.Pipeline) -> list[PassRecord]:
        module = made.make_ir(
            where, options, backend.get_codegen_implementation(options), backend.get_module_map(), context
        )
        observer = Observer(Level.SUMMARY)
        token = scope.observe(observer)
        try:
            with pipeline:
                stages: dict[str, Any] = {}
                backend.add_stages(stages, options, Language.TRITON)
            stages["ttir"](module, {})
        finally:
            scope.stop_observing(token)
        return list(observer.stages[0].passes)

    return run


LINES = [*ADDED, "common.canonicalizer", "common.symbol_dce", "ttir.loop_aware_cse"]


@pytest.mark.slow
@settings(max_examples=120, deadline=None)
@given(data=st.data(), target=st.sampled_from([CUDA80, CUDA100, GFX942]))
def test_whatever_is_done_to_a_listing_is_what_runs(data: st.DataObject, target: str) -> None:
    run = stage_of(target)
    base = [entry_text(record) for record in run(P())]
    lines = list(base)
    for _ in range(data.draw(st.integers(0, 6))):
        what = data.draw(st.sampled_from(["delete", "move", "insert", "copy"]))
        if what == "insert" or not lines:
            line = data.draw(st.sampled_from(LINES))
        else:
            i = data.draw(st.integers(0, len(lines) - 1))
            line = lines[i] if what == "copy" else lines.pop(i)
        if what != "delete":
            lines.insert(data.draw(st.integers(0, len(lines))), line)
    upper, lower = ("ttir:\n" + "".join(f"  {line}\n" for line in part) for part in (lines, base))
    pipeline = P.parse(f"{upper}\n{_CUT}\n{lower}")
    assert [entry_text(record) for record in run(pipeline) if record.ran] == lines
    assert bool(pipeline.edits) == (lines != base)
    assert P.parse(str(pipeline)) == pipeline
