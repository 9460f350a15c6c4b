# SPDX-License-Identifier: Apache-2.0
"""``tx.linalg``: lowers kernels to linalg on tensors, for other toolchains.

`compile` returns the module as text or bytecode. With ``lowered=True`` the module has only dialects of MLIR itself, so
that any MLIR of about the same age parses it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Literal, get_args, overload

from triton_ext.backends.linalg.opt import EXTENSION  # type: ignore[import-untyped]

from triton_ext.compilation import requests
from triton_ext.compilation.describe import compile_and_observe
from triton_ext.driver import opt
from triton_ext.errors import PipelineError, TritonExtError
from triton_ext.pipeline.inspection import Level
from triton_ext.pipeline.pipeline import Pipeline
from triton_ext.support.resources import child_environment
from triton_ext.support.shown import shown

__all__ = ["compile", "convert"]

_OPT = (sys.executable, "-P", "-m", "triton_ext.driver", f"--load-extension={EXTENSION}")

_Form = Literal["text", "generic", "bytecode"]
_Via = Literal["structured"]
_Pointers = Literal["i64", "memref"]
_Descriptors = Literal["direct", "pointers"]


@overload
def compile(  # noqa: A001
    kernel: object,
    signature: str | Mapping[str, object] | None = None,
    *,
    lowered: bool = False,
    form: Literal["text", "generic"] = "text",
    via: _Via | None = None,
    pointers: _Pointers = "i64",
    descriptors: _Descriptors = "direct",
    debug_info: bool = False,
    options: Mapping[str, Any] | None = None,
    pipeline: Pipeline | None = None,
) -> str: ...
@overload
def compile(  # noqa: A001
    kernel: object,
    signature: str | Mapping[str, object] | None = None,
    *,
    lowered: bool = False,
    form: Literal["bytecode"],
    via: _Via | None = None,
    pointers: _Pointers = "i64",
    descriptors: _Descriptors = "direct",
    debug_info: bool = False,
    options: Mapping[str, Any] | None = None,
    pipeline: Pipeline | None = None,
) -> bytes: ...
def compile(  # noqa: A001
    kernel: object,
    signature: str | Mapping[str, object] | None = None,
    *,
    lowered: bool = False,
    form: _Form = "text",
    via: _Via | None = None,
    pointers: _Pointers = "i64",
    descriptors: _Descriptors = "direct",
    debug_info: bool = False,
    options: Mapping[str, Any] | None = None,
    pipeline: Pipeline | None = None,
) -> str | bytes:
    """Lowers a kernel to a module of linalg.

    The kernel goes through two stages: ``ttir``, which is Triton's, and ``linalgir``. Active pipelines apply to both.
    ``triton_ext.describe(kernel, target="linalg:generic", ...)`` shows the passes.

    Args:
        kernel: a kernel, an ``ASTSource``, ``FILE.py:kernel``, or the path of a file with ttir, for which only the
            stage ``linalgir`` runs.
        signature: the type of each argument, or the value of a ``tl.constexpr``, as in `triton_ext.describe`:
            ``"*fp32, *fp32, i32, 64"`` or by name.
        lowered: whether `aux`, `linalg_ext` and `math_ext` are lowered, too. The function then has six more ``i32``
            arguments after the kernel's own: the number of programs along x, y and z, and the program's index in each.
        form: ``text``; ``generic``, which parses without the dialects; or ``bytecode``, which stock mlir-opt writes.
            The latter needs `lowered` and ``triton-ext sdk install --with mlir-opt``.
        via: ``structured`` turns accesses into operations of the dialect `tts` first, which become views of memory;
            without it, ``-convert-triton-to-linalg`` analyses all accesses itself.
        pointers: what functions take in place of a pointer. ``i64`` is its address. ``memref`` is an unranked memref as
            in triton-shared, of which only the address of the first element counts; it needs ``via="structured"``.
        descriptors: what accesses by tensor descriptors become with ``via="structured"``: operations of `tts`
            (``direct``), or accesses by tensors of pointers, whose blocks are then found again (``pointers``).
        debug_info: whether the module says from which line of the kernel each operation comes, and describes functions
            so that LLVM writes these lines into machine code (``-add-debug-info``). Tools have to print them:
            ``-mlir-print-debuginfo``.
        options: options of the backend, e.g. ``{"debug": True}``, without which ``tl.device_assert`` has no effect.
            Options for GPUs (``num_warps``) are accepted and ignored.
        pipeline: the edits to apply, inside of the pipelines that are active.

    Returns:
        The module; as bytes if `form` is ``bytecode``.

    Raises:
        TritonExtError: the kernel, its signature or an option is wrong, or bytecode cannot be written.
        ExtensionNotFoundError: `via` is ``structured``, and the dialect `tts` or a pass of this way is not built.
        PipelineError: an operation cannot be converted (the message names it and the reason), or an edit does not fit.
    """
    _check_form(form, lowered)
    _check_via(via, pointers, descriptors)
    given = dict(options or {})
    _check_options(given)
    own = _own(lowered, via, pointers, descriptors, debug_info)
    task = requests.request_for(kernel, "linalg:generic", signature, {**given, **own})
    compiled, _ = compile_and_observe(task, Level.FAILURES, pipeline)
    return _in_form(compiled.asm["linalgir"].decode(), form, debug_info)


@overload
def convert(
    ttir: str,
    *,
    lowered: bool = False,
    form: Literal["text", "generic"] = "text",
    via: _Via | None = None,
    pointers: _Pointers = "i64",
    descriptors: _Descriptors = "direct",
    debug_info: bool = False,
    name: str = "<module>",
    pipeline: Pipeline | None = None,
) -> str: ...
@overload
def convert(
    ttir: str,
    *,
    lowered: bool = False,
    form: Literal["bytecode"],
    via: _Via | None = None,
    pointers: _Pointers = "i64",
    descriptors: _Descriptors = "direct",
    debug_info: bool = False,
    name: str = "<module>",
    pipeline: Pipeline | None = None,
) -> bytes: ...
def convert(
    ttir: str,
    *,
    lowered: bool = False,
    form: _Form = "text",
    via: _Via | None = None,
    pointers: _Pointers = "i64",
    descriptors: _Descriptors = "direct",
    debug_info: bool = False,
    name: str = "<module>",
    pipeline: Pipeline | None = None,
) -> str | bytes:
    """Converts the text of a Triton module to linalg with ``-triton-to-linalg``.

    Without `pipeline` and `debug_info`, one pass does all, and active pipelines do not apply. With one of them, the
    passes of the stage ``linalgir`` run one by one, as in `compile`, to which active pipelines apply, too.

    Args:
        ttir: the text of the module.
        lowered: as in `compile`.
        form: as in `compile`.
        via: ``structured`` runs ``-triton-to-linalg-structured`` instead.
        pointers: as in `compile`.
        descriptors: as in `compile`.
        debug_info: as in `compile`; the lines are those that the locations in `ttir` say, or its own.
        name: the name of the module in diagnostics.
        pipeline: the edits to apply to the stage ``linalgir``.

    Returns:
        The module; as bytes if `form` is ``bytecode``.

    Raises:
        TritonExtError: bytecode cannot be written.
        PipelineError: the module does not parse, an operation cannot be converted, or an edit does not fit.
    """
    _check_form(form, lowered)
    _check_via(via, pointers, descriptors)
    if pipeline is not None or debug_info:
        own = _own(lowered, via, pointers, descriptors, debug_info)
        return _in_form(_run_stage(ttir, name, own, pipeline), form, debug_info)
    passes = "triton-to-linalg-structured" if via else "triton-to-linalg"
    given = ["memref-arguments"] * (pointers == "memref") + ["descriptors=pointers"] * (descriptors == "pointers")
    if given:
        passes += f"{{{' '.join(given)}}}"
    return _in_form(opt(ttir, f"{passes},lower-linalg-ext" if lowered else passes, name=name), form, debug_info)


def _own(
    lowered: bool, via: _Via | None, pointers: _Pointers, descriptors: _Descriptors, debug_info: bool
) -> dict[str, bool]:
    """Returns the options of the backend that arguments set."""
    own = {"lowered": lowered, "structured": bool(via), "memrefs": pointers == "memref"}
    return {**own, "direct_descriptors": descriptors == "direct", "debug_info": debug_info}


def _run_stage(ttir: str, name: str, own: dict[str, bool], pipeline: Pipeline | None) -> str:
    """Returns what the stage ``linalgir`` makes of a module, which messages call `name`."""
    with tempfile.TemporaryDirectory(prefix="triton-ext-") as folder:
        file = Path(folder, "module.ttir")
        file.write_text(ttir)
        try:
            task = requests.request_for(file, "linalg:generic", None, own)
            compiled, _ = compile_and_observe(task, Level.FAILURES, pipeline)
        except TritonExtError as error:
            raise PipelineError(str(error).replace(str(file), name)) from None
    return str(compiled.asm["linalgir"].decode())


def check(text: str) -> None:
    """Raises PipelineError if the module `text`, with the dialects of this layer or of MLIR, does not verify."""
    _run([*_OPT, "-o", os.devnull], text)


def _check_form(form: _Form, lowered: bool) -> None:
    if form not in get_args(_Form):
        raise TritonExtError(f"form: expected one of {', '.join(get_args(_Form))}, got {shown(form)}")
    if form == "bytecode" and not lowered:
        raise TritonExtError(
            "bytecode is written by stock mlir-opt, which does not know aux, linalg_ext and math_ext",
            fix="lowered=True",
        )


def _check_via(via: _Via | None, pointers: _Pointers, descriptors: _Descriptors) -> None:
    if via is not None and via not in get_args(_Via):
        raise TritonExtError(f"via: expected one of {', '.join(get_args(_Via))}, or None, got {shown(via)}")
    if pointers not in get_args(_Pointers):
        raise TritonExtError(f"pointers: expected one of {', '.join(get_args(_Pointers))}, got {shown(pointers)}")
    if descriptors not in get_args(_Descriptors):
        raise TritonExtError(
            f"descriptors: expected one of {', '.join(get_args(_Descriptors))}, got {shown(descriptors)}"
        )
    if descriptors == "pointers" and not via:
        raise TritonExtError("without tts, accesses by descriptors always become pointers", fix='via="structured"')
    if pointers == "memref" and not via:
        raise TritonExtError(
            "only by way of tts do functions take memrefs in place of pointers", fix='via="structured"'
        )


def _check_options(given: Mapping[str, Any]) -> None:
    from triton_ext.backends.linalg.compiler import LinalgOptions  # type: ignore[import-untyped]

    arguments = {
        "lowered": "lowered",
        "structured": "via",
        "memrefs": "pointers",
        "direct_descriptors": "descriptors",
        "debug_info": "debug_info",
    }
    known = [field.name for field in fields(LinalgOptions) if field.name not in arguments]
    for name in given:
        if name not in known:
            argument = arguments.get(name)
            problem = f"set the argument '{argument}'" if argument else f"there are: {', '.join(known)}"
            raise TritonExtError(f"unknown option '{name}': {problem}")


def _in_form(text: str, form: _Form, debug_info: bool) -> str | bytes:
    if form == "generic":
        locations = ["--mlir-print-debuginfo"] * debug_info
        return _run([*_OPT, "--mlir-print-op-generic", *locations], text).decode()
    return _to_bytecode(text) if form == "bytecode" else text


def _to_bytecode(text: str) -> bytes:
    from triton_ext.sdk.tools import find_tool

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
