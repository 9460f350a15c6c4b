# SPDX-License-Identifier: Apache-2.0
"""A broken target is a row of ``triton-ext list`` with the reason. Triton, the other targets and other kernels work."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from support.fixture_types import MakePlugin, RunPython

pytestmark = pytest.mark.slow

COMPILER = """
from triton.backends.compiler import BaseBackend
class Compiler(BaseBackend):
    @staticmethod
    def supports_target(target): return target.backend == "sick"
    def hash(self): return target.fingerprint("sick")
    def parse_options(self, options): raise NotImplementedError
    def add_stages(self, stages, options, language): raise NotImplementedError
    def load_dialects(self, context): raise NotImplementedError
    def get_module_map(self): return {}
"""
DRIVER = """
import os
from triton.backends.driver import DriverBase
class Driver(DriverBase):
    @classmethod
    def is_active(cls): return os.environ.get("TRITON_DEFAULT_BACKEND") == "sick"
    def map_python_to_cpp_type(self, ty): raise NotImplementedError
    def get_current_target(self): raise NotImplementedError
    def get_active_torch_device(self): raise NotImplementedError
    def get_benchmarker(self): raise NotImplementedError
"""
FILES = {"__init__.py": "", "backend.json": '{"example": "x"}', "compiler.py": COMPILER, "driver.py": DRIVER}

#: By the way to be broken: the files that differ, and the reason.
PYTHON = {
    "a module that is not there": (
        {"compiler.py": "import nowhere_at_all"},
        "compiler.py cannot be imported: ModuleNotFoundError: No module named 'nowhere_at_all'",
    ),
    "a syntax error": ({"driver.py": "def ("}, "driver.py cannot be imported: SyntaxError: "),
    "an exit": ({"compiler.py": "raise SystemExit(3)"}, "compiler.py cannot be imported: SystemExit: 3"),
    "no class": (
        {"compiler.py": "from triton.backends.compiler import BaseBackend"},
        "compiler.py must have one class that implements BaseBackend, it has none",
    ),
    "an unfinished class": (
        {"driver.py": DRIVER.replace("def get_benchmarker", "def get_bench")},
        "driver.py must have one class that implements DriverBase, Driver lacks get_benchmarker",
    ),
    "two classes": (
        {"driver.py": f"{DRIVER}\nclass Another(Driver): pass\n"},
        "driver.py must have one class that implements DriverBase, it has Another, Driver",
    ),
}

BYSTANDERS = """
import numpy as np
import triton
import triton.language as tl
import triton_ext as tx

@triton.jit
def fill(x, n: tl.constexpr):
    tl.store(x + tl.arange(0, n), 3.0)

assert len(tx.describe(fill, target="cuda:90", signature="*fp32, 64").stages) > 3
with tx.target.active("cpu"):
    x = np.zeros(64, np.float32)
    fill[(1,)](x, 64)
    assert (x == 3).all()
for ask in (
    lambda: tx.describe(fill, target="sick:x", signature="*fp32, 64"),
    lambda: tx.target.activate("sick"),
):
    try:
        ask()
    except (tx.TritonExtError, RuntimeError) as error:
        print(error)
"""


def put(root: Path, **changed: str) -> Path:
    """Writes the backend `sick` with these files changed; returns what TRITON_EXT_PATH has to name."""
    directory = root / "package" / "backends" / "sick"
    directory.mkdir(parents=True)
    for name, text in {**FILES, **changed}.items():
        (directory / name).write_text(text)
    return root / "package"


def bystanders(run_python: RunPython, directory: Path, package: Path) -> str:
    """Runs a kernel on the CPU and compiles one for a GPU; returns the errors of a program that asks for the broken
    target."""
    (directory / "bystanders.py").write_text(BYSTANDERS)
    done = run_python("-m", "bystanders", TRITON_EXT_PATH=str(package))
    assert done.returncode == 0, done.stderr
    return done.stdout


def row(run_python: RunPython, package: Path) -> tuple[str, str | None]:
    """Returns kind and problem of the backend, after a check that all others are fine."""
    done = run_python("-m", "triton_ext", "list", "--json", TRITON_EXT_PATH=str(package))
    assert done.returncode == 0, done.stderr
    found = {e["name"]: (e["kind"], e["problem"]) for e in json.loads(done.stdout)}
    sick = found.pop("sick")
    assert found["cpu"] == ("backend", None)
    assert {problem for _, problem in found.values()} == {None}
    return sick


@pytest.mark.parametrize("way", PYTHON)
def test_broken_python(way: str, run_python: RunPython, tmp_path: Path) -> None:
    changed, reason = PYTHON[way]
    package = put(tmp_path, **changed)
    kind, problem = row(run_python, package)
    assert kind == "backend"
    assert problem
    assert problem.startswith(f"backend 'sick': {reason}")
    said = bystanders(run_python, tmp_path, package)
    assert said.count(f"the target 'sick' is broken: backend 'sick': {reason}") == 2, said
    chosen = run_python(
        "from triton.runtime import driver; driver.active",
        TRITON_EXT_PATH=str(package),
        TRITON_DEFAULT_BACKEND="sick",
    )
    assert chosen.returncode == 1
    assert f"TritonExtError: the target 'sick' is broken: backend 'sick': {reason}" in chosen.stderr


def test_a_driver_that_raises_is_not_active(run_python: RunPython, tmp_path: Path) -> None:
    raises = DRIVER.replace('return os.environ.get("TRITON_DEFAULT_BACKEND") == "sick"', 'raise OSError("no device")')
    package = put(tmp_path, **{"driver.py": raises})
    assert row(run_python, package) == ("backend", "backend 'sick': is_active raises OSError: no device")
    program = "from triton.runtime import driver; print(driver.active.get_current_target().backend)"
    assert run_python(program, TRITON_EXT_PATH=str(package)).stdout == "cpu\n"
    chosen = run_python(program, TRITON_EXT_PATH=str(package), TRITON_DEFAULT_BACKEND="sick")
    assert "TritonExtError: the target 'sick' is broken: is_active raises OSError: no device" in chosen.stderr


@pytest.mark.parametrize("answer", ["True", 'target.backend == "sick" or 1 / 0'])
def test_a_compiler_is_asked_about_its_own_target_only(answer: str, run_python: RunPython, tmp_path: Path) -> None:
    package = put(tmp_path, **{"compiler.py": COMPILER.replace('target.backend == "sick"', answer)})
    bystanders(run_python, tmp_path, package)


def test_what_is_mended_is_asked_again(run_python: RunPython, tmp_path: Path) -> None:
    package = put(tmp_path, **{"driver.py": "import nowhere_at_all"})
    assert row(run_python, package)[1]
    (package / "backends" / "sick" / "driver.py").write_text(DRIVER)
    assert row(run_python, package) == ("backend", None)


def test_an_unreadable_declaration(run_python: RunPython, tmp_path: Path) -> None:
    package = put(tmp_path, **{"backend.json": '{"stages": 3}'})
    assert "backend.json declares no backend: " in str(row(run_python, package)[1])
    assert "no target 'sick'" in bystanders(run_python, tmp_path, package)


def test_a_crash_is_reported(run_python: RunPython, tmp_path: Path) -> None:
    package = put(tmp_path, **{"compiler.py": "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"})
    assert row(run_python, package)[1] == "importing it crashes (SIGSEGV)"
    assert run_python("import triton", TRITON_EXT_PATH=str(package)).returncode == 0


def test_two_of_one_name(run_python: RunPython, tmp_path: Path) -> None:
    first, second = (put(tmp_path / each) for each in ("a", "b"))
    done = run_python("-m", "triton_ext", "list", "--json", TRITON_EXT_PATH=f"{first}:{second}")
    rows = {e["path"]: e["problem"] for e in json.loads(done.stdout) if e["name"] == "sick"}
    assert rows == {
        str(first / "backends" / "sick"): None,
        str(second / "backends" / "sick"): "duplicate: the name of the target 'sick' is also claimed by "
        f"{first / 'backends' / 'sick'}",
    }


@pytest.mark.parametrize("way", ["truncated", "another Triton", "another compiler", "a missing symbol"])
def test_broken_library(
    way: str, run_python: RunPython, make_plugin: MakePlugin, note: Callable[..., str], tmp_path: Path
) -> None:
    """The reason is in the row, and in the error of a compilation for the target."""
    compiler = COMPILER.replace("from triton", "from triton_ext import target\nfrom triton", 1).replace(
        "def parse_options(self, options): raise NotImplementedError",
        "def parse_options(self, options):\n"
        "        import types\n"
        "        return types.SimpleNamespace(hash=lambda: '')",
    )
    package = put(tmp_path, **{"compiler.py": compiler})
    library = package / "libtriton_ext_sick.so"
    fields = {"name": "sick", "kind": "backend", "stage": None}
    fields |= {"triton": "3.8.0"} if way == "another Triton" else {}
    fields |= {"compiler": "gcc 12.2"} if way == "another compiler" else {}
    needs = {"NEEDS": "_ZN4mlir7nothingEv"}
    make_plugin(library, NOTE=note(**fields), **(needs if way == "a missing symbol" else {}))
    if way == "truncated":
        library.write_bytes(library.read_bytes()[:2000])
    reason = {
        "truncated": "libtriton_ext_sick.so",
        "another Triton": "was built for Triton 3.8.0, installed is 3.9.0",
        "another compiler": "was built with another compiler than clang (gcc 12.2)",
        "a missing symbol": "needs _ZN4mlir7nothingEv, which Triton 3.9.0 does not have",
    }[way]
    kind, problem = row(run_python, package)
    assert kind == "backend"
    assert reason in str(problem)
    said = bystanders(run_python, tmp_path, package)
    assert f"the library of the target 'sick' is broken: {library}" in said, said
    assert reason in said


def test_a_library_without_its_python(
    run_python: RunPython, make_plugin: MakePlugin, note: Callable[..., str], tmp_path: Path
) -> None:
    make_plugin(tmp_path / "libtriton_ext_sick.so", NOTE=note(name="sick", kind="backend", stage=None))
    kind, problem = row(run_python, tmp_path)
    assert kind == "backend"
    assert problem == "its Python files are gone; the next build removes the library (fix: triton-ext build)"


@pytest.mark.parametrize("runtime", ["missing", "not a library", "no library at all"])
def test_broken_runtime(
    runtime: str, run_python: RunPython, make_plugin: MakePlugin, note: Callable[..., str], tmp_path: Path
) -> None:
    package = put(tmp_path, **{"backend.json": '{"example": "x", "runtime": true}'})
    if runtime != "no library at all":
        make_plugin(package / "libtriton_ext_sick.so", NOTE=note(name="sick", kind="backend", stage=None))
    if runtime == "not a library":
        (package / "libTritonExtSickRuntime.so").write_text("nothing")
    reason = {
        "missing": f"{package / 'libTritonExtSickRuntime.so'} is missing (fix: triton-ext build sick)",
        "not a library": "its runtime does not load: ",
        "no library at all": "libtriton_ext_sick.so is missing (fix: triton-ext build sick)",
    }[runtime]
    kind, problem = row(run_python, package)
    assert kind == "backend"
    assert str(problem).startswith(reason)
    assert run_python("import triton", TRITON_EXT_PATH=str(package)).returncode == 0
