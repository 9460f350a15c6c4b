# SPDX-License-Identifier: Apache-2.0
"""On an NVIDIA GPU: the wavefronts that `tx.layouts.bank_conflicts` counts, beside the GPU's counters or times.

A Gluon kernel stores and loads a tile of shared memory in a loop, with one register layout and several shared layouts.
With `ncu` on PATH the GPU's counters say how many wavefronts and conflicts there were; otherwise the time of a round is
compared, relative to the layout with the fewest wavefronts. `--ptx` only compiles, for compute capability 9.0, compares
the number of instructions in the PTX with the count, and needs no GPU. Exits with 1 if counts differ.
"""

from __future__ import annotations

import csv
import io
import re
import shutil
import subprocess
import sys
from typing import Any

import triton
from triton.backends.compiler import GPUTarget
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon._runtime import GluonASTSource

from triton_ext.layouts import Access, bank_conflicts, read

SHAPE = (64, 64)
WARPS = 4
ROUNDS = 2000
PROGRAMS = 132
METRICS = (
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
)


@gluon.jit
def exchange(out, seed, rounds, R: gl.constexpr, S: gl.constexpr):  # noqa: N803
    """Stores a tile, loads it, and so on; every value depends on the one before."""
    buffer = gl.allocate_shared_memory(gl.int32, [64, 64], S)
    tile = gl.full([64, 64], 0, gl.int32, layout=R) + seed
    for _ in range(rounds):
        buffer.store(tile)
        tile = buffer.load(R) + 1
    total = gl.sum(gl.sum(tile, 1), 0)
    gl.store(out + gl.program_id(0), total)


def registers() -> dict[str, tuple[Any, str]]:
    """Returns the register layouts by name, as Gluon and as an attribute."""
    found = {}
    for name, size, threads, warps in (
        ("rows", [1, 1], [1, 32], [WARPS, 1]),
        ("4 columns", [1, 1], [8, 4], [WARPS, 1]),
        ("columns", [1, 1], [32, 1], [1, WARPS]),
        ("vectors", [1, 4], [8, 4], [WARPS, 1]),
        ("tall vectors", [1, 4], [32, 1], [1, WARPS]),
    ):
        parts = f"sizePerThread = {size}, threadsPerWarp = {threads}, warpsPerCTA = {warps}, order = [1, 0]"
        text = f"#ttg.blocked<{{{parts}}}>"
        found[name] = gl.BlockedLayout(size, threads, warps, [1, 0]), text
    return found


def buffers() -> dict[str, tuple[Any, str]]:
    """Returns the shared layouts by name."""
    found = {}
    for vector, phase, most in ((1, 1, 1), (1, 1, 4), (1, 1, 32), (4, 1, 8)):
        text = f"#ttg.swizzled_shared<{{vec = {vector}, perPhase = {phase}, maxPhase = {most}, order = [1, 0]}}>"
        found[f"swizzle {vector},{phase},{most}"] = gl.SwizzledSharedLayout(vector, phase, most, [1, 0]), text
    for pad in (1, 4):
        text = f"#ttg.padded_shared<[64:+{pad}] {{order = [1, 0], shape = [64, 64]}}>"
        found[f"padded 64:+{pad}"] = gl.PaddedSharedLayout.with_identity_for([[64, pad]], [64, 64], [1, 0]), text
    return found


def cases() -> list[tuple[str, str, Any, Any, Access]]:
    """Returns the pairs of layouts, each with the count of one access of the tile.

    Vectors over a padding of one word are left out: Triton's addresses of these are not aligned.
    """
    return [
        (name, buffer, r, s, bank_conflicts(read(text, SHAPE), read(its, SHAPE), bits=32))
        for name, (r, text) in registers().items()
        for buffer, (s, its) in buffers().items()
        if not (buffer == "padded 64:+1" and "vectors" in name)
    ]


def ptx_instructions(r: Any, s: Any) -> tuple[int, int, bool]:
    """Returns how many instructions load and store the tile in one thread's PTX, and whether they are for matrices."""
    types = {"out": "*i32", "seed": "i32", "rounds": "i32", "R": "constexpr", "S": "constexpr"}
    source = GluonASTSource(exchange, types, constexprs={"R": r, "S": s})
    ptx = triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": WARPS}).asm["ptx"]
    loop = ptx[: ptx.rindex("bra")]  # the reduction after the loop has no branch
    kinds = re.findall(r"\b(ld|st)(matrix|\.shared)", loop)
    loads, stores = (sum(kind == each for kind, _ in kinds) for each in ("ld", "st"))
    return loads, stores, any(form == "matrix" for _, form in kinds)


def compare_ptx() -> bool:
    """Prints counts of instructions; returns whether all agree, but for those for matrices, which are not counted."""
    right = True
    for name, buffer, r, s, access in cases():
        loads, stores, matrices = ptx_instructions(r, s)
        wanted = access.instructions // WARPS
        right &= matrices or (loads, stores) == (wanted, wanted)
        form = "for matrices" if matrices else f"of {access.vector} words"
        print(f"{name:13} {buffer:15} PTX has {loads:2} loads, {stores:2} stores {form}; counted {wanted}")
    return right


def launch(number: int, rounds: int) -> Any:
    """Launches one case and returns the compiled kernel's launch as a function without arguments."""
    import torch

    _, _, r, s, _ = cases()[number]
    out = torch.zeros(PROGRAMS, dtype=torch.int32, device="cuda")
    return lambda: exchange[(PROGRAMS,)](out, 1, rounds, r, s, num_warps=WARPS)


def counters(number: int) -> list[float]:
    """Returns what ncu counts of loads and stores in one case, for each round of one program.

    Raises:
        RuntimeError: ncu does not count.
    """
    rounds = 10
    kernel = ["--kernel-name", "exchange", "--launch-count", "1", "--csv", "--metrics", ",".join(METRICS)]
    command = ["ncu", *kernel, sys.executable, __file__, "--case", str(number), str(rounds)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    rows = [
        row for row in csv.DictReader(io.StringIO(done.stdout[done.stdout.find('"ID"') :])) if row.get("Metric Name")
    ]
    values = {row["Metric Name"]: float(row["Metric Value"].replace(",", "")) for row in rows}
    if set(values) != set(METRICS):
        raise RuntimeError(done.stdout[-500:] + done.stderr[-500:])
    return [values[name] / rounds / PROGRAMS for name in METRICS]


def compare_gpu() -> bool:
    """Prints counts beside counters or times; returns whether counters agree to a tenth."""
    import torch
    from triton.testing import do_bench

    print(f"{torch.cuda.get_device_name()}, Triton {triton.__version__}, tile {SHAPE} of 32 bits, {WARPS} warps")
    by_counters = shutil.which("ncu") is not None
    found = []
    for number, (name, buffer, r, s, access) in enumerate(cases()):
        if ptx_instructions(r, s)[2]:
            print(f"{name:13} {buffer:15} uses instructions for matrices, which are not counted")
            continue
        measured = counters(number) if by_counters else [do_bench(launch(number, ROUNDS)) * 1e6 / ROUNDS]
        found.append((name, buffer, access, measured))
    right = True
    for name in registers():
        mine = [row for row in found if row[0] == name]
        if not mine:
            continue
        base = min(mine, key=lambda row: row[2].wavefronts)
        for _, buffer, access, measured in mine:
            ratio = access.wavefronts / base[2].wavefronts
            head = f"{name:13} {buffer:15} {access.vector} words: {access.wavefronts:5} wavefronts counted"
            if by_counters:
                # The reduction after the loop stores and loads a few words, too.
                right &= all(abs(value - access.wavefronts) <= 0.1 * access.wavefronts + 8 for value in measured)
                print(f"{head}, ncu: {measured[0]:8.1f} loading, {measured[1]:8.1f} storing")
            else:
                same = measured[0] / base[3][0]
                print(f"{head}, {ratio:5.2f} times the least; {measured[0]:8.1f} ns a round, {same:5.2f} times")
    return right


def main() -> None:
    """Runs the comparison that the command line names."""
    if sys.argv[1:2] == ["--case"]:
        launch(int(sys.argv[2]), int(sys.argv[3]))()
        import torch

        torch.cuda.synchronize()
        return
    sys.exit(not (compare_ptx() if "--ptx" in sys.argv else compare_gpu()))


if __name__ == "__main__":
    main()
