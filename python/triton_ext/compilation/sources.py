# SPDX-License-Identifier: Apache-2.0
"""Reads the Python source files that belong to a kernel.

IR names files, and IR may come from an untrusted source. So a file is read only if it has code of the kernel: of its
function, of a function that it may call, or of Triton. For a file with IR these functions are unknown; then a file is
read only if it is below a directory that the user has named.
"""

from __future__ import annotations

import os
import re
import stat
import types
from collections.abc import Iterable, Iterator
from typing import Any

from ..errors import TritonExtError
from ..loading.host import triton_root
from ..pipeline.records import StageRecord
from .escapes import unescaped

#: The bytes that a source file may have; a page with more would not be usable.
_MOST_BYTES = 8 << 20
_FILE = re.compile(r'loc\("((?:[^"\\]|\\.)+\.py)":')


def read_sources(
    source: Any, stages: Iterable[StageRecord], directory: str | os.PathLike[str] | None
) -> tuple[tuple[str, str], ...]:
    """Returns path and text of the files that belong to the kernel and that the modules of `stages` name.

    Args:
        source: the ``ASTSource`` of the kernel, or the path of its IR.
        stages: the record of its compilation.
        directory: a directory whose files may be read, too.

    Raises:
        TritonExtError: `directory` is not a directory.
    """
    if directory is not None and not os.path.isdir(directory):
        raise TritonExtError(f"{os.fspath(directory)} is not a directory with sources")
    roots = [os.path.realpath(root) for root in (triton_root(), directory) if root is not None]
    known = {os.path.realpath(file) for file in _files_of(source)}
    if not known:
        roots = roots[1:]
    named = {path: None for stage in stages for path in map(unescaped, _FILE.findall(stage.source or ""))}
    texts = []
    for path in named:
        if "\0" in path:
            continue
        real = os.path.realpath(path)
        if real in known or any(real.startswith(f"{root.rstrip('/')}/") for root in roots):
            text = _text_of(real)
            if text is not None:
                texts.append((path, text))
    return tuple(texts)


def _text_of(path: str) -> str | None:
    """Returns the text of a regular file; None for anything else, e.g. a pipe, which would wait for its writer."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode) or found.st_size > _MOST_BYTES:
                return None
            return file.read().decode().replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError):
        return None


def _files_of(source: Any) -> set[str]:
    """Returns the files of the functions that the kernel `source` consists of."""
    functions: dict[int, Any] = {}
    constants = getattr(source, "constants", None)
    waiting = [getattr(source, "fn", None), *(constants.values() if isinstance(constants, dict) else ())]
    while waiting:
        for function in _functions_in(waiting.pop(), ()):
            if id(function) not in functions:
                functions[id(function)] = function
                waiting += _named_by(function.fn)
    return {function.fn.__code__.co_filename for function in functions.values()}


def _named_by(function: Any) -> Iterator[Any]:
    """Yields the functions that the code of `function` names, itself or in a module, class or tuple."""
    names = set(_names(function.__code__))
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=False))
    for name in names:
        yield from _functions_in(function.__globals__.get(name), names)
    for cell in cells.values():
        try:
            yield from _functions_in(cell.cell_contents, names)
        except ValueError:  # nothing is assigned yet
            continue


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


def _functions_in(value: Any, names: Iterable[str], depth: int = 4) -> Iterator[Any]:
    """Yields the kernels that `value` is or contains; for a module, only those under one of `names`."""
    from triton.language import constexpr
    from triton.runtime.jit import JITFunction

    if depth == 0:
        return
    inner: Iterable[Any] = ()
    if isinstance(value, JITFunction):
        yield value
    elif isinstance(value, constexpr):
        inner = (value.value,)
    elif isinstance(value, types.ModuleType):
        inner = (vars(value).get(name) for name in names)
    elif isinstance(value, list | tuple):
        inner = value
    elif isinstance(value, type):
        inner = tuple(vars(value).values())
    elif hasattr(value, "fn"):  # an autotuner or heuristics around it
        inner = (value.fn,)
    for one in inner:
        yield from _functions_in(one, names, depth - 1)
