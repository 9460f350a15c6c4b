# SPDX-License-Identifier: Apache-2.0
"""Tries `tx.sanitize` on a GPU: streams, threads, CUDA graphs, `torch.compile`, autotuning, exceptions, shadows.

``python benchmarks/gpu/sanitizer_host.py`` prints a row for each trial, ``ok`` or what went wrong, and what a launch
costs the host. The exit status is 1 if a trial failed.
"""

from __future__ import annotations

import sys
import threading
import time
import traceback

import torch
import triton
import triton.language as tl
from sanitizer_trials import TRIALS, N, add, arguments, expect, launch, trial

import triton_ext as tx


@triton.autotune([triton.Config({"B": 128}), triton.Config({"B": 256})], key=["n"])
@triton.jit
def tuned(x, out, n, B: tl.constexpr):  # noqa: N803
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i, mask=i < n, other=0), mask=i < n)


@trial
def one_launch() -> None:
    with tx.sanitize("bounds") as report:
        launch()
    expect(report, 24)
    print(report.text())


@trial
def nothing_wrong() -> None:
    with tx.sanitize("bounds,lanes,hints") as report:
        x, y, out = arguments(1024)
        add[(4,)](x, y, out, 1024, B=256)
    assert report.findings == [], report.text()
    assert torch.equal(out, x + y)


@trial
def streams() -> None:
    with tx.sanitize("bounds") as report:
        x, y, out = arguments()
        torch.cuda.synchronize()
        for _ in range(4):
            with torch.cuda.stream(torch.cuda.Stream()):
                for _ in range(5):
                    add[(4,)](x, y, out, 1024, B=256)
    assert len(report._session._launches) == 4, "launches in one stream share a slot"
    expect(report, 24 * 20)


@trial
def threads() -> None:
    def run() -> None:
        with torch.cuda.stream(torch.cuda.Stream()):
            for _ in range(10):
                launch()
            torch.cuda.current_stream().synchronize()

    with tx.sanitize("bounds") as report:
        workers = [threading.Thread(target=run) for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    expect(report, 24 * 40)


@trial
def graph() -> None:
    with tx.sanitize("bounds") as report:
        x, y, out = arguments()
        add[(4,)](x, y, out, 1024, B=256)  # compiles
        torch.cuda.synchronize()
        recorded = torch.cuda.CUDAGraph()
        with torch.cuda.graph(recorded):
            add[(4,)](x, y, out, 1024, B=256)
            add[(4,)](x, y, out, 1024, B=256)
        for _ in range(10):
            recorded.replay()
        torch.cuda.synchronize()
    expect(report, 24 * 21)
    recorded.replay()  # behind the block
    expect(report, 24 * 23)


@trial
def graph_without_room() -> None:
    from triton_ext.probe import _slots

    with tx.sanitize("bounds"):
        x, y, out = arguments()
        add[(4,)](x, y, out, 1024, B=256)
        recorded = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(recorded):
                for _ in range(_slots.ROWS + 1):
                    add[(4,)](x, y, out, 1024, B=256)
        except tx.TritonExtError as error:
            if "a CUDA graph captures more than" not in str(error):
                raise
        else:
            raise AssertionError("nothing was raised")


@trial
def slots_begin_anew() -> None:
    from triton_ext.probe import _slots

    most, _slots.MOST = _slots.MOST, 8
    try:
        with tx.sanitize("bounds") as report:
            for n in range(2, 102):
                launch(n=1024 if n % 2 else n)
        expect(report, 24 * 50)
    finally:
        _slots.MOST = most


@trial
def autotune() -> None:
    with tx.sanitize("bounds") as report:
        x, out = torch.ones(N, device="cuda"), torch.empty(1024, device="cuda")
        tuned[lambda meta: (triton.cdiv(1024, meta["B"]),)](x, out, 1024)
    (one,) = [one for one in report.findings if one.check == "bounds"]
    assert (one.argument, one.coordinates) == ("x", (N,)), one


@trial
def compiled_by_torch() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return (x.sin() + 1).sum(dim=-1)

    x = torch.randn(100, 1000, device="cuda", requires_grad=True)
    with tx.sanitize("bounds,lanes,hints") as report:
        result = torch.compile(function)(x)
        result.sum().backward()
        torch.cuda.synchronize()
    assert torch.allclose(result, function(x), atol=1e-3)
    assert report.accesses, "no kernel of Inductor was seen"
    assert report.findings == [], report.text()
    print(f"torch.compile: {len({one.kernel for one in report.accesses})} kernels, {report.counts()}")


@trial
def compiled_by_torch_with_a_wrong_kernel() -> None:
    @torch.compile
    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        out = torch.empty(1024, device="cuda")
        add[(4,)](x, y, out, 1024, B=256)
        return out * 2

    with tx.sanitize("bounds") as report:
        function(torch.ones(N, device="cuda"), torch.ones(1024, device="cuda"))
    (one,) = [one for one in report.findings if one.check == "bounds"]
    assert one.coordinates == (N,), one


def host_time() -> None:
    """Prints what a launch costs the host."""
    x, y, out = arguments(1024)

    def measure() -> float:
        for _ in range(100):
            add[(4,)](x, y, out, 1024, B=256)
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(1000):
            add[(4,)](x, y, out, 1024, B=256)
        taken = time.perf_counter() - start
        torch.cuda.synchronize()
        return taken * 1e3

    plain = min(measure() for _ in range(3))
    with tx.sanitize("bounds"):
        checked = min(measure() for _ in range(3))
    print(f"a launch takes the host {plain:.1f} us, with checks {checked:.1f} us")

    def read(*, launches: bool) -> float:
        taken = 0.0
        for _ in range(1000):
            if launches:
                add[(4,)](x, y, out, 1024, B=256)
            start = time.perf_counter()
            out[0].item()
            taken += time.perf_counter() - start
        return taken * 1e3

    for launches in (True, False):
        plain = min(read(launches=launches) for _ in range(3))
        with tx.sanitize("bounds", raises=True):
            add[(4,)](x, y, out, 1024, B=256)
            checked = min(read(launches=launches) for _ in range(3))
        where = "behind a launch" if launches else "elsewhere"
        print(f"out[0].item() {where} takes the host {plain:.1f} us, with raises=True {checked:.1f} us")


def main() -> int:
    import sanitizer_reads  # noqa: F401 - these add trials
    import sanitizer_shadows  # noqa: F401

    print(torch.cuda.get_device_name(), "Triton", triton.__version__, "torch", torch.__version__)
    failed = 0
    for one in TRIALS:
        try:
            one()
        except BaseException:
            failed += 1
            print(f"{one.__name__:40} FAILED")
            traceback.print_exc(file=sys.stdout)
        else:
            print(f"{one.__name__:40} ok", flush=True)
    host_time()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
