# SPDX-License-Identifier: Apache-2.0
"""Kernels of any backend that keep the first lane of accesses at loaded indices, as those for GPUs do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


def keeping_first(source: Any, metadata: dict[str, Any], inner: Callable[[Any, dict[str, Any]], Any]) -> Any:
    """Runs the stage ttir as `_looks.following` does for a GPU. Another function has another key."""
    from triton_ext.sanitize import _looks  # late, because the extension may not be there

    _looks._mark(source, "first")
    return inner(source, metadata)


def without_assembly(source: Any, metadata: dict[str, Any], inner: Callable[[Any, dict[str, Any]], Any]) -> Any:
    """The same, and the kernel has operations in place of assembly of NVIDIA, as on other GPUs."""
    from triton._C.libtriton import ir

    source.set_attr("probe.no_assembly", ir.builder(source.context).get_unit_attr())
    return keeping_first(source, metadata, inner)


def keep_first_lanes(monkeypatch: pytest.MonkeyPatch, *, has_assembly: bool = True) -> None:
    """Has the kernels of a test keep first lanes, until a report has seen a finding.

    Args:
        monkeypatch: of the test.
        has_assembly: whether kernels for NVIDIA may have assembly.
    """
    from triton_ext.sanitize import _looks

    monkeypatch.setattr(_looks, "following", keeping_first if has_assembly else without_assembly)
    monkeypatch.setattr(_looks, "_has_kept", set())
