# SPDX-License-Identifier: Apache-2.0
"""Detects that a Python function may behave differently than before, fast enough for every launch."""

from __future__ import annotations

import functools
import hashlib
import inspect
import types
from collections.abc import Iterable, Iterator, Mapping

from .code import MISSING, is_installed, value_at, variables_of
from .description import CONSTANTS
from .fingerprint import fingerprint
from .objects import cache_key_of


def declaring_code(function: object) -> set[types.CodeType]:
    """Returns the code of those functions, among `function` and what it uses, that have an attribute ``cache_key``."""
    reads = _Reads()
    reads.add(function)
    return reads.declaring


class Watch:
    """Keeps the fingerprints of functions that a `Guard` watches, and computes them anew after a change.

    A function may behave differently if its code, a variable of its closure or a global that it names is another object
    than before; comparing identities shows that quickly. It also may if such an object was changed in place, e.g. a
    list or an attribute; only a new description shows that. Many functions change objects themselves, to report their
    findings.

    Args:
        functions: the functions.

    Attributes:
        can_change: whether one of them may behave differently later. Those of triton-ext that have no closure do not:
            nobody edits them.
    """

    def __init__(self, functions: Iterable[object]) -> None:
        self.functions = tuple(functions)
        self.can_change = not all(map(_is_own, self.functions))
        self._known: tuple[str, ...] = ()
        self._reads = _Reads()
        self._describe()

    def fingerprints(self, *, inside: bool) -> tuple[str, ...]:
        """Returns the fingerprint of each function.

        Args:
            inside: whether to look for changes in place, too.

        Raises:
            PipelineError: a function depends on an object that has no stable description.
        """
        if self.functions and ((inside and self._reads.mutable) or not self._reads.unchanged()):
            self._describe()
        return self._known

    def drift(self) -> str:
        """Returns a text for the changes in place since the fingerprints were made; empty if there are none."""
        if not self._reads.mutable:
            return ""
        now = tuple(fingerprint(function, watched=True) for function in self.functions)
        return "" if now == self._known else f"~{hashlib.sha256(repr(now).encode()).hexdigest()[:16]}"

    def _describe(self) -> None:
        self._reads = _Reads()
        for function in self.functions:
            self._reads.add(function)
        self._known = tuple(fingerprint(function, watched=True) for function in self.functions)


def _is_own(function: object) -> bool:
    if not isinstance(function, types.FunctionType) or function.__closure__ or function.__defaults__:
        return False
    return str(function.__globals__.get("__name__", "")).partition(".")[0] == "triton_ext"


class _Reads:
    """The variables that functions read, and the objects that were found there.

    Attributes:
        mutable: whether some of the objects can change in place.
        declaring: the code of the functions with an attribute ``cache_key``, except kernels, whose key is Triton's.
    """

    def __init__(self) -> None:
        self.mutable = False
        self.declaring: set[types.CodeType] = set()
        self._functions: dict[types.FunctionType, tuple[object, object]] = {}
        self._sizes: list[tuple[Mapping[str, object], int]] = []
        self._cells: list[tuple[types.CellType, object]] = []
        self._names: list[tuple[Mapping[str, object], str, object]] = []

    def unchanged(self) -> bool:
        """Whether all variables still refer to the same objects."""
        for function, (code, defaults) in self._functions.items():
            if function.__code__ is not code or function.__defaults__ is not defaults:
                return False
        for variables, size in self._sizes:
            if len(variables) != size:
                return False
        try:
            for cell, value in self._cells:
                if cell.cell_contents is not value:
                    return False
        except ValueError:  # the variable is deleted
            return False
        for variables, name, value in self._names:  # noqa: SIM110 - every launch does this
            if variables.get(name, MISSING) is not value:
                return False
        return True

    def add(self, value: object) -> None:
        """Adds `value` and the variables that it reads."""
        self.mutable |= not is_installed(type(value).__module__)
        if cache_key_of(value) is not None:
            self.mutable = True
            if type(value).__module__.partition(".")[0] != "triton":
                self.declaring.update(_code_of(value))
        elif isinstance(value, types.FunctionType):
            if value not in self._functions:
                self._add_function(value)
        elif isinstance(value, tuple):
            for item in value:
                self.add(item)
        elif isinstance(value, functools.partial):
            for item in (value.func, *value.args):
                self.add(item)
            self._add_all(value.keywords)
            self._add_all(vars(value))
        elif isinstance(value, type):
            self.mutable |= not is_installed(value.__module__)
        elif value is not MISSING and not isinstance(value, CONSTANTS):
            self.mutable = True

    def _add_all(self, variables: Mapping[str, object]) -> None:
        self._sizes.append((variables, len(variables)))
        for name, value in variables.items():
            self._names.append((variables, name, value))
            self.add(value)

    def _add_function(self, function: types.FunctionType) -> None:
        self._functions[function] = function.__code__, function.__defaults__
        self.mutable |= bool(function.__kwdefaults__)
        self.add(function.__defaults__)
        if not is_installed(str(function.__module__)):
            self._add_all(vars(function))
        for _, place, name in variables_of(function):
            value = value_at(place, name)
            if not isinstance(place, types.CellType):
                self._names.append((place, name, value))
            elif value is MISSING:
                self.mutable = True
            else:
                self._cells.append((place, value))
            self.add(value)


def _code_of(value: object) -> Iterator[types.CodeType]:
    """Yields the code of a function and of the functions within it, or of the methods of an object."""
    while isinstance(value, functools.partial | types.MethodType):
        value = value.func if isinstance(value, functools.partial) else value.__func__
    todo: list[object] = [value]
    if not isinstance(value, types.FunctionType):
        kinds = value.__mro__ if isinstance(value, type) else type(value).__mro__
        todo = [member for kind in kinds for member in vars(kind).values()]
    while todo:
        found = inspect.unwrap(item) if callable(item := todo.pop()) else item
        found = getattr(found, "__func__", getattr(found, "fget", found))
        code = found if isinstance(found, types.CodeType) else getattr(found, "__code__", None)
        if isinstance(code, types.CodeType):
            yield code
            todo += [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
