# SPDX-License-Identifier: Apache-2.0
"""The table of a kernel's memory traffic and FLOPs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from triton_ext.support.columns import aligned

from ._costs import FLOPS, LOADS, STORES, Cost

if TYPE_CHECKING:
    from ._result import Intensity

_WIDEST = 70


def table(of: Intensity) -> str:
    """Returns a table: for each quantity its rows, one for each line, and a row with the sum."""
    constants = ", ".join(f"{name}={value}" for name, value in of.constants.items())
    rows = [("quantity", "line", "mark", "expression")]
    for quantity in (LOADS, STORES, FLOPS):
        for cost in of.costs:
            if cost.quantity == quantity:
                rows.append((_named(cost), _short(cost.line), _mark(cost), _cut(str(cost.amount))))
        rows.append((f"{quantity} in all", "", of.mark(quantity), _cut(str(of.expression(quantity)))))
    lines = [f"{of.kernel}({constants}): loads and stores in bytes"]
    lines += aligned(rows)
    reasons = dict.fromkeys(reason for cost in of.costs for reason in cost.reasons)
    lines += [f"{_short(reason.line)}: {reason.why}" for reason in reasons]
    return "\n".join(lines)


def _named(cost: Cost) -> str:
    return " ".join(filter(None, (cost.quantity, cost.kind, cost.type)))


def _short(line: str) -> str:
    return os.path.basename(line)


def _mark(cost: Cost) -> str:
    return "unknown" if cost.amount is None else "upper bound" if cost.reasons else "exact"


def _cut(text: str) -> str:
    return "" if text == "None" else text if len(text) <= _WIDEST else f"{text[: _WIDEST - 3]}..."
