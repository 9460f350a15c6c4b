# SPDX-License-Identifier: Apache-2.0
"""Layouts: who holds which element of a tensor, what an access to shared memory costs, and what a conversion moves.

`read` makes a layout of an attribute in TTGIR, `Layout.from_bases` one of numbers. Both are Triton's linear layouts:
composed, inverted, multiplied and divided by Triton's own functions.
"""

from __future__ import annotations

from .banks import Access, bank_conflicts
from .conversions import Conversion, conversion
from .errors import LayoutError
from .layout import Layout
from .picture import Picture
from .reading import read
from .showing import show

__all__ = ["Access", "Conversion", "Layout", "LayoutError", "Picture", "bank_conflicts", "conversion", "read", "show"]
