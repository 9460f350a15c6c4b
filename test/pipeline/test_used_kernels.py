# SPDX-License-Identifier: Apache-2.0
"""A kernel under `tx.use` has its pipeline wherever it is compiled, not only where it is launched."""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import triton
from triton import knobs
from triton.backends.compiler import GPUTarget
from triton.experimental.gluon._runtime import GluonASTSource
from triton.runtime.jit import MockTensor
from triton.tools import compile as tool

import triton_ext as tx
from support import forked_python
from support.pipeline.kernels import add_one, softmax, source, squares
from support.pipeline.seen import renaming

CUDA90 = GPUTarget("cuda", 90, 32)
X = MockTensor(triton.language.float32)


def compiled(kernel: Any) -> str:
    return str(triton.compile(source(kernel), target=CUDA90).metadata.name)


def launched(kernel: Any) -> str:
    return str(kernel.warmup(X, X, 1000, 256, grid=(1,)).metadata.name)


def described(kernel: Any, pipeline: tx.Pipeline | None = None) -> str:
    """Returns the edits that ran, each once."""
    compilation = tx.describe(
        kernel, target="cuda:90", signature=None if isinstance(kernel, triton.compiler.ASTSource) else SIGNATURE,
        pipeline=pipeline,
    )  # fmt: skip
    return " ".join(str(record.edit) for stage in compilation.stages for record in stage.passes if record.edit)


SIGNATURE = {"x": "*fp32", "y": "*fp32", "n": "i32", "BLOCK": 256}
ONE, TWO, THREE = renaming("softmax", "one"), renaming("one", "two"), renaming("two", "three")
USED = tx.use(ONE)(softmax)
TWICE = tx.use(TWO)(USED)
WAYS = {
    "compile": compiled,
    "launch": launched,
    "in a thread": lambda kernel: in_a_thread(compiled, kernel),
}


def in_a_thread(call: Callable[[Any], str], kernel: Any) -> str:
    found: list[str] = []
    thread = threading.Thread(target=lambda: found.append(call(kernel)))
    thread.start()
    thread.join()
    return found[0]


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_compile(way: str, no_gpu: None) -> None:
    name = WAYS[way]
    kernels = [softmax, USED, squares, TWICE, USED, softmax]
    assert [name(kernel) for kernel in kernels] == ["softmax", "one", "squares", "two", "one", "softmax"]
    assert knobs.runtime.add_stages_inspection_hook is None


@pytest.mark.slow
@pytest.mark.parametrize("way", ["compile", "launch"])
def test_what_is_active_is_outside_of_it(way: str, no_gpu: None) -> None:
    name = WAYS[way]
    with TWO:
        assert name(USED) == "two"
        assert name(softmax) == "softmax"
        with THREE:
            assert name(USED) == "two"  # the innermost pipeline runs first, and does not find 'two'
    with THREE, TWO:
        assert name(USED) == "three"
    TWO.install()
    try:
        assert [name(USED), name(softmax), name(TWICE)] == ["two", "softmax", "two"]
    finally:
        TWO.uninstall()
    assert name(USED) == "one"


@pytest.mark.slow
@pytest.mark.parametrize("way", ["compile", "launch"])
def test_the_same_pipeline_around_it_runs_as_well(way: str, no_gpu: None) -> None:
    ran: list[int] = []
    note = tx.Pipeline().at_end("ttir", ran.append)
    used = tx.use(note)(softmax)
    WAYS[way](used)
    assert len(ran) == 1
    with note:
        WAYS[way](used)
    assert len(ran) == 3


@pytest.mark.slow
def test_with_a_hook_of_the_user_s(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    def hook(*args: Any, **kwargs: Any) -> tuple[str, str]:
        seen.append(len(args))
        return "mine", "mine"

    monkeypatch.setattr(knobs.runtime, "add_stages_inspection_hook", hook)
    assert [compiled(USED), compiled(softmax)] == ["one", "softmax"]
    assert knobs.runtime.add_stages_inspection_hook is hook
    assert 0 in seen


@pytest.mark.slow
def test_a_key_of_its_own(kernel_cache: Path) -> None:
    kernels = [triton.compile(source(kernel), target=CUDA90) for kernel in (softmax, USED, TWICE, USED, softmax)]
    assert [kernel.hash for kernel in kernels[:2]] == [kernel.hash for kernel in kernels[:2:-1]]
    assert len({kernel.hash for kernel in kernels}) == 3
    with ONE:  # the same edits in the same place
        assert triton.compile(source(softmax), target=CUDA90).hash == kernels[1].hash


@pytest.mark.slow
def test_described() -> None:
    edit = "ttir: at_end(rename{{new={} old={}}})"
    one, two, three = edit.format("one", "softmax"), edit.format("two", "one"), edit.format("three", "two")
    for kernel in (USED, source(USED)):
        assert described(kernel) == one
        assert described(kernel, pipeline=TWO) == f"{two} {one}"
    for kernel in (TWICE, source(TWICE)):
        assert described(kernel) == f"{one} {two}"
        with THREE:
            assert described(kernel) == f"{one} {two} {three}"


def test_gluon() -> None:
    used = tx.use(tx.Pipeline().stage("ptx", lambda text, metadata, inner: "// used\n" + inner(text, metadata)))(
        add_one
    )
    types = {"x": "*fp32", "y": "*fp32", "BLOCK": "constexpr", "THREADS": "constexpr"}
    for kernel in (used, add_one):
        task = GluonASTSource(kernel, types, {"BLOCK": 128, "THREADS": 32})
        assert triton.compile(task, target=CUDA90).asm["ptx"].startswith("// used\n") is (kernel is used)


@pytest.mark.slow
def test_an_error_leaves_nothing_behind() -> None:
    with pytest.raises(tx.PipelineError, match="no pass 'nowhere'"):
        compiled(tx.use(tx.Pipeline().skip("nowhere"))(softmax))
    assert compiled(softmax) == "softmax"


KERNELS = """
import triton, triton.language as tl, triton_ext as tx

@triton.jit
def plain(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)

used = tx.use(tx.Pipeline().at_end("ttir", tx.passes.ttir.rename(old="plain", new="renamed")))(plain)
"""


#: Runs the tool twice: first the kernel is compiled, then it comes from the cache.
TOOL = """
import runpy, sys
for name in ("new", "cached"):
    sys.argv[0:1] = ["compile.py", "-o", name]
    runpy.run_module("triton.tools.compile", run_name="__main__", alter_sys=True)
    del sys.argv[1:3]
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernel", "edits", "name"),
    [
        ("used", "", "renamed"),
        ("plain", "", "plain"),
        ("plain", "ttir: at_end(rename{old=plain new=other})", "other"),
        ("used", "ttir: at_end(rename{old=renamed new=other})", "other"),
    ],
)
def test_triton_s_tool_writes_code_that_finds_the_kernel(
    kernel: str, edits: str, name: str, tmp_path: Path, kernel_cache: Path
) -> None:
    (tmp_path / "kernels_aot.py").write_text(KERNELS)
    arguments = ["-n", kernel, "-t", "cuda:90:32", "-s", "*fp32:16, i32, 64", "-g", "1,1,1"]
    command = [sys.executable, "-c", TOOL, str(tmp_path / "kernels_aot.py"), *arguments]
    environment = {**os.environ, "TRITON_EXT_PIPELINE": edits, "TRITON_CACHE_DIR": str(kernel_cache)}
    done = forked_python.run(command, env=environment, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    files = [*tmp_path.glob("new.*.c"), *tmp_path.glob("cached.*.c")]
    assert len(files) == 2
    for text in (file.read_text() for file in files):
        assert re.findall(r'cuModuleGetFunction\(.*"(\w+)"\)', text) == [name]
        binary = bytes(int(byte, 16) for byte in re.findall(r"0x[0-9a-f]{2}\b", text))
        assert f".text.{name}\0".encode() in binary
        assert f" {kernel}_" in text  # the function that the program calls is unchanged


@pytest.mark.slow
@pytest.mark.usefixtures("kernel_cache")
def test_triton_s_tool_as_a_module_returns_plain_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second call in a process makes its paths after ours has replaced the tool's ``Path``."""
    monkeypatch.setattr(tool, "Path", Path)
    monkeypatch.setattr(sys, "path", [*sys.path])  # which the tool extends
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kernels_aot.py").write_text(KERNELS)
    for kernel, name in (("used", "renamed"), ("plain", "plain"), ("used", "renamed")):
        _, files = tool.compile_kernel(
            tool.CompileArgs("kernels_aot.py", kernel, "*fp32:16, i32, 64", "1,1,1", "cuda:90:32")
        )
        assert {type(file) for file in files} == {type(Path())}
        (code,) = [file.read_text() for file in files if file.suffix == ".c"]
        assert re.findall(r'cuModuleGetFunction\(.*"(\w+)"\)', code) == [name]
