# SPDX-License-Identifier: Apache-2.0
"""Describes Python values by what they do, for `fingerprint`: as nested tuples of plain data."""

from __future__ import annotations

import argparse
import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import hashlib
import inspect
import logging
import re
import sys
import types
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from ..errors import PipelineError
from .code import MISSING, file_of, imports, is_installed, is_installed_function, value_at, variables_of, words
from .outside import WAY_OUT, outside, reading, whole

CONSTANTS = (
    bool, int, float, complex, str, bytes, type(None), types.EllipsisType, types.ModuleType, types.CodeType,
    types.BuiltinFunctionType, types.MethodDescriptorType, enum.Enum, PurePath, re.Pattern,
)  # fmt: skip
_CACHED = type(functools.cache(len))
_BUILTIN = (
    types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType, types.MethodWrapperType,
    types.ClassMethodDescriptorType, types.GetSetDescriptorType, types.MemberDescriptorType,
)  # fmt: skip
_ABSTRACT = ("abc", "typing")  # whose classes bring no state
#: What runs when a class is called, which the class of an object that is there already does not need to be.
_CONSTRUCTORS = ("__new__", "__init__", "__post_init__")


class Description:
    """Describes values as nested tuples of plain data, functions and classes that it meets again by a number."""

    def __init__(self, parent: Description | None = None, *, watched: bool = False) -> None:
        self._watched: bool = parent._watched if parent else watched
        self._numbers: dict[int, int] = {}
        self._modules: dict[str, object] = {}
        self._open: list[int] = []  # the containers around a value
        # What is not described of classes, and what may ask for it.
        self._left_out: list[tuple[type, str, PipelineError]] = parent._left_out if parent else []
        self._words: set[str] = parent._words if parent else set()
        self._called: set[type] = parent._called if parent else set()

    def refuse_called(self) -> None:
        """Raises the error of a method that is not described, if something that is described may call it."""
        for cls, name, error in self._left_out:
            is_special = name.startswith("__") and name.endswith("__")
            if (cls in self._called) if name in _CONSTRUCTORS else (is_special or name in self._words):
                raise error

    def of(self, value: object, where: str) -> object:
        """The description of `value`, which `where` names in errors."""
        if value is None or isinstance(value, bool | int | float | complex | str | bytes | types.EllipsisType):
            return (type(value).__name__, repr(value))
        if isinstance(value, types.ModuleType):
            if what := whole(value):
                raise _refused(where, f"is the module '{value.__name__}': {what}")
            return self._module(value.__name__, getattr(value, "__file__", None))
        if (key := cache_key_of(value)) is not None:
            named = value if isinstance(value, types.FunctionType | type) else type(value)
            code = self.of(value.__code__, where) if isinstance(value, types.FunctionType) else None
            return ("key", named.__module__, named.__qualname__, code, key)
        if what := outside(value):
            raise _refused(where or _name_of(value), f"reads {what}")
        if isinstance(value, type):
            self._called.add(value)
        return self._shared(value) if isinstance(value, types.FunctionType | type) else self._inner(value, where)

    def _shared(self, value: types.FunctionType | type) -> object:
        if id(value) in self._numbers:
            return ("again", self._numbers[id(value)])
        self._numbers[id(value)] = len(self._numbers)
        return self._function(value) if isinstance(value, types.FunctionType) else self._class(value)

    def _inner(self, value: object, where: str) -> object:
        if id(value) in self._open:
            return ("around", len(self._open) - self._open.index(id(value)))
        self._open.append(id(value))
        try:
            return self._compound(value, where)
        finally:
            self._open.pop()

    def _compound(self, value: Any, where: str) -> object:
        if isinstance(value, types.CodeType):
            constants = tuple(self.of(constant, where) for constant in value.co_consts)
            table = getattr(value, "co_exceptiontable", b"")
            return ("code", value.co_code, table, constants, value.co_names, value.co_varnames, value.co_freevars)
        if isinstance(value, list | tuple | collections.deque):
            return (type(value).__name__, *(self.of(item, where) for item in value))
        if isinstance(value, set | frozenset):  # has no order, so the numbers of one item must not depend on another
            return (type(value).__name__, *sorted(repr(Description(self).of(item, where)) for item in value))
        if isinstance(value, dict | types.MappingProxyType):
            return (type(value).__name__, *((self.of(k, where), self.of(v, where)) for k, v in value.items()))
        if isinstance(value, types.MethodType):
            return ("method", self.of(value.__func__, where), self.of(value.__self__, where))
        if isinstance(value, functools.partial):
            return ("partial", *(self.of(part, where) for part in (value.func, value.args, value.keywords)))
        if isinstance(value, _CACHED | staticmethod | classmethod):
            return (type(value).__name__, self.of(value.__wrapped__, where))
        if isinstance(value, property):
            return ("property", *(self.of(part, where) for part in (value.fget, value.fset, value.fdel)))
        if isinstance(value, enum.Enum):
            return ("enum", type(value).__qualname__, value.name, self.of(value.value, where))
        if isinstance(value, PurePath):
            return ("path", str(value))
        if isinstance(value, slice):
            return ("slice", *(self.of(part, where) for part in (value.start, value.stop, value.step)))
        if isinstance(value, types.SimpleNamespace | argparse.Namespace):
            return ("namespace", self.of(vars(value), where))
        if isinstance(value, _SHOWN_WHOLE):
            return (type(value).__qualname__, repr(value))
        if isinstance(value, logging.Logger):
            return ("logger", value.name)
        if type(value).__qualname__ == "_tuplegetter":  # a field of a named tuple
            return ("field", *(self.of(part, where) for part in value.__reduce__()[1]))
        if array := _array(value):
            return array
        if isinstance(value, re.Pattern):
            return ("pattern", value.pattern, value.flags)
        if isinstance(value, functools.cached_property):
            return ("cached property", self.of(value.func, where))
        if isinstance(value, _BUILTIN):
            return ("builtin", getattr(value, "__module__", None), value.__qualname__)
        if _is_plain_object(value):
            call = vars(type(value)).get("__call__")  # what runs, if it is the pass, has to be described in full
            parts = [self.of(call, where), self._shared(type(value))]
            for name, attribute in sorted(dict(_state(value)).items()):
                parts.append((name, self.of(attribute, f"the attribute '{name}' of {where or repr(value)}")))
            return ("object", *parts)
        raise _refused(where or repr(value), f"is a {type(value).__module__}.{type(value).__qualname__}")

    def _function(self, function: types.FunctionType) -> object:
        name = function.__qualname__
        code, defaults = function.__code__, function.__defaults__ or ()
        names = code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount]
        parts: list[object] = [self.of(code, name)]
        for key, value in (*zip(names, defaults, strict=True), *sorted((function.__kwdefaults__ or {}).items())):
            parts.append((key, self.of(value, f"the default '{key}' of {name}")))
        is_open = not is_installed_function(function)
        if is_open and (what := reading(function, watched=self._watched)):
            raise _refused(name, what)
        for label, place, variable in variables_of(function):
            value = value_at(place, variable)
            if value is MISSING:
                parts.append((label, "missing"))
            elif isinstance(value, types.ModuleType):  # what is taken of it is a variable of its own
                parts.append((label, self._module(value.__name__, getattr(value, "__file__", None))))
            else:
                parts.append((label, self.of(value, f"{label} of {name}")))
        if is_open:
            self._words |= words(code)
            return ("function", *parts, *(self._module(module, file) for module, _, file in imports(function)))
        module = str(function.__globals__.get("__name__"))
        return ("function", *parts, self._module(module))

    def _class(self, cls: type) -> object:
        parts: list[object] = [cls.__module__, cls.__qualname__, self._module(cls.__module__)]
        if is_installed(cls.__module__):
            return ("class", *parts)
        parts += (self._shared(base) for base in cls.__bases__)
        for name, value in sorted(vars(cls).items()):
            if name in _OF_EVERY_CLASS:
                continue
            known = dict(self._numbers)
            try:
                parts.append((name, self.of(value, f"the attribute '{name}' of {cls.__qualname__}")))
            except PipelineError as error:  # of many methods, one that is not called may read anything
                self._numbers = known
                self._left_out.append((cls, name, error))
                code = getattr(value, "__code__", None)
                parts.append((name, self.of(code, "") if code else type(value).__qualname__))
        return ("class", *parts)

    def _module(self, name: str, file: str | None = None) -> object:
        if name not in self._modules:
            self._modules[name] = file_of(name, file or getattr(sys.modules.get(name), "__file__", None))
        return self._modules[name]


#: What these show is all that there is to them.
_SHOWN_WHOLE = (
    range, bytearray, decimal.Decimal, fractions.Fraction, datetime.date, datetime.time, datetime.timedelta,
    types.GenericAlias, types.UnionType,
)  # fmt: skip


def _array(value: Any) -> tuple[object, ...] | None:
    """The description of an array, a number or a data type of NumPy; None for objects in one, and anything else."""
    numpy: Any = sys.modules.get("numpy")
    if numpy is None:
        return None
    if isinstance(value, numpy.dtype):
        return ("data type", str(value))
    if isinstance(value, numpy.ndarray | numpy.generic) and not value.dtype.hasobject:
        return ("array", str(value.dtype), value.shape, hashlib.sha256(value.tobytes()).hexdigest())
    return None


_OF_EVERY_CLASS = {
    *vars(type("Empty", (), {})), "__annotations__", "__slots__", "__match_args__", "__dataclass_fields__",
    "__dataclass_params__", "_abc_impl",
}  # fmt: skip


def _refused(what: str, why: str) -> PipelineError:
    return PipelineError(f"no cache key can be made of {what}, which {why}; {WAY_OUT}")


def _name_of(value: object) -> str:
    return str(getattr(value, "__qualname__", None) or repr(value))


def cache_key_of(value: object) -> str | None:
    """The attribute ``cache_key`` of `value`, if it is a text.

    Raises:
        PipelineError: a function has one that is no text.
    """
    if inspect.getattr_static(value, "cache_key", None) is None:  # nobody's __getattr__ is asked
        return None
    key = getattr(value, "cache_key", None)
    if isinstance(value, types.FunctionType) and not isinstance(key, str):
        raise PipelineError(f"the cache_key of {_name_of(value)} has to be a text, found {type(key).__name__}")
    return key if isinstance(key, str) else None


def _is_plain_object(value: object) -> bool:
    """Whether its class and its attributes are all that there is to it."""
    cls = type(value)
    if dataclasses.is_dataclass(cls) or isinstance(getattr(cls, "__call__", None), types.FunctionType):  # noqa: B004
        return True
    if "__dict__" in vars(cls) and cls.__bases__ == (object,) and not vars(value):
        return True  # such as the marks that a library puts where nothing is given
    return all(_is_python(base) for base in cls.__mro__ if base is not object and base.__module__ not in _ABSTRACT)


def _is_python(cls: type) -> bool:
    """Whether it is written in Python, and not in an installed package."""
    has_attributes = "__slots__" in vars(cls) or any("__dict__" in vars(base) for base in cls.__mro__)
    return has_attributes and not is_installed(cls.__module__)


def _state(value: object) -> Iterator[tuple[str, object]]:
    """The attributes of an object, in ``__dict__`` or in slots."""
    yield from getattr(value, "__dict__", {}).items()
    for cls in type(value).__mro__:
        for name, member in vars(cls).items():
            if isinstance(member, types.MemberDescriptorType) and hasattr(value, name):
                yield name, getattr(value, name)
