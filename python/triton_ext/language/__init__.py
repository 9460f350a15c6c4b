# SPDX-License-Identifier: Apache-2.0
"""Functions of kernels that build operations of a dialect: ``tx.language``.

`op` makes such a function of one declaration in Python, `attr` says how a constant becomes an attribute of MLIR, and
`opaque` is the type of values that only the dialect understands. ``docs/dialects.md`` is the walk-through.
"""

from __future__ import annotations

from . import attr
from .errors import LanguageError
from .function import DslFunction, op
from .types import opaque

__all__ = ["DslFunction", "LanguageError", "attr", "op", "opaque"]
