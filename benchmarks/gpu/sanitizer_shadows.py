# SPDX-License-Identifier: Apache-2.0
"""Trials of `tx.sanitize` on a GPU: shadows that are made late, in any stream and in CUDA graphs, and freed."""

from __future__ import annotations

import torch
from sanitizer_trials import N, add, arguments, even, lanes, overlapping, trial
from triton_ext.sanitize import _on_device

import triton_ext as tx


@trial
def graph_with_new_outputs() -> None:
    """The kernel with looks for `uninit` is compiled and loaded for the launches that the graph captures."""
    with tx.sanitize("uninit") as report:
        x, y, _ = arguments()
        add[(4,)](x, y, torch.empty(1024, device="cuda"), N, B=256)  # compiles the one without
        recorded = torch.cuda.CUDAGraph()
        with torch.cuda.graph(recorded):
            first, second = torch.empty(1024, device="cuda"), torch.empty(1024, device="cuda")
            add[(4,)](x, y, first, N, B=256)
            add[(4,)](first, first, second, 1024, B=256)
        assert not report.findings
        for _ in range(3):
            recorded.replay()
        torch.cuda.synchronize()
        assert sum(one.lanes for one in report.findings) == 3 * 2 * 24, report.text()


@trial
def tensors_that_are_filled_have_no_shadow() -> None:
    block = tx.sanitize("uninit")
    with block as report:
        kept = []
        for i in range(100):
            x = torch.empty(1024 + i, device="cuda").fill_(1)
            out = torch.empty(1024, device="cuda")
            add[(4,)](x, x, out, 1024, B=256)
            kept += [x, out]
        assert block._shadows.nbytes == 0, block._shadows.nbytes
        assert len(block._shadows._init) == 200
        assert not report.findings, report.text()


@trial
def shadows_end_with_their_tensors() -> None:
    for check, kernel, most in (("uninit", even, 1 / 8), ("race", overlapping, 2)):
        block = tx.sanitize(check)
        with block as report:
            kernel[(4,)](torch.zeros(1024, device="cuda"), 1024, B=256)
            torch.cuda.synchronize()
            before, alive, seen = torch.cuda.memory_allocated(), [], 0
            for i in range(50):
                x = torch.empty(2**20 + 4096 * i, device="cuda")
                kernel[(4,)](x, 1024, B=256)
                alive = [*alive, x][-3:]
                del x
                size = sum(one.untyped_storage().nbytes() for one in alive)
                seen = max(seen, (torch.cuda.memory_allocated() - before - size) / size)
                assert 0 < block._shadows.nbytes <= most * size + 64, (check, block._shadows.nbytes, size)
            alive.clear()
            torch.cuda.synchronize()
            left = torch.cuda.memory_allocated() - before
            assert left < 2**16, (check, left)
            found = lanes(report, check)
        print(f"{check}: at most {seen:.3f} bytes a byte, {left} left, {found} lanes")


@trial
def shadows_and_streams() -> None:
    """Half of each tensor is written by torch in one stream, and the rest is read in others that wait for it."""
    with tx.sanitize("uninit") as report:
        streams = [torch.cuda.Stream() for _ in range(3)]
        for i in range(100):
            x, out = torch.empty(2**22, device="cuda"), torch.zeros(1024, device="cuda")
            x[:N].fill_(1)
            even[(4,)](x[N:], 1024, B=256)
            for one in streams:
                one.wait_stream(torch.cuda.current_stream())
                with torch.cuda.stream(one):
                    add[(4,)](x, x, out, 1024 if i == 50 else N, B=256)
                torch.cuda.current_stream().wait_stream(one)
            del x
        torch.cuda.synchronize()
        assert lanes(report, "uninit") == 3 * 2 * 12, report.text()


@trial
def a_shadow_that_is_made_while_a_graph_is_captured() -> None:
    """Of memory that is not the graph's: what was written before is kept, and each replay finds the same."""
    with tx.sanitize("uninit") as report:
        x, _, out = arguments(1024)
        y = torch.empty(1024, device="cuda")
        y[:N] = 1
        add[(4,)](x, x, out, 1024, B=256)  # compiles
        torch.cuda.synchronize()
        recorded = torch.cuda.CUDAGraph()
        with torch.cuda.graph(recorded):
            add[(4,)](x, y, out, 1024, B=256)
        for _ in range(3):
            recorded.replay()
        torch.cuda.synchronize()
        assert lanes(report, "uninit") == 3 * 24, report.text()
        y[N:] = 1
        recorded.replay()
        torch.cuda.synchronize()
        assert lanes(report, "uninit") == 3 * 24, report.text()


@trial
def a_graph_that_fills_its_memory_has_no_shadow() -> None:
    block = tx.sanitize("uninit")
    with block as report:
        x, y, out = arguments(1024)
        add[(4,)](x, y, out, 1024, B=256)  # compiles
        recorded = torch.cuda.CUDAGraph()
        with torch.cuda.graph(recorded):
            first, second = torch.empty(1024, device="cuda"), torch.empty(1024, device="cuda")
            add[(4,)](x, y, first, 1024, B=256)
            second.copy_(first)
            add[(4,)](first, second, y, 1024, B=256)
        for _ in range(3):
            recorded.replay()
        torch.cuda.synchronize()
        assert not report.findings, report.text()
        assert block._shadows.nbytes == 0, block._shadows.nbytes


@trial
def a_graph_keeps_the_shadows_of_races() -> None:
    with tx.sanitize("race") as report:
        x, y = torch.zeros(1024, device="cuda"), torch.zeros(2**20, device="cuda")
        overlapping[(4,)](x, 1024, B=256)
        recorded = torch.cuda.CUDAGraph()
        with torch.cuda.graph(recorded):
            overlapping[(4,)](x, 1024, B=256)
            overlapping[(4,)](y, 1024, B=256)
        torch.cuda.synchronize()
        before = lanes(report, "race")
        recorded.replay()
        torch.cuda.synchronize()
        once = lanes(report, "race") - before
        assert before > 0, before
        assert once == 2 * before, (once, before)
        for _ in range(9):
            recorded.replay()
        torch.cuda.synchronize()
        assert lanes(report, "race") == before + 10 * once
        kept = [one.tensor.nbytes for one in _on_device._captured]
        assert kept[-2:] == [2 * 4096 + 8, 2 * 4 * 2**20 + 8], kept
