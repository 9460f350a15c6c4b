# SPDX-License-Identifier: Apache-2.0
"""Machine code from LLVM IR: the assembly, and the shared library with or without assembly in between."""

from __future__ import annotations

from pathlib import Path

from triton._C.libtriton import llvm

from triton_ext.support.scratch import scratch_dir

from . import _library

TRIPLE = "x86_64-unknown-linux-gnu"


#: Whether the code generator may round ``a * b + c`` once: no, fuse_multiply_add has decided that before.
FUSES = False


def assembly(llir: str, cpu: tuple[str, str]) -> str:
    """Returns the assembly of the LLVM IR `llir`.

    Args:
        llir: the IR; the functions in it have the attributes of their target.
        cpu: the name and the features of the CPU, as LLVM spells them.
    """
    text: str = llvm.translate_to_asm(llir, TRIPLE, *cpu, [], FUSES, False, False)
    return text


def library_of_assembly(text: str, cpu: tuple[str, str]) -> bytes:
    """Returns the shared library of the assembly `text`.

    Raises:
        RuntimeError: `text` cannot be assembled for that CPU, or the linker failed.
    """
    with scratch_dir("triton-ext-cpu-") as scratch:
        obj = scratch / "kernel.o"
        _library.compiler().assemble(text, *cpu, obj)
        return _linked(obj)


def library_of_llir(llir: str, cpu: tuple[str, str]) -> bytes:
    """Returns the shared library of the LLVM IR `llir`. Its code is that of `library_of_assembly` and `assembly`.

    Raises:
        RuntimeError: the linker failed.
    """
    code: bytes = llvm.translate_to_asm(llir, TRIPLE, *cpu, [], FUSES, True, False)
    with scratch_dir("triton-ext-cpu-") as scratch:
        obj = scratch / "kernel.o"
        obj.write_bytes(code)
        return _linked(obj)


def _linked(obj: Path) -> bytes:
    _library.compiler().link(obj.with_suffix(".so"), obj)
    return obj.with_suffix(".so").read_bytes()
