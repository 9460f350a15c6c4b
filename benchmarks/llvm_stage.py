# SPDX-License-Identifier: Apache-2.0
"""What the stage ``llvm`` costs: the start of ``triton-ext-opt --llvm``, compilations, and ``LLVM_PASS_PLUGIN_PATH``.

Compilations take turns; times are processor times, which other programs on the machine disturb least.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import triton
from cpu_kernels import (
    add_kernel,
    attention_kernel,
    gelu_kernel,
    layer_norm_kernel,
    matmul_kernel,
    silu_mul_kernel,
    softmax_kernel,
)
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

import triton_ext as tx
from triton_ext.support.resources import library_dir

TARGETS = {
    "cuda:90": GPUTarget("cuda", 90, 32),
    "hip:gfx942": GPUTarget("hip", "gfx942", 64),
    "cpu:native": GPUTarget("cpu", "native", 1),
}
PIPELINES = {
    "no pipeline": None,
    "one for ttir": tx.Pipeline().at_end("ttir", tx.builtin.common.cse()),
    "llvm, empty": tx.Pipeline().at_end("ttir", tx.builtin.common.cse()).at_end("llvm", tx.builtin.llvm("verify")),
}
KERNELS = {
    add_kernel: "*fp32:16, *fp32:16, *fp32:16, i32:16, 1024",
    gelu_kernel: "*fp32:16, *fp32:16, i32:16, 1024",
    silu_mul_kernel: "*fp32:16, *fp32:16, *fp32:16, i32:16, 1024",
    softmax_kernel: "*fp32:16, *fp32:16, i32:16, 1024",
    layer_norm_kernel: "*fp32:16, *fp32:16, *fp32:16, *fp32:16, i32:16, fp32, 1024",
    matmul_kernel: "*fp32:16, *fp32:16, *fp32:16, i32:16, i32:16, i32:16, 64, 64, 32",
    attention_kernel: "*fp32:16, *fp32:16, *fp32:16, *fp32:16, fp32, i32:16, 64, 64, 64",
}


def source() -> ASTSource:
    signature = {"x": "*fp32", "out": "*fp32", "columns": "i32", "BLOCK": "constexpr"}
    return ASTSource(softmax_kernel, signature, {"BLOCK": 1024})


def compile_seconds(target: GPUTarget, pipeline: tx.Pipeline | None) -> float:
    """Returns the processor time of a compilation, without that of ``ptxas`` and of the linker."""
    with pipeline or tx.Pipeline():
        start = time.process_time()
        triton.compile(source(), target=target)
        return time.process_time() - start


def compilations(turns: int = 25) -> None:
    triton.knobs.compilation.always_compile = True
    print(f"{'target':<11}" + "".join(f"{name:>14}" for name in PIPELINES) + "   median ms of processor time")
    for name, target in TARGETS.items():
        rows = [[compile_seconds(target, p) for p in PIPELINES.values()] for _ in range(turns + 2)][2:]
        medians = [1000 * statistics.median(column) for column in zip(*rows, strict=True)]
        print(f"{name:<11}" + "".join(f"{ms:14.1f}" for ms in medians), flush=True)


def starts(runs: int = 15) -> None:
    command = [Path(sys.executable).with_name("triton-ext-opt"), "--llvm", "-", "-passes=instcombine"]
    walls, processors = [], []
    for _ in range(runs):
        before, start = os.times(), time.perf_counter()
        subprocess.run(command, input=b"define void @f() { ret void }", check=True, capture_output=True)
        after = os.times()
        walls.append(time.perf_counter() - start)
        processors.append(sum(after[2:4]) - sum(before[2:4]))
    print(f"triton-ext-opt --llvm: {min(walls):.3f} s (fastest of {runs}), {min(processors):.2f} s of processor time")


def assemblies() -> None:
    """Prints a digest of each kernel's assembly: without debug lines, number of lines and of vector instructions."""
    for name in TARGETS:
        for kernel, signature in KERNELS.items():
            traced = tx.trace(kernel, target=name, signature=signature)
            (text,) = (str(s.output) for s in traced.stages if s.name in {"ptx", "amdgcn", "asm"})
            lines = [
                line for line in text.splitlines() if line[:1] in "\t " and line.strip()[:1] not in {".", "/", "#"}
            ]
            print(f"{name} {kernel.fn.__name__} {len(lines)} {hash(tuple(lines)) & 0xFFFFFFFF:08x}")


def plugin_path() -> None:
    """Compares assemblies with a plugin in ``LLVM_PASS_PLUGIN_PATH``, which adds no pass, and without."""
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    plugin = str(next(library_dir().glob("libtriton_ext_stream_stores.so")))
    texts = []
    for extra in ({}, {"LLVM_PASS_PLUGIN_PATH": plugin}):
        command = [sys.executable, __file__, "assemblies"]
        done = subprocess.run(command, env=environment | extra, capture_output=True, text=True, check=True)
        texts.append([line.split() for line in done.stdout.splitlines()])
    for (target, kernel, count, digest), (_, _, other, second) in zip(*texts, strict=True):
        same = "the same" if digest == second else f"{other} instructions"
        print(f"{target:<11} {kernel:<16} {count:>5} instructions; with LLVM_PASS_PLUGIN_PATH: {same}")


if __name__ == "__main__":
    if sys.argv[1:] == ["assemblies"]:
        assemblies()
    else:
        starts()
        compilations()
        plugin_path()
