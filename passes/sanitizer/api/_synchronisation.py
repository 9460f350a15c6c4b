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
import pkgutil
import sys
import threading
import types
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
_wrappers: list[_Wrapper] = []  # those of now
_kept: dict[tuple[Any, str, int], _Wrapper] = {}  # all, because programs and TorchScript know them by identity
_captures: set[int] = set()  # the CUDA graphs that are captured, by identity; a look could not wait for the device
_lock = threading.RLock()


def follow(follower: Callable[[], None]) -> None:
    """Has `follower` called after each wait for a device. Imports torch only if the program has."""
    with _lock:
        _followers.append(follower)
    imported()


def imported() -> None:
    """Wraps the functions if somebody follows, and torch is imported by now."""
    if not _followers or _wrappers or "torch" not in sys.modules:
        return
    with _lock:
        if _followers and not _wrappers:
            _tell_compiler()
            for wrapper in _made(sys.modules["torch"]):
                _wrappers.append(wrapper)
                setattr(wrapper.owner, wrapper.name, wrapper)
                if operator := _operators().get(id(wrapper.original)):
                    _operators()[id(wrapper)] = operator


def forget(follower: Callable[[], None]) -> None:
    """Takes back one `follow`; the last one restores the functions, unless something else has replaced them since."""
    with _lock:
        _followers.remove(follower)
        if _followers:
            return
        for wrapper in _wrappers:
            if vars(wrapper.owner).get(wrapper.name) is not wrapper:
                continue
            if wrapper.replaced is None:  # it was inherited
                delattr(wrapper.owner, wrapper.name)
            else:
                setattr(wrapper.owner, wrapper.name, wrapper.replaced)
        _wrappers.clear()
        _captures.clear()
        if (known := sys.modules.get("torch._dynamo.trace_rules")) is not None:
            known.clear_lru_cache()  # it may have found our functions under the names of torch's


def _operators() -> dict[int, str]:
    """Returns the operators of TorchScript, by the identity of the function of torch that calls them."""
    from torch.jit import _builtins

    return _builtins._get_builtin_table()  # type: ignore[no-any-return]


class _Wrapper:
    """What is in the place of a function of torch.

    It equals the function. Torch looks a method up before it hands it to ``__torch_function__``, so that gets the
    wrapper, and looks for it in tables, which may have been made before the block. A program may keep a wrapper, and
    put it back behind the block: without a follower, it only calls the function.
    """

    def __init__(self, owner: Any, name: str) -> None:
        self.owner, self.name = owner, name
        self.original = getattr(owner, name)
        self.replaced = vars(owner).get(name)
        functools.update_wrapper(self, self.original)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __eq__(self, other: object) -> Any:
        return self.original == (other.original if isinstance(other, _Wrapper) else other)

    def __hash__(self) -> int:
        return hash(self.original)

    def __repr__(self) -> str:
        return repr(self.original)

    def __reduce__(self) -> Any:
        owner = self.owner
        module, of = (owner.__module__, f"{owner.__name__}.") if isinstance(owner, type) else (owner.__name__, "")
        return pkgutil.resolve_name, (f"{module}:{of}{self.name}",)


class _Wait(_Wrapper):
    """Looks behind the function, if `waits` says of the result and the arguments that it has waited."""

    def __init__(self, owner: Any, name: str, waits: Callable[[Any, Any, Any], bool]) -> None:
        import torch

        super().__init__(owner, name)
        self._waits = waits
        self._is_compiling = torch.compiler.is_compiling
        self._has_torch_function = torch.overrides.has_torch_function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._is_compiling():  # torch.compile reads these lines, and compiles no look
            return self.original(*args, **kwargs)
        result = self.original(*args, **kwargs)
        if _followers and self._has_waited(result, args, kwargs):
            caller = sys._getframe().f_back  # None if C has called
            if caller is None or not caller.f_globals.get("__name__", "").startswith(_OWN):
                _look()
        return result

    def _has_waited(self, result: Any, args: Any, kwargs: Any) -> bool:
        if self._has_torch_function(args) or (kwargs and self._has_torch_function(tuple(kwargs.values()))):
            import torch

            with torch._C.DisableTorchFunction():  # `is_cuda` is a function, too
                return self._waits(result, args, kwargs)
        return self._waits(result, args, kwargs)


class _Begin(_Wrapper):
    def __call__(self, graph: Any, *args: Any, **kwargs: Any) -> Any:
        result = self.original(graph, *args, **kwargs)
        _captures.add(id(graph))
        return result


class _End(_Wrapper):
    def __call__(self, graph: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return self.original(graph, *args, **kwargs)
        finally:
            _captures.discard(id(graph))


def _made(torch: Any) -> Iterator[_Wrapper]:
    """Yields the wrappers; a function gets the one that it had, and one that somebody has put back is taken."""

    def is_on_gpu(one: Any) -> bool:
        return isinstance(one, torch.Tensor) and one.is_cuda

    def reads(_: Any, args: Any, kwargs: Any) -> bool:
        return any(map(is_on_gpu, args)) or (bool(kwargs) and any(map(is_on_gpu, kwargs.values())))

    def copies(result: Any, args: Any, kwargs: Any) -> bool:
        if isinstance(result, torch.Tensor) and not result.is_cuda and reads(result, args, kwargs):
            # Of the flags that can be given without a name, this one is the first.
            return not next((one for one in args if isinstance(one, bool)), kwargs.get("non_blocking", False))
        return False

    def of(owner: Any, names: tuple[str, ...], wrap: Callable[..., _Wrapper], *arguments: Any) -> Iterator[_Wrapper]:
        for name in names:
            there = getattr(owner, name)
            if not isinstance(there, _Wrapper):
                key = owner, name, id(there)
                if key not in _kept:
                    _kept[key] = wrap(owner, name, *arguments)
                there = _kept[key]
            yield there

    _keep_from_compiler(_Wrapper.__get__, _Wait.__call__)
    for owner in (torch.cuda, torch.cuda.Stream, torch.cuda.Event):
        yield from of(owner, _WAITS, _Wait, lambda *_: True)
    yield from of(torch.Tensor, _METHODS, _Wait, reads)
    yield from of(torch, _FUNCTIONS, _Wait, reads)
    yield from of(torch.Tensor, _COPIES, _Wait, copies)
    yield from of(torch.UntypedStorage, ("cpu",), _Wait, lambda _, args, __: args[0].is_cuda)  # in `torch.save`
    yield from of(torch.cuda.CUDAGraph, ("capture_begin",), _Begin)
    yield from of(torch.cuda.CUDAGraph, ("capture_end",), _End)


def _keep_from_compiler(*functions: Any) -> None:
    """Has torch.compile run functions and what they call as they are, without importing ``torch._dynamo``.

    It does so behind a graph break. A function that is traced is inlined all the same.
    """
    from torch._C._dynamo import eval_frame

    skip = eval_frame._FrameAction.SKIP
    for function in functions:
        eval_frame.set_code_exec_strategy(function.__code__, eval_frame._FrameExecStrategy(skip, skip))


def _tell_compiler() -> None:
    """Has torch.compile take a wrapper that it finds as a value for what is wrapped, if it is imported by now."""
    if (builder := sys.modules.get("torch._dynamo.variables.builder")) is None:
        return

    def wrapped(tracer: Any, wrapper: _Wrapper) -> Any:
        return builder.VariableBuilder(tracer.tx, builder.AttrSource(tracer.source, "original"))(wrapper.original)

    builder.VariableBuilder._type_dispatch().update(dict.fromkeys((_Wait, _Begin, _End), wrapped))


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
