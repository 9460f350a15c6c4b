# SPDX-License-Identifier: Apache-2.0
"""What the processor can do: the bandwidth of its memory, and the peaks of its units, measured."""

from __future__ import annotations

import ctypes
import tempfile
import threading
from functools import lru_cache
from pathlib import Path

import torch
from cpu_timing import seconds

VECTORS = """
define void @peak(ptr %out, i64 %n) {{
entry:
  %x = load {operand}, ptr %out
  %zero = load {vector}, ptr %out
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
{phis}
{products}
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %exit, label %loop
exit:
{stores}
  ret void
}}
declare {vector} {function}
"""
TILES = """
define void @peak(ptr %configuration, i64 %n) {{
entry:
  call void @llvm.x86.ldtilecfg(ptr %configuration)
{zeros}
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
{products}
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %exit, label %loop
exit:
  call void @llvm.x86.tilerelease()
  ret void
}}
declare void @llvm.x86.ldtilecfg(ptr)
declare void @llvm.x86.tilerelease()
declare void @llvm.x86.tilezero(i8)
declare void @llvm.x86.{name}(i8, i8, i8)
"""
CHAINS = 12


@lru_cache
def bandwidth(size: int, threads: int) -> float:
    """Returns the most bytes per second that torch moves in `size` bytes of memory, with `threads` threads."""
    count = size // 12
    x, y, z = torch.randn(count), torch.randn(count), torch.empty(count)
    joined = torch.randn(3 * count)
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    runs = ((12, lambda: torch.add(x, y, out=z)), (12, joined.sum), (8, lambda: z.copy_(x)))
    most = max(width * count / seconds(run, 0.2) for width, run in runs)
    torch.set_num_threads(before)
    return most


def _of_tiles(name: str) -> str:
    """Returns LLVM IR of four products of tiles that stay in registers."""
    return TILES.format(
        name=name,
        zeros="\n".join(f"  call void @llvm.x86.tilezero(i8 {i})" for i in range(8)),
        products="\n".join(f"  call void @llvm.x86.{name}(i8 {i}, i8 {4 + i % 2}, i8 {6 + i // 2})" for i in range(4)),
    )


def _of_vectors(vector: str, operand: str, call: str, function: str) -> str:
    """Returns LLVM IR of independent chains of the instruction `call`, which has a place for the sum."""
    return VECTORS.format(
        vector=vector,
        operand=operand,
        function=function,
        phis="\n".join(f"  %a{c} = phi {vector} [ %zero, %entry ], [ %b{c}, %loop ]" for c in range(CHAINS)),
        products="\n".join(f"  %b{c} = call {vector} {call.format(sum=f'%a{c}')}" for c in range(CHAINS)),
        stores="\n".join(
            f"  %p{c} = getelementptr {vector}, ptr %out, i64 {c}\n  store {vector} %b{c}, ptr %p{c}"
            for c in range(CHAINS)
        ),
    )


def _program(unit: str, features: str) -> tuple[str, str, float]:
    """Returns the instruction, its program, and the operations of a round; empty if the unit is not there."""
    has = {feature[1:] for feature in features.split(",") if feature.startswith("+")}
    if unit == "f32" or (unit == "fp16" and "avx512fp16" in has):
        lanes = 32 if unit == "fp16" else 16 if "avx512f" in has else 8
        vector = f"<{lanes} x {'half' if unit == 'fp16' else 'float'}>"
        call = f"@llvm.fma({vector} {{sum}}, {vector} %x, {vector} %x)"
        program = _of_vectors(vector, vector, call, f"@llvm.fma({vector}, {vector}, {vector})")
        return "FMA", program, 2 * lanes * CHAINS
    if unit == "bf16" and "amx-bf16" in has:
        return "tdpbf16ps", _of_tiles("tdpbf16ps"), 4 * 2 * 16 * 16 * 32
    if unit == "int8" and "amx-int8" in has:
        return "tdpbssd", _of_tiles("tdpbssd"), 4 * 2 * 16 * 16 * 64
    for name, feature, vector, operand, function, count in (
        ("vdpbf16ps", "avx512bf16", "<16 x float>", "<32 x bfloat>", "avx512bf16.dpbf16ps.512", 2),
        ("vpdpbusd", "avx512vnni", "<16 x i32>", "<64 x i8>", "avx512.vpdpbusd.512", 4),
    ):
        if feature in has and unit == {2: "bf16", 4: "int8"}[count]:
            called = f"@llvm.x86.{function}({vector} {{sum}}, {operand} %x, {operand} %x)"
            declared = f"@llvm.x86.{function}({vector}, {operand}, {operand})"
            return name, _of_vectors(vector, operand, called, declared), 2 * 16 * count * CHAINS
    return "", "", 0


@lru_cache
def peak(unit: str, threads: int) -> tuple[str, float]:
    """Returns the instruction of a unit (f32, fp16, bf16, int8) and its operations per second with `threads` threads.

    Of a unit that the processor lacks, these are an empty string and 0.
    """
    from triton._C.libtriton import llvm
    from triton_ext.backends.cpu import _library

    _library.runtime()  # asks for the tiles of AMX
    cpu, features = _library.compiler().host()
    name, text, operations = _program(unit, features)
    if not name:
        return "", 0
    rounds = 1_000_000
    configuration = bytes([1, *[0] * 15, *[64, 0] * 8, *[0] * 16, *[16] * 8, *[0] * 8])
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "peak.o")
        path.write_bytes(llvm.translate_to_asm(text, "x86_64-unknown-linux-gnu", cpu, features, [], True, True, False))
        _library.compiler().link(path.with_suffix(".so"), path)
        function = ctypes.CDLL(str(path.with_suffix(".so"))).peak

        def run() -> None:
            buffers = [ctypes.create_string_buffer(64 * (CHAINS + 1)) for _ in range(threads)]
            work = []
            for buffer in buffers:
                address = -(-ctypes.addressof(buffer) // 64) * 64
                if name.startswith("tdp"):
                    ctypes.memmove(address, configuration, 64)
                work.append(threading.Thread(target=function, args=(ctypes.c_void_p(address), ctypes.c_int64(rounds))))
            for thread in work:
                thread.start()
            for thread in work:
                thread.join()

        return name, operations * rounds * threads / seconds(run, 0.5, 3)
