# SPDX-License-Identifier: Apache-2.0
"""Finds the Python functions that the text form of a pipeline names: ``module:qualified.name``."""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import PipelineError
from ..support.shown import said


def find_function(name: str) -> Any:
    """Returns the object ``module:qualified.name``, after importing the module.

    Raises:
        PipelineError: it is not written like that, the import fails, or the module has no such name.
    """
    module, _, path = name.partition(":")
    if not path:
        raise PipelineError(f"'{name}' is not a function, expected module:function")
    try:
        with _working_directory_too():
            found: Any = importlib.import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise PipelineError(f"'{name}': {said(error)}") from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # also SystemExit, and others that are not an Exception, such as pytest's Skipped
        raise PipelineError(f"'{name}': importing it raised {type(error).__name__}: {said(error)}") from error
    return found


@contextlib.contextmanager
def _working_directory_too() -> Iterator[None]:
    """Has imports in the block look in the working directory, too, after all other places.

    ``python -P`` asks not to, and is obeyed. Imports after the block do not look there.
    """
    try:
        directory = str(Path.cwd())
    except OSError:  # it has been removed
        directory = ""
    if sys.flags.safe_path or not directory or {"", directory} & set(sys.path):
        yield
        return
    entry = _Entry(directory)
    sys.path.append(entry)
    try:
        yield
    finally:
        sys.path[:] = [place for place in sys.path if place is not entry]


class _Entry(str):
    """An entry of ``sys.path`` that can be told apart from an equal text."""

    __slots__ = ()
