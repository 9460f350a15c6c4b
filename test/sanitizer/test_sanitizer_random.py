# SPDX-License-Identifier: Apache-2.0
"""Random kernels with random extents: the sanitizer finds what the oracle finds, lane by lane.

``PYTHONPATH=test python -m support.sanitizer.random_check 10000`` compares more.
"""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("triton_ext.backends.cpu.driver")
pytest.importorskip("triton_ext.sanitize")

from support.sanitizer import random_check, random_kernels
from support.sanitizer.random_launches import launches_of
from support.sanitizer.truth import truth

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("on_cpu"), pytest.mark.keeps_kernels]


def test_random_launches(tmp_path: Path) -> None:
    outcomes = list(random_check.check_all(200, 1, tmp_path))
    assert len(outcomes) == 200
    assert [(launch.kernel.__name__, launch.number, why) for _, launch, why in outcomes if why] == []


@pytest.mark.parametrize("option", ["static", "corners"])
def test_random_launches_without(option: str, tmp_path: Path) -> None:
    outcomes = list(random_check.check_all(60, 2, tmp_path, **{option: False}))
    assert len(outcomes) == 60
    assert [(launch.kernel.__name__, launch.number, why) for _, launch, why in outcomes if why] == []


def test_a_difference_is_noticed(tmp_path: Path) -> None:
    """With a lane less, a line less, and none at all in the truth."""
    file = tmp_path / "noticed.py"
    file.write_text(random_kernels.module(4, 1))
    rows = truth(file, 0, 4)
    launch, right = next(
        (launch, found) for launch, found in zip(launches_of(file, 0, 4), rows, strict=True) if len(found) > 1
    )
    assert not random_check.compare(launch, right)
    assert random_check.compare(launch, right[1:])
    assert random_check.compare(launch, [])
    one_less = [{**right[0], "lanes": right[0]["lanes"][1:]}, *right[1:]]
    assert random_check.compare(launch, one_less)
    other_lane = [*right[0]["lanes"][0]]
    other_lane[3] += 1
    assert random_check.compare(launch, [{**right[0], "lanes": [other_lane, *right[0]["lanes"][1:]]}, *right[1:]])
