# SPDX-License-Identifier: Apache-2.0
"""The error of layouts, of operations on layouts, and of accesses."""

from __future__ import annotations

from ..errors import TritonExtError


class LayoutError(TritonExtError):
    """A layout cannot be read, or an operation is not defined for it."""
