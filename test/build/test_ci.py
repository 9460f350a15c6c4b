# SPDX-License-Identifier: Apache-2.0
"""The jobs of CI together run every test."""

from __future__ import annotations

import re
import tomllib

import yaml

from support import ROOT


def test_every_test_is_in_one_shard() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())["jobs"]
    shards = [shard["tests"].split() for shard in jobs["test"]["strategy"]["matrix"]["include"]]
    for step in jobs["wheel"]["steps"]:
        shards += [found[1].split() for found in re.finditer(r'TESTS="([^"]*)"', step.get("run", ""))]
    run = sorted(ROOT / directory for shard in shards for directory in shard)
    assert len(set(run)) == len(run)
    testpaths = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]["testpaths"]
    files = [file for path in testpaths for file in (ROOT / path).rglob("test_*.py")]
    assert len(files) > 100
    for file in files:
        if not {"fixtures", "build"} & {*file.relative_to(ROOT).parts[1:-1]} or file.parent == ROOT / "test" / "build":
            assert sum(file.is_relative_to(directory) for directory in run) == 1, file


def test_the_shards_are_those_of_make_test() -> None:
    """Shards run the command of `make test`, except for the directories."""
    makefile = (ROOT / "Makefile").read_text()
    commands = dict(re.findall(r"^(test|shard):.*\n\t(.*)$", makefile, re.MULTILINE))
    assert commands == {"test": "@$(PYTEST)", "shard": "@$(PYTEST) $(TESTS)"}
