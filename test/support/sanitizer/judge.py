# SPDX-License-Identifier: Apache-2.0
"""Runs the cases of the corpus under `tx.sanitize`, and compares what it finds with the table of expectations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import triton_ext as tx

from .cases import Case, Tensors


def findings(
    case: Case, tensors: Tensors, checks: str = "all", action: str | None = None, **options: bool
) -> list[Any]:
    """Returns what the sanitizer finds in a launch, with the bug or without it as `tensors` says.

    Args:
        case: the case of the corpus.
        tensors: makes the arguments.
        checks: as for `tx.sanitize`; `overflow` needs no run, and has all checks that need none.
        action: as for `tx.sanitize`; what the case says by default.
        options: more of `tx.sanitize`.
    """
    if not case.launched:
        return list(tx.sanitize.check_launch(case.kernel, grid=case.grid, **case.given(tensors)).findings)
    with tx.sanitize(checks=checks, action=action or case.action, **options) as report:
        case.kernel[case.grid](**case.given(tensors))
    return list(report.findings)


def differences(case: Case, found: Sequence[Any]) -> str:
    """Returns how the findings of the kernel with the bug differ from the table; empty if they do not."""
    wanted = [one for one in found if one.check == case.check]
    others = [one for one in found if one.check != case.check]
    if case.check == "overflow":  # whose wrapped offset is out of bounds
        others = [one for one in others if one.check not in {"bounds", "view"}]
    if not wanted:
        return "missed" + "".join(f"; {one.check} in line {one.line} instead" for one in others)
    if others:
        return "; ".join(f"{one.check} in line {one.line}, too: {one.message}" for one in others)
    if case.check == "race":
        return next(filter(None, (_race(case, one) for one in wanted)), "")
    if len(wanted) > 1:
        return f"found {len(wanted)} times, in lines {[one.line for one in wanted]}"
    (one,) = wanted
    pairs = {
        "line": (one.line, case.line()),
        "tensor": (one.argument, case.argument),
        "coordinates": (one.coordinates, case.at),
    }
    if case.launched:
        pairs |= {
            "lane": (one.lane, case.lane),
            # A kernel can keep the first lane only.
            "number of lanes": (one.lanes, case.lanes if one.counted else 1),
            "program": (one.program, case.program if case.lane is not None else None),
        }
    return "; ".join(
        f"{what} {got}, not {expected}"
        for what, (got, expected) in pairs.items()
        if expected is not None and got != expected
    )


def _race(case: Case, finding: Any) -> str:
    """Two lines of two programs race; either may be the finding's, and the other one is related to it.

    A GPU runs all programs at once, so the shadow may have several that race with this one.
    """
    one_of_several = any(" of one of " in text for *_, text in finding.related)
    if finding.other == finding.program or (finding.other is None and not one_of_several):
        return f"the other program is {finding.other}"
    lines = {finding.line, *(line for _, line, _ in finding.related)}
    if case.line() not in lines:
        return f"lines {sorted(lines)}, not {case.line()}"
    return "" if finding.argument == case.argument else f"tensor {finding.argument}, not {case.argument}"
