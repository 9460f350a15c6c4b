# SPDX-License-Identifier: Apache-2.0
"""The globals of a backend's ``compiler.py`` through which its stages add passes.

A stage fills pass managers through them: ``ir.pass_manager(...)``, ``passes.<group>.add_<pass>(manager, ...)``. They
are replaced, once, by proxies. While a stage runs for somebody, `running` says for whom: ``ir.pass_manager`` then makes
a manager that keeps a list of what is added, and gives itself to that one when it is run. At all other times the
proxies hand out what they stand for.
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

from .table import differs

_OURS = ("builtins", "abc", "triton.backends.compiler")


@dataclass(frozen=True)
class Added:
    """A call that has added a pass.

    Attributes:
        name: ``group.pass``.
        add: the function of libtriton.
        args: its arguments, without the manager.
    """

    name: str
    add: Callable[..., None]
    args: tuple[Any, ...] = ()


class RunsStage(Protocol):
    """Somebody for whom a stage runs.

    Attributes:
        watches: the managers run as usual, and only keep the list.
        rehearsing: the stage runs only to see which passes it would run.
    """

    @property
    def watches(self) -> bool: ...  # noqa: D102
    @property
    def rehearsing(self) -> bool: ...  # noqa: D102
    def run_manager(self, manager: Manager, module: Any, label: str) -> None:
        """Does what ``manager.run(module, label)`` is to do."""

    def translate(self, to_module: Callable[..., Any], module: Any, *args: Any) -> Any:
        """Does what ``llvm.to_module(module, ...)`` is to do, which is `to_module`."""


#: For whom a stage runs in this thread; None for nobody.
running: contextvars.ContextVar[RunsStage | None] = contextvars.ContextVar("triton_ext_stage", default=None)


class RehearsalDone(Exception):  # noqa: N818 - ends a rehearsal, is no error
    """Ends a rehearsal: the stage goes on with what is not a pass of MLIR."""


class Manager(ir.pass_manager):  # type: ignore[misc]
    """A pass manager that keeps the list of what is added to it.

    Attributes:
        added: the list.
        records: nothing is added to the manager itself, until it is run.
        debugged: whether the backend has enabled what Triton's environment variables ask for.
    """

    def __init__(self, context: Any, owner: RunsStage) -> None:
        super().__init__(context)
        self._owner = owner
        self.records = not owner.watches
        self.added: list[Added] = []
        self.debugged = False

    def enable_debug(self) -> bool:
        """As of the class above, and remembered for managers that take this one's place."""
        self.debugged = True
        return bool(super().enable_debug())

    def run(self, module: Any, label: str) -> None:
        """Gives itself to the one for whom the stage runs."""
        self._owner.run_manager(self, module, label)

    def add(self, one: Added) -> None:
        """Keeps `one` in the list, and adds the pass itself unless it `records`."""
        if not self.records:
            one.add(self, *one.args)
        self.added.append(one)


def is_pass(add: object) -> bool:
    """Whether the function `add` of libtriton adds a pass to a pass manager."""
    return callable(add) and "pass_manager" in (add.__doc__ or "").partition(",")[0].partition(")")[0]


class _Namespace(types.ModuleType):
    """Stands for a module of libtriton in a backend's ``compiler.py``."""

    def __init__(self, real: Any, prefix: str) -> None:
        super().__init__(real.__name__, real.__doc__)
        self._real = real
        self._prefix = prefix

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._real, name)
        if isinstance(value, types.ModuleType):
            # `passes` says nothing in nvidia.passes.ttnvgpuir.add_…
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
    """Triton's instrumentation points add passes of profilers to the manager that they are given."""
    if args and type(args[0]) is Manager and args[0].records:

        def add(actual: Any) -> None:
            real(actual, *args[1:], **kwargs)

        args[0].add(Added(f"instrument.{kwargs.get('point', '')}", add))
        return None
    return real(*args, **kwargs)


_replaced: set[str] = set()
_lock = threading.Lock()


def replace_globals(backend: Any) -> None:
    """Puts the proxies into the modules of `backend`, once for each.

    Raises:
        TritonExtError: a backend of Triton's own has nothing to replace.
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
