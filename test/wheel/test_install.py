# SPDX-License-Identifier: Apache-2.0
"""Follows docs/install.md with only the wheel, with each Python on this machine."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support import pages

pytestmark = pytest.mark.slow

Run = Callable[..., subprocess.CompletedProcess[str]]
COMPILE = """
import triton_ext as tx
from triton.backends.compiler import GPUTarget
from triton_ext.demo import compile_matmul

with tx.Pipeline().at_end("ttir", tx.passes.ttir.my_bundle(level=5)):
    print(compile_matmul(GPUTarget("cuda", 90, 32)).asm["ttir"])
"""


def interpreters(version: str) -> Iterator[str]:
    """Returns the Pythons of that version on PATH and in pyenv."""
    if found := shutil.which(f"python{version}"):
        yield found
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from map(str, sorted(root.glob(f"versions/{version}.*/bin/python{version}")))


#: The Pythons on this machine; the one that runs this is always among them.
VERSIONS = [version for version in ("3.11", "3.12", "3.13") if next(interpreters(version), None)]


@pytest.fixture(scope="module", params=VERSIONS)
def home(request: pytest.FixtureRequest, wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Makes a directory with the wheel and ``env``, an environment that has only pip."""
    directory = tmp_path_factory.mktemp("install")
    for python in interpreters(request.param):
        made = subprocess.run([python, "-m", "venv", directory / "env"], capture_output=True, check=False)
        if not made.returncode:
            shutil.copy(wheel, directory)
            yield directory
            shutil.rmtree(directory / "env")
            return
    pytest.skip(f"no Python {request.param} that can make an environment, neither on PATH nor in pyenv")


@pytest.fixture(scope="module")
def environment(home: Path) -> dict[str, str]:
    """Returns the variables of a user's shell; the system has clang, and perhaps a CMake that is too old."""
    return {
        **{k: v for k, v in os.environ.items() if not k.startswith(("TRITON", "PYTHON", "PIP"))},
        "PATH": os.pathsep.join([str(home / "env" / "bin"), "/usr/bin", "/bin"]),
        "PIP_CONSTRAINT": str(pages.ROOT / "constraints.txt"),
        "PIP_COMPILE": "0",
        "TRITON_CACHE_DIR": str(home / "kernels"),
        "CCACHE_BASEDIR": str(home),
    }


@pytest.fixture(scope="module")
def run(home: Path, environment: dict[str, str]) -> Run:
    """``run("pip", "list", cwd="my_bundle")``."""

    def run(program: str, *arguments: str, cwd: str = ".", check: bool = True) -> subprocess.CompletedProcess[str]:
        command = [home / "env" / "bin" / program, *arguments]
        done = subprocess.run(command, cwd=home / cwd, env=environment, capture_output=True, text=True, check=False)
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done

    return run


def test_the_page(home: Path, environment: dict[str, str], run: Run) -> None:
    # Without the extra, one line names what is missing, before anything is built.
    run("pip", "install", "-q", *map(str, home.glob("*.whl")))
    printed = run("triton-ext", "new", "bundle", "early").stdout
    assert printed.endswith("next: cd early && triton-ext test early\nthen: pip install .\n")
    done = run("triton-ext", "test", "early", cwd="early", check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert "lit is not installed; pytest is not installed" in done.stderr
    assert done.stderr.endswith("(fix: pip install 'triton-ext[build]')\n")
    assert not (home / "early" / "build").exists()

    pages.run_blocks(pages.INSTALL, home, home / "env" / "bin" / "python", environment)

    def listed() -> tuple[str, str | None]:
        (found,) = (e for e in json.loads(run("triton-ext", "list", "--json").stdout) if e["name"] == "my_bundle")
        return found["origin"], found["problem"]

    assert listed() == ("bundle my-bundle", None)
    assert "my_bundle.level = 5" in run("python", "-c", COMPILE).stdout
    # The installed bundle does not prevent work in its source tree.
    assert (
        "my_bundle: lit: 1 passed; Python: 3 passed; " in run("triton-ext", "test", "my_bundle", cwd="my_bundle").stdout
    )
    run("pip", "uninstall", "-q", "-y", "my-bundle")
    run("pip", "install", "-q", "--no-build-isolation", ".", cwd="my_bundle")
    assert listed() == ("bundle my-bundle", None)
