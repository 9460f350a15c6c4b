# SPDX-License-Identifier: Apache-2.0
"""What probes see, compared with NumPy: in kernels on this machine's processor, and in the interpreter."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl

from support import forked_python
from support.interpreter import run_in_interpreter
from support.probe import observations
from support.probe.native import check_guards, guarded_memories
from triton_ext import probe

pytestmark = pytest.mark.keeps_kernels

SLOW = (observations.histograms,)
COMPILED = [pytest.param(one, marks=pytest.mark.slow) if one in SLOW else one for one in observations.ALL]


@pytest.mark.slow
@pytest.mark.parametrize("function", COMPILED, ids=lambda function: function.__name__)
@pytest.mark.usefixtures("on_native_backend")
def test_compiled(function: Any) -> None:
    function(lambda array: array)


@pytest.mark.slow
def test_interpreted() -> None:
    pytest.importorskip("torch")
    script = Path(observations.__file__)
    assert run_in_interpreter(str(script)).split() == [function.__name__ for function in observations.ALL]


@pytest.fixture
def memories(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The memories of sessions, see `guarded_memories`."""
    return guarded_memories(monkeypatch)


@pytest.mark.slow
@pytest.mark.usefixtures("on_native_backend")
def test_the_buffer_ends_where_it_ends(memories: list[Any]) -> None:
    for capacity in range(24, 200, 8):
        with probe.session(capacity=capacity, kernels=1) as s:
            observations.offering[(20,)](N=32)
            assert sum(s.lost().values()) + len(s.records()) == 20 * 22
    assert len(memories) >= 22
    check_guards(memories)


@pytest.mark.slow
@pytest.mark.usefixtures("on_native_backend")
def test_the_buffer_of_regions_ends_where_it_ends(memories: list[Any]) -> None:
    for capacity in (*range(24, 200, 8), *range(1000, 1200, 8)):
        with probe.session(capacity=capacity, kernels=1) as s:
            observations.timing[(6,)](np.zeros(6 * 64, np.float32), 40, N=64, PER_WARP=False)
        assert sum(s.lost().values()) + len(s.regions()) + len(s.records()) == sum(observations.TIMED.values()) + 6
        with probe.session(capacity=capacity, kernels=1) as s:
            observations.looping[(4,)](np.zeros(4 * 64, np.float32), 9, N=64)
        assert s.lost() or capacity > 1000
    check_guards(memories)


@pytest.mark.slow
@pytest.mark.usefixtures("on_native_backend")
def test_a_million_records_for_a_small_buffer() -> None:
    programs, n = 1000, 1024
    with probe.session(capacity=4096) as s:
        observations.offering[(programs,)](N=n)
    offered = int((np.arange(n) % 3 != 0).sum())
    assert len(s.records("three")) + s.lost()["three"] == programs * offered
    assert len(s.records("none")) + s.lost().get("none", 0) == programs


@pytest.mark.slow
@pytest.mark.usefixtures("on_native_backend")
def test_kernels_beyond_the_room_for_counters_are_told() -> None:
    with probe.session(kernels=1) as s:
        observations.offering[(1,)](N=16)
        observations.calling[(1,)](2)
        observations.counting[(4,)](np.zeros(64, np.float32), 64, N=16)
    assert s.counts() == {}
    assert s.lost() == {"counters of kernels beyond the first 1": 1}
    assert "(fix: kernels=…)" in s.summary()
    assert len(s.records("helper")) == 3  # records need no counter


@pytest.mark.slow
@pytest.mark.usefixtures("on_native_backend")
def test_chunks_of_a_histogram_that_are_not_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another kernel has taken every second chunk."""
    other, real = 1 << 16, probe._buffer.memory

    def taken(words: int, device: str, first: dict[int, int]) -> Any:
        content = real(words, device, first)
        directory = content[probe._layout.DIRECTORY :][: first[probe._layout.CHUNK_MASK] + 1]
        directory[::2] = other | probe._layout.CHUNK_KEY | np.arange(len(directory) // 2)
        return content

    monkeypatch.setattr(probe._buffer, "memory", taken)
    monkeypatch.setitem(probe._sites.tables, other, ())
    rng = np.random.default_rng(6)
    x, i = rng.standard_normal(4000), rng.integers(-150, 150, 4000, dtype=np.int32)
    with probe.session(kernels=64) as s:
        observations.sorting[(16,)](x, i, 4000, N=256)
    np.testing.assert_array_equal(s.histograms()["many"].counts, np.histogram(x, 1000, (-2.5, 3.7))[0])
    np.testing.assert_array_equal(s.histograms()["integers"].counts, np.histogram(i, 7, (-100, 100))[0])


@pytest.mark.slow
@pytest.mark.usefixtures("on_native_backend")
def test_a_kernel_from_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    with probe.session():
        observations.calling[(1,)](2)
    monkeypatch.setattr(probe._sites, "tables", {})  # as in a new process
    observations.calling.device_caches.clear()
    with probe.session() as s:
        observations.calling[(1,)](2)
    assert s.records("helper")["v0"].tolist() == [0, 1, 200]


@pytest.mark.usefixtures("on_native_backend")
def test_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_EXT_PROBE", "0")
    with probe.session() as s:
        observations.offering[(1,)](N=16)
    assert len(s.records()) == 0
    assert s.counts() == {}
    assert s.summary().count("\n") == 0


@pytest.mark.slow
@pytest.mark.usefixtures("on_native_backend")
def test_threads_have_sessions_of_their_own() -> None:
    seen: dict[int, int] = {}
    together = threading.Barrier(4)

    def work(k: int) -> None:
        with probe.session() as s:
            together.wait()
            for _ in range(20):
                observations.offering[(k,)](N=16)
        seen[k] = len(s.records("none"))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == {k: 20 * k for k in range(1, 5)}


@pytest.mark.slow
@pytest.mark.usefixtures("on_native_backend")
def test_a_session_of_the_process() -> None:
    with probe.session(process=True) as s:
        thread = threading.Thread(target=lambda: observations.offering[(3,)](N=16))
        thread.start()
        thread.join()
        observations.offering[(2,)](N=16)
    observations.offering[(4,)](N=16)
    assert len(s.records("none")) == 5


@pytest.mark.slow
@pytest.mark.usefixtures("on_native_backend")
def test_a_session_of_the_process_inside_of_one_of_the_thread() -> None:
    def launch(programs: int) -> None:
        observations.offering[(programs,)](N=16)

    with probe.session() as outer:
        with probe.session(process=True) as inner:
            thread = threading.Thread(target=launch, args=(3,))
            thread.start()
            thread.join()
            launch(2)
        launch(4)
    assert [len(s.records("none")) for s in (outer, inner)] == [4, 5]


@pytest.mark.usefixtures("on_native_backend")
def test_a_session_begins_after_others_have_ended_in_the_wrong_order() -> None:
    first, second = probe.session(process=True), probe.session()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    second.__exit__(None, None, None)
    with probe.session() as s:
        observations.offering[(2,)](N=16)
    assert len(s.records("none")) == 2


@pytest.mark.slow
@pytest.mark.usefixtures("on_native_backend")
@pytest.mark.parametrize("process", [True, False])
def test_a_session_outlives_the_one_that_it_began_in(process: bool) -> None:
    outer, inner, innermost = probe.session(process=process), probe.session(), probe.session()
    outer.__enter__()
    inner.__enter__()
    innermost.__enter__()
    outer.__exit__(None, None, None)
    late[(2,)](4)
    innermost.__exit__(None, None, None)
    late[(3,)](5)
    inner.__exit__(None, None, None)
    late[(4,)](6)
    assert [one.counts() for one in (innermost, inner)] == [{"late": 2}, {"late": 3}]
    assert outer.counts() == {}
    with probe.session() as s:  # nothing is left behind
        late[(1,)](7)
    assert s.counts() == {"late": 1}


@triton.jit
def late(n: tl.constexpr):
    """Each number `n` is a kernel of its own, which no session has compiled before."""
    if n > 0:
        probe.count("late")


@triton.jit
def extremes(x, N: tl.constexpr):
    probe.minmax("x", tl.load(x + tl.arange(0, N)))


@pytest.mark.usefixtures("on_native_backend")
def test_minmax_is_exact_beyond_2_to_the_53() -> None:
    x = np.array([2**63 - 1, -(2**63) + 1], np.int64)
    with probe.session() as s:
        extremes[(1,)](x, N=2)
    assert s.minmax() == {"x": (-(2**63) + 1, 2**63 - 1, 0)}
    assert all(isinstance(number, int) for number in s.minmax()["x"])


@triton.jit
def spread(x, N: tl.constexpr):
    probe.stats("x", tl.load(x + tl.arange(0, N)))


@pytest.mark.usefixtures("on_native_backend")
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_squares_beyond_f64_give_no_warning() -> None:
    with probe.session() as s:
        spread[(1,)](np.full(2, 1e300), N=2)
    found = s.stats()["x"]
    assert (found.count, found.mean) == (2, 1e300)
    assert np.isnan(found.variance)


@pytest.mark.usefixtures("on_native_backend")
def test_a_kernel_kept_from_a_session_writes_nothing() -> None:
    with probe.session() as s:
        kept = observations.offering[(2,)](N=16)
    before = len(s.records())
    kept[(2, 1, 1)](16)
    assert len(s.records()) == before


@pytest.mark.slow
@pytest.mark.usefixtures("on_native_backend")
def test_under_autotune() -> None:
    @triton.autotune([triton.Config({"N": 16}), triton.Config({"N": 32})], key=[])
    @triton.jit
    def tuned(x, N: tl.constexpr):
        probe.count("runs")
        probe.record("N", N)
        tl.store(x + tl.arange(0, N), 1.0)

    x = np.zeros(32, np.float32)
    with probe.session() as s:
        tuned[(1,)](x)
    r = s.records("N")
    assert set(r["v0"].tolist()) == {16, 32}  # the runs that measure count, too
    assert s.counts()["runs"] == len(r) + s.lost().get("N", 0)


@pytest.mark.slow
@pytest.mark.usefixtures("on_native_backend")
def test_the_example_of_the_page(tmp_path: Path) -> None:
    page = (Path(__file__).parents[1] / "README.md").read_text()
    program = tmp_path / "example.py"
    program.write_text(page.partition("```python\n")[2].partition("```")[0])
    done = forked_python.run([sys.executable, program])
    assert done.returncode == 0, done.stderr
    rows = [line.split()[:3] for line in done.stdout.splitlines()]
    assert ["count", "lanes", "1000"] in rows
