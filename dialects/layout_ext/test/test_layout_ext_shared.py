# SPDX-License-Identifier: Apache-2.0
"""`#layout_ext.swizzled_tiles`, a layout of shared memory: by its formula, by counts of wavefronts, and compiled."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import triton
from triton.backends.compiler import GPUTarget

import triton_ext as tx
from support import ROOT, environment, mutants

# Each thread holds squares of two by two elements; the lanes go along rows, or along columns.
ALONG_ROWS = "#ttg.blocked<{{sizePerThread = [2, 2], threadsPerWarp = [{0}, 8], warpsPerCTA = [4, 1], order = [1, 0]}}>"
ALONG_COLUMNS = (
    "#ttg.blocked<{{sizePerThread = [2, 2], threadsPerWarp = [8, {0}], warpsPerCTA = [1, 4], order = [0, 1]}}>"
)
TILES = "#layout_ext.swizzled_tiles<{tile = [2, 2], phases = 8}>"
TARGETS = {
    "sm80": (GPUTarget("cuda", 80, 32), "cuda:80", "cubin"),
    "sm90": (GPUTarget("cuda", 90, 32), "cuda:90", "cubin"),
    "gfx942": (GPUTarget("hip", "gfx942", 64), "hip:gfx942", "hsaco"),
}
PROGRAM = """
#rows = {rows}
#columns = {columns}
#shared = {shared}
!along_rows = tensor<64x64xf32, #rows>
!along_columns = tensor<64x64xf32, #columns>
!filled = !ttg.memdesc<64x64xf32, #shared, #ttg.shared_memory>
!one = !ttg.memdesc<64x64xf32, #shared, #ttg.shared_memory, mutable>
!three = !ttg.memdesc<3x64x64xf32, #shared, #ttg.shared_memory, mutable>
!double = !ttg.memdesc<128x64xf32, #shared, #ttg.shared_memory, mutable>
!integers = !ttg.memdesc<64x64xi32, #shared, #ttg.shared_memory, mutable>
!half = !ttg.memdesc<64x64xf32, #shared, #ttg.shared_memory, mutable, 128x64>
!pointer = !tt.ptr<f32>
module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "{target}",
    "ttg.threads-per-warp" = {lanes} : i32}} {{
  tt.func public @kernel(%x: !pointer {{tt.divisibility = 16 : i32}}, %y: !pointer {{tt.divisibility = 16 : i32}}) {{
    %from = tt.splat %x : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #rows>
    %to = tt.splat %y : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #columns>
    %tile = tt.load %from : tensor<64x64x!tt.ptr<f32>, #rows>
    {through}
    tt.store %to, %out : tensor<64x64x!tt.ptr<f32>, #columns>
    tt.return
  }}
}}
"""
#: Ways through shared memory from %tile to %out.
WAYS = {
    "alloc": """%m = ttg.local_alloc %tile : (!along_rows) -> !filled
    %out = ttg.local_load %m : !filled -> !along_columns""",
    "buffers": """%c = arith.constant 1 : i32
    %b = ttg.local_alloc : () -> !three
    %m = ttg.memdesc_index %b[%c] : !three -> !one
    ttg.local_store %tile, %m : !along_rows -> !one
    %out = ttg.local_load %m : !one -> !along_columns""",
    "gather": """%i = arith.constant dense<3> : tensor<64x64xi32, #columns>
    %m = ttg.local_alloc %tile : (!along_rows) -> !filled
    %out = ttg.local_gather %m[%i] {axis = 0 : i32} : !filled, tensor<64x64xi32, #columns> -> !along_columns""",
    "bits": """%b = ttg.local_alloc %tile : (!along_rows) -> !one
    %m = ttg.memdesc_reinterpret %b : !one -> !integers
    %n = ttg.local_load %m : !integers -> tensor<64x64xi32, #columns>
    %out = tt.bitcast %n : tensor<64x64xi32, #columns> -> !along_columns""",
    "part": """%b = ttg.local_alloc : () -> !double
    %m = ttg.memdesc_subslice %b[64, 0] : !double -> !half
    ttg.local_store %tile, %m : !along_rows -> !half
    %out = ttg.local_load %m : !half -> !along_columns""",
}


@pytest.mark.parametrize(
    ("shape", "tile", "phases"),
    [((64, 64), (2, 2), 8), ((32, 16), (1, 4), 4), ((16, 32), (4, 2), 64), ((2, 8), (4, 4), 2), ((8, 2), (2, 4), 1)],
)
def test_where_an_element_lies(shape: tuple[int, int], tile: tuple[int, int], phases: int) -> None:
    """The formula, element by element: also for tiles that are larger than the buffer, and for too many phases."""
    layout = tx.layouts.read(f"#layout_ext.swizzled_tiles<{{tile = {list(tile)}, phases = {phases}}}>", shape)
    assert layout.kind == "shared"
    assert layout.is_bijective()
    offsets = layout.inverted()
    height, width = (min(a, b) for a, b in zip(tile, shape, strict=True))
    columns = shape[1] // width
    for i, j in itertools.product(*map(range, shape)):
        place = (j // width) ^ (i // height % phases % columns)
        expected = ((i // height * columns + place) * height + i % height) * width + j % width
        assert offsets.apply(dim0=i, dim1=j)["offset"] == expected


BUGS = {
    "twice as many phases": mutants.Mutation("Shared.cpp", "row < int32_t(getPhases())", "row <= int32_t(getPhases())"),
    "fewer columns": mutants.Mutation("Shared.cpp", "moved < columns ? moved : 0", "moved < columns / 2 ? moved : 0"),
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the dialect with all bugs in it and returns the directory of its libraries."""
    return mutants.build_with_bugs("dialects/layout_ext", BUGS, tmp_path_factory.mktemp("bugs"))


@pytest.mark.slow
@pytest.mark.parametrize("bug", ["", *BUGS])
def test_the_formula_notices_a_bug(bug: str, libraries: Path, tmp_path: Path) -> None:
    ended = mutants.run_tests(Path(__file__), "where_an_element_lies", libraries, bug, tmp_path / "cache")
    assert ended.returncode == bool(bug), ended.stdout  # 1 is a failed test


def cost(shared: str) -> tuple[int, int]:
    """Returns the instructions and the wavefronts to write a tile along rows and to read it along columns."""
    buffer = tx.layouts.read(shared, (64, 64))
    both = [
        tx.layouts.bank_conflicts(tx.layouts.read(text.format(4), (64, 64)), buffer, bits=32)
        for text in (ALONG_ROWS, ALONG_COLUMNS)
    ]
    return sum(access.instructions for access in both), sum(access.wavefronts for access in both)


def test_no_conflicts_in_either_direction() -> None:
    """16 KiB are 128 wavefronts of 128 bytes, twice; without phases, reading takes eight times as long."""
    assert cost(TILES) == (64, 256)
    assert cost(TILES.replace("phases = 8", "phases = 1")) == (64, 128 + 8 * 128)


@pytest.mark.slow
def test_no_swizzle_of_triton_is_as_good() -> None:
    """A vector of #ttg.swizzled_shared has one row only: 64 bits of each square, and conflicts in one direction."""
    # Left out: the order [0, 1], which is the same in a mirror, and numbers that mean the same as others.
    sizes = [1 << bit for bit in range(7)]
    texts = [
        f"#ttg.swizzled_shared<{{vec = {vec}, perPhase = {per}, maxPhase = {most}, order = [1, 0]}}>"
        for vec, per, most in itertools.product(sizes, sizes, sizes)
        if vec * most <= 64 and per * most <= 64 and (most > 1 or per == vec == 1)
    ]
    texts += [
        f"#ttg.nvmma_shared<{{swizzlingByteWidth = {width}, transposed = {way}, elementBitWidth = 32}}>"
        for width, way in itertools.product((32, 64, 128), ("false", "true"))
    ]
    costs = [cost(text) for text in texts]
    assert min(instructions for instructions, _ in costs) == 128
    assert min(wavefronts for _, wavefronts in costs) == 384


def program(shared: str, way: str, name: str, directory: Path) -> tuple[Path, GPUTarget]:
    target, text, _ = TARGETS[name]
    rows, columns = (layout.format(target.warp_size // 8) for layout in (ALONG_ROWS, ALONG_COLUMNS))
    filled = PROGRAM.format(
        rows=rows, columns=columns, shared=shared, target=text, lanes=target.warp_size, through=WAYS[way]
    )
    (file := directory / "kernel.ttgir").write_text(filled)
    return file, target


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", TARGETS)
def test_reaches_the_binary(name: str, way: str, tmp_path: Path) -> None:
    tx.load("layout_ext")
    file, target = program(TILES, way, name, tmp_path)
    compiled = triton.compile(str(file), target=target)
    assert "#layout_ext.swizzled_tiles" in compiled.asm["ttgir"]
    assert compiled.metadata.shared == 64 * 64 * 4 * {"buffers": 3, "part": 2}.get(way, 1)
    assert compiled.asm[TARGETS[name][2]]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shared", "instructions"),
    [
        (TILES, {"st.shared.v4.b32": 8, "ld.shared.v4.b32": 8}),
        (
            "#ttg.swizzled_shared<{vec = 2, perPhase = 1, maxPhase = 16, order = [1, 0]}>",
            {"st.shared.v2.b32": 16, "ld.shared.v2.b32": 16},
        ),
    ],
    ids=["swizzled_tiles", "swizzled_shared"],
)
def test_the_instructions_in_ptx(shared: str, instructions: dict[str, int], tmp_path: Path) -> None:
    """A thread has eight squares; the count for four warps is that of `cost`."""
    tx.load("layout_ext")
    file, target = program(shared, "alloc", "sm90", tmp_path)
    ptx = triton.compile(str(file), target=target).asm["ptx"]
    assert Counter(re.findall(r"(?:ld|st)\.shared\S*", ptx)) == instructions
    assert cost(shared)[0] == 4 * sum(instructions.values())


@pytest.mark.slow
def test_the_benchmark_counts_the_instructions_of_the_ptx(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "gpu" / "swizzled_tiles.py"), "--ptx"]
    variables = environment(TRITON_CACHE_DIR=str(tmp_path))
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert len(done.stdout.splitlines()) == 5
