# SPDX-License-Identifier: Apache-2.0
"""Raises the errors of kernels in the functions of torch that wait for a device.

These are functions that only wait (`_WAITS`), and those that give the host numbers from a GPU: values, or how many
elements a result has (`_METHODS`, `_FUNCTIONS`, `_COPIES`). They are wrapped only while somebody follows. The functions
of the second kind look only if an argument is on a GPU.

Not wrapped are functions that wait for some arguments only and whose result is on the GPU, such as ``x[mask]``,
`torch.repeat_interleave` and `torch.linalg.inv`, and copies to a GPU. There the error comes when the program reads the
result.

A TorchDispatchMode would see the reads, too, and those in C++, but it costs some microseconds for each operator of
torch, and sees one thread.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

#: Names in `torch.cuda`, `torch.cuda.Stream` and `torch.cuda.Event`.
_WAITS = ("synchronize",)
#: Methods of tensors, and functions of torch with the same name.
_FUNCTIONS = (
    "equal", "allclose", "is_nonzero", "nonzero", "argwhere", "masked_select", "unique", "unique_consecutive",
    "bincount",
)  # fmt: skip
#: Methods of tensors. `Tensor.__contains__`, `Tensor.__repr__` and others call them.
_METHODS = (
    "cpu", "item", "tolist", "numpy", "__bool__", "__int__", "__float__", "__index__", "__complex__", *_FUNCTIONS
)  # fmt: skip
#: Methods of tensors that may copy from a GPU to the CPU, and may be asked not to wait.
_COPIES = ("to", "type", "copy_")

#: The packages whose reads are those of the followers, or of a report.
_OWN = ("triton_ext.probe.", "triton_ext.sanitize.")

_followers: list[Callable[[], None]] = []
_originals: list[tuple[Any, str, Any]] = []
_captures: set[int] = set()  # the CUDA graphs that are captured, by identity; a look could not wait for the device
_lock = threading.RLock()


def follow(follower: Callable[[], None]) -> None:
    """Has `follower` called after each wait for a device. Imports torch only if the program has."""
    with _lock:
        _followers.append(follower)
    imported()


def imported() -> None:
    """Wraps the functions if somebody follows, and torch is imported by now."""
    if not _followers or _originals or "torch" not in sys.modules:
        return
    with _lock:
        if _followers and not _originals:
            for owner, name, wrap in _wrappers(sys.modules["torch"]):
                original = getattr(owner, name)
                _originals.append((owner, name, vars(owner).get(name)))
                setattr(owner, name, wrapped := wrap(original))
                if operator := _operators().get(id(original)):
                    _operators()[id(wrapped)] = operator


def forget(follower: Callable[[], None]) -> None:
    """Takes back one `follow`; the last one restores the functions."""
    with _lock:
        _followers.remove(follower)
        if _followers:
            return
        for owner, name, original in _originals:
            _operators().pop(id(vars(owner)[name]), None)
            if original is None:  # it was inherited
                delattr(owner, name)
            else:
                setattr(owner, name, original)
        _originals.clear()
        _captures.clear()
        if (known := sys.modules.get("torch._dynamo.trace_rules")) is not None:
            known.clear_lru_cache()  # it may have found our functions under the names of torch's


def _operators() -> dict[int, str]:
    """Returns the operators of TorchScript, by the identity of the function of torch that calls them."""
    from torch.jit import _builtins

    return _builtins._get_builtin_table()  # type: ignore[no-any-return]


def _wrappers(torch: Any) -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yields what has a function, its name, and what wraps it."""

    def is_on_gpu(one: Any) -> bool:
        return isinstance(one, torch.Tensor) and one.is_cuda

    def reads(_: Any, args: Any, kwargs: Any) -> bool:
        return any(map(is_on_gpu, args)) or (bool(kwargs) and any(map(is_on_gpu, kwargs.values())))

    def copies(result: Any, args: Any, kwargs: Any) -> bool:
        if isinstance(result, torch.Tensor) and not result.is_cuda and reads(result, args, kwargs):
            # Of the flags that can be given without a name, this one is the first.
            return not next((one for one in args if isinstance(one, bool)), kwargs.get("non_blocking", False))
        return False

    def of(owner: Any, names: tuple[str, ...], waits: Callable[[Any, Any, Any], bool]) -> Iterator[Any]:
        for name in names:
            yield owner, name, functools.partial(_wrapped, waits)

    for owner in (torch.cuda, torch.cuda.Stream, torch.cuda.Event):
        yield from of(owner, _WAITS, lambda *_: True)
    yield from of(torch.Tensor, _METHODS, reads)
    yield from of(torch, _FUNCTIONS, reads)
    yield from of(torch.Tensor, _COPIES, copies)
    yield from of(torch.UntypedStorage, ("cpu",), lambda _, args, __: args[0].is_cuda)  # in `torch.save`
    yield torch.cuda.CUDAGraph, "capture_begin", _begins
    yield torch.cuda.CUDAGraph, "capture_end", _ends


def _wrapped(waits: Callable[[Any, Any, Any], bool], wait: Callable[..., Any]) -> Callable[..., Any]:
    """Returns `wait` with a look behind it, if `waits` says of the result and the arguments that it has waited."""
    import torch

    @functools.wraps(wait)
    def wait_and_look(*args: Any, **kwargs: Any) -> Any:
        if torch.compiler.is_compiling():  # torch.compile reads these lines, and compiles no look
            return wait(*args, **kwargs)
        result = wait(*args, **kwargs)
        if waits(result, args, kwargs) and not sys._getframe(1).f_globals.get("__name__", "").startswith(_OWN):
            _look()
        return result

    _keep_from_compiler(wait_and_look)
    return wait_and_look


def _keep_from_compiler(function: Any) -> None:
    """Has torch.compile run `function` and what it calls as they are, without importing ``torch._dynamo``.

    It does so behind a graph break. A function that is traced is inlined all the same.
    """
    from torch._C._dynamo import eval_frame

    skip = eval_frame._FrameAction.SKIP
    eval_frame.set_code_exec_strategy(function.__code__, eval_frame._FrameExecStrategy(skip, skip))


def _begins(begin: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(begin)
    def begin_and_note(graph: Any, *args: Any, **kwargs: Any) -> Any:
        result = begin(graph, *args, **kwargs)
        _captures.add(id(graph))
        return result

    return begin_and_note


def _ends(end: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(end)
    def end_and_note(graph: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return end(graph, *args, **kwargs)
        finally:
            _captures.discard(id(graph))

    return end_and_note


class _Looking(threading.local):
    """Whether the thread is in a follower, which waits itself."""

    now = False


_is_looking = _Looking()


def _look() -> None:
    """Calls the followers, unless they cannot wait for the device, or operators of torch do not run now."""
    import torch

    is_traced = torch._C._get_dispatch_mode(torch._C._TorchDispatchModeKey.FAKE) is not None
    is_captured = bool(_captures) or (torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing())
    if _is_looking.now or is_traced or is_captured:
        return
    _is_looking.now = True
    try:
        for follower in tuple(_followers):
            follower()
    finally:
        _is_looking.now = False
