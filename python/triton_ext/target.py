# SPDX-License-Identifier: Apache-2.0
"""``tx.target``: what the Python files of a backend need, and how a program chooses among several targets.

A backend's C++ code is in two libraries: ``libtriton_ext_<name>.so``, a plugin of Triton with the passes that its
``.td`` declares, and, if it has one, ``libTritonExt<Name>Runtime.so``, which does not use Triton. Both are loaded at
run time, from the very bytes that were checked.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from .backends import register
from .errors import ExtensionNotFoundError, TritonExtError
from .loading.discovery import Extension, extensions
from .loading.library_bytes import in_memory, in_words, read_bytes
from .loading.loader import load_library
from .loading.manifest import OwnPass
from .startup.driver import NoDriver
from .support.closest import closest
from .support.once import once
from .support.resources import own_code
from .support.shown import shown

__all__ = ["Library", "activate", "active", "fingerprint", "library", "module_of_passes", "runtime"]


@dataclass(frozen=True)
class Library:
    """The library of a backend, in this process.

    Attributes:
        path: the file.
        digest: SHA-256 of its bytes, as 64 hex digits.
        functions: its ``extern "C"`` functions: ``library.functions.my_function(...)`` calls one, without the GIL.
        passes: the passes that its ``.td`` declares, by name.
        add: for each pass, the function that adds it: ``add[name](pm, ["option=value", ...])``.
    """

    path: Path
    digest: str
    functions: ctypes.CDLL
    passes: dict[str, OwnPass]
    add: dict[str, Callable[[Any, list[str]], None]]


def library(name: str) -> Library:
    """Returns the library of the backend `name` as it is on disk now; each content is loaded once.

    Raises:
        ExtensionNotFoundError: it is not built.
        TritonExtError: it cannot be used, e.g. because it was built for another Triton, or does not load.
    """
    extension = _extension(name)
    loaded = load_library(extension)
    assert extension.manifest is not None
    own = {own.name: own for own in extension.manifest.passes}
    functions = ctypes.CDLL(in_memory(read_bytes(extension.path)), mode=os.RTLD_NOW)
    return Library(extension.path, loaded.digest, functions, own, {each: loaded.add[f"{name}_{each}"] for each in own})


def _extension(name: str) -> Extension:
    for extension in extensions():
        if extension.name == name and (extension.kind == "backend" or extension.problem):
            if extension.problem:
                raise TritonExtError(f"the library of the target '{name}' is broken: {extension.problem}")
            return extension
    raise ExtensionNotFoundError(f"libtriton_ext_{name}.so is missing", fix=f"triton-ext build {name}")


def runtime_path(name: str) -> Path:
    """Returns the path of ``libTritonExt<Name>Runtime.so``, beside the library of the backend."""
    return _extension(name).path.with_name(f"libTritonExt{name[:1].upper()}{name[1:]}Runtime.so")


@once
def runtime(name: str) -> ctypes.CDLL:
    """Returns the runtime of the backend `name`; the first call loads it.

    Raises:
        TritonExtError: it is missing, or does not load.
    """
    path = runtime_path(name)
    if not path.is_file():
        raise TritonExtError(f"{path} is missing", fix=f"triton-ext build {name}")
    try:
        return ctypes.CDLL(in_memory(read_bytes(path)), mode=os.RTLD_NOW)
    except OSError as error:
        raise TritonExtError(f"{path} does not load: {in_words(error)}", fix=f"triton-ext build {name}") from None


def fingerprint(name: str) -> str:
    """Returns the part of a cache key that stands for the code of the backend `name`: its library and all Python files.

    Raises:
        TritonExtError: its library cannot be used.
    """
    return hashlib.sha256(f"{library(name).digest}-{own_code()}".encode()).hexdigest()


def module_of_passes(name: str) -> ModuleType:
    """Returns a module through which the stages of the backend `name` add its own passes to a pass manager.

    ``<name> = module_of_passes("<name>")`` in ``compiler.py`` makes ``<name>.passes.add_<pass>(pm, *values)`` work. The
    values are those of the pass's options in the order of the ``.td``; without them each option has its default.
    Pipelines edit such calls as they do those of Triton's own modules. The library is loaded by the first of them.
    """
    module = ModuleType(f"triton._C.libtriton.{name}")
    inner = ModuleType(f"triton._C.libtriton.{name}.passes")
    inner.__getattr__ = functools.cache(functools.partial(_adder, name))  # type: ignore[method-assign]
    inner.__dir__ = lambda: sorted(f"add_{each}" for each in library(name).passes)  # type: ignore[method-assign]
    module.passes = inner  # type: ignore[attr-defined]
    return module


def _adder(name: str, attribute: str) -> Callable[..., None]:
    """Returns the function ``add_<pass>`` of a backend, with a docstring of the form of libtriton's functions."""
    found = library(name).passes
    own = found.get(attribute.removeprefix("add_"))
    if own is None or not attribute.startswith("add_"):
        raise AttributeError(f"the target '{name}' has no '{attribute}', it has {', '.join(f'add_{p}' for p in found)}")

    def add_pass(pm: Any, *values: object) -> None:
        texts = [str(value).lower() if isinstance(value, bool) else str(value) for value in values]
        options = zip(own.options, texts, strict=bool(values))
        library(name).add[own.name](pm, [f"{option.name}={text}" for option, text in options])

    manager = "triton._C.libtriton.ir.pass_manager"
    signatures = [f"{attribute}(arg: {manager}, /) -> None"]
    if own.options:
        types = "".join(f", arg{i}: {option.python_type.__name__}" for i, option in enumerate(own.options, 1))
        signatures.append(f"{attribute}(arg0: {manager}{types}, /) -> None")
    add_pass.__name__ = attribute
    add_pass.__doc__ = "\n".join(signatures)
    return add_pass


def activate(name: str | None) -> None:
    """Has the kernels of this process run on the target `name` from now on; None lets Triton choose again.

    Args:
        name: the ``backend`` of its ``GPUTarget``: of a backend of ours or, as ``nvidia`` and ``amd``, of Triton's.

    Raises:
        TritonExtError: there is no such target, it is broken, or it cannot run kernels on this machine.
    """
    from triton.runtime import driver

    driver.set_active(None if name is None else _driver(name))


@contextlib.contextmanager
def active(name: str) -> Iterator[Any]:
    """Has kernels run on the target `name` within the block, and yields its driver.

    Triton's choice of a driver belongs to the process and not to a thread, so this does, too.

    Raises:
        TritonExtError: there is no such target, it is broken, or it cannot run kernels on this machine.
    """
    from triton.runtime import driver

    before, chosen = driver._active, _driver(name)
    driver.set_active(chosen)
    try:
        yield chosen
    finally:
        driver.set_active(before)


def _driver(name: str) -> Any:
    from triton.backends import backends

    if not isinstance(name, str):
        raise TritonExtError(f"expected the name of a target, got {shown(name)}", fix='tx.target.active("cpu")')
    register(name)
    there = sorted(backends.keys() - {"triton_ext"})  # which is our entry in Triton's entry points, and not a target
    if name not in there:
        close = closest(name, there)
        hint = f"did you mean '{close}'?" if close else f"there is: {', '.join(there)}"
        raise TritonExtError(f"no target '{name}'; {hint}", fix="triton-ext list")
    if issubclass(backends[name].driver, NoDriver):
        raise TritonExtError(f"the target '{name}' compiles kernels and does not run them", fix="triton-ext list")
    try:
        return _made(backends[name].driver)
    except Exception as error:  # Triton's drivers look for the GPU's libraries, and fail in ways of their own
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise TritonExtError(f"the target '{name}' cannot run kernels on this machine: {reason}") from error


@once
def _made(driver: type[Any]) -> Any:
    """Returns the driver of a class, made once: kernels refer to the driver that has loaded them.

    In a process without PyTorch, Triton's driver for NVIDIA initialises CUDA in `is_active` and nowhere else.
    """
    driver.is_active()
    return driver()
