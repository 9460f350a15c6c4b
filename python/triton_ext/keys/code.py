# SPDX-License-Identifier: Apache-2.0
"""Reads the bytecode of a Python function: the variables and attributes that it names, and the modules it imports."""

from __future__ import annotations

import contextlib
import dis
import functools
import hashlib
import importlib.util
import sys
import sysconfig
import types
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

INSTALLED = tuple({sysconfig.get_path(name) for name in ("purelib", "platlib")})
MISSING = object()

Place = Mapping[str, object] | types.CellType


class Chain(NamedTuple):
    """A variable and the attributes that follow it in the source, e.g. ``os.environ.get``.

    Attributes:
        kind: ``global`` for a global variable, ``variable`` for one of the closure, ``import`` for a module that the
            function itself imports.
        name: the variable, or the module.
        attributes: the attributes, in order.
    """

    kind: Literal["global", "variable", "import"]
    name: str
    attributes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return ".".join((self.name, *self.attributes))


def variables_of(function: types.FunctionType) -> Iterator[tuple[str, Place, str]]:
    """Yields the variables that `function` and the functions within it read.

    Attributes count as variables if they are read from a module that is not installed, or from a function. For an
    installed function, only the variables of its closure are yielded.

    Yields:
        The description of the variable for messages, the mapping or cell that holds it, and its name there.
    """
    code = function.__code__
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=False))
    for name, cell in cells.items():
        yield f"the variable '{name}'", cell, name
    if is_installed_function(function):
        return
    for chain in chains(code):
        is_global = chain.kind == "global"
        place: Place | None = function.__globals__ if is_global else cells.get(chain.name)
        if chain.kind == "import":
            continue
        *inner, last = chain.name, *chain.attributes
        for name in inner:
            holder = None if place is None else value_at(place, name)
            is_open = isinstance(holder, types.ModuleType) and not is_installed(holder.__name__)
            place = vars(holder) if is_open or isinstance(holder, types.FunctionType) else None
        if place is not None and (is_global or chain.attributes):
            yield f"the {chain.kind} '{chain}'", place, last


def value_at(place: Place, name: str) -> object:
    """Returns the value of the variable `name` in `place`; `MISSING` if it has none."""
    if not isinstance(place, types.CellType):
        return place.get(name, MISSING)
    try:
        return place.cell_contents
    except ValueError:  # nothing is assigned yet
        return MISSING


@functools.lru_cache(4096)
def chains(code: types.CodeType) -> dict[Chain, bool]:
    """Returns the chains that the code and the functions within it read, and the beginnings of these chains.

    The value of a chain says whether the code reads it without a further attribute.
    """
    return _chains(code, {})


def _chains(code: types.CodeType, around: Mapping[str, str]) -> dict[Chain, bool]:
    found: dict[Chain, bool] = {}
    modules = dict(around)  # by variable, the module that the function imports into it
    chain: Chain | None = None
    imported: str | None = None
    for instruction in dis.get_instructions(code):
        operation, name = instruction.opname, instruction.argval
        if operation == "EXTENDED_ARG":
            continue
        if imported and operation in ("STORE_FAST", "STORE_DEREF", "STORE_NAME"):
            modules[name] = imported
        imported = name.partition(".")[0] if operation == "IMPORT_NAME" else None
        if chain and operation in ("LOAD_ATTR", "LOAD_METHOD"):
            chain = chain._replace(attributes=(*chain.attributes, name))
        else:
            if chain:
                found[chain] = True
            chain = None
            if operation in ("LOAD_GLOBAL", "LOAD_NAME"):
                chain = Chain("global", name)
            elif operation.startswith(("LOAD_FAST", "LOAD_DEREF")) and name in modules:
                chain = Chain("import", modules[name])
            elif operation == "LOAD_DEREF":
                chain = Chain("variable", name)
        if chain:
            found.setdefault(chain, False)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            for inner, ends in _chains(constant, modules).items():
                found[inner] = ends or found.get(inner, False)
    return found


@functools.lru_cache(4096)
def words(code: types.CodeType) -> frozenset[str]:
    """Returns every name and every text in the code and in the functions within it: attributes that it may ask for."""
    inner = (words(constant) for constant in code.co_consts if isinstance(constant, types.CodeType))
    return texts(code).union(code.co_names, *inner)


@functools.lru_cache(4096)
def texts(code: types.CodeType) -> frozenset[str]:
    """Returns every text in the code and in the functions within it, and the constants ``O_...`` that it names."""
    inner = (texts(constant) for constant in code.co_consts if isinstance(constant, types.CodeType))
    named = (name for name in code.co_names if name.startswith("O_"))
    return frozenset(constant for constant in code.co_consts if isinstance(constant, str)).union(named, *inner)


def imports(function: types.FunctionType) -> Iterator[tuple[str, str, str | None]]:
    """Yields what `function` imports when it runs.

    Yields:
        The module, the name that is imported from it (empty for the module itself), and the file of the module.
    """
    package = str(function.__globals__.get("__package__") or "")
    for level, name, names in _import_statements(function.__code__):
        for item in ("", *names):
            for module, taken in {f"{name}.{item}".strip("."): "", name: item}.items():
                with contextlib.suppress(ImportError, ValueError):  # the name is not a module, or its import fails
                    full = importlib.util.resolve_name("." * level + module, package)
                    loaded = sys.modules.get(full)
                    spec = None if loaded else importlib.util.find_spec(full)
                    if loaded or spec:
                        yield full, taken, getattr(loaded, "__file__", None) if spec is None else spec.origin


@functools.lru_cache(4096)
def _import_statements(code: types.CodeType) -> tuple[tuple[int, str, tuple[str, ...]], ...]:
    found = []
    instructions = [one for one in dis.get_instructions(code) if one.opname != "EXTENDED_ARG"]
    for level, names, instruction in zip(instructions, instructions[1:], instructions[2:], strict=False):
        if instruction.opname == "IMPORT_NAME":
            found.append((level.argval, instruction.argval, names.argval or ()))
    inner = (_import_statements(constant) for constant in code.co_consts if isinstance(constant, types.CodeType))
    return (*found, *(statement for statements in inner for statement in statements))


def is_installed(module: str) -> bool:
    """Whether a module belongs to Python, to triton-ext or to a package that pip installed, so nobody edits it."""
    top = module.partition(".")[0]
    if top in sys.stdlib_module_names or top in ("builtins", "triton_ext"):
        return True
    while module:
        if file := getattr(sys.modules.get(module), "__file__", None):
            return str(file).startswith(INSTALLED)
        module = module.rpartition(".")[0]  # a submodule in a shared library has no file
    return False


def is_installed_function(function: types.FunctionType) -> bool:
    """Whether `function` was defined in a module that `is_installed`; its ``__module__`` may be wrong."""
    return is_installed(str(function.__globals__.get("__name__", "")))


def file_of(module: str, file: str | None) -> tuple[object, ...]:
    """Returns what identifies a module's file: the hash of its bytes, or its size and time if pip has written it.

    Files of installed packages may have hundreds of megabytes, so they are not hashed.
    """
    top = module.partition(".")[0]
    if file is None or top in sys.stdlib_module_names:
        return ("module", module, sys.version)
    try:
        if file.startswith(INSTALLED):
            stat = Path(file).stat()
            return ("module", module, stat.st_size, stat.st_mtime_ns)
        return ("module", module, hashlib.sha256(Path(file).read_bytes()).hexdigest())
    except OSError:
        return ("module", module, "no file")
