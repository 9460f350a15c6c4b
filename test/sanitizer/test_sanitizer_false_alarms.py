# SPDX-License-Identifier: Apache-2.0
"""The kernels of other tests run under all checks, and each finding in them is right.

A part of each directory runs; ``TRITON_EXT_FALSE_ALARMS=full`` runs all files, which takes an hour of processor time.
"""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import triton  # noqa: F401 - the module of a backend cannot be imported before it

import support

pytest.importorskip("triton_ext.backends.cpu.driver")
pytest.importorskip("triton_ext.sanitize")

from support.sanitizer import false_alarms

#: Files, and which of their tests run.
PARTS = {
    "backends/cpu/test/test_descriptors.py": "test_gather and int16-torch.float16",
    "backends/cpu/test/test_elementwise.py": "never_traps and int32",
    "backends/cpu/test/test_tutorials.py": "softmax and (1] or 781) or (matmul and 129 and float16 and True)",
    "test/linalg/test_linalg_calls.py": "test",
    "test/linalg/test_linalg_corners.py": "boxes_of_constants and True",
}
IS_FULL = os.environ.get("TRITON_EXT_FALSE_ALARMS") == "full"


@pytest.mark.slow
@pytest.mark.parametrize("file", false_alarms.files() if IS_FULL else PARTS)
def test_no_false_alarm(file: str, tmp_path: Path) -> None:
    if not (support.ROOT / file).exists():
        pytest.skip(f"{file} was deleted")  # any directory of an extension may be
    rows = tmp_path / "rows.jsonl"
    done = false_alarms.run(file, rows, *([] if IS_FULL else ["-k", PARTS[file]]))
    found = false_alarms.read(rows)
    assert found, done.stdout[-4000:] + done.stderr[-4000:]
    assert IS_FULL or (done.returncode == 0 and any(row["launches"] for row in found)), done.stdout[-4000:]
    assert [one for row in found for one in row["findings"] if not one["judged"]] == []


def finding(message: str, check: str = "arith", **values: Any) -> Any:
    return SimpleNamespace(check=check, message=message, values=values, file=__file__, kernel="kernel")


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (finding("division by zero", a=3, b=0), finding("division by zero", a=3, b=1)),
        (finding("shift past the width", n=32), finding("shift past the width", n=7)),
        (finding("float to int out of range", operand=1e9), finding("float to int out of range", operand=3.5)),
        (finding("float to int out of range", operand=float("nan")), finding("load outside of x", check="bounds")),
        (
            finding("NaN or Inf from finite numbers", lhs=1.0, rhs=0.0, result=float("inf")),
            finding("NaN or Inf from finite numbers", lhs=float("inf"), rhs=0.0, result=float("inf")),
        ),
        (
            finding("the least integer divided by -1", a=-(2**31), b=-1),
            finding("NaN or Inf from finite numbers", lhs=1.0, rhs=2.0, result=3.0),
        ),
    ],
)
def test_a_finding_is_judged_by_its_values(right: Any, wrong: Any) -> None:
    assert false_alarms.judged(right)
    assert not false_alarms.judged(wrong)
