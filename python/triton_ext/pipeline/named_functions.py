# SPDX-License-Identifier: Apache-2.0
"""Python functions that the text form of a pipeline names: ``module:qualified.name``."""

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
    """The object ``module:qualified.name``."""
    module, _, path = name.partition(":")
    if not path:
        raise PipelineError(f"'{name}' is no function, expected module:function")
    try:
        with _working_directory_too():
            found: Any = importlib.import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise PipelineError(f"'{name}': {said(error)}") from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit, and others that are no Exception, such as pytest's Skipped
        raise PipelineError(f"'{name}': importing it raised {type(error).__name__}: {said(error)}") from error
    return found


@contextlib.contextmanager
def _working_directory_too() -> Iterator[None]:
    """While it lasts, modules are found in the working directory, after all other places, but not by ``python -P``.

    What is imported later, by whomever, is not looked for there.
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
    """An entry of ``sys.path`` that is told from equal ones."""

    __slots__ = ()
