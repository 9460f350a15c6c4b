# SPDX-License-Identifier: Apache-2.0
"""``tx.linalg``: kernels as linalg on tensors, for toolchains that take it from there.

`compile` gives the module as text or bytecode; with ``lowered=True`` it holds dialects of MLIR alone, so that any MLIR
of about the same age parses it.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, overload

from . import kernels
from ._resources import child_environment
from .driver import opt
from .errors import PipelineError, TritonExtError

__all__ = ["compile", "convert"]

#: Where nothing is said of a target: Triton's frontend asks one for what it allows, the module is the same.
_TARGET = "cuda:90"


@overload
def compile(  # noqa: A001
    kernel: object,
    signature: str | Mapping[str, object] | None = None,
    *,
    lowered: bool = False,
    form: Literal["text", "generic"] = "text",
    target: object = None,
) -> str: ...
@overload
def compile(  # noqa: A001
    kernel: object,
    signature: str | Mapping[str, object] | None = None,
    *,
    lowered: bool = False,
    form: Literal["bytecode"],
    target: object = None,
) -> bytes: ...
def compile(  # noqa: A001
    kernel: object,
    signature: str | Mapping[str, object] | None = None,
    *,
    lowered: bool = False,
    form: Literal["text", "generic", "bytecode"] = "text",
    target: object = None,
) -> str | bytes:
    """A kernel as a module of linalg.

    Args:
        kernel: a kernel, an ``ASTSource``, or ``FILE.py:kernel``.
        signature: type of each argument, or value of a ``tl.constexpr``, as in `triton_ext.describe`:
            ``"*fp32, *fp32, i32, 64"`` or by name.
        lowered: whether `aux`, `linalg_ext` and `math_ext` are taken apart, and numbers of programs are arguments:
            six ``i32`` behind the kernel's own, how many programs there are along x, y and z and which of them it is.
        form: ``text``; ``generic``, which parses without the dialects; or ``bytecode``, which stock mlir-opt writes, so
            that `lowered` must be set and ``triton-ext sdk install --with mlir-opt`` have been run.
        target: whose limits Triton's frontend goes by, e.g. ``cpu:native``; default: ``cuda:90``.

    Raises:
        TritonExtError: the kernel, or its signature, is no good; bytecode cannot be written.
        PipelineError: an operation cannot be converted; the message says which and why.
    """
    job = kernels.job(kernel, target or _TARGET, signature)
    return convert(_to_ttir(job), lowered=lowered, form=form, name=job.kernel)


@overload
def convert(
    ttir: str, *, lowered: bool = False, form: Literal["text", "generic"] = "text", name: str = "<module>"
) -> str: ...
@overload
def convert(ttir: str, *, lowered: bool = False, form: Literal["bytecode"], name: str = "<module>") -> bytes: ...
@overload
def convert(
    ttir: str, *, lowered: bool = False, form: Literal["text", "generic", "bytecode"], name: str = "<module>"
) -> str | bytes: ...
def convert(
    ttir: str,
    *,
    lowered: bool = False,
    form: Literal["text", "generic", "bytecode"] = "text",
    name: str = "<module>",
) -> str | bytes:
    """A module of Triton as one of linalg; the arguments are those of `compile`, `name` is for diagnostics."""
    if form == "bytecode" and not lowered:
        raise TritonExtError(
            "bytecode is written by stock mlir-opt, which does not know aux, linalg_ext and math_ext",
            fix="lowered=True",
        )
    text = opt(ttir, "triton-to-linalg,lower-linalg-ext" if lowered else "triton-to-linalg", name=name)
    if form == "generic":
        command = [sys.executable, "-P", "-m", "triton_ext.driver", "--load-extension=triton_to_linalg"]
        return _run([*command, "--mlir-print-op-generic"], text).decode()
    return _to_bytecode(text) if form == "bytecode" else text


def _to_ttir(job: kernels.Job) -> str:
    """What Triton's frontend makes of the kernel, before any pass."""
    from triton._C.libtriton import ir
    from triton.compiler import make_backend

    if isinstance(job.source, str):
        return Path(job.source).read_text()
    backend = make_backend(job.target)
    options = backend.parse_options(dict(job.options))
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    arguments: tuple[Any, ...] = (options, backend.get_codegen_implementation(options), backend.get_module_map())
    return str(job.source.make_ir(job.target, *arguments, context))


def _to_bytecode(text: str) -> bytes:
    from .sdk.tools import find_tool

    program = find_tool("mlir-opt")
    if program is None:
        raise TritonExtError(
            "libtriton cannot write bytecode, and stock mlir-opt is not installed",
            fix="triton-ext sdk install --with mlir-opt",
        )
    return _run([str(program), "--emit-bytecode"], text)


def _run(command: list[str], text: str) -> bytes:
    done = subprocess.run(command, input=text.encode(), capture_output=True, check=False, env=child_environment())
    if done.returncode:
        raise PipelineError(done.stderr.decode(errors="replace").strip())
    return done.stdout
