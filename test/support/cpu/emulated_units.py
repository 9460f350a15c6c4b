# SPDX-License-Identifier: Apache-2.0
"""Runs kernels for CPUs with AMX on any x86-64 CPU with AVX2: the instructions of AMX become calls of Python functions.
The instruction of AVX512-BF16 that rounds operands becomes a function of LLVM IR.

The LLVM IR of a kernel calls each of these instructions as an intrinsic. `run_emulated` replaces the intrinsics by
functions that call back to an `Emulator`, which keeps the tiles as arrays of NumPy and multiplies them in f64.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from triton.compiler.compiler import CompiledKernel
from triton_ext.backends.cpu import _library, _machine_code
from triton_ext.backends.cpu._launcher import Zeros

#: The CPU that runs the rewritten code.
PLAIN = ("x86-64-v3", "")

TILE = ("i8", "ptr", "i64")
#: The intrinsics without results, and the types of their operands.
INTRINSICS = {
    "ldtilecfg": ("ptr",),
    "tilerelease": (),
    "tilezero": ("i8",),
    "tileloadd64": TILE,
    "tileloaddt164": TILE,
    "tilestored64": TILE,
    "tdpbf16ps": ("i8", "i8", "i8"),
    "tdpfp16ps": ("i8", "i8", "i8"),
    "tdpbssd": ("i8", "i8", "i8"),
}
CTYPES = {"i8": ctypes.c_uint8, "i64": ctypes.c_int64, "ptr": ctypes.c_void_p}


def view(address: int, kind: str, shape: tuple[int, int], stride: int) -> np.ndarray:
    """Returns an array over memory; `stride` is the distance of its rows in bytes."""
    size = stride * (shape[0] - 1) + np.dtype(kind).itemsize * shape[1]
    buffer = (ctypes.c_uint8 * size).from_address(address)
    return np.ndarray(shape, kind, buffer, strides=(stride, np.dtype(kind).itemsize))


class Emulator:
    """The tiles of one processor, and what its programs have done with them.

    Attributes:
        calls: how often each instruction ran.
        problems: what no processor would accept, such as a tile that is used before the configuration is loaded.
    """

    def __init__(self) -> None:
        self.calls = dict.fromkeys(INTRINSICS, 0)
        self.problems: list[str] = []
        self.is_ready = False
        self.tiles: dict[int, np.ndarray] = {}

    def ldtilecfg(self, address: int) -> None:
        """Accepts one configuration only: palette 1 with eight full tiles."""
        config = bytes((ctypes.c_uint8 * 64).from_address(address))
        columns, rows = np.frombuffer(config[16:48], "<u2"), np.frombuffer(config[48:], "u1")
        if config[0] != 1 or any(config[1:16]):
            self.problems.append(f"palette {config[:16]!r}")
        if list(columns) != [64] * 8 + [0] * 8 or list(rows) != [16] * 8 + [0] * 8:
            self.problems.append(f"tiles of {rows} rows and {columns} bytes")
        if self.is_ready:
            self.problems.append("a configuration is loaded twice")
        self.is_ready = True
        self.tiles = {number: np.zeros((16, 64), "u1") for number in range(8)}

    def tilerelease(self) -> None:
        """Forgets the tiles."""
        if not self.is_ready:
            self.problems.append("tiles are released that are not configured")
        self.is_ready = False
        self.tiles = {}

    def tilezero(self, tile: int) -> None:
        """Clears a tile."""
        self.tiles[tile][:] = 0

    def tileloadd64(self, tile: int, address: int, stride: int) -> None:
        """Loads a tile."""
        self.tiles[tile][:] = view(address, "u1", (16, 64), stride)

    tileloaddt164 = tileloadd64  # the hint on caches changes no result

    def tilestored64(self, tile: int, address: int, stride: int) -> None:
        """Stores a tile."""
        view(address, "u1", (16, 64), stride)[:] = self.tiles[tile]

    def product(self, numbers: tuple[int, int, int], kind: str, element: torch.dtype, group: int) -> None:
        """Adds the product of two tiles; the words of the second one hold neighbours of a column."""
        total, left, right = (self.tiles[number] for number in numbers)

        def wide(tile: np.ndarray) -> np.ndarray:
            values: np.ndarray = torch.from_numpy(tile.copy()).view(element).double().numpy()
            return values

        a = wide(left)
        b = wide(right).reshape(16, 16, group).transpose(0, 2, 1).reshape(16 * group, 16)
        with np.errstate(over="ignore", invalid="ignore"):
            added = total.view(kind) + a @ b
            total[:] = added.astype("i8" if kind == "<i4" else kind).astype(kind).view("u1")

    def tdpbf16ps(self, *numbers: int) -> None:
        """Adds a product of bf16."""
        self.product(numbers, "<f4", torch.bfloat16, 2)  # type: ignore[arg-type]

    def tdpfp16ps(self, *numbers: int) -> None:
        """Adds a product of fp16."""
        self.product(numbers, "<f4", torch.float16, 2)  # type: ignore[arg-type]

    def tdpbssd(self, *numbers: int) -> None:
        """Adds a product of signed bytes."""
        self.product(numbers, "<i4", torch.int8, 4)  # type: ignore[arg-type]

    def function(self, name: str) -> Callable[..., None]:
        """Returns the function of an instruction, which notes instead of raising: it is called from compiled code."""

        def call(*operands: int) -> None:
            self.calls[name] += 1
            if name not in ("ldtilecfg", "tilerelease") and not self.is_ready:
                self.problems.append(f"{name} without a configuration")
                return
            getattr(self, name)(*operands)

        return call


def rounding(lanes: int) -> str:
    """Returns a function that rounds f32 to bf16 as ``vcvtneps2bf16`` does: denormals become zeros."""
    wide = f"<{lanes} x i32>"
    steps = (
        ("bits", f"bitcast <{lanes} x float> %x to {wide}"),
        ("sign", f"and {wide} %bits, splat (i32 -2147483648)"),
        ("size", f"and {wide} %bits, splat (i32 2147483647)"),
        ("up", f"lshr {wide} %bits, splat (i32 16)"),
        ("odd", f"and {wide} %up, splat (i32 1)"),
        ("sum", f"add {wide} %bits, splat (i32 32767)"),
        ("even", f"add {wide} %sum, %odd"),
        ("quiet", f"or {wide} %bits, splat (i32 4194304)"),
        ("nan", f"icmp ugt {wide} %size, splat (i32 2139095040)"),
        ("small", f"icmp ult {wide} %size, splat (i32 8388608)"),
        ("number", f"select <{lanes} x i1> %small, {wide} %sign, {wide} %even"),
        ("all", f"select <{lanes} x i1> %nan, {wide} %quiet, {wide} %number"),
        ("high", f"lshr {wide} %all, splat (i32 16)"),
        ("half", f"trunc {wide} %high to <{lanes} x i16>"),
        ("result", f"bitcast <{lanes} x i16> %half to <{lanes} x bfloat>"),
    )
    body = "\n".join(f"  %{name} = {step}" for name, step in steps)
    head = f"define internal <{lanes} x bfloat> @emulated.cvtneps2bf16.{32 * lanes}(<{lanes} x float> %x)"
    return f"{head} {{\n{body}\n  ret <{lanes} x bfloat> %result\n}}"


def rewritten(llir: str) -> str:
    """Returns IR that calls the functions of the table ``emulator`` instead of AMX, for `PLAIN`."""
    llir = re.sub(r"^declare .*@llvm\.x86\.avx512bf16\.cvt.*\n", "", llir, flags=re.MULTILINE)
    llir = llir.replace("@llvm.x86.avx512bf16.cvtneps2bf16.", "@emulated.cvtneps2bf16.")
    llir = re.sub(r"^declare .*@llvm\.x86\.(tile|tdp|ldtile).*\n", "", llir, flags=re.MULTILINE)
    llir = re.sub(r"@llvm\.x86\.(tile\w+|tdp\w+|ldtilecfg)\(", r"@emulated.\1(", llir)
    llir = re.sub(r'"target-cpu"="[^"]*"', f'"target-cpu"="{PLAIN[0]}"', llir)
    llir = re.sub(r' "target-features"="[^"]*"', "", llir)
    lines = [llir, *map(rounding, (8, 16)), f"@emulator = global [{len(INTRINSICS)} x ptr] zeroinitializer"]
    for number, (name, types) in enumerate(INTRINSICS.items()):
        operands = ", ".join(f"{kind} %{i}" for i, kind in enumerate(types))
        lines.append(
            f"define internal void @emulated.{name}({operands}) noinline {{\n"
            f"  %slot = getelementptr ptr, ptr @emulator, i64 {number}\n"
            f"  %function = load ptr, ptr %slot\n"
            f"  call void %function({operands})\n  ret void\n}}"
        )
    return "\n".join(lines)


#: `keptBytes` of the runtime (Work.cpp).
KEPT_BYTES = 64


def call_entry(library: Any, kernel: CompiledKernel, programs: int, arguments: Sequence[torch.Tensor | int]) -> None:
    """Runs `programs` programs of a kernel in a loaded library, in this thread; `arguments` are all but constants.

    A kernel with probes or checks gets zeros in place of a session's memory, so they do nothing. Scratch memory has
    arbitrary bytes, as memory that another kernel has used, except the numbers that the runtime sets.
    """
    metadata = kernel.metadata
    hidden = Zeros(programs * metadata.profile_scratch_size, metadata.profile_scratch_align)
    passed = (*arguments, hidden) if metadata.profile_scratch_size else arguments
    slots = (ctypes.c_uint64 * len(passed))(*(a if isinstance(a, int) else a.data_ptr() for a in passed))
    grid = (ctypes.c_int32 * 3)(programs, 1, 1)
    scratch = ctypes.create_string_buffer(b"\x5b" * (metadata.scratch + 64))
    begin = -(-ctypes.addressof(scratch) // 64) * 64
    if getattr(metadata, "together", 1) > 1:
        ctypes.memset(begin, 0, KEPT_BYTES)
    entry = library[metadata.name]
    entry.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p]
    done = 0
    while done < programs:
        done = programs - entry(slots, done, programs, grid, begin)


def loaded(binary: bytes, directory: Path) -> Any:
    """Returns the library `binary`, loaded from a file in `directory`."""
    _library.runtime()  # defines what kernels call
    path = directory / "kernel.so"
    path.write_bytes(binary)
    return ctypes.CDLL(str(path))


def run(kernel: CompiledKernel, directory: Path, programs: int, arguments: Sequence[torch.Tensor]) -> None:
    """Runs a kernel as it was compiled; this machine must have the instructions."""
    call_entry(loaded(kernel.asm["so"], directory), kernel, programs, arguments)


def run_emulated(kernel: CompiledKernel, directory: Path, programs: int, arguments: Sequence[torch.Tensor]) -> Emulator:
    """Runs a kernel that was compiled for a CPU with AMX, and returns the emulator."""
    library = loaded(_machine_code.library_of_llir(rewritten(kernel.asm["llir"]), PLAIN), directory)
    emulator = Emulator()
    functions = [
        ctypes.CFUNCTYPE(None, *(CTYPES[kind] for kind in types))(emulator.function(name))
        for name, types in INTRINSICS.items()
    ]
    table = (ctypes.c_void_p * len(functions)).in_dll(library, "emulator")
    for number, function in enumerate(functions):
        table[number] = ctypes.cast(function, ctypes.c_void_p).value
    call_entry(library, kernel, programs, arguments)
    if emulator.is_ready:
        emulator.problems.append("the tiles are not released")
    return emulator
