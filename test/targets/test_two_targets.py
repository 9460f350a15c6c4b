# SPDX-License-Identifier: Apache-2.0
"""A target that `triton-ext new backend` writes, beside the one for CPUs in one process; and its wheel, elsewhere."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import forked_python, fresh_environment
from support.fixture_types import MakeOnce

pytestmark = pytest.mark.slow

PROGRAMS = Path(sys.executable).parent

KERNEL = """
import array
import triton
import triton.language as tl

class Numbers:
    dtype = "fp32"

    def __init__(self, values):
        self.values = array.array("f", values)

    def data_ptr(self):
        return self.values.buffer_info()[0]

@triton.jit
def scale(x, factor, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) * factor, mask=i < n)

@triton.jit
def softmax(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    e = tl.load(x + i, mask=i < n, other=-float("inf"))
    e = tl.exp(e - tl.max(e, 0))
    tl.store(out + i, e / tl.sum(e, 0), mask=i < n)

def scaled(n=100):
    x = Numbers(range(n))
    compiled = scale[(triton.cdiv(n, 32),)](x, 3.0, n, BLOCK=32)
    assert list(x.values) == [3 * i for i in range(n)]
    return compiled
"""

BOTH = """
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.runtime import driver
import triton_ext as tx
from kernel import scale, scaled

default = driver.active.get_current_target().backend
for name in ("cpu", "chip", "cpu", "chip"):
    with tx.target.active(name) as active:
        assert driver.active is active
        compiled = scaled()
        assert compiled.metadata.target.backend == name, (compiled.metadata.target, name)
        assert ("chipir" in compiled.asm) == (name == "chip")
    assert driver.active.get_current_target().backend == default
with tx.target.active("chip"):
    with tx.target.active("cpu"):
        assert scaled().metadata.target.backend == "cpu"
    assert scaled().metadata.target.backend == "chip"
assert scaled().metadata.target.backend == default
tx.target.activate("chip")
assert scaled().metadata.target.backend == "chip"
tx.target.activate(None)
assert scaled().metadata.target.backend == default
assert len(scale.device_caches) == 2

signature = {"x": "*fp32", "factor": "fp32", "n": "i32", "BLOCK": "constexpr"}
for target in (GPUTarget("chip", "x86-64-v3", 1), GPUTarget("cpu", "native", 1), GPUTarget("cuda", 90, 32)):
    compiled = triton.compile(ASTSource(scale, signature, {"BLOCK": 32}), target=target)
    assert compiled.metadata.target.backend == target.backend
with tx.target.active("chip"):
    with tx.Pipeline().set("chip.lower_programs", alignment=128):
        assert scaled().metadata.target.backend == "chip"
print(default)
"""

WHEEL = """
import math
import triton
import triton_ext as tx
from kernel import Numbers, scaled, softmax

assert scaled().metadata.target.backend == "chip"
x, out = Numbers(i / 7 for i in range(50)), Numbers([0] * 50)
softmax[(1,)](x, out, 50, BLOCK=64)
exp = [math.exp(value) for value in x.values]
assert all(abs(found - e / sum(exp)) < 1e-6 for found, e in zip(out.values, exp, strict=True))
tx.target.activate("cpu")
assert scaled().metadata.target.backend == "cpu"
print(tx.target.library("chip").path)
"""


def run(directory: Path, *command: str | Path, **variables: str) -> str:
    """Runs a program in `directory`; a failure is one of the test."""
    environment = {**os.environ, **variables}
    done = forked_python.run(command, cwd=directory, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Writes and builds a bundle with the target `chip`, and the kernels beside it."""
    parent = tmp_path_factory.mktemp("targets")
    run(parent, PROGRAMS / "triton-ext", "new", "backend", "chip", "--dir", ".")
    run(parent / "chip", PROGRAMS / "triton-ext", "build")
    (parent / "chip" / "kernel.py").write_text(KERNEL)
    return parent / "chip"


@pytest.mark.parametrize("default", ["cpu", "chip"])
def test_both_in_one_process(default: str, bundle: Path) -> None:
    (bundle / "both.py").write_text(BOTH)
    variables = {"TRITON_EXT_PATH": str(bundle / "src" / "chip"), "TRITON_DEFAULT_BACKEND": default}
    assert run(bundle, sys.executable, "both.py", **variables) == f"{default}\n"


def test_nothing_of_it_is_in_libtriton(bundle: Path) -> None:
    """The target's code is in its own libraries, which are mapped when it is first used."""
    program = (
        "import triton, triton_ext as tx\n"
        "maps = lambda: {name for name in ('libtriton_ext_chip.so', 'libTritonExtChipRuntime.so')"
        " if name in open('/proc/self/maps').read()}\n"
        "assert not maps()\n"
        "with tx.target.active('chip'):\n"
        "    from kernel import scaled\n"
        "    scaled()\n"
        "print(len(maps()))\n"
    )
    (bundle / "maps.py").write_text(program)
    assert run(bundle, sys.executable, "maps.py", TRITON_EXT_PATH=str(bundle / "src" / "chip")) == "2\n"


@pytest.fixture(scope="module")
def elsewhere(make_once: MakeOnce, wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Makes a fresh environment with our wheel and the tools that build a wheel, and returns its programs."""
    with fresh_environment.with_wheel(
        make_once, wheel, tmp_path_factory.mktemp("elsewhere") / "env", "build"
    ) as programs:
        yield programs


def test_from_the_template_to_a_wheel_in_a_fresh_environment(elsewhere: Path, tmp_path: Path) -> None:
    variables = {
        "PATH": os.pathsep.join([str(elsewhere), os.environ["PATH"]]),
        "PYTHONPATH": "",
        "TRITON_CACHE_DIR": str(tmp_path / "kernels"),
        "TRITON_EXT_LIBRARY_DIR": "",
        "TRITON_EXT_PATH": "",
    }
    run(tmp_path, elsewhere / "triton-ext", "new", "backend", "chip", "--dir", ".", **variables)
    tested = run(tmp_path / "chip", elsewhere / "triton-ext", "test", **variables)
    assert "1 extension: lit: 1 passed; Python: 10 passed" in tested
    wheel = ("-q", "--no-deps", "--no-build-isolation", "-w", "dist", "./chip")
    run(tmp_path, elsewhere / "pip", "wheel", *wheel, **variables)
    shutil.rmtree(tmp_path / "chip")
    (built,) = (tmp_path / "dist").glob("*.whl")
    run(tmp_path, elsewhere / "pip", "install", "-q", "--no-deps", built, **variables)
    rows = run(tmp_path, elsewhere / "triton-ext", "list", **variables).splitlines()
    assert [row.split() for row in rows if row.startswith("chip")] == [
        ["chip", "backend", "0.1.0", "bundle", "chip", "ok"]
    ]
    (tmp_path / "kernel.py").write_text(KERNEL)
    (tmp_path / "program.py").write_text(WHEEL)
    printed = run(tmp_path, elsewhere / "python", "program.py", **variables, TRITON_DEFAULT_BACKEND="chip")
    assert Path(printed.strip()) == next(elsewhere.parent.glob("lib/*/site-packages/chip/libtriton_ext_chip.so"))
