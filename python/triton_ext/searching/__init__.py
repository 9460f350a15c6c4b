# SPDX-License-Identifier: Apache-2.0
"""Search: what can be turned for a kernel, and a search for its best compilation."""

from __future__ import annotations

from .entry import search
from .history import Trial
from .knobs import Knob
from .reporting import Report, report
from .result import SearchResult
from .spaces import Space, space
from .stored import Finding, findings, found
from .verifying import Verdict, verify

__all__ = [
    "Finding",
    "Knob",
    "Report",
    "SearchResult",
    "Space",
    "Trial",
    "Verdict",
    "findings",
    "found",
    "report",
    "search",
    "space",
    "verify",
]
