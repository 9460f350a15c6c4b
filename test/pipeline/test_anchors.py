# SPDX-License-Identifier: Apache-2.0
"""Where an anchor matches in the pipelines that the targets really run."""

from __future__ import annotations

import functools
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from triton import compile as triton_compile
from triton import knobs
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget

import triton_ext as tx
from support.pipeline.kernels import softmax, source
from support.pipeline.seen import CUDA80, CUDA90, CUDA100, GFX942, MARK, describe, mark, names, records
from triton_ext.pipeline.anchors import Anchor

Place = tuple[str, str, int]  # stage, pass, and the number of passes of that name before it


@functools.cache
def places(target: str, kernel: str = "softmax") -> tuple[Place, ...]:
    """Every pass of a pipeline without edits, apart from the stage ``llvm``, where functions cannot be placed."""
    found = []
    for stage in describe(None, target, kernel).stages:
        if stage.name == "llvm":
            continue
        count: Counter[str] = Counter()
        for record in stage.passes:
            count[record.name] += 1
            found.append((stage.name, record.name, count[record.name]))
    return tuple(found)


def marked(anchor: str, target: str, kernel: str = "softmax") -> list[Place]:
    """Returns the passes that `anchor` matches: those after which a mark runs."""
    found = []
    for stage in describe(tx.Pipeline().after(anchor, mark), target, kernel).stages:
        for before, record in zip(stage.passes, stage.passes[1:], strict=False):
            if record.name == MARK:
                found.append((stage.name, before.name, before.ordinal))
    return found


MATCHES: dict[str, tuple[str, str, Callable[[str, str, int], bool]]] = {
    "group and pass": (CUDA90, "ttir.loop_unroll", lambda s, n, i: (s, n) == ("ttir", "ttir.loop_unroll")),
    "a pass alone": (CUDA90, "loop_unroll", lambda s, n, i: n == "ttir.loop_unroll"),
    "every stage": (CUDA90, "common.cse", lambda s, n, i: n == "common.cse"),
    "one stage": (CUDA90, "ttgir:common.cse", lambda s, n, i: (s, n) == ("ttgir", "common.cse")),
    "a group is not a stage": (CUDA90, "ttir.loop_aware_cse", lambda s, n, i: n == "ttir.loop_aware_cse"),
    "no part of a name": (CUDA90, "ttgir:cse", lambda s, n, i: (s, n) == ("ttgir", "common.cse")),
    "second": (
        CUDA80,
        "remove_layout_conversions#2",
        lambda s, n, i: n.endswith("remove_layout_conversions") and i == 2,
    ),
    "second in one stage": (CUDA90, "llir:cse#2", lambda s, n, i: (s, n, i) == ("llir", "common.cse", 2)),
    "a backend's group": (
        CUDA100,
        "nvidia.ttnvgpuir.*",
        lambda s, n, i: n.startswith("nvidia.ttnvgpuir."),
    ),
    "all of a backend": (CUDA90, "nvidia.*", lambda s, n, i: n.startswith("nvidia.")),
    "hopper": (CUDA90, "nvidia.hopper.*", lambda s, n, i: n == "nvidia.hopper.hopper_warpspec"),
    "all of amd": (GFX942, "amd.*", lambda s, n, i: n.startswith("amd.")),
    "with and without backend": (GFX942, "ttgpuir.pipeline", lambda s, n, i: n == "amd.ttgpuir.pipeline"),
    "a pattern in the middle": (GFX942, "amd.*.to_llvmir", lambda s, n, i: n == "amd.ttgpuir.to_llvmir"),
    "one character": (CUDA80, "ttgpuir.?refetch", lambda s, n, i: n == "ttgpuir.prefetch"),
    "everything of a stage": (GFX942, "ttgir:*", lambda s, n, i: s == "ttgir"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", MATCHES)
def test_matches(case: str) -> None:
    target, anchor, wanted = MATCHES[case]
    expected = [place for place in places(target) if wanted(*place)]
    assert expected
    assert marked(anchor, target) == expected


@pytest.mark.slow
@pytest.mark.parametrize("target", [CUDA90, GFX942])
def test_gluon(target: str) -> None:
    wanted = [p for p in places(target, "add_one") if p[1].startswith("gluon.")]
    assert {stage for stage, _, _ in wanted} == {"ttgir", "llir"}
    assert marked("gluon.*", target, "add_one") == wanted
    assert (
        marked("ttgir:gluon.canonicalizer#last", target, "add_one")
        == [p for p in wanted if p[:2] == ("ttgir", "gluon.canonicalizer")][-1:]
    )


@pytest.mark.parametrize("target", [CUDA80, CUDA90, CUDA100, GFX942])
@pytest.mark.parametrize("anchor", ["common.cse#last", "*#last", "common.canonicalizer#last", "llir:common.*#last"])
def test_last_is_the_last_of_each_stage(target: str, anchor: str) -> None:
    parsed = Anchor.parse(anchor)
    last = {s: (s, n, i) for s, n, i in places(target) if parsed.stage in (None, s) and parsed.matches(n)}
    assert marked(anchor, target) == list(last.values())


@pytest.mark.slow
def test_first_and_last_of_a_stage_with_two_managers() -> None:
    """AMD's `make_ttgir` runs a manager with a single pass, and then a second manager."""
    first, *_, last = (p for p in places(GFX942) if p[0] == "ttgir")
    assert first[1] == "ttir.convert_to_ttgpuir"
    assert marked("ttgir:*#1", GFX942) == [first]
    assert marked("ttgir:convert_to_ttgpuir#last", GFX942) == [first]
    assert marked("ttgir:*#last", GFX942) == [last]
    assert (
        marked("ttgir:ttgpuir.remove_layout_conversions#last", GFX942)
        == [p for p in places(GFX942) if p[1] == "ttgpuir.remove_layout_conversions"][-1:]
    )


@pytest.mark.slow
def test_last_of_llir_with_three_managers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knobs.compilation, "dump_ir_extract_di_local_variables", True)
    ran = names(describe(tx.Pipeline().after("llir:*#last", mark).at_end("llir", mark)), "llir")
    assert ran[-4:] == ["llvmir.di_scope", "llvmir.di_local_variable", MARK, MARK]
    ran = names(describe(tx.Pipeline().after("llir:llvmir.di_scope#last", mark)), "llir")
    assert ran[-3:] == ["llvmir.di_scope", MARK, "llvmir.di_local_variable"]


def test_what_an_edit_brings_in_is_no_match_for_the_same_pipeline() -> None:
    pipeline = tx.Pipeline().after("ttir.loop_unroll", tx.builtin.common.cse()).after("ttir:common.cse#last", mark)
    assert names(describe(pipeline), "ttir")[-4:] == [MARK, "common.symbol_dce", "ttir.loop_unroll", "common.cse"]


@pytest.mark.slow
def test_a_last_that_depends_on_what_the_passes_do_is_refused() -> None:
    def moody(module: Any, metadata: dict[str, Any], inner: Callable[..., Any]) -> Any:
        from triton.backends.nvidia import compiler

        inner(module, metadata)
        if "tt.call" not in str(module):  # the inliner has run before
            manager = compiler.ir.pass_manager(module.context)
            compiler.passes.common.add_cse(manager)
            manager.run(module, "more")
        return module

    edited = tx.Pipeline().stage("ttir", moody)
    assert names(describe(edited), "ttir")[-1] == "common.cse"
    with pytest.raises(tx.PipelineError, match=r"which is the last is not known beforehand; use 'common.cse#n'"):
        describe(edited.after("ttir:common.cse#last", mark))
    assert names(describe(edited.after("ttir:common.cse#2", mark)), "ttir")[-2:] == ["common.cse", MARK]


def test_looking_ahead_does_not_touch_the_module() -> None:
    """To find the last pass, the stage is traversed beforehand; the side effects of the stage must not happen twice."""

    def count(module: Any, metadata: dict[str, Any], inner: Callable[..., Any]) -> Any:
        counted = (module.get_int_attr("test.count") or 0) + 1
        module.set_attr("test.count", ir.builder(module.context).get_int32_attr(counted))
        metadata["counted"] = metadata.get("counted", 0) + 1
        return inner(module, metadata)

    pipeline = tx.Pipeline().stage("ttir", count).skip("ttir:*#last").after("ttgir:common.cse#last", mark)
    with pipeline:
        kernel = triton_compile(source(softmax), target=GPUTarget("cuda", 90, 32))
    assert "test.count = 1 " in kernel.asm["ttir"]
    assert kernel.metadata.counted == 1


@pytest.mark.parametrize(
    "text", ["", " ", "a b", "ttir:", ":cse", "cse#", "cse#0", "cse#first", "cse#-1", "#1", "a:b:c", "cse,", None, 3]
)
def test_malformed(text: Any) -> None:
    with pytest.raises(tx.PipelineError, match=r"is not an anchor, expected '\[stage:\]group.pass\[#n\|#last\]'"):
        tx.Pipeline().skip(text)


def test_an_anchor_that_does_not_occur_lists_those_that_do_in_order() -> None:
    with pytest.raises(tx.PipelineError) as error:
        describe(tx.Pipeline().after("ttir:ttir.loop_unrol", mark))
    edit, anchors, listing = str(error.value).splitlines()
    assert edit == (
        f"'ttir: after(ttir.loop_unrol, {MARK})': no pass 'ttir.loop_unrol' in stage ttir; did you mean "
        "'ttir.loop_unroll'?"
    )
    assert anchors == "the anchors, in order, are"
    assert listing == "  ttir: " + ", ".join(name for stage, name, _ in places(CUDA90) if stage == "ttir")


@pytest.mark.slow
def test_every_listed_anchor_is_one() -> None:
    with pytest.raises(tx.PipelineError) as error:
        describe(tx.Pipeline().skip("nowhere"), GFX942)
    stages = dict(line.strip().split(": ", 1) for line in str(error.value).splitlines()[2:])
    assert list(stages) == ["ttir", "ttgir", "llir", "llvm"]
    assert stages.pop("llvm").startswith("llvm.optimize_module, ")
    anchors = [f"{stage}:{anchor}" for stage, listed in stages.items() for anchor in listed.split(", ")]
    pipeline = tx.Pipeline()
    for anchor in anchors:
        pipeline = pipeline.before(anchor, mark)
    ran = [(stage.name, record) for stage in describe(pipeline, GFX942).stages for record in stage.passes]
    assert ran.pop()[0] == "llvm"
    assert len(ran) == 2 * len(anchors)
    assert all(record.name == MARK for _, record in ran[::2])
    for anchor, (stage, record) in zip(anchors, ran[1::2], strict=True):
        assert anchor in (f"{stage}:{record.name}", f"{stage}:{record.name}#{record.ordinal}")


@pytest.mark.parametrize(
    ("anchor", "target", "says"),
    [
        ("ttgpuir.prefetch", CUDA90, "no pass 'ttgpuir.prefetch' in stage ttir or ttgir or llir"),
        ("remove_layout_conversions#9", CUDA90, "it occurs 4 times"),
        ("ttir.loop_unroll#2", CUDA90, "it occurs once"),
        ("ttgir:ttir.loop_unroll", CUDA90, "it occurs in stage ttir, but this edit is for ttgir"),
        ("amd.*", CUDA90, "no pass 'amd.*'"),
        ("nvidia.*", GFX942, "no pass 'nvidia.*'"),
        ("glir:*", CUDA90, "no stage 'glir', it has: ttir, ttgir, llir, ptx, cubin"),
        ("ptx:cse", CUDA90, "it occurs in stage ttir, but this edit is for ptx\nthe anchors, in order, are none"),
        ("nothing#last", GFX942, "no pass 'nothing#last'"),
    ],
)
def test_what_the_error_says(anchor: str, target: str, says: str) -> None:
    with pytest.raises(tx.PipelineError) as error:
        describe(tx.Pipeline().skip(anchor), target)
    assert says in str(error.value)


@pytest.mark.slow
def test_the_same_edit_may_be_less_than_an_error() -> None:
    plain = places(CUDA90)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compilation = describe(tx.Pipeline().skip("prefetch", on_missing="ignore"))
        assert not caught
        describe(tx.Pipeline().skip("prefetch", on_missing="warn"))
        describe(tx.Pipeline().at_end("glir", mark, on_missing="warn"))
    seen = [(s.name, r.name, r.ordinal) for s in compilation.stages for r in s.passes if s.name != "llvm"]
    assert seen == list(plain)
    first, second = (str(warning.message) for warning in caught)
    assert first.startswith("'skip(prefetch, on_missing=warn)': no pass 'prefetch' in stage ttir or ttgir or llir")
    assert "no stage 'glir'" in second
    # The option is for that edit alone: the anchor of another edit in the same pipeline must still occur.
    with pytest.raises(tx.PipelineError, match="'skip\\(nowhere\\)'"):
        describe(tx.Pipeline().skip("prefetch", on_missing="ignore").skip("nowhere"))
    with pytest.raises(tx.PipelineError, match="on_missing: expected one of error, warn, ignore, got 'later'"):
        tx.Pipeline().skip("prefetch", on_missing="later")  # type: ignore[arg-type]


@pytest.mark.slow
def test_ordinals_of_records_are_anchors() -> None:
    wanted = [r for r in records(describe(), "ttgir") if r.name == "common.canonicalizer"]
    assert [r.ordinal for r in wanted] == [1, 2, 3, 4]
    edited = records(describe(tx.Pipeline().skip("ttgir:common.canonicalizer#3")), "ttgir")
    assert [r.ordinal for r in edited if not r.ran] == [3]
