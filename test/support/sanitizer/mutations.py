# SPDX-License-Identifier: Apache-2.0
"""Builds the sanitizer with planted bugs, and runs the tests that must notice one of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from support import mutants
from support.probe.native import native_backend

#: The tests that notice a bug, which of them (``-k`` of pytest), and the bug.
Planted = tuple[Path, str, mutants.Mutation]


def build(mutations: Mapping[str, Planted], scratch: Path) -> Path:
    """Builds the pass with all bugs in it in the empty directory `scratch`; returns the directory of its libraries."""
    bugs = {name: mutation for name, (_, _, mutation) in mutations.items()}
    return mutants.build_with_bugs("passes/sanitizer", bugs, scratch, beside=["dialects/probe", "passes/intensity"])


@pytest.fixture(scope="module")
def libraries(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the sanitizer with the bugs ``MUTATIONS`` of the test's module; returns the directory of its libraries."""
    native_backend()
    return build(request.module.MUTATIONS, tmp_path_factory.mktemp("mutants"))


def assert_noticed(mutations: Mapping[str, Planted], name: str, libraries: Path, cache: Path) -> None:
    """Asserts that an assertion of its tests fails with the bug `name`; `cache` is an empty directory for kernels."""
    tests, chosen, _ = mutations[name]
    done = mutants.run_tests(tests, chosen, libraries, name, cache)
    assert done.returncode == 1, done.stdout[-3000:]  # a test has failed
    assert "AssertionError" in done.stdout, done.stdout[-3000:]
