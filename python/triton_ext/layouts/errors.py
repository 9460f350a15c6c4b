# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a layout, an operation on layouts, or an access."""

from __future__ import annotations

from ..errors import TritonExtError


class LayoutError(TritonExtError):
    """A layout cannot be read, or an operation is not defined for it."""
