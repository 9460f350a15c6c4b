# SPDX-License-Identifier: Apache-2.0
"""Search: what can be turned for a kernel, and a search for its best compilation."""

from __future__ import annotations

from .entry import search
from .history import Trial
from .knobs import Knob
from .result import SearchResult
from .spaces import Space, space
from .stored import Finding, findings, found

__all__ = ["Finding", "Knob", "SearchResult", "Space", "Trial", "findings", "found", "search", "space"]
