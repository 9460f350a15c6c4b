# SPDX-License-Identifier: Apache-2.0
"""What `tx.intensity` says is what Triton's interpreter counts: equal where exact, never above an upper bound."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import support
from support import mutants
from support.intensity import compare, generated, mutations
from support.intensity.kernels import cases

SEED, EACH = 7, 3


@pytest.fixture(scope="module")
def truth(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("truth") / "truth.json"
    file.write_text(json.dumps(compare.counted(SEED, EACH)))
    return file


@pytest.mark.slow
def test_kernels(truth: Path) -> None:
    marks = compare.compare(cases(SEED, EACH), json.loads(truth.read_text()))
    # What depends on data: the branches and stores of `branches`, the masks of `by_data`; the loops of `grouped` and
    # `whiles` are unknown.
    different = Counter(
        {mark: sum(n for what, n in marks.items() if what.endswith(f"unique {mark}")) for mark in marks}
    )
    assert marks["exact"] - different["exact"] == 180
    assert marks["upper bound"] - different["upper bound"] == 18
    assert marks["unknown"] - different["unknown"] == 12
    # Different bytes: not of a ragged matrix product, of triangles, of what depends on data and of descriptors.
    assert (different["exact"], different["upper bound"], different["unknown"]) == (25, 29, 3)


@pytest.mark.slow
def test_generated_kernels(tmp_path: Path) -> None:
    seed = int(os.environ.get("TRITON_EXT_SEED", "5"))
    file = tmp_path / "generated.py"
    file.write_text(generated.module(seed, 12))
    marks = compare.compare(compare.launches_of(file, seed, 3), compare.counted(file, seed, 3))
    assert marks["exact"] > marks["upper bound"]
    assert not marks["unknown"]


@pytest.mark.slow
def test_different_bytes_of_generated_kernels(tmp_path: Path) -> None:
    seed = int(os.environ.get("TRITON_EXT_SEED", "14"))
    file = tmp_path / "affine.py"
    file.write_text(generated.affine_module(seed, 16))
    marks = compare.compare(compare.launches_of(file, seed, 2), compare.counted(file, seed, 2))
    exact = sum(n for what, n in marks.items() if what.endswith("unique exact"))
    assert exact > 8
    assert any(what.endswith("unique upper bound") for what in marks)


@pytest.mark.slow
def test_unsound_rules_are_noticed(truth: Path, tmp_path: Path) -> None:
    source = mutants.copy_source("passes/intensity", tmp_path)
    copy = tmp_path / "api"
    shutil.copytree(source / "api", copy)
    mutants.apply(source, mutations.CPP)
    libraries = mutants.build_source("passes/intensity", tmp_path)
    command = [sys.executable, "-W", "ignore", mutations.__file__, truth, copy, str(SEED)]
    environment = support.environment(TRITON_EXT_LIBRARY_DIR=str(libraries))
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout) == []
