# SPDX-License-Identifier: Apache-2.0
"""Passes for any stage, for the CPU's own stage, and for some targets only: where they can be placed, their effect
there, and the error elsewhere."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import triton
import triton.language as tl
from click.testing import CliRunner
from triton.backends.compiler import GPUTarget

import triton_ext as tx
from support import kept_build
from triton_ext.authoring import build, reference
from triton_ext.authoring.catalogue import catalogue
from triton_ext.cli import cli
from triton_ext.errors import BuildError, TritonExtError
from triton_ext.pipeline.extension_passes import STAGES

pytestmark = pytest.mark.slow
SOURCE = Path(__file__).parent / "subtract"
Install = Callable[..., None]


@triton.jit
def plus(x, y, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i) + tl.load(y + i))


@pytest.fixture(scope="module")
def build_subtract(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Builds `subtract` for a stage and targets, each combination once, and returns its library."""
    built: dict[tuple[str, ...], Path] = {}

    def make(stage: str, *targets: str) -> Path:
        if (stage, *targets) not in built:
            source = tmp_path_factory.mktemp("subtract") / "subtract"
            shutil.copytree(SOURCE, source)
            definitions = f"STAGE={stage}", f"TARGETS={';'.join(targets)}"
            kept_build.build_tree(source, source / "build", definitions)
            built[stage, *targets] = source / "build" / "libtriton_ext_subtract.so"
        return built[stage, *targets]

    return make


@pytest.fixture
def install(build_subtract: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> Install:
    """``install(stage, *targets)`` makes this build of `subtract` the one that is found."""

    def put(stage: str, *targets: str) -> None:
        monkeypatch.setenv("TRITON_EXT_PATH", str(build_subtract(stage, *targets)))

    return put


def result() -> str:
    """Returns what the kernel computes on the CPU."""
    x, y = torch.arange(64.0), torch.arange(64.0) * 3
    out = torch.empty(64)
    plus[(1,)](x, y, out, 64)
    return "x + y" if torch.equal(out, x + y) else "x - y" if torch.equal(out, x - y) else "neither"


def compiled(target: GPUTarget, pipeline: tx.Pipeline) -> dict[str, str]:
    signature = {"x": "*fp32", "y": "*fp32", "out": "*fp32", "BLOCK": "constexpr"}
    with pipeline:
        return triton.compile(triton.compiler.ASTSource(plus, signature, {"BLOCK": 64}), target=target).asm


CPU_PLACES: dict[str, Callable[[], tx.Pipeline]] = {
    "ttir": lambda: tx.Pipeline().at_end("ttir", tx.passes.ttir.subtract()),
    "start of cpuir": lambda: tx.Pipeline().at_start("cpuir", tx.passes.cpuir.subtract()),
    "in cpuir, on tiles": lambda: tx.Pipeline().before("cpu.lower_tiles", tx.passes.cpuir.subtract()),
    "in cpuir, on vectors": lambda: tx.Pipeline().after("cpu.lower_tiles", tx.passes.cpuir.subtract()),
    "end of cpuir": lambda: tx.Pipeline().at_end("cpuir", tx.passes.cpuir.subtract()),
    "llir": lambda: tx.Pipeline().before("llir:convert.arith_to_llvmir", tx.passes.llir.subtract()),
    "any": lambda: tx.Pipeline().after("ttir.reorder_broadcast", tx.passes.any.subtract()),
    "text": lambda: tx.Pipeline.parse("cpuir: after(lower_tiles, subtract{first=true})"),
}


@pytest.mark.parametrize("place", CPU_PLACES)
def test_any_stage_on_the_cpu(place: str, install: Install) -> None:
    install("any")
    assert result() == "x + y"
    with CPU_PLACES[place]() as pipeline:
        assert result() == "x - y"
    assert tx.Pipeline.parse(str(pipeline)) == pipeline
    assert result() == "x + y"


#: The stages whose modules are MLIR's; those of ``llvm`` are LLVM's.
OF_MLIR = [stage for stage in STAGES if stage != "llvm"]


@pytest.mark.parametrize("stage", OF_MLIR)
def test_any_stage_is_every_stage(stage: str, install: Install) -> None:
    install("any")
    factory = getattr(tx.passes, stage).subtract
    assert "subtract" in dir(getattr(tx.passes, stage))
    pipeline = tx.Pipeline().at_end(stage, factory(first=True))
    assert pipeline.edits[0].entries[0].stage == stage
    assert pipeline == tx.Pipeline().at_end(stage, tx.passes.any.subtract(first=True))
    assert tx.Pipeline.parse(str(pipeline)) == pipeline
    other = OF_MLIR[OF_MLIR.index(stage) - 1]
    assert tx.Pipeline.parse(f"{other}: at_end(subtract)") != tx.Pipeline.parse(f"{stage}: at_end(subtract)")


def test_any_stage_is_not_that_of_llvm(install: Install) -> None:
    install("any")
    with pytest.raises(TritonExtError, match="no extension offers a pass 'subtract' for stage 'llvm'"):
        tx.Pipeline.parse("llvm: at_end(subtract)")
    with pytest.raises(TritonExtError, match="subtract"):
        tx.Pipeline().at_end("llvm", tx.passes.any.subtract())


def test_without_a_stage_it_goes_wherever_its_anchor_is(install: Install) -> None:
    install("any")
    everywhere = tx.Pipeline().after("common.cse", tx.passes.any.subtract())
    assert [edit.stage for edit in everywhere.edits] == [None]
    assert tx.Pipeline.parse(str(everywhere)) == everywhere
    described = tx.describe(plus, target="cpu:native", signature="*fp32, *fp32, *fp32, 64", pipeline=everywhere)
    assert {s.name for s in described.stages for r in s.passes if r.name == "subtract"} == {"ttir", "cpuir", "llir"}
    one = tx.Pipeline().after("common.cse", tx.passes.ttir.subtract())
    assert [edit.stage for edit in one.edits] == ["ttir"]
    # Beside the anchor of one stage, the pass is for that stage.
    both = tx.Pipeline().after("common.cse", tx.passes.any.subtract(), tx.passes.ttir.rename(new="other"))
    assert [entry.stage for entry in both.edits[0].entries] == ["ttir", "ttir"]
    assert tx.Pipeline.parse(str(both)) == both


def test_its_options_can_be_set_where_another_pipeline_placed_it(install: Install) -> None:
    install("any")
    inner = tx.Pipeline().at_end("cpuir", tx.passes.any.subtract(first=False))
    with tx.Pipeline().set("subtract", first=True), inner:
        assert result() == "x - y"


@pytest.mark.parametrize("target", [GPUTarget("cuda", 90, 32), GPUTarget("hip", "gfx942", 64)], ids=lambda t: t.backend)
def test_any_stage_on_gpus(target: GPUTarget, install: Install) -> None:
    install("any")
    for stage in ("ttir", "ttgir"):
        made = compiled(target, tx.Pipeline().at_end(stage, getattr(tx.passes, stage).subtract()))
        assert "arith.subf" in made["ttgir"]
        assert "sub.f32" in made["ptx"] or "fneg" not in made["ptx"] if "ptx" in made else "v_sub" in made["amdgcn"]


def test_linalg(install: Install) -> None:
    install("any")
    pipeline = tx.Pipeline().at_start("linalgir", tx.passes.linalgir.subtract())
    described = tx.trace(plus, target="linalg:generic", signature="*fp32, *fp32, *fp32, 64", pipeline=pipeline)
    assert "arith.subf" in str(described.stages[-1].output)


def test_a_pass_for_cpuir(install: Install) -> None:
    install("cpuir")
    with tx.Pipeline().after("cpu.lower_tiles", tx.passes.cpuir.subtract()):
        assert result() == "x - y"
    with pytest.raises(tx.ExtensionNotFoundError, match=r"for stage 'ttir'; it is in tx\.passes\.cpuir"):
        tx.passes.ttir.subtract  # noqa: B018
    with pytest.raises(tx.PipelineError, match="pass 'subtract' is for stage 'cpuir', not for 'ttir'"):
        tx.Pipeline().at_end("ttir", tx.passes.cpuir.subtract())
    with pytest.raises(tx.PipelineError, match="this compilation has no stage 'cpuir', it has: ttir, ttgir"):
        compiled(GPUTarget("cuda", 90, 32), tx.Pipeline().at_end("cpuir", tx.passes.cpuir.subtract()))


def test_the_tiles_of_cpuir_are_those_of_ttir(install: Install) -> None:
    install("ttir")
    with tx.Pipeline().before("cpuir:lower_tiles", tx.passes.ttir.subtract()):
        assert result() == "x - y"


# The targets of the pass, a target that matches, and one that does not.
TARGETS = {
    "a backend": (("cuda",), ("cuda", 80, 32), ("hip", "gfx942", 64)),
    "several": (("cpu", "hip"), ("hip", "gfx942", 64), ("cuda", 90, 32)),
    "one architecture": (("cuda:90",), ("cuda", 90, 32), ("cuda", 80, 32)),
    "a pattern": (("hip:gfx9*",), ("hip", "gfx942", 64), ("hip", "gfx1100", 32)),
}


@pytest.mark.parametrize("case", TARGETS)
def test_a_pass_for_some_targets(case: str, install: Install, recwarn: pytest.WarningsRecorder) -> None:
    targets, right, wrong = TARGETS[case]
    install("ttir", *targets)
    subtract = tx.passes.ttir.subtract()
    pipeline = tx.Pipeline().at_end("ttir", subtract)
    assert "arith.subf" in compiled(GPUTarget(*right), pipeline)["ttir"]
    with pytest.raises(tx.PipelineError) as caught:
        compiled(GPUTarget(*wrong), pipeline)
    assert str(caught.value).startswith(
        f"'ttir: at_end(subtract)': pass 'subtract' is for the target {' or '.join(targets)}, "
        f"this compilation is for {wrong[0]}:{wrong[1]}"
    )
    ignored = tx.Pipeline().at_end("ttir", subtract, on_missing="ignore")
    assert "arith.addf" in compiled(GPUTarget(*wrong), ignored)["ttir"]
    assert "arith.subf" in compiled(GPUTarget(*right), ignored)["ttir"]
    assert not [w for w in recwarn if "subtract" in str(w.message)]
    warned = tx.Pipeline().at_end("ttir", subtract, on_missing="warn")
    with pytest.warns(UserWarning, match="pass 'subtract' is for the target"):
        assert "arith.addf" in compiled(GPUTarget(*wrong), warned)["ttir"]


def test_a_pass_for_the_cpu_runs_there(install: Install) -> None:
    install("any", "cpu")
    with tx.Pipeline().at_end("cpuir", tx.passes.cpuir.subtract()):
        assert result() == "x - y"
    install("ttir", "cuda")
    with (
        tx.Pipeline().at_end("ttir", tx.passes.ttir.subtract()),
        pytest.raises(tx.PipelineError, match="is for the target cuda, this compilation is for cpu:"),
    ):
        result()


def test_it_is_said_wherever_passes_are_listed(install: Install) -> None:
    install("any", "cuda:90", "hip")
    listed = CliRunner().invoke(cli, ["list"]).output
    assert ["subtract", "pass", "any", "cuda:90", "hip", "1.0", "TRITON_EXT_PATH", "ok"] in map(
        str.split, listed.split("\n")
    )
    (row,) = (e for e in json.loads(CliRunner().invoke(cli, ["list", "--json"]).output) if e["name"] == "subtract")
    assert (row["stage"], row["targets"]) == ("any", ["cuda:90", "hip"])
    (extension,) = (e for e in tx.extensions() if e.name == "subtract")
    assert extension.targets == ("cuda:90", "hip")
    assert "\nOnly for the target cuda:90 or hip.\n" in (tx.passes.any.subtract.__doc__ or "")
    (found,) = (p for p in catalogue() if p.argument == "triton-ext-subtract")
    assert (found.stages, found.summary.partition(" (")[2]) == (STAGES, "only for cuda:90 or hip)")
    assert extension.manifest is not None
    section = reference._pass_section(extension.manifest)
    assert "Any stage, only for the target `cuda:90` or `hip`. In Python `tx.passes.any.subtract(…)`" in section


@pytest.mark.parametrize(
    ("targets", "says", "fix"),
    [
        ("nvidia", "pass 'subtract' has target 'nvidia', which Triton calls cuda", "TARGET cuda"),
        ("cuda;amd", "pass 'subtract' has target 'amd', which Triton calls hip", "TARGET hip"),
        ("sm 90", "pass 'subtract' has target 'sm 90', expected a backend such as cuda", "TARGET cuda"),
        ("cuda:", "pass 'subtract' has target 'cuda:', expected a backend such as cuda", "TARGET cuda"),
    ],
)
def test_targets_that_cannot_be(targets: str, says: str, fix: str, tmp_path: Path) -> None:
    shutil.copytree(SOURCE, tmp_path / "subtract")
    with pytest.raises(BuildError) as caught:
        build.build_tree(tmp_path / "subtract", tmp_path / "b", definitions=("STAGE=ttir", f"TARGETS={targets}"))
    assert says in caught.value.message
    assert caught.value.fix == fix
