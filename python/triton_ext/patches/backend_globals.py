# SPDX-License-Identifier: Apache-2.0
"""Replaces the globals of a backend's ``compiler.py`` through which its stages add passes.

A stage fills pass managers through these globals: ``ir.pass_manager(...)``, ``passes.<group>.add_<pass>(manager,
...)``. Each is replaced once, by a proxy. While `running` holds the owner of the stage that runs in this thread,
``ir.pass_manager`` makes a `Manager`, which keeps a list of the passes that are added to it and calls its owner when
the stage runs it. At all other times the proxies return the attributes of libtriton unchanged.
"""

from __future__ import annotations

import contextvars
import functools
import sys
import threading
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from triton._C.libtriton import ir, llvm

from .signatures import is_pass
from .table import differs

_OURS = ("builtins", "abc", "triton.backends.compiler")


@dataclass(frozen=True)
class Added:
    """One call that adds a pass.

    Attributes:
        name: ``group.pass``.
        add: the function of libtriton that was called.
        args: its arguments, without the pass manager.
    """

    name: str
    add: Callable[..., None]
    args: tuple[Any, ...] = ()


class RunsStage(Protocol):
    """The owner of a stage that runs.

    Attributes:
        watches: whether the pass managers run unchanged and only keep the list.
        rehearsing: whether the stage runs only to see which passes it would run.
    """

    @property
    def watches(self) -> bool: ...  # noqa: D102
    @property
    def rehearsing(self) -> bool: ...  # noqa: D102
    def run_manager(self, manager: Manager, module: Any, label: str) -> None:
        """Is called instead of ``manager.run(module, label)``."""

    def translate(self, to_module: Callable[..., Any], module: Any, *args: Any) -> Any:
        """Takes the place of ``llvm.to_module(module, ...)``, which is given as `to_module`."""

    def optimize(self, optimize_module: Callable[..., Any], module: Any, *args: Any, **named: Any) -> None:
        """Takes the place of ``llvm.optimize_module(module, ...)``, which is given as `optimize_module`."""


#: The owner of the stage that runs in this thread; None if no stage runs, or one without an owner.
running: contextvars.ContextVar[RunsStage | None] = contextvars.ContextVar("triton_ext_stage", default=None)


class RehearsalDone(Exception):  # noqa: N818 - ends a rehearsal and is not an error
    """Ends a rehearsal, because the stage has run all of its MLIR passes and goes on with LLVM."""


class Manager(ir.pass_manager):  # type: ignore[misc]
    """A pass manager that keeps a list of the passes that are added to it.

    Attributes:
        added: the list.
        records: whether passes are only put into the list; the owner adds them when the manager is run.
        debugged: whether the backend has called ``enable_debug``.
    """

    def __init__(self, context: Any, owner: RunsStage) -> None:
        super().__init__(context)
        self._owner = owner
        self.records = not owner.watches
        self.added: list[Added] = []
        self.debugged = False

    def enable_debug(self) -> bool:
        """Does what libtriton's method does, and remembers it for the managers that the owner runs instead."""
        self.debugged = True
        return bool(super().enable_debug())

    def run(self, module: Any, label: str) -> None:
        """Has the owner run the passes."""
        self._owner.run_manager(self, module, label)

    def add(self, one: Added) -> None:
        """Puts `one` into the list, and adds the pass itself unless the manager `records`."""
        if not self.records:
            one.add(self, *one.args)
        self.added.append(one)


class _Namespace(types.ModuleType):
    """The proxy for a module of libtriton in a backend's ``compiler.py``."""

    def __init__(self, real: Any, prefix: str) -> None:
        super().__init__(real.__name__, real.__doc__)
        self._real = real
        self._prefix = prefix

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._real, name)
        if isinstance(value, types.ModuleType):
            # The name of nvidia.passes.ttnvgpuir.add_fence_insertion is nvidia.ttnvgpuir.fence_insertion.
            inner = _Namespace(value, self._prefix if name == "passes" else f"{self._prefix}{name}.")
            self.__dict__[name] = inner
            return inner
        if name.startswith("add_") and is_pass(value):
            add = functools.partial(_add, self._real, name, self._prefix + name.removeprefix("add_"))
            self.__dict__[name] = add
            return add
        if self._real is ir:
            return _new_manager if name == "pass_manager" else value
        owner = running.get()
        if owner is not None and self._real is llvm:
            if owner.rehearsing:
                raise RehearsalDone
            if name == "to_module":
                return functools.partial(owner.translate, value)
            if name == "optimize_module":
                return functools.partial(owner.optimize, value)
        return value

    def __dir__(self) -> list[str]:
        return dir(self._real)


def _add(real: Any, attribute: str, name: str, manager: Any, *args: Any) -> None:
    function = getattr(real, attribute)
    if type(manager) is Manager:
        manager.add(Added(name, function, args))
    else:
        function(manager, *args)


def _new_manager(context: Any) -> Any:
    owner = running.get()
    return ir.pass_manager(context) if owner is None else Manager(context, owner)


def _instrument(real: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Calls an instrumentation point of Triton, by which profilers add passes to the manager in `args`."""
    if args and type(args[0]) is Manager and args[0].records:

        def add(actual: Any) -> None:
            real(actual, *args[1:], **kwargs)

        args[0].add(Added(f"instrument.{kwargs.get('point', '')}", add))
        return None
    return real(*args, **kwargs)


_replaced: set[str] = set()
_lock = threading.Lock()


def replace_globals(backend: Any) -> None:
    """Puts the proxies into the modules that the class of `backend` is defined in, once for each module.

    Raises:
        TritonExtError: one of Triton's own backends does not have the globals ``ir`` and ``passes``.
    """
    modules = {cls.__module__ for cls in type(backend).__mro__} - set(_OURS)
    if modules <= _replaced:
        return
    with _lock:
        for module in filter(None, map(sys.modules.get, modules - _replaced)):
            names = []
            for name, value in list(vars(module).items()):
                if isinstance(value, types.ModuleType) and value.__name__.startswith("triton._C.libtriton."):
                    prefix = "" if name in ("passes", "ir") else f"{name}."
                    setattr(module, name, _Namespace(value, prefix))
                    names.append(name)
                elif name == "instrument" and callable(value):
                    setattr(module, name, functools.partial(_instrument, value))
            if not {"ir", "passes"} <= set(names) and module.__name__.startswith("triton.backends."):
                found = ", ".join(names) or "nothing"
                raise differs(
                    "backend_globals", f"{module.__name__} has of libtriton {found}, expected ir and passes as globals"
                )
        _replaced.update(modules)
