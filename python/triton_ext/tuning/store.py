# SPDX-License-Identifier: Apache-2.0
"""Tuning results in Triton's cache directory, beside the kernels."""

from __future__ import annotations

import hashlib
import json
import warnings
from typing import Any

from .candidates import Candidate
from .report import Report

#: 1 may say "ok" of what was compared with itself.
_FORMAT = 2


def digest(parts: list[object]) -> str:
    """The name of an entry that depends on `parts`."""
    return hashlib.sha256(json.dumps([_FORMAT, *parts]).encode()).hexdigest()


def find(entry: str, kernel: str, candidates: list[Candidate]) -> Report | None:
    """The report that was put under `entry`, or None; what is damaged counts as not there."""
    try:
        path = _manager(entry).get_file(_file(kernel))
        if path is None:
            return None
        with open(path) as file:
            content = json.load(file)
        if content["sha256"] != _checksum(content["report"]):
            return None
        report = Report.from_dict({**content["report"], "cached": True})
    except (OSError, ValueError, KeyError, TypeError, RuntimeError):
        return None
    same = [(row.config, row.pipeline) for row in report.rows] == [describe(c) for c in candidates]
    return report if same and report.best is not None and report.rows[report.best].milliseconds else None


def put(entry: str, kernel: str, report: Report) -> None:
    """Keeps `report` under `entry`; a reader sees all of it or nothing. A full disk costs the entry, no more."""
    data = report.as_dict()
    # Through JSON once, so that the checksum is of what a reader gets.
    data = json.loads(json.dumps(data))
    try:
        _manager(entry).put(json.dumps({"sha256": _checksum(data), "report": data}), _file(kernel), binary=False)
    except (OSError, RuntimeError) as error:
        warnings.warn(f"the tuning results of '{kernel}' cannot be kept: {error}", stacklevel=2)


def describe(candidate: Candidate) -> tuple[str, str]:
    """What a row of a report says of `candidate`."""
    return super(Candidate, candidate).__str__(), candidate.pipeline


def _checksum(data: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps({**data, "cached": False}, sort_keys=True).encode()).hexdigest()


def _manager(entry: str) -> Any:
    from triton.runtime.cache import get_cache_manager

    return get_cache_manager(entry)


def _file(kernel: str) -> str:
    return f"{kernel[:150]}.tuning.json"
