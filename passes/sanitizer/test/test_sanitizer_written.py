# SPDX-License-Identifier: Apache-2.0
"""What the host knows of written memory: chains of launches against the elements one by one, and which launches need
no kernel with looks."""

from __future__ import annotations

import ctypes
import random
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from triton_ext.probe._arguments import described
from triton_ext.probe._launches import Call
from triton_ext.probe._slot import Launch
from triton_ext.sanitize import _bits, _bytes, _init, _looks, _on_device, _session, _shadows, _touched

import triton_ext as tx
from support.sanitizer import chains

pytestmark = [pytest.mark.usefixtures("on_native_backend"), pytest.mark.keeps_kernels]

STEP = st.tuples(st.sampled_from([*chains.STEPS]), st.integers(0, 12), st.integers(1, 4), st.integers(0, 20))


@pytest.mark.slow
@pytest.mark.usefixtures("decides")
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], database=None)
@given(steps=st.lists(STEP, min_size=1, max_size=7), dtype=st.sampled_from([torch.float16, torch.float32]))
@example(steps=[("block", 12, 4, 0), ("read", 12, 4, 0)], dtype=torch.float32)
@example(steps=[("block", 12, 4, 0), ("read", 12, 4, 1)], dtype=torch.float32)
@example(steps=[("rows", 9, 4, 1), ("read", 12, 4, 0), ("gather", 12, 2, 0)], dtype=torch.float16)
def test_chains(steps: list[tuple[str, int, int, int]], dtype: torch.dtype) -> None:
    found, right = chains.unwritten(steps, dtype)
    assert found == right


@settings(max_examples=200, deadline=None, database=None)
@given(st.lists(st.tuples(st.integers(-5, 40), st.integers(-5, 40)), max_size=6), st.integers(0, 1000))
def test_sets_of_bytes(pairs: list[tuple[int, int]], seed: int) -> None:
    """Also the bits that are set for them."""
    rng, size = random.Random(seed), 37
    found = _bytes.union(_bytes.span(*one) for one in pairs).before(size)
    elements = {byte for one in pairs for byte in range(max(one[0], 0), min(one[1], size))}
    assert elements == {byte for one in zip(*found, strict=True) for byte in range(*one)}
    assert np.all(found.starts[1:] > found.ends[:-1])
    first = rng.randint(0, size)
    other = _bytes.span(first, rng.randint(0, size))
    assert found.covers(other) == (elements >= {*range(*(int(end[0]) for end in other))} if other else True)
    for are_made in (False, True):
        bits = _bits.Bits(size, "cpu")
        if are_made:
            bits.words(0)
        bits.mark(found, 0)
        assert bits.are_made == are_made
        assert {*np.flatnonzero(unpacked(bits)).tolist()} == elements


def unpacked(bits: _bits.Bits) -> Any:
    """Returns the bits, without those of no byte."""
    words = np.unpackbits(bits.words(0).numpy().view(np.uint8), bitorder="little")
    assert words[bits._size :].all()
    return words[: bits._size]


def test_bits_of_rows() -> None:
    rows = _bytes.union(_bytes.span(first, first + 16) for first in range(8, 400, 40))
    assert _bits.can_mark(rows)
    bits = _bits.Bits(500, "cpu")
    bits.words(0)
    bits.mark(rows, 0)
    expected = np.concatenate([np.arange(*one) for one in zip(*rows, strict=True)])
    assert np.array_equal(np.flatnonzero(unpacked(bits)), expected)
    assert not _bits.can_mark(_bytes.union(_bytes.span(first, first + 15) for first in range(8, 400, 40)))


@pytest.mark.parametrize(
    ("name", "numbers", "n", "more"), [("block", (12, 4), 12, 4), ("rows", (9, 4), 1, 1), ("tiles", (10, 3), 2, 3)]
)
def test_a_new_output_needs_no_look(
    name: str, numbers: tuple[int, int], n: int, more: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The host knows what a launch writes, and that the next one reads no more. Then one does, by `more` lanes."""
    looking: list[Any] = []
    monkeypatch.setattr(
        _shadows, "kernel_with_looks", lambda kernel: looking.append(kernel) or _looks.kernel_with_looks(kernel)
    )
    with tx.sanitize("uninit") as report:
        x = torch.empty(chains.SIZE)
        chains.STEPS[name](x, *numbers)
        chains.STEPS["read"](x, n, 4)
        assert looking == []
        assert report.counts()["checked"] == 0
        chains.STEPS["read"](x, n + 1, 4)
        assert [one.metadata.name for one in looking] == ["read"]
        assert [(one.argument, one.lanes) for one in report.findings] == [("x", more)]
        assert report.counts()["checked"] == 1  # not the store to its new output


def a_launch(kernel: Any, *arguments: Any, device: str = "cpu", stream: int = 0) -> tuple[Launch, Call]:
    names = [one for one in kernel.src.fn.arg_names if one != "B"]
    described_all = tuple(described(name, one) for name, one in zip(names, arguments, strict=True))
    launch = Launch(kernel.metadata.name, 0, described_all)
    return launch, Call(kernel, (1, 1, 1), arguments, device, stream)


def test_streams_and_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    """What one stream has written, another one may not have yet; what a graph captures is written in its replays. What
    was written before there are bits is written for all.
    """
    with tx.sanitize("uninit"):
        kernel = chains.read[(1,)](torch.zeros(16), torch.zeros(16), 16, B=16)
    shadows = _shadows.Shadows(("uninit",))
    x, out = torch.zeros(16), torch.zeros(16)
    size = 64
    init = _init.Init(x.untyped_storage(), "cpu")
    shadows._init["cuda:0", x.data_ptr()] = init
    capturing = [False]
    monkeypatch.setattr(_shadows, "is_capturing", lambda: capturing[0])

    def is_known(stream: int) -> bool:
        return shadows._is_known(*a_launch(kernel, x, out, 16, device="cuda:0", stream=stream))

    init.mark(_bytes.span(0, 8), 5)
    assert not is_known(7)
    init.bits.words(7)
    init.learn(_bytes.span(8, size - 1), 7)
    assert not is_known(7)
    init.learn(_bytes.span(size - 1, size), 7)
    assert is_known(7)
    assert not is_known(8)
    capturing[0] = True
    assert not is_known(7)
    init._is_written = True  # the bits say so
    assert is_known(7)
    assert is_known(8)
    init = shadows._init["cuda:0", x.data_ptr()] = _init.Init(x.untyped_storage(), "cpu")
    assert not is_known(7)
    init.mark(_bytes.span(0, size), 5)
    assert is_known(7)
    assert is_known(8)


def test_a_kernel_is_loaded_while_a_graph_is_captured(monkeypatch: pytest.MonkeyPatch) -> None:
    """CUDA loads modules then only in the mode 2, which is that of the thread until the kernel is loaded."""
    with tx.sanitize("uninit"):
        kernel = chains.read[(1,)](torch.zeros(16), torch.zeros(16), 16, B=16)
    modes, loaded_in = [0], []

    def exchange(new: Any) -> None:
        modes[0], new._obj.value = new._obj.value, modes[0]

    library = types.SimpleNamespace(cuThreadExchangeStreamCaptureMode=exchange)
    own = types.SimpleNamespace(CDLL=lambda _: library, c_int=ctypes.c_int, byref=ctypes.byref)
    monkeypatch.setattr(_on_device, "ctypes", own)  # the compiler of the CPU backend opens libraries, too
    monkeypatch.setattr(_looks, "launcher_of", lambda _: loaded_in.append(modes[0]))
    for one in (_shadows, _on_device):
        monkeypatch.setattr(one, "is_capturing", lambda: True)
    shadows, x = _shadows.Shadows(("uninit",)), torch.zeros(16)
    shadows._init["cuda:0", x.data_ptr()] = _init.Init(x.untyped_storage(), "cpu")
    found = shadows.choose(*a_launch(kernel, x, torch.zeros(16), 16, device="cuda:0", stream=7))
    assert found is _looks.kernel_with_looks(kernel)
    assert (loaded_in, modes) == ([2], [0])


@pytest.mark.parametrize(
    ("capturing", "is_of_graph", "right"),
    [
        (True, False, (False, False)),
        (False, True, (True, False)),
        (False, False, (True, True)),
        (True, True, (True, False)),
    ],
)
@pytest.mark.parametrize("are_made", [True, False])
def test_what_a_graph_writes_is_not_known(
    capturing: bool, is_of_graph: bool, right: tuple[bool, bool], are_made: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A graph that is captured runs later, or never; but its own memory begins anew in each replay. Nobody knows it if
    there are bits, which each replay clears.
    """
    with tx.sanitize("uninit"):
        kernel = chains.write_block[(1,)](torch.zeros(16), 16, B=16)
    shadows, x = _shadows.Shadows(("uninit",)), torch.zeros(16)
    launch = a_launch(kernel, x, 16, device="cuda:0", stream=7)
    init = shadows._init["cuda:0", x.data_ptr()] = _init.Init(x.untyped_storage(), "cpu", is_of_graph=is_of_graph)
    if are_made:
        init.bits.words(7)
    monkeypatch.setattr(_shadows, "is_capturing", lambda: capturing)
    assert shadows._is_known(*launch) == right[0]
    if not right[0]:
        return  # it has a kernel with looks
    shadows.finish(*launch)
    assert init.bits.are_made == are_made
    assert init.is_known(7) == (right[1] or not are_made)
    assert unpacked(init.bits).all()


#: Bugs of what the host knows: the module, what is replaced by what, and the steps that notice it.
MUTATIONS: dict[str, tuple[str, str, str, list[tuple[str, int, int, int]]]] = {
    "reads are not compared": (
        "_shadows", "not known.covers(touched.read)", "False", [("block", 2, 1, 0), ("read", 3, 1, 0)],
    ),
    "a store that is not known writes nothing": (
        "_shadows", "touched.written is not None and can_mark(touched.written) and", "",
        [("if", 9, 1, 0), ("read", 3, 1, 0)],
    ),
    "all of a storage is written": (
        "_touched", "return Touched(read, written, written)", "return Touched(read, span(0, size), written)",
        [("block", 2, 1, 0), ("read", 3, 1, 0)],
    ),
    "views start with the storage": (
        "_touched", "arguments[number].address - arguments[number].storage[0]", "0",
        [("block", 3, 1, 20), ("read", 3, 1, 0)],
    ),
    "grids are alike": (
        "_touched", "key = tuple(grid), ", "key = ", [("block", 9, 1, 0), ("block", 9, 3, 0), ("read", 9, 3, 0)],
    ),
    "supersets are exact": (
        "_touched", "touched(stores, exact=True)", "touched(stores, exact=False)",
        [("even", 9, 1, 0), ("read", 1, 1, 0)],
    ),
    "atomics do not read": (
        "_touched", 'if one["kind"] != "write"', 'if one["kind"] == "read"', [("add", 9, 1, 0)],
    ),
    "an interval has no end": (
        "_bytes", "place >= 0) & (other.ends <= self.ends[place])", "place >= 0)",
        [("rows", 9, 3, 0), ("read", 2, 1, 0)],
    ),
    "one interval is all": (
        "_bytes", "and other.ends[0] <= self.ends[0]", "", [("block", 3, 1, 0), ("read", 8, 4, 0)],
    ),
    "gaps are closed": (
        "_bytes", "starts[1:] > ends[:-1]", "starts[1:] > ends[:-1] + 40", [("rows", 9, 3, 0), ("read", 7, 4, 0)],
    ),
    "what was written before there are bits is forgotten": (
        "_bits", "_mark(words, self.before, self._all)", "None", [("block", 3, 1, 0), ("read", 8, 4, 0)],
    ),
    "bits are not set": (
        "_bits", "words.view(dtype=_uint8())", "words.clone().view(dtype=_uint8())",
        [("block", 3, 1, 0), ("read", 8, 4, 0)],
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTATIONS)
def test_a_bug_of_what_the_host_knows_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, before, after, steps = MUTATIONS[name]
    found, right = chains.unwritten(steps)
    assert found == right
    for one in (_bytes, _bits, _init, _touched, _shadows):
        text, short = Path(str(one.__file__)).read_text(), one.__name__.rpartition(".")[2]
        assert short != module or text.count(before) == 1
        other = types.ModuleType(one.__name__)
        other.__package__ = one.__package__
        monkeypatch.setitem(sys.modules, one.__name__, other)
        exec(compile(text.replace(before, after) if short == module else text, short, "exec"), vars(other))
    monkeypatch.setattr(_session, "Shadows", vars(other)["Shadows"])
    found, right = chains.unwritten(steps)
    assert found != right


@triton.jit
def writes_and_faults(out, x, far, last, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, 1.0)
    if tl.program_id(0) == last:
        tl.store(out + i, tl.load(x + i + far))


@triton.jit
def copied(x, out, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i))


@pytest.mark.parametrize("static", [True, False])
def test_what_a_launch_that_fails_may_have_written(static: bool) -> None:
    """Programs before the one that fails have written; nobody knows which, so all that they may write counts."""
    with tx.sanitize("uninit", static=static) as report:
        out, other = torch.empty(256), torch.empty(256)
        with pytest.raises(RuntimeError, match="SIGSEGV in the kernel 'writes_and_faults'"):
            writes_and_faults[(4,)](out, torch.ones(256), 1 << 40, 3, B=64)
        copied[(4,)](out, other, B=64)
    assert not report.findings, report.text()
    assert torch.equal(other[:192], torch.ones(192))
