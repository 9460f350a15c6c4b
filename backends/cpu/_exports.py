# SPDX-License-Identifier: Apache-2.0
"""The exported functions of a library that is compiled ahead of time: as LLVM IR, and as a C header."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from triton_ext.errors import TritonExtError

#: For each type of an argument: its type in C, and in LLVM IR, where a bool is one byte.
_SCALARS = {
    "i1": ("bool", "i8"),
    "u1": ("bool", "i8"),
    **{f"i{bits}": (f"int{bits}_t", f"i{bits}") for bits in (8, 16, 32, 64)},
    **{f"u{bits}": (f"uint{bits}_t", f"i{bits}") for bits in (8, 16, 32, 64)},
    "fp16": ("float", "float"),
    "bf16": ("float", "float"),
    "fp32": ("float", "float"),
    "f32": ("float", "float"),
    "fp64": ("double", "double"),
}

#: The type in C of what a pointer points to, where it is not that of `_SCALARS`.
_POINTEES = {"fp16": "uint16_t", "bf16": "uint16_t"}

#: Names that C and C++ keep for themselves, and those of the other parameters.
_KEYWORDS = frozenset(
    re.findall(
        r"\w+",
        "alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const "
        "const_cast constexpr continue decltype default delete do double dynamic_cast else enum explicit "
        "export extern false float for friend goto if inline int long mutable namespace new noexcept not "
        "not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires "
        "restrict return short signed sizeof static static_assert static_cast struct switch template this "
        "thread_local throw true try typedef typeid typename typeof union unsigned using virtual void "
        "volatile wchar_t while xor xor_eq main grid_x grid_y grid_z num_threads",
    )
)

#: The codes that the functions return, and their meanings. runtime/AheadOfTime.cpp returns them.
_CODES = (
    ("OK", "The grid has run."),
    ("BAD_GRID", "The grid has a negative size, or more than 2^62 programs."),
    ("BAD_THREADS", "num_threads is negative."),
    ("MISALIGNED", "An argument is not a multiple of what the kernel is compiled for."),
    ("UNSUPPORTED_CPU", "The library has no code for this processor."),
    ("OUT_OF_MEMORY", "There is no memory for the kernel's scratch."),
    ("FAILED", "A device_assert has failed; the message says which one."),
)


@dataclass(frozen=True)
class Argument:
    """An argument of an exported function.

    Attributes:
        name: its name in the kernel.
        kind: its type in Triton's spelling, e.g. ``*fp32``.
        is_stored: whether it is a pointer that the kernel may store through.
        divisor: a number that divides its value; 1 if none is known.
    """

    name: str
    kind: str
    is_stored: bool = False
    divisor: int = 1

    @property
    def c_type(self) -> str:
        """The type in C, with the space before the name."""
        if not self.kind.startswith("*"):
            return _SCALARS[self.kind][0] + " "
        pointee = self.kind[1:]
        kind = _POINTEES.get(pointee) or _SCALARS.get(pointee, ("uint8_t" if pointee.startswith("fp8") else "void",))[0]
        return f"{'' if self.is_stored else 'const '}{kind} *"

    @property
    def llvm_type(self) -> str:
        """The type in LLVM IR."""
        return "ptr" if self.kind.startswith("*") else _SCALARS[self.kind][1]

    @property
    def c_name(self) -> str:
        """The name in C."""
        return f"{self.name}_" if self.name in _KEYWORDS else self.name

    @property
    def note(self) -> str:
        """The comment in the header; empty if the type says enough."""
        kind = self.kind.removeprefix("*")
        notes = [kind] if kind in _POINTEES or kind.startswith("fp8") else []
        return ", ".join(notes + ([f"a multiple of {self.divisor}"] if self.divisor > 1 else []))


@dataclass(frozen=True)
class Variant:
    """The code of a kernel for one CPU.

    Attributes:
        cpu: the CPU, as the user writes it.
        symbol: the function in the object file.
        requirements: the features that a processor must have, as bits (runtime/Features.h).
        scratch: bytes of scratch memory for each thread.
        together: how many programs should run in one thread behind each other.
    """

    cpu: str
    symbol: str
    requirements: int
    scratch: int
    together: int


@dataclass(frozen=True)
class Export:
    """An exported function.

    Attributes:
        name: its name.
        source: how the header names the kernel, e.g. ``kernels.py:add``.
        arguments: the arguments behind the grid and the number of threads.
        constants: the constants of the kernel, as text.
        variants: the code, the one with most requirements first.
    """

    name: str
    source: str
    arguments: tuple[Argument, ...]
    constants: str
    variants: tuple[Variant, ...]


def check_name(name: str) -> None:
    """Checks that a C function may have the name `name`.

    Raises:
        TritonExtError: it may not.
    """
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) or name in _KEYWORDS or name.startswith("triton_ext_cpu_"):
        raise TritonExtError(
            f"'{name}' cannot be the name of a C function", fix=f"--name {name.strip('_') or 'f'}_kernel"
        )


def arguments_of(source: Any, stored: Sequence[int]) -> tuple[Argument, ...]:
    """Returns the arguments of a function for the kernel of the ``ASTSource`` `source`.

    Args:
        source: the kernel with its signature.
        stored: the numbers of the pointers that the kernel may store through; constants do not count.

    Raises:
        TritonExtError: C has no type for an argument.
    """
    found: list[Argument] = []
    for number, (name, kind) in enumerate(source.signature.items()):
        if kind == "constexpr":
            continue
        if not isinstance(kind, str) or not (kind.startswith("*") or kind in _SCALARS):
            raise TritonExtError(
                f"argument '{name}' is of type {kind}, which a C function cannot take",
                fix="pass pointers and numbers, and call tl.make_tensor_descriptor in the kernel",
            )
        hints = dict(source.attrs.get((number,), ()))
        is_stored = len(found) in stored
        found.append(Argument(str(name), kind, is_stored, int(hints.get("tt.divisibility", 1))))
    return tuple(found)


def _text(name: str, value: str) -> str:
    data = value.encode() + b"\0"
    escaped = "".join(f"\\{byte:02x}" for byte in data)
    return f'@{name} = private unnamed_addr constant [{len(data)} x i8] c"{escaped}"'


def _function(number: int, export: Export) -> Iterator[str]:
    """Yields lines of LLVM IR: the constants that runtime/AheadOfTime.cpp reads, and the two functions of a kernel."""
    yield _text(f"name{number}", export.name)
    yield _text(f"cpus{number}", ", ".join(variant.cpu for variant in export.variants))
    rows = []
    for place, argument in enumerate(export.arguments):
        yield _text(f"argument{number}.{place}", argument.name)
        kind = {"fp16": ord("h"), "bf16": ord("e")}.get(argument.kind, 0)
        rows.append(f"{{ptr, i32, i32}} {{ptr @argument{number}.{place}, i32 {kind}, i32 {argument.divisor}}}")
    yield f"@arguments{number} = private constant [{len(rows)} x {{ptr, i32, i32}}] [{', '.join(rows)}]"
    rows = []
    for variant in export.variants:
        yield f"declare i32 @{variant.symbol}(ptr, i64, i64, ptr, ptr)"
        numbers = ", ".join(f"i64 {value}" for value in (variant.requirements, variant.scratch, variant.together))
        rows.append(f"{{ptr, i64, i64, i64}} {{ptr @{variant.symbol}, {numbers}}}")
    yield f"@variants{number} = private constant [{len(rows)} x {{ptr, i64, i64, i64}}] [{', '.join(rows)}]"
    yield f"@chosen{number} = internal global ptr null"
    values = f"ptr @name{number}, ptr @arguments{number}, i64 {len(export.arguments)}, ptr @variants{number}"
    values += f", i64 {len(rows)}, ptr @cpus{number}, ptr @chosen{number}"
    yield f"@kernel{number} = private constant {{ptr, ptr, i64, ptr, i64, ptr, ptr}} {{{values}}}"
    parameters = ", ".join(f"{argument.llvm_type} %a{place}" for place, argument in enumerate(export.arguments))
    yield f"define i32 @{export.name}(i32 %x, i32 %y, i32 %z, i32 %threads{', ' * bool(parameters)}{parameters}) {{"
    size = max(1, len(export.arguments))
    yield f"  %slots = alloca [{size} x i64], align 8"
    for place, argument in enumerate(export.arguments):
        stored, value = argument.llvm_type, f"%a{place}"
        yield f"  %p{place} = getelementptr [{size} x i64], ptr %slots, i64 0, i64 {place}"
        if stored in ("i8", "i16", "i32"):
            yield f"  %w{place} = sext {stored} {value} to i64"
            stored, value = "i64", f"%w{place}"
        yield f"  store {stored} {value}, ptr %p{place}, align 8"
    values = "i32 %x, i32 %y, i32 %z, i32 %threads, ptr %slots"
    yield f"  %code = call i32 @triton_ext_cpu_run(ptr @kernel{number}, {values})"
    yield "  ret i32 %code\n}"
    yield f"define ptr @{export.name}_message(i32 %code) {{"
    yield f"  %text = call ptr @triton_ext_cpu_message(ptr @kernel{number}, i32 %code)"
    yield "  ret ptr %text\n}"


def llvm_ir(exports: Sequence[Export]) -> str:
    """Returns the exported functions of a library as LLVM IR."""
    lines = [
        "declare i32 @triton_ext_cpu_run(ptr, i32, i32, i32, i32, ptr)",
        "declare ptr @triton_ext_cpu_message(ptr, i32)",
    ]
    for number, export in enumerate(exports):
        lines += _function(number, export)
    return "\n".join(lines) + "\n"


def names(exports: Sequence[Export]) -> list[str]:
    """Returns the names of all functions that a library exports."""
    return [name for export in exports for name in (export.name, f"{export.name}_message")]


def _declaration(export: Export) -> str:
    variants = ", ".join(variant.cpu for variant in reversed(export.variants))
    constants = f" with {export.constants}" if export.constants else ""
    lines = [f"/* {export.source}{constants}, for {variants}."]
    lines += [f" * {argument.c_name}: {argument.note}" for argument in export.arguments if argument.note]
    parameters = ["int32_t grid_x", "int32_t grid_y", "int32_t grid_z", "int32_t num_threads"]
    parameters += [argument.c_type + argument.c_name for argument in export.arguments]
    indent = " " * len(f"int32_t {export.name}(")
    return (
        "\n".join(lines)
        + f" */\nint32_t {export.name}({(',' + chr(10) + indent).join(parameters)});\n"
        + f"const char *{export.name}_message(int32_t code);\n"
    )


def header(exports: Sequence[Export], library: str, guard: str) -> str:
    """Returns the C header of a library.

    Args:
        exports: its functions.
        library: its file name.
        guard: the name of the header, from which the macro of the include guard is made.
    """
    macro = "TRITON_EXT_CPU_" + re.sub(r"\W", "_", guard, flags=re.ASCII).upper()
    codes = "\n".join(f"  TRITON_EXT_CPU_{name} = {code}, /* {text} */" for code, (name, text) in enumerate(_CODES))
    return f"""\
/* The functions of {library}, made by triton-ext compile-cpu.
 *
 * A function runs the programs of a grid of grid_x * grid_y * grid_z programs, and
 * returns when all have ended. It runs on at most num_threads threads; 0 means one
 * for each processor of the process. It may be called from several threads. It
 * returns TRITON_EXT_CPU_OK, or another code of the enumeration; then no program has
 * run, unless it is TRITON_EXT_CPU_FAILED or TRITON_EXT_CPU_OUT_OF_MEMORY.
 * NAME_message returns the text for a code, with the details of the last error of the
 * calling thread; it holds until the next error of that thread. */

#ifndef {macro}
#define {macro}

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {{
#endif

#ifndef TRITON_EXT_CPU_CODES
#define TRITON_EXT_CPU_CODES
enum triton_ext_cpu_code {{
{codes}
}};
#endif

{chr(10).join(map(_declaration, exports))}
#ifdef __cplusplus
}}
#endif

#endif /* {macro} */
"""
