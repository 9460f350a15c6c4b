# SPDX-License-Identifier: Apache-2.0
"""The functions of torch that a block with `raises` wraps are to the program what they were before."""

from __future__ import annotations

import _thread
import pickle
import sys
import threading
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest
import torch
from torch.overrides import TorchFunctionMode
from triton_ext.sanitize import _synchronisation

from support import forked_python

pytestmark = pytest.mark.usefixtures("on_native_backend")


class OnGpu(torch.Tensor):
    is_cuda = True
    __torch_function__ = torch._C._disabled_torch_function_impl


class Told(torch.Tensor):
    """Appends to `functions` the functions of torch that it is given."""

    functions: ClassVar[list[Any]] = []

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        cls.functions.append(func)
        return super().__torch_function__(func, types, args, kwargs or {})


class TellsAll(TorchFunctionMode):
    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        Told.functions.append(func)
        return func(*args, **(kwargs or {}))


class Following:
    """Appends to `looks` for each look."""

    def __init__(self) -> None:
        self.looks: list[int] = []

    def __call__(self) -> None:
        self.looks.append(1)

    def __enter__(self) -> list[int]:
        _synchronisation.follow(self)
        return self.looks

    def __exit__(self, *_: object) -> None:
        _synchronisation.forget(self)


@pytest.fixture
def looks() -> Iterator[list[int]]:
    with Following() as found:
        yield found


NAMES = [*_synchronisation._METHODS, *_synchronisation._COPIES]
#: What methods are called with, beside the tensor.
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "to": ("meta",), "type": (torch.float64,), "masked_select": (torch.tensor([True]),),
    **dict.fromkeys(("copy_", "equal", "allclose"), (torch.ones(1, dtype=torch.int64),)),
}  # fmt: skip


def told(name: str, *, is_mode: bool) -> list[Any]:
    x = torch.ones(1, dtype=torch.int64)
    Told.functions.clear()
    if is_mode:
        with TellsAll():
            getattr(x, name)(*ARGUMENTS.get(name, ()))
    else:
        getattr(x.as_subclass(Told), name)(*ARGUMENTS.get(name, ()))
    return list(Told.functions)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("is_mode", [False, True])
def test_subclasses_and_modes_are_told_the_same(name: str, is_mode: bool) -> None:
    """They find it in tables of before the block and of in it, and by identity with what torch has now."""
    plain, before = getattr(torch.Tensor, name), told(name, is_mode=is_mode)
    assert plain in before
    with Following():
        during = told(name, is_mode=is_mode)
        assert during == before
        assert {plain: 1}[during[0]] == 1
        assert {during[0]: 1}[plain] == 1
        assert any(one is getattr(torch.Tensor, name) for one in during)
    assert {during[0]: 1}[getattr(torch.Tensor, name)] == 1


def test_lazy_modules(looks: list[int]) -> None:
    """Torch lists the methods that a parameter without a shape has."""
    assert torch.nn.LazyLinear(3).cpu().to("meta").weight.device.type == "meta"
    with pytest.raises(ValueError, match="uninitialized parameter"):
        torch.nn.LazyLinear(3).weight.tolist()


def test_c_may_call() -> None:
    """C calls the function, so the stack has no frame of a caller in Python."""
    looked = threading.Event()
    _synchronisation.follow(looked.set)
    try:
        _thread.start_new_thread(torch.ones(1).as_subclass(OnGpu).cpu, ())
        assert looked.wait(60)
    finally:
        _synchronisation.forget(looked.set)
    program = """
import atexit, torch
from triton_ext.sanitize import _synchronisation
torch.cuda.synchronize = lambda: print("waited")
_synchronisation.follow(lambda: print("looked"))
atexit.register(torch.cuda.synchronize)
"""
    found = forked_python.run([sys.executable, "-c", program], check=True)
    assert (found.stdout.split(), found.stderr) == (["waited", "looked"], "")


def test_what_others_patch_in_a_block_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.ones(1).as_subclass(OnGpu)
    plain = torch.Tensor.cpu
    with Following() as looks:
        wrapped = torch.Tensor.cpu
        monkeypatch.setattr(torch.Tensor, "cpu", lambda x: (wrapped(x), "mine"))
        assert x.cpu() == (1, "mine")
        assert looks == [1]
    mine = torch.Tensor.cpu
    assert x.cpu() == (1, "mine")
    assert looks == [1]
    with Following() as again:
        assert torch.Tensor.cpu is not mine
        assert x.cpu() == (1, "mine")
        assert again
    assert torch.Tensor.cpu is mine
    monkeypatch.undo()  # puts back what was there: the wrapper
    assert torch.Tensor.cpu is wrapped
    assert (x.cpu(), looks) == (1, [1])
    with Following() as once:
        assert torch.Tensor.cpu is wrapped
        assert (x.cpu(), once) == (1, [1])
    assert torch.Tensor.cpu is plain
    assert "cpu" not in vars(torch.Tensor)


def scripted(x: torch.Tensor, y: torch.Tensor) -> bool:
    return kept(x, y)


with Following():
    kept = torch.equal


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_torchscript_knows_one_that_is_kept() -> None:
    assert torch.jit.script(scripted)(torch.ones(2), torch.ones(2))


TABLE = {torch.Tensor.to: 1, torch.Tensor.cpu: 2}


class Tabled(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in TABLE:
            return torch.full((1,), TABLE[func])
        return super().__torch_function__(func, types, args, kwargs or {})


@pytest.mark.slow
def test_compiled_functions_find_them_in_tables() -> None:
    """Whether the function is traced in the block or behind it."""
    import torch._dynamo

    x = torch.ones(1)
    torch._dynamo.reset()
    looked_up = torch.compile(lambda x: x + TABLE[torch.Tensor.to], fullgraph=True, backend="eager")
    tabled = torch.compile(lambda x: x.to(torch.float64) + x.cpu(), fullgraph=True, backend="eager")
    for _ in range(2):
        with Following():
            assert (looked_up(x), tabled(x.as_subclass(Tabled))) == (2, 3)
        assert (looked_up(x), tabled(x.as_subclass(Tabled))) == (2, 3)


def test_pickle() -> None:
    def functions() -> dict[str, Any]:
        found = {f"Tensor.{name}": getattr(torch.Tensor, name) for name in NAMES}
        found |= {name: getattr(torch, name) for name in _synchronisation._FUNCTIONS}
        found |= {f"{owner}.synchronize": owner.synchronize for owner in (torch.cuda.Stream, torch.cuda.Event)}
        graph = torch.cuda.CUDAGraph
        found |= {"begin": graph.capture_begin, "end": graph.capture_end, "storage": torch.UntypedStorage.cpu}
        return found | {"cuda": torch.cuda.synchronize}

    plain = functions()
    with Following():
        during = functions()
        for name, function in during.items():
            assert function is not plain[name], name
            assert pickle.loads(pickle.dumps(function)) is function
        texts = {name: pickle.dumps(function) for name, function in during.items()}
    for name, text in texts.items():
        assert pickle.loads(text) == plain[name]
        assert type(pickle.loads(text)) is type(plain[name])
    assert pickle.loads(pickle.dumps(during["Tensor.item"])) is torch.Tensor.item
