# SPDX-License-Identifier: Apache-2.0
"""Compiles one job for each line of its input, for the property test of the cache.

A job is a line of JSON: a kernel, the pipelines around it, the way in which each is applied, and the directory of the
disk cache. The answer has two parts: a digest of every stage's output, or ``error``; and where the kernel came from,
which is ``memory``, ``disk`` or ``compiled``.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any

import triton
import triton.language as tl
from triton import knobs
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.runtime import driver
from triton.runtime.jit import MockTensor

import triton_ext as tx
from support.pipeline.kernels import softmax, squares
from support.pipeline.no_gpu import NoGpu
from triton_ext.pipeline import hook

CUDA90 = GPUTarget("cuda", 90, 32)


@triton.jit
def product(x, y, n, BLOCK: tl.constexpr):
    """Has a loop around a dot, for the software pipeliner."""
    i = tl.arange(0, 16)
    total = tl.zeros((16, 16), dtype=tl.float32)
    for k in range(0, n, 16):
        a = tl.load(x + i[:, None] * n + (k + i)[None, :])
        total = tl.dot(a, a, total)
    tl.store(y + i[:, None] * 16 + i[None, :], total)


KERNELS = {kernel.__name__: kernel for kernel in (softmax, squares, product)}
# Globals that passes read: one is assigned, one is changed in place.
REGISTERS = 32
SETTINGS = {"registers": 32}


def limit_registers(module: Any, count: int) -> None:
    """Leaves ``.maxnreg`` in the PTX."""
    module.set_attr("ttg.maxnreg", ir.builder(module.context).get_int32_attr(count))


class Limit:
    """A callable with state."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __call__(self, module: Any) -> None:
        limit_registers(module, self.count)


def limiter(how: str, count: int) -> Callable[[Any], None]:
    """Returns a pass that refers to `count` in one of the ways in which a Python function can refer to a value."""
    if how == "closure":
        return lambda module: limit_registers(module, count)
    if how == "default":
        return lambda module, count=count: limit_registers(module, count)
    if how == "partial":
        return functools.partial(limit_registers, count=count)
    if how == "object":
        return Limit(count)
    if how == "settings":
        return lambda module: limit_registers(module, SETTINGS["registers"])
    return lambda module: limit_registers(module, REGISTERS)


def commenter(number: int) -> Callable[..., str]:
    """Returns a stage function that leaves `number` in the PTX."""
    return lambda source, metadata, inner: f"{inner(source, metadata)}\n// {number}\n"


def make_pass(spec: dict[str, Any]) -> Any:
    """Returns the pass that `spec` describes."""
    if spec["kind"] == "python":
        return limiter(spec["how"], spec["count"])
    found: Any = tx.passes.ttir if spec["kind"] == "extension" else tx.builtin
    for part in spec["name"].split("."):
        found = getattr(found, part)
    return found(**spec.get("options", {}))


def make_pipeline(edits: list[dict[str, Any]], spelling: str) -> tx.Pipeline:
    """Returns the pipeline that `edits` describe: built edit by edit, as a sum, or through its text."""
    pieces = []
    for edit in edits:
        extra = {"on_missing": edit["on_missing"]} if "on_missing" in edit else {}
        items = (
            [commenter(edit["number"])] if edit["verb"] == "stage" else [make_pass(p) for p in edit.get("passes", ())]
        )
        one = tx.Pipeline() if spelling == "sum" or not pieces else pieces.pop()
        pieces.append(getattr(one, edit["verb"])(edit["where"], *items, **edit.get("arguments", {}), **extra))
    pipeline = sum(pieces, tx.Pipeline())
    return tx.Pipeline.parse(str(pipeline)) if spelling == "text" else pipeline


made: dict[str, tx.Pipeline] = {}


def layer_pipeline(layer: dict[str, Any], fresh: bool) -> tx.Pipeline:
    """Returns a new pipeline, or the one that an earlier job made from the same edits."""
    spec = json.dumps(layer["edits"])
    if fresh or spec not in made:
        made[spec] = make_pipeline(layer["edits"], layer["spelling"])
    return made[spec]


used_kernels: dict[object, Any] = {}


def used_kernel(kernel: Any, pipelines: list[tx.Pipeline], fresh: bool) -> Any:
    """Returns `kernel` under ``@tx.use``, outermost pipeline first. Unless `fresh`, it is the object that an earlier
    job made."""
    known = (kernel.__name__, *map(id, pipelines))
    if fresh or known not in used_kernels:
        for pipeline in reversed(pipelines):
            kernel = tx.use(pipeline)(kernel)
        used_kernels[known] = kernel
    return used_kernels[known]


def compile_kernel(kernel: Any, route: str) -> Any:
    """Compiles `kernel` by ``kernel[grid]`` or by ``triton.compile``, which give the same code."""
    if route == "launch":
        pointer = MockTensor(tl.float32)
        return kernel.warmup(pointer, pointer, 1000, 256, grid=(1,))
    signature = {"x": "*fp32", "y": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    aligned = {(i,): [["tt.divisibility", 16]] for i in range(2)}
    return triton.compile(triton.compiler.ASTSource(kernel, signature, {"BLOCK": 256}, aligned), target=CUDA90)


def work(job: dict[str, Any]) -> dict[str, Any]:
    """Does `job`."""
    global REGISTERS  # noqa: PLW0603
    if os.environ.get("TRITON_CACHE_DIR") != job["cache"]:
        os.environ["TRITON_CACHE_DIR"] = job["cache"]
        for kernel in KERNELS.values():
            kernel.device_caches.clear()
        made.clear()
        used_kernels.clear()
    REGISTERS = SETTINGS["registers"] = job["registers"]
    kernel, hits, used = KERNELS[job["kernel"]], list[bool](), list[tx.Pipeline]()
    knobs.compilation.listener = lambda *, cache_hit, **_: hits.append(cache_hit)
    try:
        with contextlib.ExitStack() as scopes, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for layer in job["layers"]:
                pipeline = layer_pipeline(layer, job["fresh"])
                if layer["mode"] == "install":
                    scopes.callback(pipeline.install().uninstall)
                elif layer["mode"] == "with":
                    scopes.enter_context(pipeline)
                else:
                    used.append(pipeline)
            if used:
                kernel = used_kernel(kernel, used, job["fresh"])
            compiled = compile_kernel(kernel, job["route"])
    except tx.PipelineError as error:
        return {"outcome": "error", "origin": "compiled", "message": str(error)}
    # No stage has run on `source` yet.
    outcome = {
        stage: hashlib.sha256(text if isinstance(text, bytes) else text.encode()).hexdigest()[:16]
        for stage, text in sorted(compiled.asm.items())
        if stage != "source"
    }
    outcome["name"] = compiled.metadata.name
    return {"outcome": outcome, "origin": ("disk" if hits[-1] else "compiled") if hits else "memory"}


def main() -> None:
    """Answers until standard input ends."""
    hook._RECHECK = 0.0  # look for rebuilt libraries each time, not every half second
    driver.set_active(NoGpu(CUDA90))
    for line in sys.stdin:
        job = json.loads(line)
        print(json.dumps(work(json.loads(line.replace("KERNEL", job["kernel"])))), flush=True)


if __name__ == "__main__":
    main()
