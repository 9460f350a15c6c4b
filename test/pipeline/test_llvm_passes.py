# SPDX-License-Identifier: Apache-2.0
"""LLVM passes of extensions in compilations: module and loop passes, options of each kind, cache keys, threads."""

from __future__ import annotations

import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

import triton_ext as tx
from support import kept_build
from support.fixture_types import MakeOnce
from support.pipeline.seen import llvm_text
from triton_ext.record import Compilation

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
TARGETS = ("cuda:90", "hip:gfx942", "cpu:native")
SIGNATURE = {"x": "*fp32", "y": "*fp32", "n": "i32", "BLOCK": "constexpr"}
DEFAULTS = "level 1 strict 0 factor 0.50 label none colour Red sizes 0 names 0 colours 0"


@triton.jit
def sums(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for k in range(n):
        total += tl.load(x + k * BLOCK + i)
    tl.store(y + i, total)


@pytest.fixture(scope="session")
def marks(make_once: MakeOnce) -> dict[str, Path]:
    """Returns two builds of the passes in ``marks/``, whose `mark_functions` writes ``v1`` and ``v2``."""

    def fill(directory: Path) -> None:
        for version in ("v1", "v2"):
            source = shutil.copytree(HERE / "marks", directory / version)
            code = source / "mark_functions" / "MarkFunctions.cpp"
            code.write_text(code.read_text().replace('VERSION "v1"', f'VERSION "{version}"'))
            kept_build.build_tree(source, source / "build")

    directory = make_once("marks", fill)
    return {version: directory / version / "build" for version in ("v1", "v2")}


class Installed:
    """The passes where ``TRITON_EXT_PATH`` points; `put` replaces `mark_functions`, as a rebuild does."""

    def __init__(self, marks: dict[str, Path], directory: Path) -> None:
        self._marks, self._directory = marks, directory
        for library in marks["v1"].rglob("libtriton_ext_*.so"):
            shutil.copy(library, directory)

    def put(self, version: str) -> None:
        name = "libtriton_ext_mark_functions.so"
        shutil.copy(self._marks[version] / "mark_functions" / name, self._directory / "part")
        (self._directory / "part").replace(self._directory / name)


@pytest.fixture
def installed(marks: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installed:
    directory = tmp_path / "extensions"
    directory.mkdir()
    monkeypatch.setenv("TRITON_EXT_PATH", str(directory))
    return Installed(marks, directory)


def mark(**options: object) -> tx.Pipeline:
    return tx.Pipeline().at_end("llvm", tx.passes.llvm.mark_functions(**options))


def compiled(pipeline: tx.Pipeline) -> tuple[str, bool]:
    """Returns what `mark_functions` has written into the kernel, and whether the kernel came from the cache."""
    hits: list[bool] = []
    with pytest.MonkeyPatch.context() as patch, pipeline:
        patch.setattr(triton.knobs.compilation, "listener", lambda *, cache_hit, **_: hits.append(cache_hit))
        kernel = triton.compile(ASTSource(sums, SIGNATURE, {"BLOCK": 128}), target=GPUTarget("cuda", 90, 32))
    (hit,) = hits
    (text,) = set(re.findall(r'"mark"="([^"]*)"', kernel.asm["llir"])) or {""}
    return text, hit


def traced(target: str, pipeline: tx.Pipeline) -> Compilation:
    return tx.trace(sums, target=target, signature="*fp32, *fp32, i32, 128", pipeline=pipeline)


def test_a_kernel_is_compiled_again_for_other_bytes_and_options(installed: Installed) -> None:
    plain, three = mark(), mark(level=3)
    written = {version: f"{version} {DEFAULTS}" for version in ("v1", "v2")}
    assert compiled(tx.Pipeline()) == ("", False)
    assert compiled(plain) == (written["v1"], False)
    assert compiled(plain) == (written["v1"], True)
    assert compiled(three) == (written["v1"].replace("level 1", "level 3"), False)
    installed.put("v2")
    assert compiled(mark()) == (written["v2"], False)
    assert compiled(mark(level=3)) == (written["v2"].replace("level 1", "level 3"), False)
    assert compiled(tx.Pipeline()) == ("", True)
    installed.put("v1")
    assert compiled(mark()) == (written["v1"], True)


def test_a_pipeline_in_llvms_text_has_the_same_key(installed: Installed) -> None:
    def named() -> tx.Pipeline:
        return tx.Pipeline().at_end("llvm", tx.builtin.llvm("function(mark-functions<level=4>)"))

    expected = f" {DEFAULTS}".replace("level 1", "level 4")
    assert compiled(named()) == ("v1" + expected, False)
    installed.put("v2")
    assert compiled(named()) == ("v2" + expected, False)
    installed.put("v1")
    assert compiled(named()) == ("v1" + expected, True)


@pytest.mark.parametrize(
    ("options", "written"),
    [
        ({"level": -7}, "level -7"),
        ({"strict": True}, "strict 1"),
        ({"factor": 2.25}, "factor 2.25"),
        ({"label": "a<b>;c|d%e,f"}, "label a<b>;c|d%e,f"),
        ({"colour": "dark-blue"}, "colour DarkBlue"),
        ({"sizes": [3, -4, 1 << 40]}, "sizes 3 3 -4 1099511627776"),
        ({"names": ["a", "b-c"]}, "names 2 a b-c"),
        ({"colours": ["dark-blue", "red"]}, "colours 2 DarkBlue Red"),
    ],
)
def test_options_of_each_kind(installed: Installed, options: dict[str, object], written: str) -> None:
    (found,) = set(re.findall(r'"mark"="([^"]*)"', llvm_text(traced("cuda:90", mark(**options)))))
    kind, *value = written.split(" ", 1)
    assert f" {kind} {value[0]}" in found
    (default,) = re.findall(rf" {kind} \S+", f" {DEFAULTS}")
    assert found == f"v1 {DEFAULTS}".replace(default, f" {kind} {value[0]}")


def test_wrong_values(installed: Installed) -> None:
    with pytest.raises(tx.PipelineError, match="dark-blue"):
        mark(colour="green")
    with pytest.raises(tx.PipelineError, match="invalid value 'green' for option 'colour'"):
        traced("cuda:90", tx.Pipeline().at_end("llvm", tx.builtin.llvm("mark-functions<colour=green>")))


@pytest.mark.parametrize("target", TARGETS)
def test_module_and_loop_passes(target: str, installed: Installed) -> None:
    module = traced(target, tx.Pipeline().at_end("llvm", tx.passes.llvm.mark_module()))
    (node,) = re.findall(r"^!mark\.defined = !\{!(\d+)\}$", llvm_text(module), re.MULTILINE)
    (count,) = re.findall(rf"^!{node} = !\{{i32 (\d+)\}}$", llvm_text(module), re.MULTILINE)
    assert int(count) == llvm_text(module).count("\ndefine ") > 0
    loops = llvm_text(traced(target, tx.Pipeline().at_end("llvm", tx.passes.llvm.mark_loops())))
    assert re.search(r"^loop1_\w*:", loops, re.MULTILINE)
    assert "loop1_" not in llvm_text(traced(target, tx.Pipeline()))


@pytest.mark.parametrize(
    "point",
    [
        "pipeline_start",
        "peephole",
        "scalar_optimizer_late",
        "optimizer_early",
        "vectorizer_start",
        "vectorizer_end",
        "optimizer_last",
    ],
)
@pytest.mark.parametrize("target", TARGETS)
def test_a_pass_runs_at_its_point(target: str, point: str, installed: Installed) -> None:
    placed = tx.Pipeline().after(f"llvm.{point}", tx.passes.llvm.mark_functions(level=8))
    assert f'"mark"="v1 {DEFAULTS}"'.replace("level 1", "level 8") in llvm_text(traced(target, placed))


@pytest.mark.parametrize("point", ["late_loop_optimizations", "loop_optimizer_end"])
def test_a_loop_pass_runs_at_its_point(point: str, installed: Installed) -> None:
    placed = tx.Pipeline().after(f"llvm.{point}", tx.passes.llvm.mark_loops())
    assert "loop1_" in llvm_text(traced("cuda:90", placed))


def test_two_threads_at_once(installed: Installed) -> None:
    """Each compilation has its own target and option; both run the passes, over and over, at the same time."""
    barrier = Barrier(2)

    def compile_often(target: str, level: int) -> list[str]:
        found = []
        for turn in range(6):
            barrier.wait(120)
            pipeline = mark(level=10 * level + turn).at_end("llvm", tx.builtin.llvm("function(instcombine,gvn)"))
            found += set(re.findall(r'"mark"="v1 level (\d+)', llvm_text(traced(target, pipeline))))
        return found

    with ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(compile_often, ("cuda:90", "hip:gfx942"), (1, 2)))
    assert runs == [[str(10 * level + turn) for turn in range(6)] for level in (1, 2)]
