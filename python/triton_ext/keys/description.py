# SPDX-License-Identifier: Apache-2.0
"""Describes Python values by their behaviour, as nested tuples of plain data, for `fingerprint`."""

from __future__ import annotations

import argparse
import collections
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
_ABSTRACT = ("abc", "typing")  # modules whose classes have no state
#: Modules whose classes call no method of a subclass but those with a special name.
_QUIET = ("builtins", *_ABSTRACT, "enum", "collections.abc")
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
            is_asked_for = any_name or in_a_pattern or name in self._words or _is_special(name)
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
            return self._refused(where or _name_of(value), f"reads {what}")
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
            for name, attribute in sorted(_state(value, is_plain=known is None).items()):
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
            return (type(value).__name__, _asked(value, "__repr__"))
        if isinstance(value, list | tuple | collections.deque):
            length = value.maxlen if isinstance(value, collections.deque) else None
            return (type(value).__name__, length, *(self.of(item, where) for item in _asked(value, "__iter__")))
        if isinstance(value, set | frozenset):  # a set has no order, so no item may refer to another by number
            items = _asked(value, "__iter__")
            return (type(value).__name__, *sorted(repr(Description(self).of(item, where)) for item in items))
        if isinstance(value, dict | types.MappingProxyType):
            missing = value.default_factory if isinstance(value, collections.defaultdict) else None
            items = ((self.of(k, where), self.of(v, where)) for k, v in _asked(value, "items"))
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
            return ("path", _asked(value, "__str__"))
        if isinstance(value, slice):
            return ("slice", *(self.of(part, where) for part in (value.start, value.stop, value.step)))
        if isinstance(value, types.SimpleNamespace | argparse.Namespace):
            return ("namespace", self.of(vars(value), where))
        if isinstance(value, _SHOWN_WHOLE):
            return (type(value).__qualname__, _asked(value, "__repr__"))
        if isinstance(value, logging.Logger):
            return ("logger", value.name, value.level)
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
        parts += (self._attribute(cls, *item) for item in sorted(vars(cls).items()) if item[0] not in _OF_EVERY_CLASS)
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
                self._modules[name] = (found, *(self._module(other) for other in _modules_of(module)))
        return self._modules[name]

    def _refused(self, what: str, why: str) -> object:
        if self._lenient:
            return ("refused", why)
        raise PipelineError(f"no cache key can be made of {what}, which {why}; {WAY_OUT}")


#: Classes whose ``repr`` tells everything about an object.
_SHOWN_WHOLE = (
    range, bytearray, decimal.Decimal, fractions.Fraction, datetime.date, datetime.time, datetime.timedelta,
    types.GenericAlias, types.UnionType,
)  # fmt: skip


def _array(value: Any) -> tuple[object, ...] | None:
    """Returns the description of an array, number or data type of NumPy; None for any other value."""
    numpy: Any = sys.modules.get("numpy")
    if numpy is None:
        return None
    if isinstance(value, numpy.dtype):
        return ("data type", str(value))
    if isinstance(value, numpy.ndarray | numpy.generic) and not value.dtype.hasobject:
        return ("array", str(value.dtype), value.shape, value.strides, hashlib.sha256(value.tobytes()).hexdigest())
    return None


_OF_EVERY_CLASS = {
    *vars(type("Empty", (), {})), "__annotations__", "__slots__", "__match_args__", "__dataclass_fields__",
    "__dataclass_params__", "_abc_impl", "_value2member_map_",
}  # fmt: skip


def _name_of(value: object) -> str:
    return str(getattr(value, "__qualname__", None) or repr(value))


def cache_key_of(value: object) -> str | None:
    """Returns the attribute ``cache_key`` of `value`, by which an object declares what it depends on; None without one.

    Raises:
        PipelineError: `value` is a function, and the attribute is not a str.
    """
    if inspect.getattr_static(value, "cache_key", None) is None:  # does not run a __getattr__
        return None
    key = getattr(value, "cache_key", None)
    if isinstance(value, types.FunctionType) and not isinstance(key, str):
        raise PipelineError(f"the cache_key of {_name_of(value)} has to be a text, found {type(key).__name__}")
    return key if isinstance(key, str) else None


def _is_plain_object(value: object) -> bool:
    """Whether the class and the attributes of `value` determine its behaviour."""
    cls = type(value)
    is_dataclass = inspect.getattr_static(cls, "__dataclass_fields__", None) is not None  # does not run a metaclass
    if is_dataclass or isinstance(getattr(cls, "__call__", None), types.FunctionType):  # noqa: B004
        return True
    if "__dict__" in vars(cls) and cls.__bases__ == (object,) and not vars(value):
        return True  # e.g. a sentinel that a library uses as the default of an argument
    return all(_is_python(base) for base in cls.__mro__ if base is not object and base.__module__ not in _ABSTRACT)


def _is_python(cls: type) -> bool:
    """Whether `cls` is written in Python and is not part of an installed package."""
    has_attributes = "__slots__" in vars(cls) or any("__dict__" in vars(base) for base in cls.__mro__)
    return has_attributes and not is_installed(cls.__module__)


def _state(value: object, *, is_plain: bool) -> dict[str, object]:
    """Returns the attributes of an object, in ``__dict__`` or in slots.

    Args:
        value: the object.
        is_plain: the result of `_is_plain_object`. If it is false, slots of installed base classes are left out: they
            hold results that such a class has computed.
    """
    found = dict(getattr(value, "__dict__", {}))
    for cls in type(value).__mro__:
        for name, member in vars(cls).items():
            is_slot = isinstance(member, types.MemberDescriptorType) and (is_plain or not is_installed(cls.__module__))
            if is_slot and hasattr(value, name):
                found[name] = getattr(value, name)
    if isinstance(value, enum.Enum):  # Python adds special attributes to an enumerator, some when it is first used
        return {name: attribute for name, attribute in found.items() if not _is_special(name)}
    return found


def _asked(value: Any, method: str) -> Any:
    """Calls `method` of the first installed class of `value`, which its own class may override."""
    installed = (vars(cls) for cls in type(value).__mro__ if is_installed(cls.__module__))
    return next(members[method] for members in installed if method in members)(value)


def _is_special(name: str) -> bool:
    """Whether the name has a meaning for Python or its module `enum`."""
    return name.startswith("_") and name.endswith("_")


def _modules_of(module: types.ModuleType) -> Iterator[str]:
    """Yields the modules, except installed ones, that the variables of `module` refer to."""
    for value in vars(module).values():
        if isinstance(value, types.ModuleType | types.FunctionType | type):
            name = str(value.__name__ if isinstance(value, types.ModuleType) else value.__module__)
            if name in sys.modules and not is_installed(name):
                yield name
