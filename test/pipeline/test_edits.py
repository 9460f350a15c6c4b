# SPDX-License-Identifier: Apache-2.0
"""Every verb, by the passes that really ran and by the resulting kernel."""

from __future__ import annotations

import copy
import functools
import pickle
import random
import re
from typing import Any

import pytest
import triton
from triton._C.libtriton import ir, llvm
from triton.backends.compiler import GPUTarget

import triton_ext as tx
from support.pipeline.kernels import softmax, source
from support.pipeline.seen import CUDA80, CUDA90, GFX942, KERNELS, MARK, describe, everything, mark, names, records
from triton_ext.compilation.records import Compilation
from triton_ext.compilation.requests import request_for
from triton_ext.pipeline.anchors import Anchor

RENAME = tx.passes.ttir.rename(old="softmax", new="renamed")
CSE = tx.builtin.common.cse()
TWICE = tx.builtin.common.canonicalizer()
PLAIN = tx.Pipeline()


def compiled(pipeline: tx.Pipeline, kernel: str = "softmax", target: str = CUDA90) -> Any:
    function, signature = KERNELS[kernel]
    task = request_for(function, target, signature)
    with pipeline:
        return triton.compile(task.source, target=task.target)


@functools.cache
def plain(stage: str, target: str = CUDA90, kernel: str = "softmax") -> list[str]:
    return names(describe(None, target, kernel), stage)


def around(compilation: Compilation, stage: str, name: str) -> list[str]:
    """Returns the passes that ran from just before to just after `name`."""
    ran = names(compilation, stage)
    return ran[max(ran.index(name) - 1, 0) : ran.index(name) + 2]


def with_names(pipeline: tx.Pipeline, stage: str, target: str = CUDA90) -> list[str]:
    return names(describe(pipeline, target), stage)


# ---------------------------------------------------------------------------
# One verb each
# ---------------------------------------------------------------------------


@pytest.mark.slow
def test_before_and_after() -> None:
    usual = plain("ttir")
    i = usual.index("ttir.combine")
    pipeline = PLAIN.before("ttir.combine", RENAME, mark).after("ttir.combine", CSE, TWICE)
    expected = [*usual[:i], "rename", MARK, "ttir.combine", "common.cse", "common.canonicalizer", *usual[i + 1 :]]
    assert with_names(pipeline, "ttir") == expected


@pytest.mark.slow
def test_several_edits_of_one_place_keep_their_order() -> None:
    pipeline = PLAIN.after("ttir.combine", CSE).before("ttir.combine", TWICE)
    pipeline = pipeline.before("ttir:combine", mark).after("ttir:ttir.combine", RENAME)
    ran = with_names(pipeline, "ttir")
    i = ran.index("ttir.combine")
    assert ran[i - 2 : i + 3] == ["common.canonicalizer", MARK, "ttir.combine", "common.cse", "rename"]


@pytest.mark.slow
def test_before_the_first_and_after_the_last() -> None:
    assert with_names(PLAIN.before("ttir:*#1", mark), "ttir")[:2] == [MARK, plain("ttir")[0]]
    assert with_names(PLAIN.after("ttir:*#last", mark), "ttir")[-2:] == [plain("ttir")[-1], MARK]


@pytest.mark.slow
def test_at_start_and_at_end() -> None:
    pipeline = PLAIN.at_end("ttir", CSE, mark).at_start("ttir", RENAME, mark).at_start("ttir", TWICE)
    expected = ["rename", MARK, "common.canonicalizer", *plain("ttir"), "common.cse", MARK]
    assert with_names(pipeline, "ttir") == expected


def test_a_name_given_at_the_start_reaches_the_binary() -> None:
    kernel = compiled(PLAIN.at_start("ttir", RENAME))
    for stage in ("ttir", "ttgir", "llir", "ptx"):
        assert "renamed" in kernel.asm[stage]
        assert "@softmax" not in kernel.asm[stage]
    assert b"renamed" in kernel.asm["cubin"]


@pytest.mark.slow
def test_replace() -> None:
    usual = plain("ttir")
    i = usual.index("ttir.combine")
    pipeline = PLAIN.replace("ttir.combine", CSE, mark, RENAME)
    assert with_names(pipeline, "ttir") == [*usual[:i], "common.cse", MARK, "rename", *usual[i + 1 :]]
    dropped = [r for r in records(describe(pipeline), "ttir") if not r.ran]
    assert [r.name for r in dropped] == ["ttir.combine"]
    assert dropped[0].edit == f"replace(ttir.combine, common.cse, {MARK}, rename{{new=renamed old=softmax}})".join(
        ["ttir: ", ""]
    )


@pytest.mark.slow
def test_skip() -> None:
    ran = describe(PLAIN.skip("ttir:common.cse").skip("ttgir:nvidia.ttnvgpuir.*").skip("llir:cse#2"))
    assert names(ran, "ttir") == [n for n in plain("ttir") if n != "common.cse"]
    assert names(ran, "ttgir") == [n for n in plain("ttgir") if not n.startswith("nvidia.ttnvgpuir.")]
    assert [r.name for r in records(ran, "ttgir")] == plain("ttgir")
    assert [r.ordinal for r in records(ran, "llir") if r.name == "common.cse" and r.ran] == [1]


@pytest.mark.slow
def test_a_skipped_pass_has_not_changed_the_module() -> None:
    usual, skipped = compiled(PLAIN).asm["ttir"], compiled(PLAIN.skip("ttir:common.cse")).asm["ttir"]
    assert usual.count("tt.get_program_id") == 1
    assert skipped.count("tt.get_program_id") == 2


def buffers(ttgir: str) -> set[str]:
    return set(re.findall(r"memdesc<(\d+)x32x32xf16", ttgir))


@pytest.mark.slow
def test_set_number_of_stages() -> None:
    """A software pipeline of n stages has n - 1 buffers; if the pass is skipped, there are none."""
    assert buffers(compiled(PLAIN, "matmul", CUDA80).asm["ttgir"]) == {"2"}
    five = PLAIN.set("ttgpuir.assign_latencies", num_stages=5).set("ttgpuir.pipeline", num_stages=5)
    assert buffers(compiled(five, "matmul", CUDA80).asm["ttgir"]) == {"4"}
    none = compiled(PLAIN.skip("ttgpuir.pipeline"), "matmul", CUDA80).asm["ttgir"]
    assert "async_copy" not in none
    assert not buffers(none)


@pytest.mark.slow
def test_set_on_amd() -> None:
    edited = describe(PLAIN.set("amd.ttgpuir.schedule_loops", num_stages=4), GFX942, "matmul")
    (record,) = (r for r in records(edited, "ttgir") if r.edit)
    assert record.ordinal == 1
    assert dict(record.arguments)["num_stages"] == "4"
    assert record.pipeline.endswith("{num_stages=4}")  # in AMD's spelling


@pytest.mark.slow
def test_set_keeps_the_other_arguments_and_may_be_spread_over_edits() -> None:
    pipeline = PLAIN.set("ttgpuir.pipeline", num_stages=7).set("ttgpuir.pipeline", dump_intermediate_steps=False)
    (record,) = (r for r in records(describe(pipeline), "ttgir") if r.name == "ttgpuir.pipeline")
    assert record.arguments == (("num_stages", "7"), ("dump_intermediate_steps", "false"))
    convert = dict(records(describe(PLAIN.set("convert_to_ttgpuir", num_warps=8)), "ttgir")[0].arguments)
    assert convert == {"target": "cuda:90", "num_warps": "8", "threads_per_warp": "32", "num_ctas": "1"} | {
        name: value for name, value in convert.items() if name.startswith("enable")
    }


@pytest.mark.slow
def test_set_of_every_match_and_of_one() -> None:
    def seen(anchor: str) -> list[str]:
        ran = records(describe(PLAIN.set(anchor, hoist_layout_conversion=False)), "ttgir")
        return [dict(r.arguments)["hoist_layout_conversion"] for r in ran if r.name == "ttgpuir.optimize_dot_operands"]

    assert seen("ttgpuir.optimize_dot_operands") == ["false", "false"]
    assert seen("ttgpuir.optimize_dot_operands#2") == ["true", "false"]


@pytest.mark.slow
def test_stage_wrapped_and_replaced() -> None:
    def comment(text: str, metadata: dict[str, Any], inner: Any) -> str:
        metadata["commented"] = True
        return f"// hello\n{inner(text, metadata)}"

    kernel = compiled(PLAIN.stage("ptx", comment))
    assert kernel.asm["ptx"].startswith("// hello\n")
    assert kernel.metadata.commented
    other = "\n".join(kernel.asm["ptx"].splitlines()[1:]).replace("softmax", "another")

    def by_hand(text: str, metadata: dict[str, Any], inner: Any) -> str:
        metadata["name"] = "another"
        return other

    kernel = compiled(PLAIN.stage("ptx", by_hand))
    assert kernel.asm["ptx"] == other
    assert b"another" in kernel.asm["cubin"]


@pytest.mark.slow
def test_edits_reach_the_stage_inside_of_a_function() -> None:
    def twice(module: Any, metadata: dict[str, Any], inner: Any) -> Any:
        return inner(inner(module, metadata), metadata)

    pipeline = PLAIN.stage("ttir", twice).after("ttir.loop_unroll", mark).at_start("ttir", RENAME)
    assert with_names(pipeline, "ttir") == ["rename", *plain("ttir"), MARK, *plain("ttir"), MARK]
    assert with_names(pipeline.skip("ttir:common.cse#2"), "ttir").count("common.cse") == 1


def test_a_stage_function_may_use_the_tools_of_the_backend() -> None:
    def optimized(text: str, metadata: dict[str, Any], inner: Any) -> str:
        context = llvm.context()
        assert context is not None
        return inner(text, metadata)

    assert compiled(PLAIN.stage("llir", lambda m, d, inner: inner(m, d)).stage("ptx", optimized)).asm["ptx"]


def test_plus() -> None:
    left, right = PLAIN.after("ttir.combine", CSE), PLAIN.after("ttir.combine", mark).skip("ttir:common.cse")
    both = left + right
    assert both.edits == left.edits + right.edits
    assert (len(left.edits), len(right.edits)) == (1, 2)
    ran = with_names(both, "ttir")
    i = ran.index("ttir.combine")
    assert ran[i + 1 : i + 3] == ["common.cse", MARK]
    assert ran.count("common.cse") == 1  # the skip removes the backend's pass
    assert PLAIN + left == left + PLAIN == left
    with pytest.raises(TypeError):
        left + "skip(cse)"  # type: ignore[operator]


# ---------------------------------------------------------------------------
# What is placed
# ---------------------------------------------------------------------------


@pytest.mark.slow
def test_a_pass_of_each_kind() -> None:
    convert = tx.builtin.ttir.convert_to_ttgpuir("cuda:90", 4, 32, 1)
    pipeline = PLAIN.at_end("ttir", RENAME, mark, convert).skip("convert_to_ttgpuir")
    compilation = describe(pipeline)
    brought = [r for r in records(compilation, "ttir") if r.edit]
    assert [(r.name, r.ordinal, r.arguments[:2], r.pipeline.partition("{")[0]) for r in brought] == [
        ("rename", 0, (("new", "renamed"), ("old", "softmax")), "triton-ext-rename"),
        (MARK, 0, (), ""),
        ("ttir.convert_to_ttgpuir", 0, (("target", "cuda:90"), ("num_warps", "4")), "convert-triton-to-tritongpu"),
    ]
    assert [r.changed for r in brought] == [True, False, True]
    assert "#blocked" in compiled(pipeline).asm["ttir"]


class Counter:
    """Callables of every form; ``count`` is the number of their calls."""

    cache_key = "counter"

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, module: Any) -> None:
        self.count += 1

    def method(self, module: Any) -> None:
        self.count += 1


def test_callables_of_every_form() -> None:
    counter = Counter()
    seen: list[Any] = []
    forms = [counter, counter.method, functools.partial(Counter.method, counter), seen.append]
    describe(PLAIN.at_end("ttir", *forms))
    assert counter.count == 3
    assert [type(module) for module in seen] == [ir.module]


@pytest.mark.slow
def test_a_callable_changes_the_module_in_place() -> None:
    def annotate(module: Any) -> None:
        module.set_attr("test.seen", ir.builder(module.context).get_int32_attr(7))

    kernel = compiled(PLAIN.after("ttir.combine", annotate))
    assert "test.seen = 7" in kernel.asm["ttir"]
    assert "test.seen = 7" in kernel.asm["ttgir"]
    (record,) = (r for r in records(describe(PLAIN.after("ttir.combine", annotate)), "ttir") if r.edit)
    assert (record.changed, record.ran) == (True, True)


def test_the_stage_of_an_extension_pass_is_that_of_the_edit() -> None:
    pipeline = PLAIN.after("common.canonicalizer", RENAME)
    assert [e.stage for e in pipeline.edits] == ["ttir"]
    assert [stage for stage, name, _ in everything(describe(pipeline)) if name == "rename"] == ["ttir"]


def test_builtin_passes_as_python_values() -> None:
    assert {"amd", "common", "convert", "gluon", "llvmir", "nvidia", "ttgpuir", "ttir"} <= set(dir(tx.builtin))
    assert {"hopper", "ttgpuir", "ttnvgpuir"} <= set(dir(tx.builtin.nvidia))
    assert "pipeline" in dir(tx.builtin.ttgpuir)
    factory = tx.builtin.ttgpuir.pipeline
    assert repr(factory) == "<built-in pass ttgpuir.pipeline(num_stages: int, dump_intermediate_steps: bool)>"
    assert "num_stages: int" in factory.__doc__
    by_order, by_name = factory(3, False), factory(dump_intermediate_steps=False, num_stages=3)
    assert by_order == by_name
    assert str(by_order) == "ttgpuir.pipeline{num-stages=3 dump-intermediate-steps=false}"
    assert str(tx.builtin.nvidia.ttnvgpuir.fence_insertion(90)).startswith("nvidia.ttnvgpuir.fence_insertion{")
    assert str(CSE) == "common.cse"
    with pytest.raises(AttributeError, match="did you mean 'ttgpuir\\.pipeline'"):
        _ = tx.builtin.ttgpuir.pipelin


@pytest.mark.parametrize(
    ("arguments", "named", "says"),
    [
        ((), {}, "missing argument 'num_stages'; it takes: num_stages: int, dump_intermediate_steps: bool"),
        ((3,), {}, "missing argument 'dump_intermediate_steps'"),
        ((3, False, 1), {}, "takes 2 arguments, got 3"),
        ((3,), {"num_stages": 3}, "'num_stages' is given twice"),
        ((), {"num_stage": 3}, "unknown argument 'num_stage'; did you mean 'num_stages'?"),
        (("3", False), {}, "'num_stages': expected int, got '3'"),
        ((True, False), {}, "'num_stages': expected int, got True"),
        ((3, 0), {}, "'dump_intermediate_steps': expected bool, got 0"),
    ],
)
def test_wrong_arguments_of_a_builtin_pass(arguments: Any, named: Any, says: str) -> None:
    with pytest.raises(tx.PipelineError) as error:
        tx.builtin.ttgpuir.pipeline(*arguments, **named)
    assert "ttgpuir.pipeline" in str(error.value)
    assert says in str(error.value)


# ---------------------------------------------------------------------------
# Refused when the object is built
# ---------------------------------------------------------------------------

REFUSED: dict[str, tuple[Any, str]] = {
    "the same edit": (lambda: PLAIN.skip("cse").skip("cse"), "'skip(cse)' is given twice"),
    "the same pass": (lambda: PLAIN.after("cse", mark).after("cse", mark), f"'after(cse, {MARK})' is given twice"),
    "the same start": (lambda: PLAIN.at_start("ttir", CSE).at_start("ttir", CSE), "is given twice"),
    "by plus": (lambda: PLAIN.skip("cse") + PLAIN.skip("cse"), "'skip(cse)' is given twice"),
    "replace and skip": (
        lambda: PLAIN.replace("combine", CSE).skip("combine"),
        "'skip(combine)' contradicts 'replace(combine, common.cse)'",
    ),
    "set and skip": (lambda: PLAIN.set("pipeline", num_stages=3).skip("pipeline"), "contradicts"),
    "in every stage and in one": (
        lambda: PLAIN.skip("cse").replace("cse", RENAME),
        f"'ttir: replace(cse, {RENAME})' contradicts 'skip(cse)'",
    ),
    "with its group and without": (
        lambda: PLAIN.replace("ttir.loop_unroll", CSE).skip("loop_unroll"),
        "'skip(loop_unroll)' contradicts 'replace(ttir.loop_unroll, common.cse)'",
    ),
    "the first and every one": (lambda: PLAIN.skip("cse").skip("ttgir:common.cse#1"), "contradicts 'skip(cse)'"),
    "one and a pattern": (lambda: PLAIN.set("ttgpuir.pipeline", num_stages=3).skip("*.pipeline"), "contradicts"),
    "two replacements": (lambda: PLAIN.replace("cse", CSE).replace("cse", mark), "contradicts"),
    "an argument twice": (
        lambda: PLAIN.set("pipeline", num_stages=3).set("pipeline", num_stages=4, dump_intermediate_steps=True),
        "argument 'num_stages' of 'pipeline' is set twice",
    ),
    "an argument twice, with its group and without": (
        lambda: PLAIN.set("pipeline", num_stages=3).set("ttgpuir.pipeline", num_stages=4),
        "argument 'num_stages' of 'ttgpuir.pipeline' is set twice",
    ),
    "an argument twice, in every stage and in one": (
        lambda: PLAIN.set("pipeline", num_stages=3).set("ttgir:pipeline#1", num_stages=4),
        "argument 'num_stages' of 'pipeline#1' is set twice",
    ),
    "a stage twice": (
        lambda: PLAIN.stage("ptx", lambda s, m, i: s).stage("ptx", lambda s, m, i: i(s, m)),
        "stage 'ptx' is replaced twice; call one function from the other",
    ),
    "nothing to place": (lambda: PLAIN.after("cse"), "after('cse'): expected at least one pass"),
    "nothing to set": (lambda: PLAIN.set("pipeline"), "set('pipeline'): expected an argument to set"),
    "no value": (
        lambda: PLAIN.set("pipeline", num_stages=[3]),
        "'num_stages': expected int, finite float, bool or str, got [3]",
    ),
    "another stage": (lambda: PLAIN.at_end("ttgir", RENAME), "pass 'rename' is for stage 'ttir', not for 'ttgir'"),
    "another stage's anchor": (lambda: PLAIN.after("llir:cse", RENAME), "for stage 'ttir', not for 'llir'"),
    "no pass": (lambda: PLAIN.after("cse", "mark"), "after('cse'): expected a pass"),
    "a pass not called": (lambda: PLAIN.after("cse", tx.builtin.common.cse), "is not a pass yet, call it: add ()"),
    "a class": (lambda: PLAIN.after("cse", Counter), "got the class Counter"),
    "no stage": (lambda: PLAIN.at_end("", CSE), "'' is not a stage"),
    "no name of a stage": (lambda: PLAIN.stage("tt ir", mark), "'tt ir' is not a stage"),
    **{
        f"any stage, {how}": (
            functools.partial(build, "any"),
            "'any' is not a stage; there is: ttir, ttgir, llir, llvm, cpuir, linalgir, or another one of the backend",
        )
        for how, build in {
            "at_start": lambda stage: PLAIN.at_start(stage, CSE),
            "at_end": lambda stage: PLAIN.at_end(stage, CSE),
            "stage": lambda stage: PLAIN.stage(stage, mark),
            "anchor": lambda stage: PLAIN.skip(f"{stage}:common.cse"),
            "text": lambda stage: tx.Pipeline.parse(f"{stage}: at_end(common.cse)"),
            "anchor in a text": lambda stage: tx.Pipeline.parse(f"{stage}: skip(cse)"),
        }.items()
    },
    "plugins are in no stage": (lambda: PLAIN.at_end("plugin", CSE), "'plugin' is not a stage"),
    "a stage function that is none": (lambda: PLAIN.stage("ptx", "text"), "stage('ptx'): expected a function"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_at_once(case: str) -> None:
    build, says = REFUSED[case]
    with pytest.raises(tx.PipelineError) as error:
        build()
    assert says in str(error.value)


@pytest.mark.parametrize("value", [3, None, b"skip(cse)", ["skip(cse)"]])
@pytest.mark.parametrize("build", [tx.Pipeline.parse, tx.Pipeline])
def test_a_value_of_another_type_is_a_type_error_of_ours(build: Any, value: Any) -> None:
    with pytest.raises(tx.PipelineError, match="expected a t") as error:
        build(value)
    assert isinstance(error.value, TypeError)
    with pytest.raises(TypeError, match="expected a tuple of edits"):
        tx.Pipeline((value,))


def test_what_only_looks_like_a_conflict() -> None:
    pipeline = PLAIN.skip("cse#1").skip("cse#2").after("cse#1", mark).before("cse#1", mark).set("pipeline", a=1)
    pipeline = pipeline.set("pipeline", b=1).skip("ttir:combine").skip("ttgir:combine").stage("ptx", mark)
    pipeline = pipeline.stage("cubin", mark).at_end("ttir", mark).at_start("ttir", mark)
    pipeline = pipeline.skip("llir:canonicalizer#1").skip("canonicalizer#2").skip("ttgpuir.?rocess").skip("ttgpuir.x*")
    assert len(pipeline.edits) == 16


@pytest.mark.slow
def test_an_anchor_that_covers_another_matches_what_that_matches() -> None:
    choose = random.Random(13).choice
    words, patterns = ["a", "b", "ab", "a_b"], ["a", "b", "ab", "a*", "*", "?", "*b", "a?b"]

    def anchor() -> Anchor:
        name = ".".join(choose(patterns) for _ in range(choose([1, 2, 3])))
        return Anchor(name, choose([None, 1, 2, "last"]), choose([None, "ttir", "ttgir"]))

    def meant(anchor: Anchor, names: list[str], stage: str) -> set[int]:
        """The anchor matches the passes of the stage that it names."""
        found = [i for i, name in enumerate(names) if anchor.matches(name) and anchor.stage in (None, stage)]
        if anchor.ordinal is None:
            return set(found)
        return set(found[-1:] if anchor.ordinal == "last" else found[anchor.ordinal - 1 : anchor.ordinal])

    covering = [(one, other) for one, other in ((anchor(), anchor()) for _ in range(20_000)) if one.covers(other)]
    assert len(covering) > 300
    for one, other in covering:
        for stage in ("ttir", "ttgir"):
            names = [".".join(choose(words) for _ in range(choose([1, 2, 3]))) for _ in range(8)]
            assert meant(one, names, stage) >= meant(other, names, stage), (one, other, names)


def test_patterns_that_turn_out_to_conflict() -> None:
    with pytest.raises(tx.PipelineError, match="both change the pass"):
        describe(PLAIN.skip("common.cse").replace("ttir:common.*", CSE))


def test_patterns_that_turn_out_to_set_an_argument_twice() -> None:
    with pytest.raises(tx.PipelineError, match=r"both set 'num_stages' of 'ttgpuir\.pipeline'"):
        describe(PLAIN.set("pipe*", num_stages=3).set("*line", num_stages=4))


def test_a_pipeline_is_a_value() -> None:
    base = PLAIN.skip("ttir.combine")
    longer = base.after("cse", CSE)
    assert len(base.edits) == 1
    assert base == tx.Pipeline().skip("ttir.combine")
    assert hash(longer) == hash(PLAIN.skip("ttir.combine").after("cse", tx.builtin.common.cse()))
    assert base != longer
    assert {base: 1}[tx.Pipeline().skip("ttir.combine")] == 1
    with pytest.raises(AttributeError):
        base.edits = ()  # type: ignore[misc]
    with base:
        pass
    assert base == tx.Pipeline().skip("ttir.combine")


@pytest.mark.slow
def test_a_pipeline_goes_to_other_processes_and_into_copies() -> None:
    pipeline = PLAIN.at_end("ttir", RENAME, mark).skip("ttir:common.cse")
    describe(pipeline)  # the pipeline now holds a loaded library, which does not go with the pickle
    for other in (pickle.loads(pickle.dumps(pipeline)), copy.deepcopy(pipeline), copy.copy(pipeline)):
        assert other == pipeline
        assert with_names(other, "ttir")[-2:] == ["rename", MARK]


def test_compiled_from_a_source_of_triton() -> None:
    """The same holds without `describe`."""
    with PLAIN.at_end("ttir", RENAME):
        kernel = triton.compile(source(softmax), target=GPUTarget("cuda", 90, 32))
    assert kernel.metadata.name == "renamed"
