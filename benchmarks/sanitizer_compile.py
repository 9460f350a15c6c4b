# SPDX-License-Identifier: Apache-2.0
"""How much longer kernels compile with the checks of `tx.sanitize`, from Python to a binary for cuda:90, or hip:gfx942.

``python benchmarks/sanitizer_compile.py [KERNEL …] [--checks=bounds,lanes,hints] [--rounds=3] [--target=cuda:90]``.
Needs no GPU. For each kernel: the seconds of processor time without and with checks, in turns, that of ptxas included,
and their ratio, which is meant to be at most 1.5; the instructions of the PTX; and how long each stage took. Several
``--checks`` make several rows. The numbers are the least of the rounds.

With ``unproved`` among the checks nothing is proved (``static=False``), so that the kernel has all of them.

A launch that may be wrong has one more kernel compiled: with `bounds` one that looks at lanes, with `uninit` and `race`
one that looks at shadows. The rows `bounds,looks`, `uninit,looks` and `race,looks` are both kernels together.
"""

from __future__ import annotations

import contextlib
import os
import re
import resource
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
sys.path.insert(0, str(Path(__file__).parent / "gpu"))

import triton
from intensity import add, attention, matmul, softmax
from sanitizer_kernels import attention_backward, gather, histogram, layer_norm, rms_norm, silu
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton_ext.sanitize import _looks

import triton_ext as tx

WIDE, HALF = "*fp32", "*bf16"
#: What is compiled for a launch that may be wrong, by the checks.
LOOKS = {"bounds": _looks._look_of, "uninit": _looks.kernel_with_looks, "race": _looks.kernel_with_looks}
#: Of each kernel: the types of its arguments, its constants, and its warps.
KERNELS: dict[str, tuple[Any, dict[str, str], dict[str, int], int]] = {
    "vector add": (add, {"x": WIDE, "y": WIDE, "z": WIDE, "n": "i32"}, {"BLOCK": 1024}, 4),
    "SiLU(x) * y": (silu, {"x": WIDE, "y": WIDE, "out": WIDE, "n": "i32"}, {"BLOCK": 1024}, 4),
    "softmax": (softmax, {"x": WIDE, "y": WIDE, "rows": "i32", "columns": "i32"}, {"BLOCK": 4096}, 8),
    "RMS norm": (rms_norm, {"x": WIDE, "weight": WIDE, "out": WIDE, "columns": "i32"}, {"BLOCK": 4096}, 8),
    "layer norm": (
        layer_norm, {"x": WIDE, "weight": WIDE, "bias": WIDE, "out": WIDE, "columns": "i32"}, {"BLOCK": 1024}, 4,
    ),
    "matmul": (
        matmul, {"a": HALF, "b": HALF, "c": HALF, "M": "i32", "N": "i32", "K": "i32"},
        {"BM": 128, "BN": 128, "BK": 64, "GROUP": 8}, 8,
    ),
    "attention": (
        attention, {"q": HALF, "k": HALF, "v": HALF, "o": HALF, "N": "i32", "scale": "fp32"},
        {"D": 64, "BM": 128, "BN": 64}, 8,
    ),
    "attention backward": (
        attention_backward,
        {**dict.fromkeys(("q", "k", "v", "do"), "*fp16"), **dict.fromkeys(("lse", "delta"), WIDE), "dk": "*fp16",
         "dv": "*fp16", "N": "i32", "scale": "fp32"},
        {"D": 64, "BM": 64, "BN": 128}, 8,
    ),
    "gather": (gather, {"x": WIDE, "index": "*i32", "out": WIDE, "n": "i32"}, {"BLOCK": 1024}, 4),
    "histogram": (histogram, {"x": "*i32", "bins": "*i32", "n": "i32"}, {"BLOCK": 1024}, 4),
}  # fmt: skip
SHOWN = ("vector add", "softmax", "matmul", "attention")


def source_of(name: str) -> tuple[ASTSource, int]:
    """Returns a kernel as a launch with pointers and integers that are multiples of 16 compiles it, and its warps."""
    kernel, kinds, constants, warps = KERNELS[name]
    signature = {**kinds, **dict.fromkeys(constants, "constexpr")}
    aligned = [i for i, argument in enumerate(kernel.arg_names) if kinds.get(argument, "fp32") != "fp32"]
    attributes = {(i,): [["tt.divisibility", 16]] for i in aligned}
    return ASTSource(kernel, signature=signature, constexprs=constants, attrs=attributes), warps


@contextlib.contextmanager
def checked(checks: str) -> Iterator[None]:
    """Compiles the block with these checks; without any if the text is empty."""
    if not checks:
        yield
        return
    names = checks.split(",")
    with tx.sanitize([name for name in names if name != "unproved"], static="unproved" not in names):
        yield


def spent() -> float:
    """Returns the processor time of this process and its children, in seconds."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def compiled(name: str, checks: str, target: GPUTarget) -> tuple[float, dict[str, float], Any]:
    """Compiles a kernel; returns the processor time, the seconds of each stage, and the kernel.

    With the checks ``NAME,looks``, the time is that of two kernels, and the other results are of the second one.
    """
    source, warps = source_of(name)
    checks, has_looks, _ = checks.partition(",looks")
    stages: dict[str, float] = {}

    def listen(**given: Any) -> None:
        stages.update({stage: seconds * 1e-6 for stage, seconds in given["times"].lowering_stages})

    with checked(checks), triton.knobs.compilation.scope():
        triton.knobs.compilation.always_compile = True
        triton.knobs.compilation.listener = listen
        started = spent()
        kernel = triton.compile(source, target=target, options={"num_warps": warps})
        if has_looks:
            kernel = LOOKS[checks](kernel)
        return spent() - started, stages, kernel


def instructions(kernel: Any) -> int:
    """Returns how many instructions the PTX has, or the assembly for AMD."""
    if "amdgcn" in kernel.asm:
        return len(re.findall(r"^\t[a-z]\w* ", kernel.asm["amdgcn"], re.MULTILINE))
    lines = (line.partition("//")[0] for line in kernel.asm["ptx"].splitlines())
    statements = (
        one.strip(" \t{}") for line in lines for one in line.split(";")[:-1]
    )  # assembly has several in a line
    return sum(not one.startswith(".") for one in statements)


def main(arguments: list[str]) -> int:
    """Prints the table."""
    given = [one.removeprefix("--checks=") for one in arguments if one.startswith("--checks=")]
    rounds = next((int(one.removeprefix("--rounds=")) for one in arguments if one.startswith("--rounds=")), 3)
    where = next((one.removeprefix("--target=") for one in arguments if one.startswith("--target=")), "cuda:90")
    backend, _, number = where.partition(":")
    target = GPUTarget(backend, number, 64) if backend == "hip" else GPUTarget(backend, int(number), 32)
    names = [one for one in arguments if not one.startswith("--")] or [*SHOWN]
    sets = ["", *(given or ["bounds", "bounds,lanes,hints"])]
    print(f"{'kernel':20} {'checks':20} {'CPU s':>7} {'ratio':>6} {'PTX':>6}  stages, s")
    ratios: dict[str, list[float]] = {checks: [] for checks in sets}
    for name in names:
        found: dict[str, list[tuple[float, dict[str, float], Any]]] = {checks: [] for checks in sets}
        for turn in range(rounds + 1):
            for checks in sets:
                one = compiled(name, checks, target)
                if turn:  # the first one loads libraries
                    found[checks].append(one)
        least = {checks: min(all_, key=lambda one: one[0]) for checks, all_ in found.items()}
        for checks, (seconds, stages, kernel) in least.items():
            ratios[checks].append(seconds / least[""][0])
            shown = " ".join(f"{stage} {time:.2f}" for stage, time in stages.items())
            row = f"{name:20} {checks or 'none':20} {seconds:7.2f} {ratios[checks][-1]:6.2f} {instructions(kernel):6}"
            print(f"{row}  {shown}", flush=True)
    for checks in sets[1:]:
        print(f"{'geometric mean':20} {checks:20} {'':7} {statistics.geometric_mean(ratios[checks]):6.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
