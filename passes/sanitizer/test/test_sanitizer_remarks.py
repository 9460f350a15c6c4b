# SPDX-License-Identifier: Apache-2.0
"""The pass says of each access in a remark what a report says of it, and such a look at a kernel changes nothing."""

from __future__ import annotations

import re

import pytest
import torch
import triton
import triton.language as tl
from triton_ext.sanitize import _verdicts

import triton_ext as tx
from triton_ext.compilation.describe import compile_and_observe
from triton_ext.compilation.requests import request_for
from triton_ext.pipeline.inspection import Level

pytestmark = pytest.mark.usefixtures("on_native_backend")


@triton.jit
def helper(x, i):
    return tl.load(x + i)


@triton.jit
def all_verdicts(x, y, o, n, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i, mask=i < n)
    w = helper(x, i)
    u = tl.load(x + i // tl.load(o), mask=i < n, other=0)
    z = tl.load(x + v.to(tl.int32) % n)
    tl.store(y + i, u / w + z, mask=i < n)
    tl.store(tl.load(o).to(tl.pointer_type(tl.float32)), 0.0)
    tl.store(y + i, tl.where(i < n, v, 0))


SIGNATURE = "*fp32:16, *fp32:16, *i64:16, i32, 64"


def said(remarks: tuple[str, ...]) -> list[tuple[int, int, str, str, str]]:
    """Returns line, column, check, verdict and reason of each remark."""
    pattern = r":(\d+):(\d+): remark: (\w+) (\w+)(?:: (.*))? \[-Rpass(-missed|-analysis)?=triton-ext-sanitizer\]"
    kinds = {"proved": None, "checked": "-analysis", "unsupported": "-missed"}
    found = []
    for remark in remarks:
        parts = re.search(pattern, remark)
        assert parts, remark
        line, column, check, verdict, why, kind = parts.groups()
        assert kinds[verdict] == kind
        found.append((int(line), int(column), check, verdict, why or ""))
    return sorted(found)


def rehearsed(checks: str, target: str) -> tuple[tuple[str, ...], str]:
    """Returns what the sanitizer says of the kernel while it is compiled for a target, and the IR behind it."""
    pipeline = tx.Pipeline().at_end("ttir", tx.passes.ttir.sanitizer(checks=checks)) if checks else None
    task = request_for(all_verdicts, target, SIGNATURE, {})
    kernel, seen = compile_and_observe(task, Level.SUMMARY, pipeline)
    records = [one for stage in seen.stages for one in stage.passes if one.name == "sanitizer"]
    assert len(records) == bool(checks)
    assert not any(one.changed for one in records)
    return tuple(remark for one in records for remark in one.remarks), str(kernel.asm["ttir"])


@pytest.mark.slow
def test_remarks_say_what_the_report_says() -> None:
    tensors = [torch.ones(64), torch.ones(64), torch.ones(1, dtype=torch.int64)]
    with tx.sanitize("all"):
        kernel = all_verdicts.warmup(*tensors, 5, N=64, grid=(1,))
    verdicts = _verdicts.of(kernel)
    assert verdicts
    expected = sorted((one.line, one.column, one.check, one.verdict, one.why) for one in verdicts)
    assert {one.verdict for one in verdicts} == set(_verdicts.KINDS)
    assert said(rehearsed("all", "cpu:native")[0]) == expected


@pytest.mark.parametrize("target", ["cuda:90", "hip:gfx942"])
def test_the_kernel_stays_as_it_is(target: str) -> None:
    _, plain = rehearsed("", target)
    remarks, text = rehearsed("bounds,lanes", target)
    assert {one[2] for one in said(remarks)} == {"bounds", "lanes"}
    assert text == plain
