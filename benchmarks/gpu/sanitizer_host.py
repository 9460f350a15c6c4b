# SPDX-License-Identifier: Apache-2.0
"""Tries `tx.sanitize` on a GPU: streams, threads, CUDA graphs, `torch.compile`, autotuning, exceptions.

``python benchmarks/gpu/sanitizer_host.py`` prints a row for each trial, ``ok`` or what went wrong, and what a launch
costs the host. The exit status is 1 if a trial failed.
"""

from __future__ import annotations

import io
import sys
import threading
import time
import traceback
from collections.abc import Callable

import torch
import triton
import triton.language as tl

import triton_ext as tx

N = 1000
TRIALS: list[Callable[[], None]] = []


@triton.jit
def add(x, y, out, n, B: tl.constexpr):  # noqa: N803
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i, mask=i < n, other=0) + tl.load(y + i, mask=i < n, other=0), mask=i < n)


@triton.autotune([triton.Config({"B": 128}), triton.Config({"B": 256})], key=["n"])
@triton.jit
def tuned(x, out, n, B: tl.constexpr):  # noqa: N803
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i, mask=i < n, other=0), mask=i < n)


def trial(function: Callable[[], None]) -> Callable[[], None]:
    TRIALS.append(function)
    return function


def arguments(size: int = N) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return torch.ones(size, device="cuda"), torch.ones(1024, device="cuda"), torch.empty(1024, device="cuda")


def launch(n: int = 1024, size: int = N) -> None:
    add[(4,)](*arguments(size), n, B=256)


def expect(report: object, lanes: int) -> None:
    found = [one for one in report.findings if one.check == "bounds"]  # type: ignore[attr-defined]
    assert len(found) == 1, report.text()  # type: ignore[attr-defined]
    one = found[0]
    seen = one.argument, one.coordinates, one.program, one.lane, one.lanes, one.distance
    assert seen == ("x", (N,), (3, 0, 0), N - 768, lanes, 4), seen


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
def synchronize_raises() -> None:
    with tx.sanitize("bounds", raises=True):
        launch()
        try:
            torch.cuda.synchronize()
        except tx.sanitize.SanitizerError:
            pass
        else:
            raise AssertionError("nothing was raised")
        torch.cuda.synchronize()
        event = torch.cuda.Event()
        event.record()
        event.synchronize()
    assert torch.cuda.synchronize.__module__ == "torch.cuda"


def reading(read: Callable[[torch.Tensor], object]) -> Callable[[], None]:
    """Returns a trial in which a function of torch that reads a tensor on the GPU raises, once."""

    def run() -> None:
        with tx.sanitize("bounds", raises=True):
            x, y, out = arguments()
            zero = torch.zeros(1, dtype=torch.int64, device="cuda")
            add[(4,)](x, y, out, 1024, B=256)
            zero.to("cpu", non_blocking=True)
            try:
                read(zero)
            except tx.sanitize.SanitizerError as error:
                expect(error.report, 24)
            else:
                raise AssertionError("nothing was raised")
            read(zero)

    return run


READS: dict[str, Callable[[torch.Tensor], object]] = {
    "cpu": lambda x: x.cpu(),
    "item": lambda x: x.item(),
    "bool": bool,
    "int": int,
    "tolist": lambda x: x.tolist(),
    "to": lambda x: x.to("cpu"),
    "copy_": lambda x: torch.empty(1, dtype=torch.int64).copy_(x),
    "equal": lambda x: torch.equal(x, x),
    "in": lambda x: 1 in x,
    "print": repr,
    "nonzero": lambda x: x.nonzero(),
    "save": lambda x: torch.save(x, io.BytesIO()),
}
for _name, _read in READS.items():
    _trial = reading(_read)
    _trial.__name__ = f"{_name}_raises"
    trial(_trial)


@trial
def a_compiled_function_raises() -> None:
    """At a read behind a graph break."""

    @torch.compile
    def function(x: torch.Tensor, y: torch.Tensor) -> float:
        out = x + y
        return out.sum().item() + 1

    x = torch.ones(16, device="cuda")
    with tx.sanitize("bounds", raises=True):
        assert function(x, x) == 33
        launch()
        try:
            function(x, x)
        except tx.sanitize.SanitizerError as error:
            expect(error.report, 24)
        else:
            raise AssertionError("nothing was raised")
        assert function(x, x) == 33
    assert function(x, x) == 33


@trial
def a_report_that_is_read_does_not_raise() -> None:
    with tx.sanitize("bounds", raises=True) as report:
        launch()
        expect(report, 24)
        try:
            torch.cuda.synchronize()
        except tx.sanitize.SanitizerError:
            pass
        else:
            raise AssertionError("nothing was raised")


@trial
def no_look_while_a_graph_is_captured() -> None:
    """Reads in another thread, while this one captures: a look would wait for the whole device."""
    x, y, out = arguments()
    with tx.sanitize("bounds", raises=True):
        add[(4,)](x[:N], y, out, N, B=256)
        other, errors = torch.cuda.Stream(), []
        number = torch.ones(1, device="cuda")
        torch.cuda.synchronize()

        def read() -> None:
            try:
                with torch.cuda.stream(other):
                    number.cpu()
            except BaseException as error:
                errors.append(error)

        recorded = torch.cuda.CUDAGraph()
        with torch.cuda.graph(recorded, capture_error_mode="thread_local"):
            add[(4,)](x, y, out, 1024, B=256)
            thread = threading.Thread(target=read)
            thread.start()
            thread.join()
        assert errors == [], errors
        recorded.replay()
        try:
            number.item()
        except tx.sanitize.SanitizerError as error:
            expect(error.report, 24)
        else:
            raise AssertionError("nothing was raised")


@trial
def the_end_of_a_block_raises() -> None:
    try:
        with tx.sanitize("bounds", raises=True):
            launch()
    except tx.sanitize.SanitizerError as error:
        expect(error.report, 24)
    else:
        raise AssertionError("nothing was raised")


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


@triton.jit
def even(x, n, B: tl.constexpr):  # noqa: N803
    """Which bytes it writes, the host does not know exactly."""
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + i, 1.0, mask=(i < n) & (i % 2 == 0))


@triton.jit
def overlapping(x, n, B: tl.constexpr):  # noqa: N803
    """Each program also writes what the next one does."""
    i = tl.program_id(0) * B // 2 + tl.arange(0, B)
    tl.store(x + i, 1.0, mask=i < n)


def lanes(report: object, check: str) -> int:
    return sum(one.lanes for one in report.findings if one.check == check)  # type: ignore[attr-defined]


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
    from triton_ext.sanitize import _on_device

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

    def read() -> float:
        start = time.perf_counter()
        for _ in range(1000):
            out[0].item()
        return (time.perf_counter() - start) * 1e3

    plain = min(read() for _ in range(3))
    with tx.sanitize("bounds", raises=True):
        add[(4,)](x, y, out, 1024, B=256)
        checked = min(read() for _ in range(3))
    print(f"out[0].item() takes the host {plain:.1f} us, with raises=True {checked:.1f} us")


def main() -> int:
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
