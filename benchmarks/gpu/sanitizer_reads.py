# SPDX-License-Identifier: Apache-2.0
"""Trials of `tx.sanitize` on a GPU: functions of torch that wait for it raise the errors of kernels."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable

import torch
from sanitizer_trials import N, add, arguments, expect, launch, trial

import triton_ext as tx


def raised(wait: Callable[[], object]) -> tx.sanitize.SanitizerError:
    """Calls a function that has to raise the error of a kernel, and returns the error."""
    try:
        wait()
    except tx.sanitize.SanitizerError as error:
        return error
    raise AssertionError("nothing was raised")


@trial
def synchronize_raises() -> None:
    with tx.sanitize("bounds", raises=True):
        launch()
        raised(torch.cuda.synchronize)
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
            expect(raised(lambda: read(zero)).report, 24)
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
        expect(raised(lambda: function(x, x)).report, 24)
        assert function(x, x) == 33
    assert function(x, x) == 33


@trial
def a_report_that_is_read_does_not_raise() -> None:
    with tx.sanitize("bounds", raises=True) as report:
        launch()
        expect(report, 24)
        raised(torch.cuda.synchronize)


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
