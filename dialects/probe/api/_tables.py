# SPDX-License-Identifier: Apache-2.0
"""Structured arrays as tables of pandas and Arrow."""

from __future__ import annotations

import importlib
from typing import Any

from triton_ext.errors import TritonExtError

#: The module that each kind of table needs, and the package that has it.
_NEEDED = {"pandas": ("pandas", "pandas"), "arrow": ("pyarrow", "pyarrow")}


def table_of(array: Any, as_: str) -> Any:
    """Returns a structured array as the kind of table that `as_` names, with a column for each field.

    Args:
        array: with fields of one element each.
        as_: ``numpy`` for the array itself, ``pandas`` for a ``DataFrame``, ``arrow`` for a ``pyarrow.Table``.

    Raises:
        TritonExtError: `as_` is none of these, or its package is not installed.
    """
    if as_ == "numpy":
        return array
    if as_ not in _NEEDED:
        raise TritonExtError(f"as_ is '{as_}'", fix=f"one of {', '.join(('numpy', *_NEEDED))}")
    module, package = _NEEDED[as_]
    try:
        library = importlib.import_module(module)
    except ImportError:
        raise TritonExtError(f"as_='{as_}': {package} is not installed", fix=f"pip install {package}") from None
    columns = {name: array[name].copy() for name in array.dtype.names}
    return library.DataFrame(columns) if as_ == "pandas" else library.table(columns)
