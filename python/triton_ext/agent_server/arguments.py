# SPDX-License-Identifier: Apache-2.0
"""The types of the tools' arguments, with the descriptions that agents read."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

Kernel = Annotated[
    str,
    Field(
        max_length=4096,
        description="The kernel: FILE.py:KERNEL, with FILE.py relative to the root; or a file with IR (.ttir, .ttgir)",
    ),
]
Signature = Annotated[
    str | None,
    Field(
        max_length=4096,
        description='Type or value of each argument of the kernel, in order, e.g. "*fp16:16, *fp32, i32, 64". '
        "*fp16 is a pointer, :16 means divisible by 16, a constexpr gets its value. Leave it out if you give inputs",
    ),
]
OptionalInputs = Annotated[
    str | None,
    Field(
        max_length=4096,
        description="Instead of signature: FILE.py:FUNCTION, which returns the arguments of launches (see "
        "check_kernel); types and values are those of its first launch",
    ),
]
Inputs = Annotated[
    str,
    Field(
        max_length=4096,
        description="FILE.py:FUNCTION, a function that returns the arguments of one launch by name "
        'and its grid, e.g. {"x": x, "y": y, "n": 1000, "BLOCK": 1024, "grid": (64,)}, or a list of such '
        "dictionaries",
    ),
]
Target = Annotated[
    str | None,
    Field(max_length=200, description="E.g. cuda:90, cuda:80, hip:gfx942; no GPU is needed to compile"),
]
Options = Annotated[
    dict[str, int | float | bool | str] | None,
    Field(
        max_length=50,
        description='Launch options such as {"num_warps": 8, "num_stages": 2}; where inputs are given, also values of '
        "constexprs, which replace those of the inputs",
    ),
]
Pipeline = Annotated[
    str,
    Field(
        max_length=20_000,
        description="Edits of the pass pipeline, e.g. 'ttir: after(loop_unroll, NAME{option=2}), "
        "skip(common.cse); ttgir: set(pipeline, num_stages=4)'. The edits are before, after, replace, skip and set, "
        "which begin with an anchor, and at_start and at_end, which need their stage before them. "
        "Passes of LLVM: 'llvm: at_end(llvm{passes=\"function(gvn)\"})'. Empty: no edits",
    ),
]
What = Annotated[
    str,
    Field(
        max_length=100,
        description="The stage: ttir, ttgir, llir, ptx, sass or amdgcn; compile_kernel lists those of a target",
    ),
]
After = Annotated[
    str | None,
    Field(
        max_length=200,
        description="A pass of that stage, as describe_pipeline names it, e.g. ttgpuir.coalesce or common.cse#2",
    ),
]
Tolerance = Annotated[
    float | None,
    Field(
        ge=0,
        le=1e9,
        allow_inf_nan=False,
        description="The largest difference; if one of the two is given, the other is 0",
    ),
]
Seconds = Annotated[
    float | None,
    Field(gt=0, le=1e6, allow_inf_nan=False, description="A shorter time limit than the server's, in seconds"),
]
Grid = Annotated[
    list[Annotated[int, Field(ge=1, le=2**31 - 1)]] | str | None,
    Field(
        max_length=4096,
        description="The grid of launches whose inputs have none: [64], or FILE.py:NAME of a tuple or of a function of "
        "the arguments; default: NAME grid in the file of the inputs",
    ),
]
