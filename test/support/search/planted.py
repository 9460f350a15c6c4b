# SPDX-License-Identifier: Apache-2.0
"""A kernel with planted edits: one that helps with one argument only, decoys that break results, and 30 wrong passes.

The edits are functions around the stage ``ttir`` that rewrite the text of its result.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
import triton
import triton.language as tl
from triton._C.libtriton import ir

import triton_ext as tx


@triton.jit
def blend(x, z, y, n, work, BLOCK: tl.constexpr):  # noqa: PLR0917
    """y = max(x * 3 - z, 0.5) + |x|, for which the loop computes an absolute value `work` times."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + i, mask=i < n, other=2.0)
    b = tl.load(z + i, mask=i < n, other=4.0)
    c = a
    for _ in range(work):
        c = tl.where(c < 0, -c, c)
    tl.store(y + i, tl.maximum(a * 3.0 - b, 0.5) + c, mask=i < n)


def make_inputs() -> Iterator[dict[str, Any]]:
    """Yields two launches, with a tail, and of one element."""
    for n in (1000, 1):
        x, z = torch.randn(n), torch.randn(n)
        yield {"x": x, "z": z, "y": torch.zeros(n), "n": n, "work": 100_000}


def grid(meta: dict[str, Any]) -> tuple[int, ...]:
    """Returns the grid of `blend`."""
    return (triton.cdiv(meta["n"], meta["BLOCK"]),)


_SOURCE = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
CONFIGS = [triton.Config({"BLOCK": 256})]
Stage = Callable[[Any, Any, Callable[[Any, Any], Any]], Any]


def _rewriting(name: str, rewrite: Callable[[str], str]) -> Stage:
    """Returns a function for `Pipeline.stage` that rewrites the text of the module, as a global of this module."""

    def stage(source: Any, metadata: Any, inner: Callable[[Any, Any], Any]) -> Any:
        module = inner(source, metadata)
        text = str(module)
        changed = rewrite(text)
        assert changed != text or name.startswith("help"), f"{name} changes nothing:\n{text}"
        with tempfile.TemporaryDirectory() as directory:
            file = Path(directory, "module.ttir")
            file.write_text(changed)
            parsed = ir.parse_mlir_module(str(file), module.context)
        parsed.context = module.context
        return parsed

    stage.__name__ = stage.__qualname__ = name
    stage.cache_key = f"{name}, {_SOURCE}"  # type: ignore[attr-defined] - it reads the file that it has just written
    globals()[name] = stage
    return stage


def _replaced(pattern: str, by: str, count: int = 1) -> Callable[[str], str]:
    return lambda text: re.sub(pattern, by, text, count=count)


def _shortened(text: str) -> str:
    """Returns the text with one iteration for the loop, which is enough."""
    return re.sub(r"(scf\.for %\S+ = \S+) to %\w+", r"\1 to %c1_i32", text)


def _crashes(text: str) -> str:
    os.abort()


def _hangs(text: str) -> str:
    while True:
        pass


def _fails(text: str) -> str:
    raise ValueError("planted")


#: Only ``help_5`` helps.
HELP = [_rewriting(f"help_{k}", _shortened if k == 5 else lambda text: text) for k in range(8)]
_STORED = r"(%\w+) = arith\.addf (%\w+), (%\w+)"
_ALIGNED = "%x: !tt.ptr<f32> {tt.divisibility = 16"
#: The text that each wrong pass changes. All of them give a module that compiles.
_WRONG: list[Callable[[str], str]] = [
    _replaced("arith.addf", "arith.subf"),
    _replaced("arith.addf", "arith.mulf"),
    _replaced("arith.addf", "arith.maxnumf"),
    _replaced("arith.mulf", "arith.addf"),
    _replaced("arith.mulf", "arith.divf"),
    _replaced("arith.subf (%\\w+), (%\\w+)", r"arith.subf \2, \1", 0),
    _replaced("arith.maxnumf", "arith.minnumf"),
    _replaced("arith.maxnumf", "arith.addf"),
    _replaced("dense<3.000000e\\+00>", "dense<3.000001e+00>"),
    _replaced("dense<3.000000e\\+00>", "dense<-3.000000e+00>"),
    _replaced("dense<5.000000e-01>", "dense<5.000001e-01>"),
    _replaced("dense<5.000000e-01>", "dense<0.000000e+00>"),
    _replaced("dense<5.000000e-01>", "dense<0xFF800000>"),
    _replaced("cmpi slt, (%\\w+), (%\\w+)", r"cmpi sgt, \1, \2"),
    _replaced("cmpi slt, (%\\w+), (%\\w+)", r"cmpi ne, \1, \2"),
    _replaced("cmpi slt, (%\\w+), (%\\w+)", r"cmpi slt, \2, \1"),
    _replaced("cmpi slt", "cmpi eq"),
    _replaced("cmpf olt", "cmpf ogt"),
    _replaced("cmpf olt", "cmpf oge"),
    _replaced("cmpf olt", "cmpf ord"),
    _replaced("cmpf olt", "cmpf uno"),
    _replaced("arith.select (%\\w+), (%\\w+), (%\\w+)", r"arith.select \1, \3, \2"),
    _replaced("end = 256 : i32, start = 0", "end = 257 : i32, start = 1"),
    _replaced("arith.muli (%\\w+), (%\\w+) : i32", r"arith.addi \1, \2 : i32"),
    _replaced("arith.muli (%\\w+), (%\\w+) : i32", r"arith.muli \1, \1 : i32"),
    _replaced("tt.get_program_id x", "tt.get_num_programs x"),
    _replaced("(scf\\.for %\\S+ = \\S+) to %\\w+", r"\1 to %c0_i32"),
    # Wrong only where the pointers are not known to be aligned, and only where they are.
    lambda text: text.replace("arith.addf", "arith.subf") if _ALIGNED not in text else text + "\n",
    lambda text: text.replace("arith.addf", "arith.subf") if _ALIGNED in text else text + "\n",
    # Wrong only where n is 1, for which Triton compiles a kernel of its own.
    lambda text: text.replace("arith.addf", "arith.subf") if "%n: i32" not in text else text + "\n",
]
WRONG = [_rewriting(f"wrong_{number}", rewrite) for number, rewrite in enumerate(_WRONG)]
CRASHES, HANGS, FAILS = (
    _rewriting(name, function) for name, function in (("crashes", _crashes), ("hangs", _hangs), ("fails", _fails))
)


def choices(stages: list[Stage]) -> dict[str, tx.Pipeline]:
    """Returns pipelines to choose from: one without edits, and one for each function."""
    return {"none": tx.Pipeline()} | {s.__name__: tx.Pipeline().stage("ttir", s) for s in stages}
