# SPDX-License-Identifier: Apache-2.0
"""Launch words: a kernel reads the extents of its tensors, and the host knows what a serial number stands for."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor
from triton_ext.probe._arguments import of_launch

import triton_ext as tx
from triton_ext import probe
from triton_ext.language import attr

pytestmark = [pytest.mark.usefixtures("on_native_backend"), pytest.mark.keeps_kernels]


@tx.language.op("probe.launch_word")
def launch_word(word: attr.i32) -> tl.int64:  # type: ignore[valid-type]
    """Reads a word of the launch slot."""


@triton.jit
def dump(out, x, pair, n, ONE, first: tl.constexpr, number: tl.constexpr):  # noqa: PLR0917
    for word in tl.static_range(number):
        tl.store(out + word, launch_word(first + word))
    tl.store(out + number, tl.load(x).to(tl.int64) + tl.load(pair[0]).to(tl.int64) + pair[1] + n + ONE)
    probe.count("programs")


class Pair(NamedTuple):
    data: Any
    size: int


def words(x: Any, pair: Any, n: int, first: int, number: int) -> list[int]:
    out = torch.full((number + 1,), -1, dtype=torch.int64)
    dump[(2,)](out, x, pair, n, 1, first, number)
    return out[:number].tolist()


@pytest.mark.slow
def test_the_words_are_those_of_the_arguments() -> None:
    memory = torch.zeros(100)
    x = memory[10:60:2]
    other = torch.zeros(3, dtype=torch.int64)
    with probe.session() as s:
        # The function has out, x, pair[0], pair[1] and n: 1 and constexprs are not arguments of it.
        head = words(x, (other, 7), -5, 2, 2)
        of_x = words(x, (other, 7), -5, 16, 8)
        of_pair = words(x, (other, 7), -5, 24, 16)
        of_n = words(x, (other, 7), -5, 40, 8)
    start, end = memory.data_ptr(), memory.data_ptr() + 400
    assert head[0] > 0
    assert head[1] == 5
    assert of_x == [start, end, start + 40, start + 40 + 48 * 4 + 4, 0, 0, start + 40, 0]
    assert of_pair[:4] == [other.data_ptr(), other.data_ptr() + 24] * 2
    assert of_pair[8:] == [0, 2**63 - 1, 0, 2**63 - 1, 0, 0, 7, 0]
    assert of_n[6] == -5
    assert s.counts() == {"programs": 8}
    launch = s._launches[head[0]]
    assert launch.kernel == "dump"
    assert [one.name for one in launch.arguments] == ["out", "x", "pair[0]", "pair[1]", "n"]
    assert (launch.arguments[1].shape, launch.arguments[1].strides) == ((25,), (2,))
    assert (launch.arguments[1].dtype, launch.arguments[2].dtype) == ("float32", "int64")


def test_equal_arguments_share_a_slot() -> None:
    x, pair = torch.zeros(8), (torch.zeros(8), 7)
    with probe.session():
        out = torch.zeros(2, dtype=torch.int64)
        serials = []
        for n in (3, 3, 4, 3):
            dump[(1,)](out, x, pair, n, 1, 2, 1)
            serials.append(int(out[0]))
    assert serials[0] == serials[1] == serials[3] != serials[2]


@pytest.mark.slow
def test_without_a_session_words_are_zero() -> None:
    x, pair = torch.zeros(8), (torch.zeros(8), 7)
    assert words(x, pair, 3, 0, 12) == [0] * 12
    with probe.pipeline():  # compiled with its probes, but no session
        assert words(x, pair, 3, 0, 12) == [0] * 12


def test_arrays_and_what_has_no_bounds() -> None:
    memory = np.zeros((4, 6), np.float32)
    x = memory[::-1, 1:3]
    start = memory.ctypes.data

    class Raw:
        dtype = torch.float32

        def data_ptr(self) -> int:
            return start

    with probe.session() as s:
        of_x = words(x, (Raw(), 7), 2, 16, 16)
    assert of_x[:4] == [start, start + 96, start + 4, start + 3 * 24 + 12]
    assert of_x[8:15] == [0, 2**63 - 1, 0, 2**63 - 1, 0, 0, start]
    (launch,) = s._launches.values()
    assert (launch.arguments[1].shape, launch.arguments[1].strides) == ((4, 2), (-6, 1))


@triton.jit
def descriptor(out, d):
    for word in tl.static_range(4):
        tl.store(out + word, launch_word(16 + word))
    tl.store(out + 4, tl.sum(tl.ravel(d.load([0, 0]))).to(tl.int64))
    probe.count("programs")


@pytest.mark.slow
def test_a_descriptor_has_the_bounds_of_its_elements() -> None:
    memory = torch.zeros(8, 32)
    out = torch.zeros(5, dtype=torch.int64)
    with probe.session() as s:
        descriptor[(1,)](out, TensorDescriptor(memory, [4, 16], [32, 1], [4, 8]))
    start = memory.data_ptr()
    assert out[:4].tolist() == [start, start + 1024, start, start + (3 * 32 + 16) * 4]
    (launch,) = s._launches.values()
    assert launch.arguments[1].shape == (4, 16)
    assert [one.name for one in launch.arguments[2:6]] == ["d.shape[0]", "d.shape[1]", "d.stride[0]", "d.stride[1]"]
    assert [one.address for one in launch.arguments[2:6]] == [4, 16, 32, 1]


def test_a_tensor_without_elements_has_bounds() -> None:
    """An end of 0 would say that they are unknown."""
    (empty, part) = of_launch(("empty", "part"), {"empty": torch.zeros(0), "part": torch.zeros(8)[2:2]})
    assert (empty.storage, empty.view) == ((1, 1), (1, 1))
    assert part.address == 0  # as torch passes it to the kernel
    assert part.view == (1, 1)
    assert part.storage[1] - part.storage[0] == 32


@triton.jit
def own(out, n):
    tl.store(out, launch_word(8))
    tl.store(out + 1, launch_word(22))
    probe.count("programs")


def test_threads_have_slots_of_their_own() -> None:
    def run(n: int) -> bool:
        out = torch.zeros(2, dtype=torch.int64)
        right = True
        for _ in range(20):
            own[(1,)](out, n)
            right &= out.tolist() == [out.data_ptr(), n]
        return right

    with probe.session(process=True) as s:
        run(2)
        with ThreadPoolExecutor(4) as pool:
            assert all(pool.map(run, range(2, 10)))
    assert s.counts() == {"programs": 180}


@pytest.mark.slow
def test_slots_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("triton_ext.probe._slots.MOST", 4)
    out = torch.zeros(2, dtype=torch.int64)
    with probe.session() as s:
        for n in range(2, 40):
            own[(1,)](out, n)
            assert out.tolist() == [out.data_ptr(), n]
        assert len(s._launches) <= 4
