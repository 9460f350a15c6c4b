# SPDX-License-Identifier: Apache-2.0
"""After an edit of triton-ext's own Python in a checkout, no kernel of the old code is used."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import support
from support import checkout, forked_python

#: An editable installation finds its own checkout before any other.
AS_COPIED = """
import sys
sys.meta_path[:] = [finder for finder in sys.meta_path if not type(finder).__name__.startswith("ScikitBuild")]
"""
#: Compiles for each target, with and without a pipeline; prints which kernels came from the cache, and imported files.
PROGRAM = """
import contextlib, json, sys
import triton, triton_ext as tx
from support.pipeline.kernels import softmax, source
from triton.backends.compiler import GPUTarget
hits = {}
edited = tx.Pipeline().after("ttir.loop_unroll", tx.passes.ttir.rename(), tx.builtin.common.cse())
for target, pipeline in [
    (GPUTarget("cuda", 90, 32), edited),
    (GPUTarget("cpu", "x86-64", 0), contextlib.nullcontext()),
    (GPUTarget("linalg", "generic", 1), contextlib.nullcontext()),
]:
    def listen(*, cache_hit, **_): hits[target.backend] = cache_hit
    triton.knobs.compilation.listener = listen
    with pipeline:
        triton.compile(source(softmax), target=target)
files = [getattr(m, "__file__", None) for name, m in sys.modules.items() if name.startswith("triton_ext")]
print(json.dumps([hits, sorted(filter(None, files))]))
"""
#: Prints those of the given files whose edit `own_code` does not notice.
EACH = """
import json, pathlib, sys
from triton_ext.support.resources import own_code
unseen, before = [], own_code()
for name in sys.argv[1:]:
    path = pathlib.Path(name)
    text = path.read_text()
    path.write_text(text + "# edited\\n")
    if own_code.__wrapped__() == before:
        unseen.append(name)
    path.write_text(text)
assert own_code.__wrapped__() == before
print(json.dumps(unseen))
"""
NOTHING = {"cuda": False, "cpu": False, "linalg": False}
EVERYTHING = {"cuda": True, "cpu": True, "linalg": True}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Makes a copy of the checkout."""
    return checkout.copy(tmp_path_factory.mktemp("copy") / "triton-ext")


@pytest.fixture
def run(copy: Path, kernel_cache: Path) -> Callable[..., object]:
    """Runs a program with the package of the copy."""

    def run(program: str, *arguments: str) -> object:
        path = os.pathsep.join([str(copy / "python"), support.PYTHONPATH])
        environment = {**checkout.environment(copy), "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-c", AS_COPIED + program, *arguments]
        done = forked_python.run(command, env=environment, cwd=copy)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


@pytest.mark.slow
def test_every_module_that_takes_part_in_a_compilation_counts(copy: Path, run: Callable[..., object]) -> None:
    hits, files = run(PROGRAM)  # type: ignore[misc]
    assert hits == NOTHING
    assert files
    assert all(Path(file).is_relative_to(copy) for file in files), files
    assert any("backends/cpu" in file for file in files)
    assert run(EACH, *files) == []


@pytest.mark.slow
def test_the_functions_of_extensions_count(copy: Path, run: Callable[..., object]) -> None:
    files = [file for kind in ("backends", "dialects") for file in (copy / kind).glob("*/api/**/*.py")]
    files += [file for kind in ("backends", "dialects") for file in (copy / kind).glob("*/api.py")]
    assert files
    assert run(EACH, *map(str, files)) == []


@pytest.mark.slow
def test_an_edit_compiles_anew(copy: Path, run: Callable[..., object]) -> None:
    assert run(PROGRAM)[0] == NOTHING  # type: ignore[index]
    assert run(PROGRAM)[0] == EVERYTHING  # type: ignore[index]
    with (copy / "python" / "triton_ext" / "patches" / "signatures.py").open("a") as file:
        file.write("# edited\n")
    assert run(PROGRAM)[0] == NOTHING  # type: ignore[index]


@pytest.mark.slow
def test_tests_and_documents_do_not_count(copy: Path, run: Callable[..., object]) -> None:
    beside = [path for path in copy.rglob("*.py") if "test" in path.relative_to(copy).parts]
    assert beside
    assert run(EACH, *map(str, beside)) == list(map(str, beside))
