# SPDX-License-Identifier: Apache-2.0
"""Samples of tests with many parameters (`support.samples`)."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from support import samples


class Item(SimpleNamespace):
    """A collected test with these parameters."""

    def get_closest_marker(self, name: str) -> pytest.Mark | None:
        return self.mark if name == "sampled" else None

    def add_marker(self, marker: object) -> None:
        assert marker is pytest.mark.slow or marker == pytest.mark.slow
        self.is_slow = True


def items(test: str, parameters: list[dict[str, int]], mark: pytest.Mark | None) -> list[Item]:
    return [
        Item(
            nodeid=f"{test}[{'-'.join(map(str, one.values()))}]",
            callspec=SimpleNamespace(id="-".join(map(str, one.values())), params=one),
            mark=mark,
            is_slow=False,
        )
        for one in parameters
    ]


TABLE = [{"shape": i, "axis": j, "type": k} for i in range(8) for j in range(2) for k in range(3)]


def test_each_value_of_each_parameter_is_in_the_sample() -> None:
    found = items("test_a", TABLE, pytest.mark.sampled.mark)
    samples.mark_slow(found)  # type: ignore[arg-type]
    sample = [item.callspec.params for item in found if not item.is_slow]
    assert len(sample) == 8 + (2 - 1) + (3 - 1)
    for name in ("shape", "axis", "type"):
        assert {one[name] for one in sample} == {one[name] for one in TABLE}


def test_one_of_each_group_is_in_the_sample() -> None:
    found = items("test_a", TABLE, pytest.mark.sampled(by=lambda name: name[0]).mark)
    samples.mark_slow(found)  # type: ignore[arg-type]
    assert [item.callspec.id for item in found if not item.is_slow] == [f"{i}-0-0" for i in range(8)]


def test_each_test_has_its_own_sample() -> None:
    found = [
        *items("test_a", TABLE[:4], pytest.mark.sampled.mark),
        *items("test_b", TABLE[:1], pytest.mark.sampled.mark),
    ]
    samples.mark_slow(found)  # type: ignore[arg-type]
    assert not found[-1].is_slow


def test_tests_without_the_mark_stay_as_they_are() -> None:
    found = items("test_a", TABLE * 2, None)
    samples.mark_slow(found)  # type: ignore[arg-type]
    assert not any(item.is_slow for item in found)
