# SPDX-License-Identifier: Apache-2.0
"""Tests the wheel in an environment without a compiler, an SDK and this checkout."""

from __future__ import annotations

import ctypes
import json
import re
import subprocess
from pathlib import Path
from zipfile import ZipFile

import pytest

from support import ROOT, fresh_environment
from support.fixture_types import MakeOnce

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def run(make_once: MakeOnce, wheel: Path, tmp_path_factory: pytest.TempPathFactory):
    """Returns a function that runs a program of a fresh environment with only the wheel."""
    directory = tmp_path_factory.mktemp("wheel")
    with fresh_environment.with_wheel(make_once, wheel, directory / "env") as programs:

        def run(program: str, *arguments: str) -> str:
            environment = {"PATH": str(programs), "HOME": str(directory), "XDG_CACHE_HOME": str(directory / "cache")}
            command = [str(programs / program), *arguments]
            done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            return done.stdout

        yield run


def test_it_holds_the_libraries_and_what_building_against_it_needs(wheel: Path) -> None:
    names = ZipFile(wheel).namelist()
    built = {f"triton_ext/lib/{p.name}" for p in (ROOT / "python" / "triton_ext" / "lib").glob("*.so")}
    assert built <= set(names)
    assert "triton_ext/share/infra/cmake/TritonExtConfig.cmake" in names
    assert "triton_ext/share/infra/pass/include/triton_ext/PassInfra.h" in names
    assert "triton_ext/share/infra/analysis/AxisInfo.h" in names
    assert [name for name in names if re.fullmatch(r"triton_ext/lib/libTritonExtAnalysis-[0-9a-f]{8}\.a", name)]
    apis = [*ROOT.glob("dialects/*/api.py"), *ROOT.glob("dialects/*/api/**/*.py"), *ROOT.glob("backends/*/*.py")]
    apis += ROOT.glob("backends/*/api/**/*.py")
    assert {f"triton_ext/{p.relative_to(ROOT)}" for p in apis} <= set(names)
    assert not [name for name in names if "__pycache__" in name]
    tracing = ROOT / "python/triton_ext/tracing"
    page = {f"triton_ext/tracing/{p.name}" for p in tracing.iterdir() if p.suffix in (".html", ".css", ".js")}
    assert {"triton_ext/tracing/page.html", "triton_ext/tracing/page.css", "triton_ext/tracing/page.js"} < page
    assert page <= set(names)
    templates = {
        str(p.relative_to(ROOT / "python")) for p in (ROOT / "python/triton_ext/authoring/templates").rglob("*.in")
    }
    assert templates
    assert templates <= set(names)


def test_rename_is_listed_as_a_ttir_pass(run) -> None:
    (rename,) = [e for e in json.loads(run("triton-ext", "list", "--json")) if e["name"] == "rename"]
    assert (rename["kind"], rename["stage"], rename["problem"]) == ("pass", "ttir", None)


def test_the_demo_compiles_its_kernel(run) -> None:
    printed = run("python", "-m", "triton_ext.demo")
    assert "← the edit" in printed
    assert "cubin / hsaco" in printed
    assert "torch is not installed" in printed


COMPILERS = ("clang", "clang++", "gcc", "g++", "cc", "c++", "ld", "ld.lld", "cmake", "ninja", "mlir-tblgen", "mlir-opt")
LINALG = """
import shutil
import triton, triton.language as tl
import triton_ext as tx
from triton_ext import sdk

@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n)
    tl.store(out + i, total, mask=i < n)

programs = [*%r, *(f"clang++-{version}" for version in range(14, 30))]
print([name for name in programs if shutil.which(name)], sdk.find())
print(*(e.name for e in tx.extensions() if e.kind == "dialect" and not e.problem))
signature = "*fp32, *fp32, *fp32, i32, 64"
assert tx.linalg.compile(add, signature).count("aux.view") == 3
lowered = tx.linalg.compile(add, signature, lowered=True)
assert "linalg.map { arith.addf }" in lowered and "aux." not in lowered and "tt." not in lowered
"""


def test_linalg_without_a_compiler(run, tmp_path: Path) -> None:
    """The dialects are in the wheel: there is no compiler or linker, no SDK, and nothing in the cache."""
    program = tmp_path / "linalg.py"
    program.write_text(LINALG % (COMPILERS,))
    found, dialects = run("python", str(program)).splitlines()
    assert found == "[] None"
    assert {"aux", "linalg_ext", "math_ext"} <= set(dialects.split())

    # The add kernel of triton-linalg's documentation must give the lines that our own test expects.
    test = (ROOT / "passes" / "triton_to_linalg" / "test" / "triton_to_linalg.mlir").read_text()
    kernel = tmp_path / "add.mlir"
    kernel.write_text(test.partition("// -----")[0])
    assert "tt.func public @add_kernel" in kernel.read_text()
    printed = tmp_path / "printed.mlir"
    printed.write_text(run("triton-linalg-opt", str(kernel), "-triton-to-linalg"))
    assert printed.read_text().count("aux.view") == 3
    check = "import os, sys, triton; os.execv(os.path.join(os.path.dirname(triton.__file__), 'FileCheck'), sys.argv)"
    run("python", "-c", check, str(kernel), f"--input-file={printed}")


def test_the_opt_driver_runs(run, tmp_path: Path) -> None:
    module = tmp_path / "foo.mlir"
    module.write_text("tt.func public @foo() {\n  tt.return\n}\n")
    assert "@bar" in run("triton-ext-opt", str(module), "-triton-ext-rename")


ADD_ONE = """
import triton, triton.language as tl

@triton.jit
def add_one(x):
    tl.store(x, tl.load(x) + 1)
"""


def test_a_library_for_c_without_a_compiler(run, tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(ADD_ONE)
    library = tmp_path / "libadd.so"
    run("triton-ext", "compile-cpu", f"{tmp_path}/kernels.py:add_one", "-s", "*i32", "-o", str(library))
    assert "int32_t add_one(" in (tmp_path / "libadd.h").read_text()
    value = ctypes.c_int32(41)
    assert ctypes.CDLL(str(library)).add_one(1, 1, 1, 1, ctypes.byref(value)) == 0
    assert value.value == 42
