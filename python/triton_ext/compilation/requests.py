# SPDX-License-Identifier: Apache-2.0
"""Parses the texts for kernels, targets and signatures: ``kernels.py:matmul``, ``cuda:90``, ``*fp16:16, 64``."""

from __future__ import annotations

import importlib.util
import inspect
import os
import re
import sys
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import backends
from ..errors import TritonExtError
from ..support.shown import said, shown

_HINTS = {"16": [["tt.divisibility", 16]]}
#: The digits that the value of an argument may have; no type of Triton needs more than 20.
_MOST_DIGITS = 300
#: An example of a target for each of Triton's own backends; our backends declare theirs.
_EXAMPLES = {"nvidia": "cuda:90", "amd": "hip:gfx942"}
_MODULES = (".ttir", ".ttgir", ".glir")  # what `triton.compile` can read


@dataclass(frozen=True)
class KernelRequest:
    """The arguments of a call of `triton.compile`.

    Attributes:
        source: an ``ASTSource``, or the path of an IR file.
        target: a ``GPUTarget``.
        options: options of the backend, e.g. ``{"num_warps": 8}``.
        kernel: name of the kernel.
        pipelines: the pipelines that ``@tx.use`` put on the kernel, outermost first.
    """

    source: Any
    target: Any
    options: Mapping[str, Any] = field(default_factory=dict)
    kernel: str = ""
    pipelines: tuple[Any, ...] = ()


def request_for(
    kernel: object,
    target: object = None,
    signature: str | Mapping[str, object] | None = None,
    options: Mapping[str, Any] | None = None,
) -> KernelRequest:
    """Returns the request for one compilation of `kernel`.

    Args:
        kernel: a kernel, autotuned or not; an ``ASTSource``; the path of a file with IR; or ``FILE.py:kernel``.
        target: e.g. ``cuda:90``, or a ``GPUTarget``; default: that of the active driver.
        signature: for a kernel, the type of each argument, or the value of a ``tl.constexpr``: ``"*fp16:16, i32, 64"``
            in order, or a mapping by name. ``:16`` means that the value is divisible by 16.
        options: options of the backend, e.g. ``{"num_warps": 8}``.

    Raises:
        TritonExtError: the kernel cannot be found, the signature does not fit it, or `check_ir_file` refuses the file.
    """
    from triton.compiler import ASTSource
    from triton.compiler.compiler import make_backend

    from .ir_file import check_ir_file

    where = find_target(target)
    if isinstance(kernel, str | os.PathLike):
        path, _, name = str(kernel).rpartition(":")
        if not path and Path(kernel).suffix in _MODULES:
            if not Path(kernel).is_file():
                raise TritonExtError(f"no such file: {kernel}")
            check_ir_file(kernel, make_backend(where))
            return KernelRequest(str(kernel), where, options or {}, Path(kernel).stem)
        kernel = load_kernel(path, name)
    if isinstance(kernel, ASTSource):
        return KernelRequest(kernel, where, options or {}, kernel.name, getattr(kernel.fn, "triton_ext_pipelines", ()))
    function, pipelines = _unwrap(kernel)
    types, constants, attributes = _signature(function, signature)
    if function.is_gluon():
        from triton.experimental.gluon._runtime import GluonASTSource

        source = GluonASTSource(function, types, constants, attributes)
    else:
        source = ASTSource(function, types, constants, attributes)
    return KernelRequest(source, where, options or {}, function.__name__, pipelines)


def load_kernel(path: str, name: str) -> Any:
    """Returns the object `name` of the Python file `path`, which is executed unless it is imported already.

    Raises:
        TritonExtError: there is no such file or kernel, or the file raised.
    """
    file = Path(path)
    if not path or not file.is_file():
        problem = f"no such file '{path}'" if path else "expected FILE.py:KERNEL, or a file with ttir, ttgir or glir"
        raise TritonExtError(f"'{path and path + ':'}{name}' is not a kernel: {problem}")
    module = sys.modules.get(file.stem)
    if getattr(module, "__file__", None) != str(file.resolve()):
        module = _run_file(file, file.stem if module is None else f"{file.stem}_{uuid.uuid4().hex}")
    kernels = [n for n, value in vars(module).items() if _is_kernel(value)]
    if not hasattr(module, name):
        raise TritonExtError(f"{path} has no kernel '{name}', it has: {', '.join(kernels) or 'none'}")
    return getattr(module, name)


def _run_file(file: Path, name: str) -> Any:
    """Executes a Python file as the module `name`, and returns the module.

    Raises:
        TritonExtError: the file raised.
    """
    sys.path.insert(0, str(file.parent.resolve()))
    spec = importlib.util.spec_from_file_location(name, file.resolve())
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        sys.modules.pop(name, None)
        if isinstance(error, KeyboardInterrupt):
            raise
        raise TritonExtError(f"{file} raised {type(error).__name__}: {said(error)}") from error
    return module


def find_target(target: object) -> Any:
    """Returns the ``GPUTarget`` that is written as ``backend:arch`` or ``backend:arch:warp_size``.

    Raises:
        TritonExtError: `target` does not have this form, or is None and there is no GPU.
    """
    from triton.backends.compiler import GPUTarget

    if isinstance(target, GPUTarget):
        return target
    if target is None:
        from triton.runtime import driver

        try:
            return driver.active.get_current_target()
        except RuntimeError:
            examples = _target_examples()
            raise TritonExtError("there is no GPU to compile for, so name a target", fix=f"one of {examples}") from None
    match = re.fullmatch(r"(\w{1,99}):([\w-]{1,99})(?::(\d{1,9}))?", str(target))
    if match is None or (match[1] == "cuda" and not match[2].isdecimal()):
        raise TritonExtError(f"'{target}' is not a target, expected one such as {_target_examples()}")
    backends.register(match[1])
    ours = backends.declared().get(match[1])
    wave64 = match[1] == "hip" and match[2].startswith("gfx9")
    size = int(match[3]) if match[3] else ours.warp_size if ours else 64 if wave64 else 32
    return GPUTarget(match[1], int(match[2]) if match[2].isdecimal() else match[2], size)


def _target_examples() -> str:
    """Returns examples: a target of each backend of this Triton, and of each of ours, which `find_target` registers."""
    from triton.backends import backends as known

    found = [example for name, example in _EXAMPLES.items() if name in known]
    found += [backend.target for backend in backends.declared().values()]
    return " or ".join(filter(None, (", ".join(found[:-1]), found[-1])))


def _is_kernel(value: object) -> bool:
    from triton.runtime import KernelInterface

    return isinstance(value, KernelInterface)


def _unwrap(kernel: object) -> tuple[Any, tuple[Any, ...]]:
    """Returns the kernel below autotuners and heuristics, and the pipelines that ``@tx.use`` put on any of them."""
    from triton.runtime import JITFunction

    if not _is_kernel(kernel):
        raise TritonExtError(f"{shown(kernel)} is not a kernel", fix="put @triton.jit on it")
    pipelines: list[Any] = []
    inner: Any = kernel
    while True:
        pipelines += getattr(inner, "triton_ext_pipelines", ())
        if isinstance(inner, JITFunction):
            return inner, tuple(pipelines)
        inner = inner.fn


def _signature(
    function: Any, signature: str | Mapping[str, object] | None
) -> tuple[dict[str, Any], dict[str, object], dict[tuple[int, ...], Any]]:
    """Returns types, constants and attributes as ``ASTSource`` takes them.

    Raises:
        TritonExtError: the signature is malformed or does not fit the kernel.
    """
    names: list[str] = function.arg_names
    wanted = ", ".join(names)
    if signature is None:
        raise TritonExtError(f"kernel '{function.__name__}' needs a signature: types or values for {wanted}")
    if isinstance(signature, str):
        items = _items(signature)
        if len(items) != len(names):
            raise TritonExtError(f"the signature has {len(items)} entries, '{function.__name__}' takes {wanted}")
        given: dict[str, object] = dict(zip(names, items, strict=True))
    else:
        given = dict(signature)
        for name in given:
            if name not in names:
                raise TritonExtError(f"kernel '{function.__name__}' has no argument '{name}', it takes {wanted}")
        for name, parameter in inspect.signature(function.fn).parameters.items():
            if name not in given and parameter.default is not inspect.Parameter.empty:
                given[name] = parameter.default
        missing = [name for name in names if name not in given]
        if missing:
            raise TritonExtError(f"the signature lacks '{missing[0]}'; '{function.__name__}' takes {wanted}")
    constexprs = {names[i] for i in function.constexprs}
    types: dict[str, Any] = {}
    constants: dict[str, object] = {}
    attributes: dict[tuple[int, ...], Any] = {}
    for i, name in enumerate(names):
        value = given[name]
        if name not in constexprs and _are_types(value):
            types[name] = value
            continue
        if name in constexprs or not isinstance(value, str) or _number(value) is not None:
            types[name], constants[name] = "constexpr", _constant(value)
            continue
        kind, _, hint = value.partition(":")
        if hint == "1":
            types[name], constants[name] = "constexpr", 1
            continue
        if hint and hint not in _HINTS:
            raise TritonExtError(f"argument '{name}': '{value}': the hints are :16 (a multiple of 16) and :1 (is 1)")
        if not _is_type(kind):
            raise TritonExtError(
                f"argument '{name}': '{kind}' is not a type, expected e.g. *fp32, i32 or tensordesc<fp16[64, 64]>"
            )
        types[name] = kind
        if hint:
            attributes[(i,)] = _HINTS[hint]
    return types, constants, attributes


def _are_types(value: object) -> bool:
    """Whether `value` is a tuple of types, or of such tuples: that of an argument which is a tuple."""
    if not isinstance(value, tuple) or not value:
        return False
    return all(_is_type(one) if isinstance(one, str) else _are_types(one) for one in value)


def _is_type(text: str) -> bool:
    """Whether `text` is the name of a type that an argument may have; pointers to pointers are not supported."""
    from triton.language import str_to_ty

    try:
        str_to_ty(text, None)
    except (KeyError, IndexError, NameError, SyntaxError, ValueError):
        return False
    return not text.startswith(("**", "*k*"))


def _items(text: str) -> list[str]:
    """Splits `text` at commas outside of brackets, so that ``tensordesc<fp16[64, 64]>`` is one item."""
    items, depth = [""], 0
    for character in text:
        depth += (character in "<[(") - (character in ">])")
        if character == "," and depth == 0:
            items.append("")
        else:
            items[-1] += character
    return [item.strip() for item in items] if text.strip() else []


def _constant(value: object) -> object:
    if not isinstance(value, str):
        return value
    number = _number(value)
    named = {"True": True, "False": False, "None": None}
    return number if number is not None else named.get(value, value)


def _number(text: str) -> int | float | None:
    if len(text) > _MOST_DIGITS and re.fullmatch(r"\s*[+-]?[\d_]+\s*", text):
        raise TritonExtError(f"an integer of {len(text):,} digits, expected at most {_MOST_DIGITS}")
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return None
