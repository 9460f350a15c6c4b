# SPDX-License-Identifier: Apache-2.0
"""The whole life of a third-party bundle: it is built into a wheel against our wheel, installed beside it, found, used
in a kernel and by the driver, clashes with a second bundle, and is uninstalled."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support import ROOT, forked_python, fresh_environment
from support.fixture_types import MakeOnce

pytestmark = pytest.mark.slow

FIXTURE = ROOT / "test" / "fixtures" / "hello_bundle"
Run = Callable[..., subprocess.CompletedProcess[str]]

COMPILE = """
import triton_ext as tx
from triton.backends.compiler import GPUTarget
from triton_ext.demo import compile_matmul

hello = tx.Pipeline().at_end("ttir", tx.passes.ttir.hello_functions(level=5))
levels = tx.passes.llvm.hello_levels(level=6)
with hello.at_end("ttgir", tx.passes.ttgir.hello_stores()).at_end("llvm", levels):
    compiled = compile_matmul(GPUTarget("cuda", 90, 32))
assert "hello_functions.level = 5" in compiled.asm["ttir"]
assert "hello.stores = 1" in compiled.asm["ttgir"]
assert '"hello.level"="6"' in compiled.asm["llir"]
assert len(compiled.asm["cubin"]) > 1000
"""


@pytest.fixture(scope="module")
def programs(make_once: MakeOnce, wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Makes a fresh environment with our wheel and the tools that build a wheel."""
    with fresh_environment.with_wheel(make_once, wheel, tmp_path_factory.mktemp("bundle") / "env", "build") as programs:
        yield programs


@pytest.fixture(scope="module")
def run(programs: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Returns a function that runs a program of that environment in an empty directory."""
    directory = tmp_path_factory.mktemp("cwd")

    def run(program: str, *arguments: str | Path, check: bool = True) -> subprocess.CompletedProcess[str]:
        environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("TRITON", "PYTHON"))},
            "PATH": os.pathsep.join([str(programs), os.environ["PATH"]]),
            "TRITON_CACHE_DIR": str(directory / "kernels"),
            "CCACHE_BASEDIR": str(directory.parent),
        }
        command = [programs / program, *arguments]
        done = forked_python.run(command, cwd=directory, env=environment)
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done

    return run


def build_wheel(source: Path, run: Run) -> Path:
    run("pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", source / "dist", source)
    (built,) = (source / "dist").glob("*.whl")
    return built


@pytest.fixture(scope="module")
def bundle_wheel(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the bundle's wheel outside our tree."""
    return build_wheel(Path(shutil.copytree(FIXTURE, tmp_path_factory.mktemp("theirs") / "hello_bundle")), run)


@pytest.fixture(scope="module")
def twin_wheel(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the wheel of another bundle with a pass of the same name."""
    source = Path(shutil.copytree(FIXTURE, tmp_path_factory.mktemp("others") / "hello_twin"))
    for other in ("hello_functions", "hello_levels"):
        shutil.rmtree(source / "passes" / other)
    (source / "src" / "hello_bundle").rename(source / "src" / "hello_twin")
    for file in (source / "pyproject.toml", source / "CMakeLists.txt"):
        file.write_text(file.read_text().replace("hello_bundle", "hello_twin").replace("hello-bundle", "hello-twin"))
    return build_wheel(source, run)


def listed(run: Run) -> dict[str, tuple[str, str | None]]:
    """Returns origin and problem of every extension that is not built in."""
    found = json.loads(run("triton-ext", "list", "--json").stdout)
    return {e["path"]: (e["origin"], e["problem"]) for e in found if e["origin"] != "built in"}


def test_life_of_a_bundle(run: Run, bundle_wheel: Path, twin_wheel: Path, tmp_path: Path) -> None:
    module = tmp_path / "f.mlir"
    shutil.copy(FIXTURE / "passes" / "hello_stores" / "test" / "hello_stores.mlir", module)
    drive = ("triton-ext-opt", module, "-triton-ext-hello-functions", "-triton-ext-hello-stores")
    assert listed(run) == {}
    assert run(*drive, check=False).returncode == 1

    run("pip", "install", "-q", "--no-deps", bundle_wheel)
    assert sorted(map(os.path.basename, listed(run))) == [
        "libtriton_ext_hello_functions.so",
        "libtriton_ext_hello_levels.so",
        "libtriton_ext_hello_stores.so",
    ]
    assert set(listed(run).values()) == {("bundle hello-bundle", None)}
    run("python", "-c", COMPILE)
    driven = run(*drive).stdout
    assert "hello.stores = 1" in driven
    assert "hello_functions.level = 1" in driven
    levels = FIXTURE / "passes" / "hello_levels" / "test" / "hello_levels.ll"
    assert '"hello.level"="1"' in run("triton-ext-opt", "--llvm", levels, "-passes=hello-levels").stdout

    run("pip", "install", "-q", "--no-deps", twin_wheel)
    clashing = {origin: problem for origin, problem in listed(run).values() if problem}
    assert clashing.keys() == {"bundle hello-bundle", "bundle hello-twin"}
    for mine, other in (("hello-bundle", "hello-twin"), ("hello-twin", "hello-bundle")):
        problem = clashing[f"bundle {mine}"]
        assert problem
        assert problem.startswith("duplicate: the pass name 'hello_stores' is also claimed by ")
        assert f"(bundle {other})" in problem
    done = run("python", "-c", "import triton_ext as tx; tx.passes.ttgir.hello_stores", check=False)
    error = done.stderr.splitlines()[-1]
    assert error.startswith("triton_ext.errors.DuplicateExtensionError: ")
    assert "(bundle hello-bundle)" in error
    assert "(bundle hello-twin)" in error
    assert "hello_functions.level" in run(*drive[:3]).stdout  # the bundle's other pass still works

    run("pip", "uninstall", "-q", "-y", "hello-twin")
    assert "hello.stores = 1" in run(*drive).stdout
    run("pip", "uninstall", "-q", "-y", "hello-bundle")
    assert listed(run) == {}
    assert "hello-functions" in run(*drive, check=False).stderr


def test_no_wheel_without_one_of_the_extensions(run: Run, tmp_path: Path) -> None:
    source = Path(shutil.copytree(FIXTURE, tmp_path / "hello_bundle"))
    cmake = source / "passes" / "hello_stores" / "CMakeLists.txt"
    cmake.write_text(cmake.read_text().replace(")", " DIALECTS auks)"))
    arguments = ("--no-deps", "--no-build-isolation", "-w", tmp_path / "dist", source)
    done = run("pip", "wheel", *arguments, check=False)
    assert done.returncode == 1
    said = " ".join((done.stdout + done.stderr).split())
    assert "hello_bundle would be without hello_stores, which needs the dialect 'auks'" in said, said
    assert "fix: add it, or correct DIALECTS in" in said


def test_the_fixture_is_what_new_writes(tmp_path: Path) -> None:
    """The template and the fixture are the same, except for the passes."""
    from triton_ext.cli import cli

    cli.main(["new", "bundle", "hello_bundle", "--dir", str(tmp_path)], standalone_mode=False)
    written = [path for path in (tmp_path / "hello_bundle").rglob("*") if path.is_file() and "passes" not in path.parts]
    assert len(written) == 6
    for path in written:
        assert path.read_text() == (FIXTURE / path.relative_to(tmp_path / "hello_bundle")).read_text()
