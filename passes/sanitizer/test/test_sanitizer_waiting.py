# SPDX-License-Identifier: Apache-2.0
"""Functions of torch that wait for a GPU raise the errors of kernels.

These tests need no GPU: the tensors are on the CPU, and their ``is_cuda`` says that they are on a GPU.
"""

from __future__ import annotations

import io
import subprocess
import sys
import threading
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from triton_ext.sanitize import _synchronisation

import triton_ext as tx

pytestmark = pytest.mark.usefixtures("on_native_backend")


class OnGpu(torch.Tensor):
    is_cuda = True
    __torch_function__ = torch._C._disabled_torch_function_impl


def on_gpu(tensor: Any) -> Any:
    return torch.Tensor._make_subclass(OnGpu, tensor)


@pytest.fixture
def looks() -> Iterator[list[int]]:
    """What each look appends to."""
    found: list[int] = []

    def follower() -> None:
        found.append(1)

    _synchronisation.follow(follower)
    yield found
    _synchronisation.forget(follower)


#: Gives the host numbers of a tensor with one element.
READS: dict[str, Callable[[Any], Any]] = {
    "cpu": lambda x: x.cpu(),
    "item": lambda x: x.item(),
    "tolist": lambda x: x.tolist(),
    "numpy": lambda x: x.numpy(),
    "bool": bool,
    "int": int,
    "float": float,
    "complex": complex,
    "range": range,
    "to": lambda x: x.to("cpu", copy=True),
    "to, with a type": lambda x: x.to("cpu", torch.float64, False),
    "type": lambda x: x.type("torch.FloatTensor"),
    "copy_": lambda x: torch.zeros(1, dtype=torch.int64).copy_(x),
    "equal": lambda x: torch.equal(torch.ones(1, dtype=torch.int64), x),
    "equal of a tensor": lambda x: x.equal(x),
    "allclose": lambda x: torch.allclose(x, other=x),
    "allclose of a tensor": lambda x: x.allclose(x),
    "nonzero": lambda x: torch.nonzero(input=x),
    "nonzero of a tensor": lambda x: x.nonzero(),
    "unique": lambda x: torch.unique(x, sorted=True),
    "repr": repr,
}


@pytest.mark.parametrize("name", READS)
def test_reads_look(name: str, looks: list[int]) -> None:
    read, x = READS[name], torch.ones(1, dtype=torch.int64)
    expected = read(x)
    assert looks == []
    found = read(on_gpu(x))
    assert looks
    assert type(found) is type(expected) or isinstance(expected, torch.Tensor)
    if name != "repr":
        assert found == expected


def test_copies_that_do_not_wait_do_not_look(looks: list[int]) -> None:
    x = on_gpu(torch.ones(3))
    x.to("cpu", copy=True, non_blocking=True)
    x.to("cpu", torch.float64, True)
    x.to(torch.float64, True)
    x.type(torch.FloatTensor, non_blocking=True)
    torch.zeros(3).copy_(x, True)
    x.copy_(torch.zeros(3))  # to the GPU
    x.to(torch.float32)  # stays there
    x + 1
    assert looks == []
    x.to("cpu", copy=True)
    assert looks == [1]


def test_saving_looks(looks: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    storage = torch.ones(3).untyped_storage()
    storage.cpu()
    torch.save(torch.ones(3), io.BytesIO())
    assert looks == []
    monkeypatch.setattr(torch.UntypedStorage, "is_cuda", property(lambda _: True))
    storage.cpu()
    assert looks == [1]


def test_the_functions_are_restored() -> None:
    def known() -> dict[Any, Any]:
        owners = {torch.cuda, torch.Tensor, torch, torch.UntypedStorage, torch.cuda.Stream, torch.cuda.CUDAGraph}
        return {owner: dict(vars(owner)) for owner in owners}

    before, operators = known(), dict(_synchronisation._operators())
    with tx.sanitize("bounds", raises=True), tx.sanitize("bounds", raises=True):
        assert vars(torch.Tensor)["item"] is not before[torch.Tensor].get("item")
        assert torch.equal is not before[torch]["equal"]
    assert known() == before
    now = _synchronisation._operators()
    assert {key: now[key] for key in operators} == operators
    with tx.sanitize("bounds"):
        assert known() == before


def test_threads_and_nesting(looks: list[int]) -> None:
    """Each follower looks once for a read, also if it reads itself."""
    x, inner = on_gpu(torch.ones(1)), []

    def reads() -> None:
        inner.append(x.item())

    _synchronisation.follow(reads)
    thread = threading.Thread(target=x.item)
    thread.start()
    thread.join()
    x.item()
    _synchronisation.forget(reads)
    assert looks == [1, 1]
    assert inner == [1, 1]


@pytest.mark.parametrize(("module", "number"), [("triton_ext.probe._slots", 0), ("triton_ext.tuning.measuring", 1)])
def test_a_report_that_is_read_does_not_look(module: str, number: int, looks: list[int]) -> None:
    own = types.FunctionType((lambda x: x.item()).__code__, {"__name__": module})
    assert own(on_gpu(torch.ones(1))) == 1
    assert len(looks) == number


def test_no_look_while_a_graph_is_captured(looks: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither in the stream that is captured, nor elsewhere: a look waits for the whole device."""
    x = on_gpu(torch.ones(1))
    with monkeypatch.context() as patch:
        patch.setattr(torch.cuda, "is_initialized", lambda: True)
        patch.setattr(torch.cuda, "is_current_stream_capturing", lambda: True)
        x.item()
    monkeypatch.setattr(torch._C._CUDAGraph, "capture_begin", lambda *_, **__: None, raising=False)
    monkeypatch.setattr(torch._C._CUDAGraph, "capture_end", lambda *_: 1 / 0, raising=False)
    graph = object.__new__(torch.cuda.CUDAGraph)
    graph._tracker = None
    graph.capture_begin()
    x.item()
    assert looks == []
    with pytest.raises(ZeroDivisionError):
        graph.capture_end()
    x.item()
    assert looks == [1]


@triton.jit
def copied(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.load(x + i, mask=i < n, other=0), mask=i < B)


def launch(n: int = 17) -> Any:
    out = np.zeros(32, np.float32)
    copied[(1,)](np.ones(64, np.float32)[:16], out, n, B=32)
    return on_gpu(torch.from_numpy(out)[:1])


@pytest.mark.parametrize("read", ["item", "bool", "tolist", "equal", "copy_"])
def test_the_error_of_a_kernel(read: str, monkeypatch: pytest.MonkeyPatch) -> None:
    block = tx.sanitize("bounds", raises=True)
    with block as report:
        block._raises = False  # as on a GPU, where a launch does not wait
        out = launch()
        block._raises = True
        with pytest.raises(tx.sanitize.SanitizerError, match="outside of the view x"):
            READS[read](out)
        with monkeypatch.context() as patch:
            patch.setattr(block._session, "_activity", lambda: 1 / 0)
            READS[read](out)  # nothing was launched since
        block._raises = False
        out = launch()
        block._raises = True
        assert len(report.findings) == 1  # reading the report is not a wait of the program
        with pytest.raises(tx.sanitize.SanitizerError):
            READS[read](out)


def compiled(x: Any) -> Any:
    y = x + 1
    if y.sum() > 3:
        y = y * y.max().item()
    return y.cpu() * 2, torch.equal(x, y), y.sum().item()


@pytest.mark.slow
def test_compiled_functions() -> None:
    """They compute the same, in as many graphs."""
    from torch._dynamo.utils import counters

    found = []
    for raises in (False, True):
        torch._dynamo.reset()
        counters.clear()
        with tx.sanitize("bounds", raises=raises):
            result, *rest = torch.compile(compiled, backend="aot_eager")(torch.ones(3))
        found.append((result.tolist(), rest, counters["stats"]["unique_graphs"]))
    assert found[0] == found[1]
    assert found[0][2] > 1


@pytest.mark.slow
@pytest.mark.parametrize("is_known", [True, False])
def test_one_graph(is_known: bool) -> None:
    """A function that is traced in a block or behind it has nothing of ours in it, whether torch.compile has looked for
    torch's functions before the block, or in it.
    """
    from torch._dynamo import trace_rules

    def expect() -> None:
        torch._dynamo.reset()
        function = torch.compile(lambda x: (torch.nonzero(x), x.max().item(), x.cpu()), fullgraph=True, backend="eager")
        places, most, copy = function(torch.tensor([0.0, 2.0]))
        assert (places.tolist(), most, copy.tolist()) == ([[1]], 2.0, [0.0, 2.0])

    trace_rules.clear_lru_cache()
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True, capture_scalar_outputs=True):
        if is_known:
            expect()
        with tx.sanitize("bounds", raises=True):
            expect()
        expect()


@pytest.mark.slow
def test_a_read_behind_a_graph_break_looks(looks: list[int]) -> None:
    seen = []
    x = on_gpu(torch.ones(1))

    @torch.compile(backend="eager")
    def function(y: Any) -> Any:
        y = y + 1
        torch._dynamo.graph_break()
        seen.append(x.item())
        return y * 2

    assert function(torch.ones(3)).tolist() == [4, 4, 4]
    assert (seen, looks) == ([1], [1])


def scripted(x: torch.Tensor, y: torch.Tensor) -> bool:
    return torch.equal(x, y)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_torchscript(looks: list[int]) -> None:
    assert torch.jit.script(scripted)(torch.ones(2), torch.ones(2))
    assert looks == []


def test_torch_may_be_imported_later() -> None:
    """A kernel that is launched has it wrapped; blocks do not import it."""
    program = """
import sys
import triton_ext as tx
from triton_ext.sanitize import _synchronisation
with tx.sanitize("bounds", raises=True):
    assert "torch" not in sys.modules
    import torch
    plain = torch.Tensor.item
    _synchronisation.imported()
    assert torch.Tensor.item is not plain
    assert torch.ones(1).item() == 1
    assert "torch._dynamo" not in sys.modules
assert torch.Tensor.item is plain
"""
    subprocess.run([sys.executable, "-c", program], check=True)
