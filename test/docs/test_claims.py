# SPDX-License-Identifier: Apache-2.0
"""Claims of the documentation that no other test shows."""

from __future__ import annotations

import ctypes
import inspect
import os
import re
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import triton
import triton.language as tl
from click.testing import CliRunner
from triton._C.libtriton import ir, llvm, passes
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, make_backend

import support
import triton_ext as tx
from support import ROOT, forked_python
from triton_ext import sdk
from triton_ext.cli.trace import trace
from triton_ext.pipeline import inspection, step_execution
from triton_ext.pipeline.inspection import Level
from triton_ext.support.resources import library_dir
from triton_ext.tuning import limits

DOCS = ROOT / "docs"


def page(name: str) -> str:
    """Returns a page as one line."""
    return " ".join((DOCS / name).read_text().split())


# pipelines.md


@pytest.mark.slow
def test_how_many_passes_a_backend_runs(tmp_path: Path) -> None:
    """The test uses the kernel of the page."""
    text = (DOCS / "pipelines.md").read_text()
    low, high = map(int, re.findall(r"runs (\d+) to (\d+) passes for a kernel", text)[0])
    (tmp_path / "kernels.py").write_text(re.findall(r"`kernels.py`:\n\n```python\n(.*?)```", text, re.DOTALL)[0])
    signature = "*fp16:16, *fp16:16, *fp32:16, i32:16, 64"
    for target in ("cuda:80", "cuda:90", "hip:gfx942"):
        seen = tx.describe(f"{tmp_path}/kernels.py:matmul", target=target, signature=signature)
        assert low <= sum(len(stage.passes) for stage in seen.stages) <= high


def test_the_text_of_a_pipeline_is_its_own_inverse() -> None:
    (text,) = re.findall(r"```text\n(.*?)\n```", (DOCS / "pipelines.md").read_text(), re.DOTALL)
    pipeline = tx.Pipeline.parse(text)
    assert len(pipeline.edits) == 3
    assert tx.Pipeline.parse(str(pipeline)) == pipeline


# loading.md


@pytest.mark.slow
def test_a_context_from_before_stays_without_a_dialect(tmp_path: Path) -> None:
    program = (
        "import sys, triton, triton_ext as tx\n"
        "from triton._C.libtriton import ir\n"
        "def parses():\n"
        "    try:\n"
        "        ir.parse_mlir_module(sys.argv[1], context)\n"
        "    except RuntimeError:\n"
        "        return False\n"
        "    return True\n"
        "context = ir.context()\n"
        "ir.load_dialects(context)\n"
        "tx.load(triton.__path__[0] + '/plugins/libMLIRDialectPlugin.so')\n"
        "print(parses())\n"
        "context = ir.context()\n"
        "ir.load_dialects(context)\n"
        "print(parses())\n"
    )
    (module := tmp_path / "magic.mlir").write_text(
        'tt.func @f(%a: i32) { %0 = "plugin.magic"(%a) : (i32) -> i32 \n tt.return }\n'
    )
    done = forked_python.run([sys.executable, "-c", program, module], check=True)
    assert done.stdout.split() == ["False", "True"]


# opt.md


@pytest.mark.slow
def test_what_libtriton_lacks(capfd: pytest.CaptureFixture[str]) -> None:
    done = forked_python.run([sys.executable, "-m", "triton_ext.driver", "--help"], check=True)
    (missing,) = re.findall(
        r"^Missing, because libtriton does not hold them: (.*?)\n\n?", f"{done.stdout}\n", re.MULTILINE
    )
    for flag in re.findall(r"-[\w-]+", missing):
        assert f"`{flag}`" in page("opt.md")
    with pytest.raises(tx.PipelineError, match="Dialect `index' not found"):
        tx.opt("func.func @f() { %c = index.constant 1 \n return }", "convert-index-to-llvm")


# sdk.md


@pytest.mark.slow
def test_the_size_of_the_sdk_and_that_it_can_be_moved() -> None:
    installed = sdk.find()
    if installed is None:
        pytest.skip("no SDK is installed")
    root = installed.path.resolve()
    files = [path for path in root.rglob("*") if path.is_file() and not path.is_symlink()]
    assert not [path for path in files if str(root.parent).encode() in path.read_bytes()]
    assert not [path for path in root.rglob("*") if path.is_symlink() and path.readlink().is_absolute()]
    if "debian-24" in root.name:  # the first of those that Debian has
        (said,) = re.findall(r"about (\d+) MB\.", page("sdk.md"))
        assert abs(sum(path.stat().st_size for path in files) / 1e6 - int(said)) < 5


def test_what_a_wheel_of_triton_has() -> None:
    root = Path(triton.__file__).parent
    assert list((root / "include").rglob("*.h"))
    assert not [path for path in root.rglob("*") if path.name in ("mlir", "llvm", "mlir-tblgen")]
    library = ctypes.CDLL(str(root / "_C" / "libtriton.so"))
    assert all(
        hasattr(library, name) for name in ("_ZN4mlir11PassManager3runEPNS_9OperationE", "_ZN4mlir9Operation5eraseEv")
    )


def test_extensions_have_assertions() -> None:
    """CMake's build type is Release, which defines NDEBUG."""
    assert "set(CMAKE_BUILD_TYPE Release)" in (ROOT / "CMakeLists.txt").read_text()
    libraries = list(library_dir().glob("libtriton_ext_*.so"))
    assert libraries
    assert [path.name for path in libraries if b"__assert_fail" not in path.read_bytes()] == []


# trace.md


@pytest.mark.slow
def test_a_trace_compiles_afresh_and_with_a_pipeline(tmp_path: Path) -> None:
    text = (DOCS / "trace.md").read_text()
    (tmp_path / "kernels.py").write_text(re.findall(r"`kernels.py`:\n\n```python\n(.*?)```", text, re.DOTALL)[0])
    asked = [f"{tmp_path}/kernels.py:softmax", "-t", "cuda:90", "-s", "*fp32:16, *fp32:16, i32, 1024"]
    indices = []
    for i, more in enumerate(([], [], ["-p", "ttir: skip(loop_unroll)"])):
        done = CliRunner().invoke(trace, [*asked, "--dir", f"{tmp_path}/{i}", *more])
        assert done.exit_code == 0, done.output
        indices.append((tmp_path / str(i) / "index.txt").read_text())
    first, again, edited = indices
    assert re.search(r"^ *1 +\*? +common\.inliner ", first, re.MULTILINE)
    assert re.sub(r"\d+\.\d+", "", first).split() == re.sub(r"\d+\.\d+", "", again).split()  # all but the times
    assert "edits: ttir: skip(loop_unroll)" in edited
    pipeline = tx.Pipeline().skip("ttir.loop_unroll")
    stage, *_ = tx.trace(asked[0], target="cuda:90", signature=asked[-1], pipeline=pipeline).stages
    assert [record.name for record in stage.passes if not record.ran] == ["ttir.loop_unroll"]


@pytest.mark.slow
def test_where_nothing_is_traced_nothing_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    levels: list[Level] = []

    class Watched(inspection.Inspection):
        def __init__(self, level: Level, slot: int = -1) -> None:
            levels.append(level)
            super().__init__(level, slot)

    monkeypatch.setattr(step_execution, "Inspection", Watched)
    triton.compile(division(), target=GPUTarget("cuda", 90, 32))
    assert levels == []
    with tx.Pipeline().skip("ttir:common.cse"):
        triton.compile(division(), target=GPUTarget("cuda", 90, 32))
    assert set(levels) == {Level.FAILURES}
    tx.trace(division(), target="cuda:90")
    assert Level.IR in levels


# tuning.md


def test_the_limits_of_a_candidate() -> None:
    parameters, text = inspect.signature(tx.autotune).parameters, page("tuning.md")
    for name in ("compile_timeout", "run_timeout"):
        assert f"`{name}`, by default {parameters[name].default:g} seconds" in text
    assert f"a candidate for {limits.GRACE:g} seconds more than a limit is ended" in text
    assert f"and {limits.STARTUP // 60:g} minutes more".replace("2", "two") in text
    without = tx.autotune([triton.Config({"BLOCK": 8})], [], compile_timeout=None, run_timeout=None)(divide)
    assert (without.compile_timeout, without.run_timeout) == (None, None)


def lets_others_run(work: Callable[[], object], times: int = 50) -> bool:
    """Returns whether another thread runs while `work` runs, at most so many times, if Python never switches threads by
    itself."""
    ran: list[bool] = []
    start = threading.Event()
    other = threading.Thread(target=lambda: start.wait() and ran.append(True))
    other.start()
    before = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        start.set()
        for _ in range(times):
            work()
            if ran:
                return True
        return False
    finally:
        sys.setswitchinterval(before)
        other.join()


@pytest.mark.slow
def test_what_runs_without_the_lock_of_the_interpreter() -> None:
    target, source = GPUTarget("cuda", 90, 32), division()
    backend = make_backend(target)
    options = backend.parse_options({})
    functions, modules = backend.get_codegen_implementation(options), backend.get_module_map()
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)

    def make_ir() -> Any:
        return source.make_ir(target, options, functions, modules, context)

    def run_passes() -> None:
        manager = ir.pass_manager(context)
        passes.common.add_canonicalizer(manager)
        passes.common.add_cse(manager)
        manager.run(module, "test")

    def translate() -> None:
        llvm.translate_to_asm(llir, "nvptx64-nvidia-cuda", "sm_90a", "+ptx80", [], True, False, False)

    module, llir = make_ir(), triton.compile(source, target=target).asm["llir"]
    # On a machine with more processes than processors, the other thread may wait for a processor for milliseconds.
    assert lets_others_run(run_passes, times=5000)
    assert lets_others_run(translate, times=500)
    assert not lets_others_run(make_ir)
    assert not lets_others_run(lambda: sum(range(10_000)))


# linalg.md


def test_the_size_of_the_library_of_dialects() -> None:
    library = library_dir() / "libTritonExtMLIR.so"
    if not library.is_file():
        pytest.skip("the part linalg is not built")
    (said,) = re.findall(r"puts the library \((\d+) MB\)", page("linalg.md"))
    assert abs(library.stat().st_size / 1e6 - int(said)) < 1


@triton.jit
def total(x, y):
    tl.store(y, tl.sum(tl.sum(x.load([0, 0]), 1), 0))


@pytest.mark.slow
def test_the_arguments_of_a_function() -> None:
    """A descriptor of two dimensions has eleven arguments, the kernel's pointer is one, and the numbers of programs are
    six."""
    module = tx.linalg.compile(total, "tensordesc<fp32[8, 16]>, *fp32", lowered=True)
    (arguments,) = re.findall(r"func\.func @total\((.*?)\)", module)
    types: list[Any] = re.findall(r"%\w+: (\w+)", arguments)
    descriptor = ["i64"] + ["i64"] * 2 + ["i64"] * 2 + ["i1"] * 2 + ["i32"] * 2 + ["i64"] * 2
    assert len(descriptor) == 11
    assert types == [*descriptor, "i64", *["i32"] * 6]


# cpu.md


@pytest.fixture
def on_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = pytest.importorskip("triton_ext.backends.cpu.driver")
    monkeypatch.setattr(triton.runtime.driver, "_active", driver.CPUDriver())


@triton.jit
def divide(x, y, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    left, right = tl.load(x + i), tl.load(y + i)
    tl.store(out + i, left // right + left % right)


def division() -> ASTSource:
    return ASTSource(divide, {"x": "*i32", "y": "*i32", "out": "*i32", "BLOCK": "constexpr"}, {"BLOCK": 64})


@pytest.mark.parametrize("kind", ["int8", "int32", "int64"])
def test_division_by_zero_does_not_trap(kind: str, on_cpu: None) -> None:
    torch = pytest.importorskip("torch")
    dtype = getattr(torch, kind)
    lowest = torch.iinfo(dtype).min
    x = torch.tensor([7, 0, -7, lowest, 7, lowest, 9, 8], dtype=dtype)
    y = torch.tensor([0, 0, 0, 0, 2, -1, 3, -3], dtype=dtype)
    out = torch.empty_like(x)
    divide[(1,)](x, y, out, 8)
    assert (out[4], out[6]) == (4, 3)  # results of a division by zero are not specified


@pytest.mark.slow
def test_the_number_of_threads_is_that_of_torch() -> None:
    """The threads that a launch has made live on after it, and so does the thread that watches for Ctrl-C."""
    program = (
        "import os, sys, torch, triton\n"
        "from test_claims import divide\n"
        "x = torch.ones(8, dtype=torch.int32)\n"
        "torch.set_num_threads(int(sys.argv[1]))\n"
        "divide[(1,)](x, x, torch.empty_like(x), 8)\n"
        "before = len(os.listdir('/proc/self/task'))\n"
        "divide[(100_000,)](x, x, torch.empty_like(x), 8)\n"
        "print(len(os.listdir('/proc/self/task')) - before)\n"
    )
    path = f"{support.PYTHONPATH}{os.pathsep}{Path(__file__).parent}"
    for threads, made in (("1", 1), ("3", 3)):
        done = forked_python.run(
            [sys.executable, "-c", program, threads],
            env={**os.environ, "TRITON_DEFAULT_BACKEND": "cpu", "PYTHONPATH": path},
        )
        assert (done.returncode, done.stdout.strip()) == (0, str(made)), done.stderr


def test_gluon_is_refused_on_the_cpu(on_cpu: None) -> None:
    from triton.experimental import gluon
    from triton.experimental.gluon import language as ttgl

    @gluon.jit
    def kernel(x, BLOCK: ttgl.constexpr):
        layout: ttgl.constexpr = ttgl.BlockedLayout([1], [32], [4], [0])
        ttgl.store(x + ttgl.arange(0, BLOCK, layout=layout), 1.0)

    torch = pytest.importorskip("torch")
    with pytest.raises(RuntimeError, match="Gluon kernels are written for a GPU's layouts"):
        kernel[(1,)](torch.zeros(128), 128)


@pytest.mark.slow
def test_make_demo_cpu() -> None:
    makefile = (ROOT / "Makefile").read_text()
    (command,) = re.findall(r"^demo-cpu:.*\n\t.*\n\t@\$\(BIN\)/python (.*)$", makefile, re.MULTILINE)
    done = forked_python.run([sys.executable, *command.split()], cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert all(name in done.stdout for name in ("softmax", "matmul", "times in ms"))
