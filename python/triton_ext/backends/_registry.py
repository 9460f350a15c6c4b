# SPDX-License-Identifier: Apache-2.0
"""The entries of our backends in Triton's dictionary of backends.

An entry imports the backend's ``compiler.py`` and ``driver.py`` when Triton first asks for one of their classes. If
that fails, the classes are stand-ins: they support no target and are not active, so that the other backends work, and
they raise the reason where somebody asks for this very target.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import os
from typing import Any, NoReturn

from ..errors import TritonExtError


class Entry:
    """An entry of ``triton.backends.backends``, for the backend in the package ``triton_ext.backends.<name>``."""

    def __init__(self, name: str) -> None:
        self._name = name

    @functools.cached_property
    def _classes(self) -> tuple[Any, Any]:
        try:
            return _contained(self._name, *classes_of(self._name))
        except TritonExtError as error:
            return _stand_ins(self._name, str(error))

    @property
    def compiler(self) -> Any:
        """The class of the compiler."""
        return self._classes[0]

    @property
    def driver(self) -> Any:
        """The class of the driver."""
        return self._classes[1]

    def __repr__(self) -> str:
        return f"Entry({self._name})"


def classes_of(name: str) -> tuple[type, type]:
    """Imports the backend `name`, and returns the classes of its compiler and its driver.

    Raises:
        TritonExtError: a module cannot be imported, or does not define exactly one class.
    """
    from triton.backends.compiler import BaseBackend
    from triton.backends.driver import DriverBase

    return _concrete(name, "compiler", BaseBackend), _concrete(name, "driver", DriverBase)


def _contained(name: str, compiler: Any, driver: Any) -> tuple[Any, Any]:
    """Changes the classes of the backend `name`, which Triton asks about every target, and returns them.

    They support no other target, and an exception of ``is_active`` means that the backend is not active, unless
    TRITON_DEFAULT_BACKEND names it.
    """
    supports_target, is_active = compiler.supports_target, driver.is_active

    def is_active_if_it_can_say() -> bool:
        try:
            return bool(is_active())
        except Exception as error:
            if os.environ.get("TRITON_DEFAULT_BACKEND") != name:
                return False
            reason = f"is_active raises {type(error).__name__}: {error}"
            raise TritonExtError(f"the target '{name}' is broken: {reason}", fix="triton-ext list") from error

    compiler.supports_target = staticmethod(lambda target: target.backend == name and bool(supports_target(target)))
    driver.is_active = staticmethod(is_active_if_it_can_say)
    return compiler, driver


def _concrete(name: str, module: str, base: type) -> type:
    """Returns the only class in a module of a backend that implements `base`, as Triton looks for it."""
    try:
        found = vars(importlib.import_module(f"{__package__}.{name}.{module}")).values()
    except (Exception, SystemExit) as error:
        what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise TritonExtError(f"backend '{name}': {module}.py cannot be imported: {what}") from error
    there: set[Any] = {c for c in found if isinstance(c, type) and issubclass(c, base)}
    usable = {c for c in there if not inspect.isabstract(c)}
    if len(usable) == 1:
        found_one: type = usable.pop()
        return found_one
    wanted = f"{module}.py must have one class that implements {base.__name__}"
    missing = [f"{c.__name__} lacks {', '.join(sorted(c.__abstractmethods__))}" for c in there - {base} if not usable]
    has = "it has " + ", ".join(sorted(c.__name__ for c in usable)) if usable else "; ".join(missing) or "it has none"
    raise TritonExtError(f"backend '{name}': {wanted}, {has}")


def _stand_ins(name: str, reason: str) -> tuple[type, type]:
    def fail() -> NoReturn:
        raise TritonExtError(f"the target '{name}' is broken: {reason}", fix="triton-ext list")

    class BrokenCompiler:
        @staticmethod
        def supports_target(target: Any) -> bool:
            return bool(target.backend == name and fail())

    class BrokenDriver:
        def __init__(self) -> None:
            fail()

        @classmethod
        def is_active(cls) -> bool:
            return os.environ.get("TRITON_DEFAULT_BACKEND") == name and fail()

    return BrokenCompiler, BrokenDriver
