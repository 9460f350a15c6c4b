# SPDX-License-Identifier: Apache-2.0
"""The stage ``linalgir``: pipelines can edit and show it like Triton's own stages."""

from __future__ import annotations

import functools
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import triton
import triton.language as tl
from click.testing import CliRunner
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

import support
import triton_ext as tx
from support import forked_python
from triton_ext.cli.pipeline import pipeline as commands

P = tx.Pipeline
SIGNATURE = "*fp32, *fp32, i32, 64"
TARGET = "linalg:generic"
CHECKOUT = Path(__file__).resolve().parents[3]


@triton.jit
def double(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)


@triton.jit
def checked(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.device_assert(n > 0, "n is positive")
    tl.store(y + i, tl.load(x + i))


@triton.jit
def assembly(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.inline_asm_elementwise("bar.sync 0; mov.b32 $0, $1;", "=r,r", [tl.load(x + i)], tl.float32, True, 1)
    tl.store(y + i, v)


def kernel_source(kernel: Any) -> ASTSource:
    types = {"x": "*fp32", "y": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    return ASTSource(kernel, types, {"BLOCK": 64})


def look(module: Any) -> None:
    assert "linalg." not in str(module)


def passes(pipeline: tx.Pipeline | None = None, stage: str = "linalgir", **options: object) -> list[str]:
    """Returns the passes that a stage runs."""
    seen = tx.describe(double, target=TARGET, signature=SIGNATURE, pipeline=pipeline, options=options)
    return [p.name for s in seen.stages if s.name == stage for p in s.passes if p.ran]


@pytest.mark.slow
def test_the_stage_is_the_pass() -> None:
    """The stage runs the passes that ``-triton-to-linalg`` documents, and both produce the same module."""
    described = next(e.manifest for e in tx.extensions() if e.name == "triton_to_linalg").description
    listed = re.findall(r"`-([\w-]+)`", described.partition("\n\n")[0])
    ours = {"common.canonicalizer": "canonicalize", "common.cse": "cse"}
    ours |= {"common.licm": "loop-invariant-code-motion"}
    ours |= {"ttir.rewrite_tensor_descriptor_to_pointer": "triton-rewrite-tensor-descriptor-to-pointer"}
    assert [ours.get(n, n.removeprefix("linalgir.").replace("_", "-")) for n in passes()] == listed
    assert passes(lowered=True) == [*passes(), "linalgir.lower_linalg_ext"]
    assert passes(lowered=True, debug_info=True) == [*passes(lowered=True), "linalgir.add_debug_info"]

    ttir: list[str] = []
    p = P().at_end("ttir", lambda module: ttir.append(str(module)))
    p.edits[0].entries[0].function.cache_key = "ttir"  # the list that it appends to has no cache key
    assert tx.linalg.compile(double, SIGNATURE, pipeline=p).strip() == tx.linalg.convert(ttir[0]).strip()
    lowered = tx.linalg.compile(double, SIGNATURE, pipeline=p, lowered=True)
    assert lowered.strip() == tx.linalg.convert(ttir[1], lowered=True).strip()
    assert "aux." not in lowered


@pytest.mark.slow
def test_the_structured_stage() -> None:
    """By way of `tts`, the stage runs what ``-triton-to-linalg-structured`` documents; edits see these passes."""
    described = next(e.manifest for e in tx.extensions() if e.name == "triton_to_linalg_structured").description
    listed = re.findall(r"`-([\w-]+)[`=]", described.partition("\n\n")[0])
    assert listed.pop() == "triton-to-linalg"
    ours = {"canonicalizer": "canonicalize"}
    ours |= {"rewrite_tensor_descriptor_to_pointer": "triton-rewrite-tensor-descriptor-to-pointer"}
    names = passes(structured=True)
    bare = [n.partition(".")[2] for n in names[: len(listed)]]
    assert [ours.get(n, n.replace("_", "-")) for n in bare] == listed
    assert names[len(listed) :] == passes()[1:]  # descriptors are replaced by pointers once

    seen: list[str] = []
    look = P().after("linalgir.triton_to_structured", lambda module: seen.append(str(module)))
    look = look.before("linalgir.triton_to_structured", lambda module: seen.append(str(module)))
    look.edits[0].entries[0].function.cache_key = look.edits[1].entries[0].function.cache_key = "structured"
    text = tx.linalg.compile(double, SIGNATURE, via="structured", pipeline=look)
    assert [module.count("tts.load") for module in seen] == [0, 1]
    assert [module.count("tt.load") for module in seen] == [1, 0]
    with look:
        assert tx.linalg.compile(double, SIGNATURE, via="structured") == text
    assert len(seen) == 4
    less = P().set("linalgir.triton_to_structured", enable_modulo_support=False).skip("linalgir.structured_to_memref")
    assert tx.linalg.compile(double, SIGNATURE, via="structured", pipeline=less)
    with pytest.raises(tx.PipelineError, match=r"no pass 'linalgir\.triton_to_structured'"):
        tx.linalg.compile(double, SIGNATURE, pipeline=less)


def test_the_structured_stage_is_not_built(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the dialect `tts`, only its way fails."""
    from triton_ext.pipeline import extension_passes

    find = extension_passes.find_factory

    def find_other(name: str, *more: Any) -> Any:
        if name == "triton_to_structured":
            raise tx.ExtensionNotFoundError(f"no pass '{name}'")
        return find(name, *more)

    monkeypatch.setattr(extension_passes, "find_factory", find_other)
    assert "linalg.map" in tx.linalg.compile(double, SIGNATURE)
    with pytest.raises(tx.ExtensionNotFoundError, match=r"'triton_to_structured' .*--with linalg && triton-ext build"):
        tx.linalg.compile(double, SIGNATURE, via="structured")


@pytest.mark.slow
def test_edits() -> None:
    converts = "linalgir.convert_triton_to_linalg"
    assert passes(P().skip("linalgir.convert_math_to_linalg")) == [n for n in passes() if "math" not in n]
    before = P().before(converts, look, tx.builtin.ttir.combine())
    names = passes(before)
    at = names.index(converts)
    assert names[at - 1] == "ttir.combine"
    assert names[at - 2].endswith("look")
    # The stage takes every pass that is valid for its module: passes of Triton's stages, and passes of linalg.
    renamed = P().after("linalgir:ptr_strength_reduction", tx.passes.ttir.rename(old="double", new="twice"))
    assert "func.func @twice(" in tx.linalg.compile(double, SIGNATURE, pipeline=renamed)
    lowers = tx.passes.linalgir.lower_linalg_ext(program_arguments=False)
    at_end = P().at_end("linalgir", lowers)
    text = tx.linalg.compile(double, SIGNATURE, pipeline=at_end)
    assert "aux." not in text
    assert "tt.get_program_id" in text
    with at_end:
        assert tx.linalg.compile(double, SIGNATURE) == text
    replaced = P().replace("linalgir.lower_linalg_ext", lowers)
    assert tx.linalg.compile(double, SIGNATURE, pipeline=replaced, lowered=True) == text
    as_set = P.parse("linalgir: set(lower_linalg_ext, program_arguments=false)")
    assert tx.linalg.compile(double, SIGNATURE, pipeline=as_set, lowered=True) == text


@pytest.mark.slow
def test_program_arguments() -> None:
    """Program ids become arguments without the rest of the lowering; a lowering after that does not add them again."""
    edit = P().set("linalgir.convert_triton_to_linalg", program_arguments=True)
    text = tx.linalg.compile(double, SIGNATURE, pipeline=edit)
    assert text.count("i32 {tt.program_argument}") == 6
    assert "tt.get_program_id" not in text
    assert "aux.view" in text
    once = tx.linalg.compile(double, SIGNATURE, lowered=True)
    twice = tx.linalg.compile(double, SIGNATURE, lowered=True, pipeline=edit)
    header = re.compile(r"func\.func @double\(.*\)")
    assert header.search(once)[0] == header.search(twice)[0]
    assert header.search(once)[0].count("i32") == 7


@pytest.mark.slow
def test_edits_of_tritons_stage_come_first() -> None:
    edit = P().after("ttir.loop_unroll", tx.passes.ttir.rename(old="double", new="twice"))
    assert "func.func @twice(" in tx.linalg.compile(double, SIGNATURE, pipeline=edit)
    assert passes(stage="ttir") == passes(P().skip("linalgir.convert_math_to_linalg"), stage="ttir")


@pytest.mark.slow
def test_a_file_begins_with_linalg(tmp_path: Path) -> None:
    file = tmp_path / "double.ttir"
    seen: list[str] = []
    keep = P().at_end("ttir", lambda module: seen.append(str(module)))
    keep.edits[0].entries[0].function.cache_key = "ttir"
    text = tx.linalg.compile(double, SIGNATURE, pipeline=keep)
    file.write_text(seen[0])
    assert tx.linalg.compile(file) == text
    with pytest.raises(tx.PipelineError, match="this compilation begins after the stage 'ttir'"):
        tx.linalg.compile(file, pipeline=P().skip("ttir:cse"))


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (P().skip("linalgir.convert_arith"), "did you mean 'linalgir.convert_arith_to_linalg'"),
        (P().skip("linalgir:loop_unroll"), "it occurs in stage ttir, but this edit is for linalgir"),
        (P().skip("ttgir:coalesce"), "this compilation has no stage 'ttgir', it has: ttir, linalgir"),
        (P().set("linalgir.lower_linalg_ext", x=1), "no pass 'linalgir.lower_linalg_ext'"),
        (P().set("linalgir.convert_triton_to_linalg", x=1), "unknown option 'x' of pass 'convert_triton_to_linalg'"),
    ],
)  # fmt: skip
def test_edits_that_do_not_fit(edit: tx.Pipeline, says: str) -> None:
    with pytest.raises(tx.PipelineError, match=re.escape(says)):
        tx.linalg.compile(double, SIGNATURE, pipeline=edit)
    with pytest.raises(tx.PipelineError, match="this compilation has no stage 'linalgir'"):
        tx.describe(double, target="cuda:90", signature=SIGNATURE, pipeline=P().skip("linalgir:cse"))


def test_passes_in_the_wrong_stage() -> None:
    with pytest.raises(tx.PipelineError, match="pass 'lower_linalg_ext' is for stage 'linalgir', not for 'ttir'"):
        P().at_end("ttir", tx.passes.linalgir.lower_linalg_ext())


def refusal() -> str:
    """Returns the error message for the kernel `assembly`."""
    line = next(
        n for n, text in enumerate(Path(__file__).read_text().splitlines(), 1) if "inline_asm_elementwise" in text
    )
    return (
        f"{__file__}:{line}:9: 'tt.elementwise_inline_asm' cannot be converted to linalg: the assembly is that of one "
        "kind of processor (use the operations of triton.language, or a pure function of tl.extra.libdevice)"
    )


@pytest.mark.slow
@pytest.mark.parametrize("lowered", [False, True])
def test_what_cannot_be_converted(lowered: bool, capfd: pytest.CaptureFixture[str]) -> None:
    """The error is one line, for every way to compile, with and without edits."""
    for _ in range(2):
        with pytest.raises(RuntimeError) as error:
            triton.compile(
                kernel_source(assembly), target=GPUTarget("linalg", "generic", 1), options={"lowered": lowered}
            )
        assert str(error.value) == refusal()
    with pytest.raises(tx.PipelineError) as seen:
        tx.linalg.compile(assembly, SIGNATURE, lowered=lowered)
    assert str(seen.value) == refusal()
    with P().skip("ttir:common.cse"), pytest.raises(tx.PipelineError) as edited:
        triton.compile(kernel_source(assembly), target=GPUTarget("linalg", "generic", 1), options={"lowered": lowered})
    first, last = str(edited.value).splitlines()
    assert first == (
        f"stage 'linalgir' failed on kernel 'assembly', in the pipeline 'ttir: skip(common.cse)': {refusal()}"
    )
    assert last.startswith("without the edits the kernel fails, too, in stage 'linalgir': UnsupportedError: ")
    assert capfd.readouterr() == ("", "")


def test_what_cannot_be_converted_in_full(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_EXT_DEBUG", "1")
    with pytest.raises(RuntimeError, match=r"failed in make_linalgir: .*tt.elementwise_inline_asm"):
        triton.compile(kernel_source(assembly), target=GPUTarget("linalg", "generic", 1))
    said = capfd.readouterr().err
    assert "tt.func public @assembly" in said
    assert "mlir_reproducer" in said


def test_no_mark_of_ours_is_in_the_result() -> None:
    """The stage uses an attribute of the module to silence its conversions; the result must not contain it."""
    for lowered in (False, True):
        assert "triton_ext." not in tx.linalg.compile(double, SIGNATURE, lowered=lowered)


def test_options() -> None:
    assert "linalg_ext.scalar_assert" not in tx.linalg.compile(checked, SIGNATURE)
    assert "linalg_ext.scalar_assert" in tx.linalg.compile(checked, SIGNATURE, options={"debug": True})
    with pytest.raises(tx.TritonExtError, match="unknown option 'nope': there are: debug, num_warps, "):
        tx.linalg.compile(checked, SIGNATURE, options={"debug": True, "nope": 1})
    with pytest.raises(tx.TritonExtError, match="unknown option 'lowered': set the argument 'lowered'"):
        tx.linalg.compile(checked, SIGNATURE, options={"lowered": True})
    with pytest.raises(tx.TritonExtError, match="unknown option 'structured': set the argument 'via'"):
        tx.linalg.compile(checked, SIGNATURE, options={"structured": True})


@pytest.mark.parametrize("kind", ["*fp99", "fp99", "*", "**fp32", "tensordesc<fp99[16]>", "tensordesc<fp16>", ""])
def test_types_that_are_none(kind: str) -> None:
    for ask in (tx.linalg.compile, functools.partial(tx.describe, target=TARGET)):
        with pytest.raises(tx.TritonExtError, match=re.escape(f"argument 'y': '{kind}' is not a type, expected e.g. ")):
            ask(double, signature={"x": "*fp32", "y": kind, "n": "i32", "BLOCK": 64})


@pytest.mark.slow
def test_command_line_and_trace(tmp_path: Path) -> None:
    run = CliRunner().invoke
    kernel = [f"{Path(__file__)}:double", "-t", TARGET, "-s", SIGNATURE]
    shown = run(commands, ["show", *kernel, "--json"])
    assert shown.exit_code == 0, shown.output
    assert [stage["name"] for stage in json.loads(shown.output)["stages"]] == ["ttir", "linalgir"]
    # A listing with a moved line and a changed option is read as edits.
    listing = run(commands, ["show", *kernel, "--text"]).output
    head, cut, rest = listing.partition("---")
    moved = "  linalgir.extract_like_move_backward\n"
    assert moved in head
    head = head.replace(moved, "").replace(
        "  linalgir.ptr_strength_reduction\n", f"  linalgir.ptr_strength_reduction\n{moved}"
    )
    head = head.replace("convert_triton_to_linalg\n", "convert_triton_to_linalg{program-arguments=true}\n")
    edits = P.parse(head + cut + rest)
    assert "i32 {tt.program_argument}" in tx.linalg.compile(double, SIGNATURE, pipeline=edits)
    names = passes(edits)
    assert names.index("extract_like_move_backward") < names.index("convert_triton_to_linalg")
    traced = tx.trace(double, target=TARGET, signature=SIGNATURE, html=tmp_path / "t.html")
    assert any("aux.view" in (p.ir or "") for p in traced.stages[1].passes)
    assert "func.func @double" in str(traced.stages[1].output)


@pytest.mark.slow
def test_cache_of_triton() -> None:
    """Triton's own function returns the same for the target, and takes it from the cache the second time."""
    from triton.compiler import ASTSource

    from triton_ext.compilation.requests import find_target

    source = ASTSource(double, {"x": "*fp32", "y": "*fp32", "n": "i32", "BLOCK": "constexpr"}, {"BLOCK": 64})
    first = triton.compile(source, target=find_target(TARGET))
    assert first.asm["linalgir"].decode() == tx.linalg.compile(double, SIGNATURE)
    with P().at_end("linalgir", tx.passes.linalgir.lower_linalg_ext()):
        assert triton.compile(source, target=find_target(TARGET)).hash != first.hash
    assert triton.compile(source, target=find_target(TARGET)).hash == first.hash


@pytest.mark.slow
def test_it_is_a_target_like_any_other() -> None:
    """The target works in a process that has only imported Triton, although no driver for it is active."""
    program = (
        "import triton\n"
        "from triton.backends.compiler import GPUTarget\n"
        "from triton.runtime import driver\n"
        "import test_linalg_pipeline as here\n"
        "signature = {'x': '*fp32', 'y': '*fp32', 'n': 'i32', 'BLOCK': 'constexpr'}\n"
        "source = triton.compiler.ASTSource(here.double, signature, {'BLOCK': 64})\n"
        "target = GPUTarget('linalg', 'generic', 1)\n"
        "for lowered in (False, True):\n"
        "    kernel = triton.compile(source, target=target, options={'lowered': lowered})\n"
        "    same = here.tx.linalg.compile(here.double, here.SIGNATURE, lowered=lowered)\n"
        "    assert kernel.asm['linalgir'].decode() == same\n"
        "active = driver.active.get_current_target()\n"
        "assert active.backend != 'linalg', active\n"
        "print(kernel.metadata.name)\n"
    )
    before = "import triton\nfrom triton.backends import backends\nassert 'linalg' in backends\n"
    environment = {**os.environ, "PYTHONPATH": support.path(support.PATH, Path(__file__).parent)}
    for code, printed in ((before, ""), (program, "double\n")):
        done = forked_python.run([sys.executable, "-c", code], env=environment)
        assert (done.returncode, done.stdout) == (0, printed), done.stderr


def test_a_hook_of_ones_own() -> None:
    """A hook is called as in other backends, and may run the stages as in other backends."""
    seen = []

    def hook(
        backend: Any = None, stages: Any = None, options: Any = None, language: Any = None, capability: Any = None
    ) -> tuple[str, str]:
        if stages is not None:
            seen.append(capability)
            for name in ("ttir", "linalgir"):
                run = getattr(backend, f"make_{name}")
                stages[name] = lambda source, metadata, run=run: run(source, metadata, options, capability)
        return "a hook", "a hook"

    plain = tx.linalg.compile(double, SIGNATURE)
    triton.knobs.runtime.add_stages_inspection_hook = hook
    try:
        assert tx.linalg.compile(double, SIGNATURE) == plain
    finally:
        triton.knobs.runtime.add_stages_inspection_hook = None
    assert seen == ["generic"]


@pytest.mark.slow
@pytest.mark.parametrize("text", ["not mlir", "module { func.func @f() { } }"])
def test_text_of_a_stage_function_that_is_no_module(text: str) -> None:
    def replaces(source: Any, metadata: dict[str, Any], inner: Any) -> str:
        inner(source, metadata)
        return text

    with P().stage("linalgir", replaces), pytest.raises(tx.PipelineError, match="linalgir: stage") as error:
        tx.linalg.compile(double, SIGNATURE)
    assert "error: " in str(error.value)


@pytest.mark.slow
def test_text_of_a_stage_function_that_is_a_module() -> None:
    def renames(source: Any, metadata: dict[str, Any], inner: Any) -> str:
        return str(inner(source, metadata)).replace("@double", "@twice")

    with P().stage("linalgir", renames):
        assert "func.func @twice" in tx.linalg.compile(double, SIGNATURE)
