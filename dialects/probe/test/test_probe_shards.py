# SPDX-License-Identifier: Apache-2.0
"""Where records lie: in the shards of a buffer, and in the pool behind them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl
from triton_ext.probe._decode import _runs
from triton_ext.probe._layout import (
    CURSOR,
    CURSOR_WORDS,
    DIRECTORY,
    HEADS,
    HOME_OF_LOOP,
    LOCAL,
    SHARD_CURSORS,
    SHARD_WORDS,
    SHARDS,
    segments,
)

from support.probe import observations
from support.probe.native import check_guards, guarded_memories
from triton_ext import probe

pytestmark = pytest.mark.keeps_kernels

#: The smallest buffer with shards, in bytes; its pool and each of its shards, in words.
SMALLEST, POOL, SHARD = 2**20, 2**17, 1024
#: The words of a record with one value.
WORDS = 4
#: How many neighbouring programs of a kernel with regions share a shard.
NEIGHBOURS = 8


@pytest.fixture(autouse=True)
def memories(on_native_backend: None, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Kernels run on this machine's processor, and nothing is written behind a buffer."""
    memories = guarded_memories(monkeypatch)
    yield memories
    check_guards(memories)


def cursors(memories: list[Any]) -> tuple[list[int], int]:
    """Returns the cursors of the last buffer's shards, and that of its pool."""
    words = memories[-1][0]
    return words[SHARD_CURSORS:DIRECTORY:CURSOR_WORDS].tolist(), int(words[CURSOR])


@triton.jit
def writing(n):
    for k in range(n):
        probe.record("turn", k)


@pytest.mark.parametrize(
    ("programs", "n", "of_shards"),
    [
        (64, 256, 64 * 256),  # exactly full
        (64, 300, 64 * 256),
        (1, 256 + 32768 + 1, 256),  # one program has its shard and the whole pool
        (128, 500, 64 * 256),  # all is full
        (100, 200, 36 * 256 + 28 * 200),  # 36 shards are those of two programs
    ],
)
def test_a_program_fills_its_shard_and_then_the_pool(
    programs: int, n: int, of_shards: int, memories: list[Any]
) -> None:
    with probe.session(capacity=SMALLEST) as s:
        writing[(programs,)](n)
    offered = programs * n
    of_pool = min(offered - of_shards, POOL // WORDS)
    found = s.records("turn")
    assert len(found) == of_shards + of_pool
    assert s.lost() == ({"turn": offered - len(found)} if offered > len(found) else {})
    shards, pool = cursors(memories)
    assert pool == WORDS * (offered - of_shards)
    assert shards == [WORDS * n * len(range(shard, programs, SHARDS)) for shard in range(SHARDS)]
    assert s._activity() == sum(shards) + pool
    assert (np.diff(found["x"][:of_shards].astype(int) % SHARDS) >= 0).all()  # one shard after the other
    for program in range(programs):
        own = found["v0"][found["x"] == program]
        np.testing.assert_array_equal(own, np.arange(len(own)))  # the first ones, in the order of the loop


@pytest.mark.slow
def test_records_of_several_sizes_for_full_shards_and_a_full_pool(memories: list[Any]) -> None:
    with probe.session(capacity=SMALLEST) as s:
        observations.offering[(200,)](N=256)  # 170 records of six words, one of three
    kept = {name: len(s.records(name)) for name in ("three", "none")}
    lost = s.lost()
    assert kept["three"] + lost["three"] == 200 * 170
    assert kept["none"] + lost.get("none", 0) == 200
    *shards, pool = (sum(rows.size for *_, rows in _runs(used)) for _, used in segments(memories[-1][0]))
    assert sum(shards) + pool == 6 * kept["three"] + 3 * kept["none"]
    # A shard has room for one program, unless another one of the shard comes before its second record.
    assert {1023} <= set(shards) <= {1020, 1023}
    assert POOL - 6 < pool <= POOL  # the first record that does not fit ends the pool
    assert cursors(memories)[0] == [1023 * len(range(shard, 200, SHARDS)) for shard in range(SHARDS)]


@pytest.mark.slow
@pytest.mark.parametrize("programs", [64 * 6, 64 * NEIGHBOURS + 1, 5])
def test_the_room_of_a_loop_is_in_one_place(programs: int, memories: list[Any]) -> None:
    n = 100
    width = HEADS[HOME_OF_LOOP] + 2 * n  # four of them fit into a shard
    with probe.session(capacity=SMALLEST) as s:
        turning[(programs,)](np.zeros(programs, np.int32), n)
    rooms = []
    for _, used in segments(memories[-1][0]):
        rooms.append(0)
        for _, key, rows in _runs(used):
            assert key & LOCAL == HOME_OF_LOOP
            assert rows.shape[1] == width
            assert (rows[:, HEADS[HOME_OF_LOOP] :] != 0).all()
            rooms[-1] += len(rows)
    shards = np.bincount(np.arange(programs) // NEIGHBOURS % SHARDS, minlength=SHARDS)
    expected = np.minimum(shards, SHARD // width).tolist()
    assert rooms == [*expected, programs - sum(expected)]
    assert s.lost() == {}
    found = s.regions("turn")
    for program in range(programs):
        own = found[found["x"] == program]
        assert len(own) == n
        assert (own["end"][:-1] <= own["start"][1:]).all()


@triton.jit
def turning(x, n):
    for k in range(n):
        with probe.region("turn"):
            tl.store(x + tl.program_id(0), k)


@pytest.mark.slow
def test_blocks_in_the_pool_belong_to_programs_of_shards(memories: list[Any]) -> None:
    programs = 56
    with probe.session(capacity=SMALLEST) as s:
        observations.looping[(programs,)](np.zeros(programs * 64, np.float32), programs + 9, N=64)
    shards, pool = cursors(memories)
    assert sum(cursor > SHARD for cursor in shards) == programs // NEIGHBOURS
    assert 0 < pool < POOL
    assert s.lost() == {}
    found = s.regions()
    for x in range(0, programs, 9):
        turns = range(x, programs + 9, 2)
        own = {name: found[(found["x"] == x) & (found["site"] == i)] for i, name in enumerate(names_of(s))}
        assert (len(own["outer"]), len(own["inner"])) == (len(turns), sum(turns))
        assert observations.is_within(own["inner"], own["outer"]).all()


def names_of(session: probe.Session) -> list[str]:
    """Returns the names of the sites, by number."""
    return [site.name for site in session.sites()]


@pytest.mark.parametrize("capacity", [SMALLEST - 8, 1000, 24])
def test_a_small_buffer_has_a_pool_only(capacity: int, memories: list[Any]) -> None:
    with probe.session(capacity=capacity) as s:
        writing[(70,)](500)
    fits = capacity // 8 // WORDS
    assert len(s.records()) == fits
    assert s.lost() == {"turn": 35_000 - fits}
    assert memories[-1][0][SHARD_WORDS] == 0
    assert cursors(memories) == ([0] * SHARDS, 35_000 * WORDS)


@triton.jit
def failing():
    probe.record("before", tl.program_id(0))
    probe.check(tl.program_id(0) < 60, "below 60", tl.program_id(0))
    probe.record("behind", tl.program_id(0))


def test_failures_of_checks_are_in_the_pool(memories: list[Any]) -> None:
    with probe.session(capacity=SMALLEST) as s:
        failing[(70,)]()
    shards, pool = cursors(memories)
    assert pool == 10 * WORDS
    assert shards == [4 * WORDS] * 6 + [2 * WORDS] * 58
    found = s.records()
    names = np.array(names_of(s))[found["site"]]
    assert (names[-10:] == "below 60").all()
    assert sorted(s.records("below 60")["v0"]) == list(range(60, 70))
    assert names[:2].tolist() == ["before", "behind"]


def test_launches_follow_each_other_in_a_shard() -> None:
    with probe.session() as s:
        for n in (3, 5, 2):
            writing[(64,)](n)
    found = s.records("turn")
    assert found["v0"].tolist() == [*range(3), *range(5), *range(2)] * 64
    np.testing.assert_array_equal(found["x"], np.repeat(np.arange(64), 10))
