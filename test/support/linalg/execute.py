# SPDX-License-Identifier: Apache-2.0
"""Runs kernels through ``-triton-to-linalg``, ``-lower-linalg-ext`` and stock MLIR, on the CPU.

Stock mlir-opt, in a separate process, lowers the module to memrefs, loops and LLVM's dialect, and libtriton's LLVM
compiles this to an object. Every tensor lies beside a page without access rights.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import inspect
import itertools
import mmap
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
import triton
from triton._C.libtriton import ir, llvm
from triton_ext.backends.cpu import _library
from triton_ext.backends.cpu._machine_code import TRIPLE

import support
import triton_ext as tx
from support import forked_python, kept
from support.linalg.signatures import SCALARS, signature_of
from triton_ext.sdk.parts import compiler
from triton_ext.sdk.tools import install_tool

#: The passes from linalg to LLVM's dialect, all from stock MLIR.
STOCK = (
    "builtin.module(one-shot-bufferize{bufferize-function-boundaries allow-return-allocs-from-loops"
    " function-boundary-type-conversion=identity-layout-map},buffer-deallocation-pipeline,"
    "convert-bufferization-to-memref,convert-linalg-to-loops,memref-expand,expand-strided-metadata,lower-affine,"
    "arith-expand{include-bf16},convert-scf-to-cf,finalize-memref-to-llvm,convert-math-to-llvm,convert-math-to-libm,"
    "convert-arith-to-llvm,convert-func-to-llvm,convert-cf-to-llvm,convert-ub-to-llvm,reconcile-unrealized-casts)"
)

#: The function that MLIR calls to copy between layouts, as in its own runtime library.
_RUNTIME = """
#include <stdint.h>
#include <string.h>
typedef struct { char *allocated, *aligned; int64_t offset, shape[]; } Memref;
typedef struct { int64_t rank; Memref *memref; } Unranked;
static void copy(int64_t size, int64_t rank, int64_t dim, char *from, const int64_t *shape, const int64_t *in,
                 char *to, const int64_t *out) {
  if (dim == rank) {
    memcpy(to, from, size);
    return;
  }
  for (int64_t i = 0; i < shape[dim]; ++i)
    copy(size, rank, dim + 1, from + i * in[dim] * size, shape, in, to + i * out[dim] * size, out);
}
void memrefCopy(int64_t size, Unranked *from, Unranked *to) {
  Memref *a = from->memref, *b = to->memref;
  int64_t rank = from->rank;
  copy(size, rank, 0, a->aligned + a->offset * size, a->shape, a->shape + rank, b->aligned + b->offset * size,
       b->shape + rank);
}

/* LLVM calls it on processors without AVX512-BF16; GCC's library has it from version 13 on. Rounds to nearest even. */
__attribute__((weak)) __bf16 __truncsfbf2(float x) {
  union { float number; unsigned bits; } from = {x};
  union { unsigned short bits; __bf16 number; } to;
  to.bits = x != x ? from.bits >> 16 | 64 : (from.bits + 0x7fff + (from.bits >> 16 & 1)) >> 16;
  return to.number;
}
"""


@functools.cache
def scratch() -> Path:
    """Returns a directory for objects and libraries, which exists as long as the process lives."""
    return Path(_directory.name)


_directory = tempfile.TemporaryDirectory(prefix="triton-ext-linalg-")


def run_alone(code: str, directory: Path) -> subprocess.CompletedProcess[str]:
    """Runs a program in a separate process, from a file, because Triton reads the source of a kernel from its file."""
    script = directory / "alone.py"
    script.write_text(code)
    # A failed assertion writes to C's stdout and aborts, which flushes nothing; so Python's output is unbuffered.
    environment = support.environment(PYTHONUNBUFFERED="1")
    return forked_python.run([sys.executable, str(script)], env=environment)


@functools.cache
def mlir_opt() -> Path:
    return install_tool("mlir-opt", say=lambda _: None)


@functools.cache
def _identity(program: str) -> str:
    """Returns a text that differs for another version of a program."""
    found = Path(shutil.which(program) or program).resolve()
    return f"{found} {found.stat().st_size} {found.stat().st_mtime_ns}"


def to_llvm(lowered: str, passes: str = STOCK) -> str:
    """Lowers a module to LLVM's dialect."""
    command = [str(mlir_opt()), f"--pass-pipeline={passes}"]

    def run() -> bytes:
        done = subprocess.run(command, input=lowered, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{done.stderr}\n{lowered}"
        return done.stdout.encode()

    return kept.output(run, *command, _identity(command[0]), lowered).decode()


@functools.cache
def _runtime() -> Path:
    source, target = scratch() / "runtime.c", scratch() / "runtime.o"
    source.write_text(_RUNTIME)
    subprocess.run([compiler(), "-x", "c", "-O2", "-fPIC", "-c", str(source), "-o", str(target)], check=True)
    return target


def build(dialect: str, name: str, *more: Path) -> ctypes.CDLL:
    """Builds a library from a module in LLVM's dialect and from `more`, files in C that include only C's headers."""
    texts = [file.read_text() for file in more]
    stem = scratch() / f"{name}-{hashlib.sha256(repr((dialect, texts)).encode()).hexdigest()[:16]}"
    library = stem.with_suffix(".so")
    if not library.exists():  # a library that is loaded must not be written
        depends = (inspect.getsource(_link), _RUNTIME, _identity(compiler()), str(_library.compiler().host()), *texts)
        library.write_bytes(kept.output(lambda: _link(dialect, stem, more), dialect, *depends))
    return ctypes.CDLL(str(library), mode=os.RTLD_NOW)


def _link(dialect: str, stem: Path, more: tuple[Path, ...]) -> bytes:
    """Returns a library that is compiled for this machine; its intermediate files begin with `stem`."""
    stem.with_suffix(".mlir").write_text(dialect)
    cpu, features = _library.compiler().host()
    context = ir.context()
    ir.load_dialects(context)
    module = ir.parse_mlir_module(str(stem.with_suffix(".mlir")), context)
    module.set_attr("llvm.target_triple", ir.builder(context).get_string_attr(TRIPLE))
    llvm_context = llvm.context()
    llvm_module = llvm.to_module(module, llvm_context)
    llvm.attach_datalayout(llvm_module, TRIPLE, cpu, features)
    llvm.optimize_module(llvm_module, llvm.OPTIMIZE_O2, cpu, features, [], enable_fp_fusion=False)
    obj = llvm.translate_to_asm(str(llvm_module), TRIPLE, cpu, features, [], False, True, False)
    stem.with_suffix(".o").write_bytes(obj)
    objects = [str(stem.with_suffix(".o")), str(_runtime())]
    sources = [word for file in more for word in ("-x", "c", str(file))]
    linked = stem.with_suffix(".linked")
    subprocess.run([compiler(), "-shared", "-fPIC", *objects, *sources, "-lm", "-o", str(linked)], check=True)
    return linked.read_bytes()


_built: dict[tuple[Any, ...], Any] = {}
_Pointers = Literal["i64", "memref"]
#: The arguments ``via``, ``pointers`` and ``pipeline`` of the compilation; the last ones count.
_way: list[tuple[Literal["structured"] | None, _Pointers, tx.Pipeline | None]] = [(None, "i64", None)]


def compiled(kernel: triton.JITFunction, signature: dict[str, object], options: dict[str, object]) -> Any:
    """Returns the kernel as a C function, compiled once for each signature and way."""
    via, pointers, pipeline = _way[-1]
    given = tuple((name, str(value)) for name, value in (signature | options).items())
    key = (kernel, via, pointers, pipeline and id(pipeline), given)
    if key not in _built:
        how = {"via": via, "pointers": pointers, "options": options, "pipeline": pipeline}
        lowered = tx.linalg.compile(kernel, signature, lowered=True, **how)
        library = build(to_llvm(lowered), kernel.__name__)
        # With the pipeline, so that no other one gets its id.
        _built[key] = library, getattr(library, kernel.__name__), pipeline
    return _built[key][1]


def pointer_to(address: int, size: int) -> list[Any]:
    """Returns the C arguments for memory of `size` elements: an address, or the rank and descriptor of a memref."""
    if _way[-1][1] == "i64":
        return [ctypes.c_int64(address)]
    allocated, offset, stride = address, 0, 1
    return [ctypes.c_int64(1), (ctypes.c_int64 * 5)(allocated, address, offset, size, stride)]


PAGE = mmap.PAGESIZE
_libc = ctypes.CDLL(None, use_errno=True)


class Guarded:
    """A copy of a tensor, at the beginning or the end of memory between two pages without access rights."""

    def __init__(self, tensor: torch.Tensor, *, at_end: bool) -> None:
        assert tensor.is_contiguous()
        self.tensor, size = tensor, tensor.numel() * tensor.element_size()
        pages = max(1, -(-size // PAGE))
        self._map = mmap.mmap(-1, (pages + 2) * PAGE)
        base = ctypes.addressof(ctypes.c_char.from_buffer(self._map))
        for address in (base, base + (pages + 1) * PAGE):
            failed = _libc.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(PAGE), 0)
            assert not failed, os.strerror(ctypes.get_errno())
        self._size, self.address = size, base + PAGE + (pages * PAGE - size if at_end else 0)
        ctypes.memmove(self.address, tensor.data_ptr(), size)

    def copy_back(self) -> None:
        ctypes.memmove(self.tensor.data_ptr(), self.address, self._size)


def launch(kernel: triton.JITFunction, grid: Any, at_end: bool, *args: object, **kwargs: object) -> None:
    """Runs all programs of the grid, one after the other."""
    options = {name: kwargs.pop(name) for name in ("debug", "sanitize_overflow") if name in kwargs}
    bound = inspect.signature(kernel.fn).bind(*args, **kwargs)
    bound.apply_defaults()
    constants = {kernel.arg_names[i] for i in kernel.constexprs}
    signature = signature_of(kernel, bound.arguments)
    function = compiled(kernel, signature, options)
    memory: list[Guarded] = []
    values: list[Any] = []
    for name, value in bound.arguments.items():
        if name in constants or value is None:
            continue
        if isinstance(value, torch.Tensor):
            memory.append(Guarded(value, at_end=at_end))
            values += pointer_to(memory[-1].address, value.numel())
        else:
            values.append(SCALARS[str(signature[name])](value))
    grid = grid(bound.arguments) if callable(grid) else grid
    run_programs(function, values, (grid,) if isinstance(grid, int) else grid)
    for guarded in memory:
        guarded.copy_back()


def run_programs(function: Any, values: list[Any], grid: tuple[int, ...]) -> None:
    """Calls a compiled kernel for all programs of the grid, one after the other; `values` are C's."""
    sizes = [*grid, 1, 1][:3]
    for z, y, x in itertools.product(*(range(size) for size in reversed(sizes))):
        function(*values, *map(ctypes.c_int32, (*sizes, x, y, z)))


@contextmanager
def through_linalg(
    *,
    at_end: bool,
    via: Literal["structured"] | None = None,
    pointers: _Pointers = "i64",
    pipeline: tx.Pipeline | None = None,
) -> Iterator[None]:
    """Makes ``kernel[grid](...)`` of any kernel call `launch`, inside the block."""
    original = triton.JITFunction.run

    def run(self: triton.JITFunction, *args: object, grid: Any, warmup: bool, **kwargs: object) -> None:
        options = ("debug", "sanitize_overflow") if kwargs.get("debug") else ()
        known = {name: value for name, value in kwargs.items() if name in (*self.arg_names, *options)}
        launch(self, grid, at_end, *args, **known)

    triton.JITFunction.run = run
    _way.append((via, pointers, pipeline))
    try:
        yield
    finally:
        triton.JITFunction.run = original
        _way.pop()


def random(rng: np.random.Generator, dtype: torch.dtype, *shape: int) -> torch.Tensor:
    """Returns normally distributed numbers, or integers of a small range."""
    if dtype.is_floating_point:
        return torch.from_numpy(rng.normal(size=shape) * 3).to(dtype)
    low = 0 if dtype == torch.uint8 else -100
    return torch.from_numpy(rng.integers(low, 100, size=shape)).to(dtype)
