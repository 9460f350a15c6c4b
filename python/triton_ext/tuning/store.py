# SPDX-License-Identifier: Apache-2.0
"""Keeps tuning results in Triton's cache directory, beside the kernels."""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from typing import Any

from ..support.json_shape import AnyOf, parsed
from .candidates import Candidate
from .report import Report

#: Raise it to drop older entries. An entry of format 1 may say "ok" of a result that was compared with itself.
_FORMAT = 2


def digest(parts: list[object]) -> str:
    """Returns the name of the entry for `parts`: a hash of them."""
    return hashlib.sha256(json.dumps([_FORMAT, *parts]).encode()).hexdigest()


def find(entry: str, kernel: str, candidates: list[Candidate]) -> Report | None:
    """Returns the report in `entry`; None if there is none.

    An entry that is damaged or contradicts itself counts as missing, and so does one that the cache manager, which may
    be the user's, fails to read.
    """
    try:
        path = _manager(entry).get_file(_file(kernel))
        if path is None:
            return None
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            content = parsed(file.read(_MOST_BYTES), {"sha256": str, "report": _REPORT})
            if content is None or content["sha256"] != _checksum(content["report"]):
                return None
            json.dumps(content, ensure_ascii=False).encode()  # raises for half of a surrogate pair, which cannot print
    except Exception:
        return None
    report = Report.from_dict({**content["report"], "cached": True})
    same = [(row.config, row.pipeline) for row in report.rows] == [describe(c) for c in candidates]
    fits = same and report.kernel == kernel and report.problem is None
    return report if fits and report.best is not None else None


_NUMBER = AnyOf(float, int)
_ROW = {
    **dict.fromkeys(("config", "pipeline", "status", "reason", "same_as"), str),
    "milliseconds": [_NUMBER],
    "compile_seconds": AnyOf(_NUMBER, None),
    "measured": int,
}
_REPORT = {
    **dict.fromkeys(("kernel", "key", "device", "outer"), str),
    "rows": [_ROW],
    "best": AnyOf(int, None),
    "pruned": int,
    "seconds": _NUMBER,
    "cached": bool,
}
_MOST_BYTES = 64 << 20


def put(entry: str, kernel: str, report: Report) -> None:
    """Writes `report` to `entry`, complete or not at all.

    If that fails, because the disk is full or in a cache manager of the user, there is a warning and no entry.
    """
    data = report.as_dict()
    # Converted to JSON and back, so that the checksum covers the values that a reader gets.
    data = json.loads(json.dumps(data))
    try:
        _manager(entry).put(json.dumps({"sha256": _checksum(data), "report": data}), _file(kernel), binary=False)
    except Exception as error:
        warnings.warn(f"the tuning results of '{kernel}' cannot be kept: {error}", stacklevel=2)


def describe(candidate: Candidate) -> tuple[str, str]:
    """Returns configuration and pipeline of `candidate` as a row of a report has them."""
    return super(Candidate, candidate).__str__(), candidate.pipeline


def _checksum(data: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps({**data, "cached": False}, sort_keys=True).encode()).hexdigest()


def _manager(entry: str) -> Any:
    from triton.runtime.cache import get_cache_manager

    return get_cache_manager(entry)


def _file(kernel: str) -> str:
    return f"{kernel[:150]}.tuning.json"
