# SPDX-License-Identifier: Apache-2.0
"""Made-up compilations to look at, and a text that the page must not run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from triton_ext.compilation.records import Compilation
from triton_ext.pipeline.records import PassRecord, StageRecord

SIGNATURE = "*fp16:16, *fp16:16, *fp32:16, i32:16, 64"
HOSTILE = '</script><img src=x onerror="globalThis.broken=1"><!-- & \' " <b>bold</b> {{data}} \\ \u2028 é'


def large_module(lines: int, *, without: Callable[[int], bool] = lambda number: False, width: str = "i32") -> str:
    """Returns a module of that many lines, except those `without`; leaving one out renumbers everything after it."""
    body: list[str] = []
    previous = "%x"
    for number in range(lines - 5):
        if without(number):
            continue
        name = f"%{len(body)}"
        kind = ("addi", "muli", "xori", "andi")[number % 7 % 4]
        line = f"    {name} = arith.{kind} {previous}, %c{number % 11}_i32 {{a = {number} : i64}} : {width}"
        body.append(f"{line} loc(#loc{number % 40})")
        previous = name
    head = ["module {", '  tt.func public @large(%x: i32 loc("x"("/k/large.py":1:1))) {']
    aliases = [f'#loc{i or ""} = loc("/k/large.py":{i + 2}:5)' for i in range(40)]
    return "\n".join([*head, *body, "    tt.return", "  } loc(#loc)", "} loc(#loc)", *aliases, ""])


def passes(*modules: str, name: str = "ttir.step") -> StageRecord:
    """Returns a stage with a pass for each step from one of `modules` to the next."""
    records = tuple(
        PassRecord(name, i, (("n", str(i)),), f"step{{n={i}}}", None, True, i / 1000, 10, 9, True, (), module)
        for i, module in enumerate(modules[1:], 1)
    )
    return StageRecord("ttir", 0.1, records, modules[0], modules[-1])


def compilation(*stages: StageRecord, **facts: Any) -> Compilation:
    """Returns a compilation of `stages`; its other facts are arbitrary."""
    return Compilation(
        **{"kernel": "k", "target": "cuda:90", "triton": "3.9.0", "pipeline": "", "seconds": 0.5} | facts, stages=stages
    )
