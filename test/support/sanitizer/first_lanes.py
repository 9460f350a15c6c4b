# SPDX-License-Identifier: Apache-2.0
"""Kernels of any backend that keep the first lane of accesses at loaded indices, as those for NVIDIA do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


def keeping_first(source: Any, metadata: dict[str, Any], inner: Callable[[Any, dict[str, Any]], Any]) -> Any:
    """Runs the stage ttir as `_looks.following` does for a GPU of NVIDIA. Another function has another key."""
    from triton_ext.sanitize import _looks  # late, because the extension may not be there

    _looks._mark(source, "first")
    return inner(source, metadata)


def keep_first_lanes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has the kernels of a test keep first lanes, until a report has seen a finding."""
    from triton_ext.sanitize import _looks

    monkeypatch.setattr(_looks, "following", keeping_first)
    monkeypatch.setattr(_looks, "_has_kept", set())
