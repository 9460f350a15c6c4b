# SPDX-License-Identifier: Apache-2.0
"""On an NVIDIA GPU: a tile goes through shared memory along rows and along columns, with several shared layouts.

A thread holds squares of two by two elements. In each round of a loop the tile is stored along rows and loaded along
columns, and stored along columns and loaded along rows. First the results, which must be the input plus one for each
way, bit by bit; then the time of a round, beside the wavefronts that `tx.layouts.bank_conflicts` counts. `--ptx` only
compiles, for compute capability 9.0, and compares the number of instructions in the PTX with the count; it needs no
GPU, and otherwise PyTorch with CUDA is needed. Exits with 1 if a result or a number differs.
"""

from __future__ import annotations

import re
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

import triton
from triton.backends.compiler import GPUTarget

import triton_ext as tx

WARPS = 4
ROUNDS = 20000
PROGRAMS = 132
ROWS = "#ttg.blocked<{sizePerThread = [2, 2], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>"
COLUMNS = "#ttg.blocked<{sizePerThread = [2, 2], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>"
SHARED = (
    "#layout_ext.swizzled_tiles<{tile = [2, 2], phases = 8}>",
    "#layout_ext.swizzled_tiles<{tile = [2, 2], phases = 1}>",
    "#ttg.swizzled_shared<{vec = 2, perPhase = 1, maxPhase = 16, order = [1, 0]}>",
    "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>",
    "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>",
)
PROGRAM = """
#rows = ROWS
#columns = COLUMNS
#shared = SHARED
!tile = tensor<64x64xi32, #rows>
!turned = tensor<64x64xi32, #columns>
!pointers = tensor<64x64x!tt.ptr<i32>, #rows>
!buffer = !ttg.memdesc<64x64xi32, #shared, #ttg.shared_memory, mutable>
!pointer = !tt.ptr<i32>
#i = #ttg.slice<{dim = 1, parent = #rows}>
#j = #ttg.slice<{dim = 0, parent = #rows}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:TARGET",
    "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @exchange(%x: !pointer {tt.divisibility = 16 : i32}, %y: !pointer {tt.divisibility = 16 : i32},
      %rounds: i32) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %ones = arith.constant dense<1> : !turned
    %more = arith.constant dense<1> : !tile
    %width = arith.constant dense<64> : tensor<64x1xi32, #rows>
    %size = arith.constant 4096 : i32
    %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #i>
    %j = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #j>
    %row = tt.expand_dims %i {axis = 1 : i32} : tensor<64xi32, #i> -> tensor<64x1xi32, #rows>
    %column = tt.expand_dims %j {axis = 0 : i32} : tensor<64xi32, #j> -> tensor<1x64xi32, #rows>
    %start = arith.muli %row, %width : tensor<64x1xi32, #rows>
    %a = tt.broadcast %start : tensor<64x1xi32, #rows> -> !tile
    %b = tt.broadcast %column : tensor<1x64xi32, #rows> -> !tile
    %offsets = arith.addi %a, %b : !tile
    %program = tt.get_program_id x : i32
    %first = arith.muli %program, %size : i32
    %x1 = tt.addptr %x, %first : !pointer, i32
    %y1 = tt.addptr %y, %first : !pointer, i32
    %xs = tt.splat %x1 : !pointer -> !pointers
    %ys = tt.splat %y1 : !pointer -> !pointers
    %from = tt.addptr %xs, %offsets : !pointers, !tile
    %to = tt.addptr %ys, %offsets : !pointers, !tile
    %loaded = tt.load %from : !pointers
    %m = ttg.local_alloc : () -> !buffer
    %last = scf.for %k = %zero to %rounds step %one iter_args(%tile = %loaded) -> (!tile) : i32 {
      ttg.local_store %tile, %m : !tile -> !buffer
      %t = ttg.local_load %m : !buffer -> !turned
      %u = arith.addi %t, %ones : !turned
      ttg.local_store %u, %m : !turned -> !buffer
      %v = ttg.local_load %m : !buffer -> !tile
      %w = arith.addi %v, %more : !tile
      scf.yield %w : !tile
    }
    tt.store %to, %last : !pointers
    tt.return
  }
}
"""


def compiled(shared: str, target: GPUTarget, directory: Path) -> Any:
    """Returns the kernel with this layout of shared memory."""
    text = PROGRAM.replace("TARGET", str(target.arch))
    for name, layout in (("ROWS", ROWS), ("COLUMNS", COLUMNS), ("SHARED", shared)):
        text = text.replace(f"= {name}\n", f"= {layout}\n")
    (file := directory / "exchange.ttgir").write_text(text)
    return triton.compile(str(file), target=target)


def cost(shared: str) -> tuple[int, int]:
    """Returns the instructions and the wavefronts of one round of one program."""
    buffer = tx.layouts.read(shared, (64, 64))
    both = [tx.layouts.bank_conflicts(tx.layouts.read(text, (64, 64)), buffer, bits=32) for text in (ROWS, COLUMNS)]
    return 2 * sum(access.instructions for access in both), 2 * sum(access.wavefronts for access in both)


def compare_ptx(directory: Path) -> int:
    """Prints counts of instructions; returns how many layouts have another count than `cost` says."""
    wrong = 0
    for shared in SHARED:
        ptx = compiled(shared, GPUTarget("cuda", 90, 32), directory).asm["ptx"]
        found, (wanted, wavefronts) = len(re.findall(r"\b(?:ld|st)\.shared", ptx)), cost(shared)
        wrong += found * WARPS != wanted
        print(f"{found:3} instructions in the PTX, {wanted // WARPS:3} counted, {wavefronts:5} wavefronts: {shared}")
    return wrong


def measure(directory: Path) -> int:
    """Prints the time of a round with each layout; returns how many give wrong results."""
    import torch
    from triton.testing import do_bench

    major, minor = torch.cuda.get_device_capability()
    print(f"{torch.cuda.get_device_name()}, Triton {triton.__version__}, PyTorch {torch.__version__}")
    x = torch.randint(-(2**31), 2**31 - 1, (PROGRAMS, 64, 64), dtype=torch.int32, device="cuda")
    wrong, kernels = 0, {}
    for shared in SHARED:
        kernels[shared] = compiled(shared, GPUTarget("cuda", 10 * major + minor, 32), directory)
        for rounds in (0, 1, 7):
            y = torch.zeros_like(x)
            kernels[shared][(PROGRAMS, 1, 1)](x, y, rounds)
            if not torch.equal(y, x + 2 * rounds):
                wrong += 1
                print(f"wrong after {rounds} rounds: {shared}")
    found: dict[str, list[float]] = {shared: [] for shared in SHARED}
    for _ in range(5):
        for shared, kernel in kernels.items():
            launch = kernel[(PROGRAMS, 1, 1)]
            found[shared].append(do_bench(lambda launch=launch: launch(x, y, ROUNDS), return_mode="median"))
    first = statistics.median(found[SHARED[0]])
    for shared, times in found.items():
        ms, (instructions, wavefronts) = statistics.median(times), cost(shared)
        nanoseconds = ms * 1e6 / ROUNDS
        print(
            f"{nanoseconds:8.1f} ns a round, {ms / first:5.2f} times the first; {instructions:4} instructions, "
            f"{wavefronts:5} wavefronts: {shared}"
        )
    return wrong


def main() -> None:
    """Compares what the command line asks for."""
    tx.load("layout_ext")
    with tempfile.TemporaryDirectory() as directory:
        wrong = compare_ptx(Path(directory)) if "--ptx" in sys.argv[1:] else measure(Path(directory))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
