# SPDX-License-Identifier: Apache-2.0
"""What a Python object consists of, and whether that determines its behaviour."""

from __future__ import annotations

import datetime
import decimal
import enum
import fractions
import hashlib
import inspect
import sys
import types
from collections.abc import Iterator
from typing import Any

from ..errors import PipelineError
from .code import is_installed

ABSTRACT = ("abc", "typing")  # modules whose classes have no state
#: Classes whose ``repr`` tells everything about an object.
SHOWN_WHOLE = (
    range, bytearray, decimal.Decimal, fractions.Fraction, datetime.date, datetime.time, datetime.timedelta,
    types.GenericAlias, types.UnionType,
)  # fmt: skip


def array_of(value: Any) -> tuple[object, ...] | None:
    """Returns the description of an array, number or data type of NumPy; None for any other value."""
    numpy: Any = sys.modules.get("numpy")
    if numpy is None:
        return None
    if isinstance(value, numpy.dtype):
        return ("data type", str(value))
    if isinstance(value, numpy.ndarray | numpy.generic) and not value.dtype.hasobject:
        return ("array", str(value.dtype), value.shape, value.strides, hashlib.sha256(value.tobytes()).hexdigest())
    return None


OF_EVERY_CLASS = {
    *vars(type("Empty", (), {})), "__annotations__", "__slots__", "__match_args__", "__dataclass_fields__",
    "__dataclass_params__", "_abc_impl", "_value2member_map_",
}  # fmt: skip


def name_of(value: object) -> str:
    """Returns the name of a function or class, for messages."""
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
        raise PipelineError(f"the cache_key of {name_of(value)} has to be a text, found {type(key).__name__}")
    return key if isinstance(key, str) else None


def is_plain_object(value: object) -> bool:
    """Whether the class and the attributes of `value` determine its behaviour."""
    cls = type(value)
    is_dataclass = inspect.getattr_static(cls, "__dataclass_fields__", None) is not None  # does not run a metaclass
    if is_dataclass or isinstance(getattr(cls, "__call__", None), types.FunctionType):  # noqa: B004
        return True
    if "__dict__" in vars(cls) and cls.__bases__ == (object,) and not vars(value):
        return True  # e.g. a sentinel that a library uses as the default of an argument
    return all(is_python(base) for base in cls.__mro__ if base is not object and base.__module__ not in ABSTRACT)


def is_python(cls: type) -> bool:
    """Whether `cls` is written in Python and is not part of an installed package."""
    has_attributes = "__slots__" in vars(cls) or any("__dict__" in vars(base) for base in cls.__mro__)
    return has_attributes and not is_installed(cls.__module__)


def state_of(value: object, *, is_plain: bool) -> dict[str, object]:
    """Returns the attributes of an object, in ``__dict__`` or in slots.

    Args:
        value: the object.
        is_plain: the result of `is_plain_object`. If it is false, slots of installed base classes are left out: they
            hold results that such a class has computed.
    """
    found = dict(getattr(value, "__dict__", {}))
    for cls in type(value).__mro__:
        for name, member in vars(cls).items():
            is_slot = isinstance(member, types.MemberDescriptorType) and (is_plain or not is_installed(cls.__module__))
            if is_slot and hasattr(value, name):
                found[name] = getattr(value, name)
    if isinstance(value, enum.Enum):  # Python adds special attributes to an enumerator, some when it is first used
        return {name: attribute for name, attribute in found.items() if not is_special(name)}
    return found


def asked(value: Any, method: str) -> Any:
    """Calls `method` of the first installed class of `value`, which its own class may override."""
    installed = (vars(cls) for cls in type(value).__mro__ if is_installed(cls.__module__))
    return next(members[method] for members in installed if method in members)(value)


def is_special(name: str) -> bool:
    """Whether the name has a meaning for Python or its module `enum`."""
    return name.startswith("_") and name.endswith("_")


def modules_of(module: types.ModuleType) -> Iterator[str]:
    """Yields the modules, except installed ones, that the variables of `module` refer to."""
    for value in vars(module).values():
        if isinstance(value, types.ModuleType | types.FunctionType | type):
            name = str(value.__name__ if isinstance(value, types.ModuleType) else value.__module__)
            if name in sys.modules and not is_installed(name):
                yield name
