# SPDX-License-Identifier: Apache-2.0
"""Checks a file with IR before Triton compiles it, because the file may come from an untrusted source.

Triton ends the process if the module has no kernel. LLVM's assembler obeys ``.include`` and ``.incbin`` in inline
assembly, which would put the user's files into the result.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import TritonExtError
from ..pipeline.forked_child import in_child
from ..support import scratch
from .escapes import unescaped
from .mlir_locations import chains

#: The directives that inline assembly may have: they lay out data, or declare registers and types of PTX. Others, such
#: as ``.macro``, could assemble ``.include`` from parts.
_HARMLESS = frozenset((
    "align", "balign", "p2align", "byte", "short", "hword", "word", "long", "int", "quad", "zero", "ascii", "asciz",
    "string", "intel_syntax", "att_syntax", "nop", "reg", "param", "local", "shared", "const", "global", "func",
    "call", "ident", "pred", "v2", "v4", "v8", "x1", "x2", "x4", "aligned", "sync", "b1", "b8", "b16", "b32", "b64",
    "b128", "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "f16", "f16x2", "bf16", "bf16x2", "tf32", "f32",
    "f64", "f32x2",
))  # fmt: skip
#: A word that begins with a dot. The text after the dot may come from an operand ($) or an argument of a macro (\).
_DIRECTIVE = re.compile(r"(?<![\w.])\.([A-Za-z_$\\@?]\w*)", re.ASCII)
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_PLACE = re.compile(r'^loc\("(.*)"(:\d+:\d+)\):')
_MOST_CALLS = 50
_BREAK = re.compile(r"[\0-\x08\x0a-\x1f\x7f]")


def check_ir_file(path: str | os.PathLike[str], backend: Any) -> None:
    """Checks that compiling a file with IR neither ends the process nor reads other files.

    Args:
        path: the file, with ttir, ttgir or glir.
        backend: the backend of Triton whose dialects the file may use.

    Raises:
        TritonExtError: the file does not parse, does not have exactly one kernel, has locations with too many calls, or
            has assembly with directives that are not known to be harmless.
    """
    try:
        Path(path).read_text()  # as Triton reads it
    except (OSError, ValueError) as error:
        raise TritonExtError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    # In a child process, because deeply nested input exhausts the stack of MLIR's parser.
    child = in_child(lambda: _problem(str(path), backend))
    if child.answer is None:
        raise TritonExtError(f"{path}: reading it {child.ended}", fix="give a file that Triton has written")
    if child.answer:
        raise TritonExtError(child.answer)


def _problem(path: str, backend: Any) -> str:
    """Returns the problem of the file; empty if there is none."""
    from triton._C.libtriton import ir

    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    with scratch.scratch_file() as said:
        kept = os.dup(2)
        os.dup2(said.fileno(), 2)  # MLIR writes its diagnostics to standard error
        try:
            module = ir.parse_mlir_module(path, context)
        except RuntimeError as error:
            said.seek(0)
            lines = said.read().decode(errors="replace").splitlines()
            found = next((line for line in lines if "error:" in line), f"{path}: {error}")
            return _PLACE.sub(r"\1\2:", found)
        finally:
            os.dup2(kept, 2)
            os.close(kept)
    return _of_kernels(path, module) or _of_locations(path, module) or _of_strings(path, module)


def _of_kernels(path: str, module: Any) -> str:
    kernels: list[Any] = []

    def visit(op: Any) -> None:
        if op.get_name() == "tt.func" and (op.get_str_attr("sym_visibility") or "public") == "public":
            kernels.append(op)

    module.walk(visit)
    if len(kernels) != 1:
        names = ", ".join(f"@{op.get_str_attr('sym_name')}" for op in kernels[:5])
        return f"{path}: expected one public tt.func, found {f'{len(kernels)}: {names}' if kernels else 'none'}"
    if kernels[0].get_region(0).empty():
        return f"{path}: the kernel @{kernels[0].get_str_attr('sym_name')} has no body"
    if Path(path).suffix != ".ttir" and module.get_int_attr("ttg.num-warps") is None:
        return f"{path}: expected a module with the attribute ttg.num-warps"
    return ""


def _of_locations(path: str, module: Any) -> str:
    """Returns the problem of the locations: each may be part of two others, so 20 lines can describe a million calls.

    With so many calls, LLVM ends the process.
    """
    for deepest in map(len, chains(module.str())):
        if deepest > _MOST_CALLS:
            return f"{path}: a location that was inlined more than {_MOST_CALLS} times, expected one of a kernel's code"
    return ""


def _of_strings(path: str, module: Any) -> str:
    """Returns the problem of the strings. All are checked, because only the dialects know which are assembly.

    Strings of locations are file names, which may have dots. LLVM writes them into comments, which a line break ends.
    So the text after a line break must not have other directives, either.
    """
    texts = list(_strings(module.str_nodebug()))
    texts += [text[found.start() :] for text in _strings(module.str()) if (found := _BREAK.search(text))]
    for text in texts:
        for match in _DIRECTIVE.finditer(text):
            word = match[1].lower()
            if word not in _HARMLESS and not match[1].startswith("L"):  # a label
                return (
                    f"{path}: assembly with the directive .{match[1][:40]}, expected none but for data and registers: "
                    "the file may be somebody else's, and directives can read any other file"
                )
    return ""


def _strings(text: str) -> Iterator[str]:
    """Yields the strings in the text of a module."""
    return (unescaped(match[1]) for match in _STRING.finditer(text))
