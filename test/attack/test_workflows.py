# SPDX-License-Identifier: Apache-2.0
"""CI pins every action that it runs, and its token can only read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

WORKFLOWS = Path(__file__).parents[2] / ".github/workflows"


@pytest.mark.parametrize("path", sorted(WORKFLOWS.glob("*.yml")), ids=lambda path: path.name)
def test_workflow_trusts_nothing_that_can_change(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text())
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        used = [step for step in job["steps"] if "uses" in step]
        for step in used:
            assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", step["uses"]), step["uses"]
        checkouts = [step for step in used if step["uses"].startswith("actions/checkout@")]
        assert all(step["with"]["persist-credentials"] is False for step in checkouts)
        if "permissions" in job:
            # A job that may identify itself as this repository runs no code of this repository.
            assert job["permissions"] == {"id-token": "write"}
            assert used == job["steps"]
            assert not checkouts
        else:
            assert checkouts


def test_only_a_tag_is_published() -> None:
    workflows = {path.name: yaml.safe_load(path.read_text()) for path in WORKFLOWS.glob("*.yml")}
    trusted = {
        name: workflow[True]  # YAML reads `on` as this
        for name, workflow in workflows.items()
        if any("permissions" in job for job in workflow["jobs"].values())
    }
    assert trusted == {"release.yml": {"push": {"tags": ["v*"]}}}
