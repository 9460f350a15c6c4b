# SPDX-License-Identifier: Apache-2.0
"""Which parameters of a test `make check` takes, and which are for `make test`.

A test with a table of parameters has the mark ``sampled`` if the whole table takes seconds. Then its tests with a value
of a parameter that no test before them has are the sample, and the others are slow. For example, 8 shapes, 2 axes and
3 types are 48 tests, and 11 of them are the sample. ``sampled(by=function)`` forms one value from the test's id: with
``by=instruction`` one test of each instruction is in the sample.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable
from typing import Any

import pytest


def _values(item: Any, mark: pytest.Mark) -> set[Hashable]:
    if by := mark.kwargs.get("by"):
        return {by(item.callspec.id)}
    return {(name, repr(value)) for name, value in item.callspec.params.items()}


def mark_slow(items: Iterable[pytest.Item]) -> None:
    """Marks the tests that are in no sample as slow."""
    seen: dict[str, set[Hashable]] = defaultdict(set)
    for item in items:
        if mark := item.get_closest_marker("sampled"):
            values, before = _values(item, mark), seen[item.nodeid.partition("[")[0]]
            if values <= before:
                item.add_marker(pytest.mark.slow)
            before |= values
