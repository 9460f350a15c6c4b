# SPDX-License-Identifier: Apache-2.0
"""The attacks on files on disk at a small scale; ``make attack`` runs them at a large one."""

from __future__ import annotations

import random

import pytest

from support.attacks.attack import Attack
from support.attacks.disk import ATTACKS


@pytest.mark.slow
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_nothing_gets_through(attack: Attack) -> None:
    outcome = attack.run(random.Random(0), 1)
    assert outcome.got_through == 0, outcome.note
