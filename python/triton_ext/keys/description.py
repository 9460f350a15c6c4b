# SPDX-License-Identifier: Apache-2.0
"""Describes Python values by their behaviour, as nested tuples of plain data, for `fingerprint`."""

from __future__ import annotations

import argparse
import collections
import enum
import functools
import inspect
import logging
import re
import sys
import types
from pathlib import PurePath
from typing import Any

from ..errors import PipelineError
from .code import MISSING, file_of, imports, is_installed, is_installed_function, value_at, variables_of, words
from .objects import (
    ABSTRACT,
    OF_EVERY_CLASS,
    SHOWN_WHOLE,
    array_of,
    asked,
    cache_key_of,
    is_plain_object,
    is_special,
    modules_of,
    name_of,
    state_of,
)
from .outside import WAY_OUT, outside, reading, whole

_PLAIN = {bool, int, float, complex, str, bytes, type(None), types.EllipsisType}
CONSTANTS = (
    bool, int, float, complex, str, bytes, type(None), types.EllipsisType, types.ModuleType, types.CodeType,
    types.BuiltinFunctionType, types.MethodDescriptorType, enum.Enum, PurePath, re.Pattern,
)  # fmt: skip
_CACHED = type(functools.cache(len))
_BUILTIN = (
    types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType, types.MethodWrapperType,
    types.ClassMethodDescriptorType, types.GetSetDescriptorType, types.MemberDescriptorType,
)  # fmt: skip
#: Modules whose classes call no method of a subclass but those with a special name.
_QUIET = ("builtins", *ABSTRACT, "enum", "collections.abc")
#: Code with one of these names may ask an object for any attribute.
_ANY_NAME = {
    "getattr", "vars", "dir", "attrgetter", "methodcaller", "getmembers", "getattr_static", "getmembers_static",
    "__dict__", "__getattribute__",
}  # fmt: skip
#: The methods that run when a class is called. They do not matter for the class of an existing object.
_CONSTRUCTORS = ("__new__", "__init__", "__post_init__")


_Owner = types.FunctionType | type


class Description:
    """Describes values as nested tuples of plain data; a function or class that occurs again becomes a number.

    Args:
        parent: the description that this one is a part of.
        watched: whether a `Guard` sees which files a function opens.
        lenient: whether to describe the files of all reachable modules instead of refusing a value.
    """

    def __init__(self, parent: Description | None = None, *, watched: bool = False, lenient: bool = False) -> None:
        self._watched: bool = parent._watched if parent else watched
        self._lenient: bool = parent._lenient if parent else lenient
        self._numbers: dict[int, int] = {}
        self._modules: dict[str, object] = {}
        self._open: list[int] = []  # the containers around the value that is being described
        # The attributes that are left out of the description because they cannot be described, and what may use them:
        # the names that code asks for, the classes that are called, and the classes with an installed base that may
        # call back.
        self._left_out: list[tuple[_Owner, str, PipelineError]] = parent._left_out if parent else []
        self._words: set[str] = parent._words if parent else set()
        self._called: set[object] = parent._called if parent else set()
        self._called_back: set[object] = parent._called_back if parent else set()

    def refuse_called(self) -> None:
        """Raises the error of an attribute that was left out, if described code may use it.

        Raises:
            PipelineError: an attribute may be used, and it cannot be described.
        """
        any_name = not self._words.isdisjoint(_ANY_NAME)
        for owner, name, error in self._left_out:
            in_a_pattern = name in inspect.getattr_static(owner, "__match_args__", ())
            is_asked_for = any_name or in_a_pattern or name in self._words or is_special(name)
            if owner in self._called if name in _CONSTRUCTORS else is_asked_for or owner in self._called_back:
                raise error

    def of(self, value: object, where: str) -> object:
        """Returns the description of `value`.

        Args:
            value: any object.
            where: name of the value, for messages.

        Raises:
            PipelineError: the value has no stable description.
        """
        if type(value) in _PLAIN:
            return (type(value).__name__, repr(value))
        if isinstance(value, types.ModuleType):
            module = self._module(value.__name__, getattr(value, "__file__", None))
            what = whole(value)
            return (self._refused(where, f"is the module '{value.__name__}': {what}"), module) if what else module
        if (key := cache_key_of(value)) is not None:
            named = value if isinstance(value, types.FunctionType | type) else type(value)
            code = self.of(value.__code__, where) if isinstance(value, types.FunctionType) else None
            return ("key", named.__module__, named.__qualname__, code, key)
        if what := outside(value):
            return self._refused(where or name_of(value), f"reads {what}")
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
            known = self._compound(value, where)
            if known is not None and is_installed(type(value).__module__):
                return known
            parts = [known, self._shared(type(value))]
            for name, attribute in sorted(state_of(value, is_plain=known is None).items()):
                parts.append((name, self.of(attribute, f"the attribute '{name}' of {where or repr(value)}")))
            return tuple(parts)
        finally:
            self._open.pop()

    def _compound(self, value: Any, where: str) -> object:
        """Returns the description of the contents of `value`; None if it consists of its class and attributes alone."""
        if isinstance(value, types.CodeType):
            constants = tuple(self.of(constant, where) for constant in value.co_consts)
            table = getattr(value, "co_exceptiontable", b"")
            return ("code", value.co_code, table, constants, value.co_names, value.co_varnames, value.co_freevars)
        if isinstance(value, enum.Enum):
            return ("enum", type(value).__qualname__, value._name_, self.of(value._value_, where))
        if isinstance(value, int | float | complex | str | bytes):
            return (type(value).__name__, asked(value, "__repr__"))
        if isinstance(value, list | tuple | collections.deque):
            length = value.maxlen if isinstance(value, collections.deque) else None
            return (type(value).__name__, length, *(self.of(item, where) for item in asked(value, "__iter__")))
        if isinstance(value, set | frozenset):  # a set has no order, so no item may refer to another by number
            items = asked(value, "__iter__")
            return (type(value).__name__, *sorted(repr(Description(self).of(item, where)) for item in items))
        if isinstance(value, dict | types.MappingProxyType):
            missing = value.default_factory if isinstance(value, collections.defaultdict) else None
            items = ((self.of(k, where), self.of(v, where)) for k, v in asked(value, "items"))
            return (type(value).__name__, self.of(missing, where), *items)
        if isinstance(value, types.MethodType):
            return ("method", self.of(value.__func__, where), self.of(value.__self__, where))
        if isinstance(value, functools.partial):
            parts = value.func, value.args, value.keywords, vars(value)
            return ("partial", *(self.of(part, where) for part in parts))
        if isinstance(value, _CACHED):
            return ("cached", self.of(value.__wrapped__, where), self.of(value.cache_parameters(), where))
        if isinstance(value, staticmethod | classmethod):
            return (type(value).__name__, self.of(value.__wrapped__, where))
        if isinstance(value, property):
            return ("property", *(self.of(part, where) for part in (value.fget, value.fset, value.fdel)))
        if isinstance(value, PurePath):
            return ("path", asked(value, "__str__"))
        if isinstance(value, slice):
            return ("slice", *(self.of(part, where) for part in (value.start, value.stop, value.step)))
        if isinstance(value, types.SimpleNamespace | argparse.Namespace):
            return ("namespace", self.of(vars(value), where))
        if isinstance(value, SHOWN_WHOLE):
            return (type(value).__qualname__, asked(value, "__repr__"))
        if isinstance(value, logging.Logger):
            return ("logger", value.name, value.level)
        if type(value).__qualname__ == "_tuplegetter":  # a field of a named tuple
            return ("field", *(self.of(part, where) for part in value.__reduce__()[1]))
        if array := array_of(value):
            return array
        if isinstance(value, re.Pattern):
            return ("pattern", value.pattern, value.flags)
        if isinstance(value, functools.cached_property):
            return ("cached property", self.of(value.func, where))
        if isinstance(value, _BUILTIN):
            return ("builtin", getattr(value, "__module__", None), value.__qualname__)
        if is_plain_object(value):
            return None
        return self._refused(where or repr(value), f"is a {type(value).__module__}.{type(value).__qualname__}")

    def _function(self, function: types.FunctionType) -> object:
        name = function.__qualname__
        code, defaults = function.__code__, function.__defaults__ or ()
        names = code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount]
        parts: list[object] = [function.__name__, self.of(code, name)]
        for key, value in (*zip(names, defaults, strict=True), *sorted((function.__kwdefaults__ or {}).items())):
            parts.append((key, self.of(value, f"the default '{key}' of {name}")))
        is_open = not is_installed_function(function)
        if is_open and (what := reading(function, watched=self._watched)):
            parts.append(self._refused(name, what))
        if not is_installed(str(function.__module__)):
            parts += (self._attribute(function, *item) for item in sorted(vars(function).items()))
        for label, place, variable in variables_of(function):
            value = value_at(place, variable)
            if value is MISSING:
                parts.append((label, "missing"))
            elif isinstance(value, types.ModuleType):  # the attributes that are read from it are variables themselves
                parts.append((label, self._module(value.__name__, getattr(value, "__file__", None))))
            else:
                parts.append((label, self.of(value, f"{label} of {name}")))
        if is_open:
            self._words |= words(code)
            if self._lenient:
                parts.append(self._module(str(function.__globals__.get("__name__"))))
            return ("function", *parts, *(self._module(module, file) for module, _, file in imports(function)))
        module = str(function.__globals__.get("__name__"))
        return ("function", *parts, self._module(module))

    def _class(self, cls: type) -> object:
        parts: list[object] = [cls.__module__, cls.__qualname__, self._module(cls.__module__)]
        if is_installed(cls.__module__):
            return ("class", *parts)
        parts += (self._shared(base) for base in (*cls.__bases__, type(cls)))
        if any(is_installed(base.__module__) and base.__module__ not in _QUIET for base in cls.__mro__):
            self._called_back.update(cls.__mro__)
        parts += (self._attribute(cls, *item) for item in sorted(vars(cls).items()) if item[0] not in OF_EVERY_CLASS)
        return ("class", *parts)

    def _attribute(self, owner: _Owner, name: str, value: object) -> object:
        known = dict(self._numbers)
        try:
            return (name, self.of(value, f"the attribute '{name}' of {owner.__qualname__}"))
        except PipelineError as error:  # it matters only if something calls it, which `refuse_called` decides
            self._numbers = known
            self._left_out.append((owner, name, error))
            code = getattr(value, "__code__", None)
            return (name, self.of(code, "") if code else type(value).__qualname__)

    def _module(self, name: str, file: str | None = None) -> object:
        if name not in self._modules:
            module = sys.modules.get(name)
            self._modules[name] = found = file_of(name, file or getattr(module, "__file__", None))
            if self._lenient and module is not None and not is_installed(name):
                self._modules[name] = (found, *(self._module(other) for other in modules_of(module)))
        return self._modules[name]

    def _refused(self, what: str, why: str) -> object:
        if self._lenient:
            return ("refused", why)
        raise PipelineError(f"no cache key can be made of {what}, which {why}; {WAY_OUT}")
