# SPDX-License-Identifier: Apache-2.0
"""The target and signature of searches that only compile; this machine need not have the target."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..compilation.requests import find_target, request_for
from ..errors import TritonExtError
from .describing import described, shapes_of, specialised
from .launches import MakeInputs, made_launches
from .spaces import with_config
from .task import Description

#: The types of a pointer's elements, as PyTorch calls them.
_ELEMENTS = {
    "u1": "bool",
    "i1": "bool",
    "fp16": "float16",
    "bf16": "bfloat16",
    "fp32": "float32",
    "fp64": "float64",
    "fp8e5": "float8_e5m2",
    "fp8e4nv": "float8_e4m3fn",
    "fp8e5b16": "float8_e5m2fnuz",
    "fp8e4b8": "float8_e4m3fnuz",
    **{f"{sign}{bits}": f"{word}{bits}" for sign, word in (("i", "int"), ("u", "uint")) for bits in (8, 16, 32, 64)},
}
#: A value for which Triton compiles this type: not a multiple of 16, and a multiple.
_VALUES: dict[str, tuple[Any, Any]] = {
    "i32": (7, 32),
    "i64": (2**40 + 7, 2**40),
    "u64": (2**63 + 7, 2**63),
    "fp32": (1.5, 1.5),
    "u1": (True, True),
}


@dataclass(frozen=True)
class Compiled:
    """The target and the signature that the candidates of a search are compiled for.

    Attributes:
        arguments: the arguments of each kernel that Triton compiles, the main one first.
        shapes: the shape class, or the signature, as text.
    """

    arguments: tuple[Description, ...]
    shapes: str


def arguments_of(
    kernel: Any,
    target: object,
    *,
    signature: str | Mapping[str, object] | None,
    inputs: MakeInputs | None,
    configs: list[dict[str, Any]],
    seed: int,
) -> Compiled:
    """Returns what to compile for, from a signature or from inputs whose tensors may be on any device.

    Args:
        kernel: the kernel.
        target: the target, which need not be here.
        signature: type or value of each argument; the constexprs of the first configuration may be left out.
        inputs: the user's function that makes arguments; used if there is no signature.
        configs: the declared configurations, as keyword arguments.
        seed: the seed of random numbers.

    Raises:
        TritonExtError: there is neither, or an argument cannot be described.
    """
    if target is None:
        raise TritonExtError("a search that only compiles needs a target", fix="target='cuda:90'")
    if signature is None and inputs is not None:
        return _of_inputs(inputs, seed)
    if signature is None and not any(
        p.default is inspect.Parameter.empty for p in inspect.signature(kernel.fn).parameters.values()
    ):
        signature = {}
    source = request_for(kernel, find_target(target), with_config(kernel, signature, configs)).source
    names = list(source.signature)
    found: list[tuple[str, Any]] = []
    for number, (name, kind) in enumerate(source.signature.items()):
        if kind == "constexpr":
            found.append((name, source.constants[(number,)]))
        else:
            found.append((name, _value(name, kind, bool(source.attrs.get((number,))))))
    texts = (f"{n}: {k}{':16' if source.attrs.get((names.index(n),)) else ''}" for n, k in source.signature.items())
    return Compiled((tuple(found),), ", ".join(text for text in texts if not text.endswith("constexpr")))


def _of_inputs(inputs: MakeInputs, seed: int) -> Compiled:
    launches = made_launches(inputs, seed)
    distinct = {specialised(one): described(one) for one in launches}
    found = [one for one in distinct.values() if one is not None]
    if len(found) != len(distinct):
        raise TritonExtError(
            "inputs: an argument is neither a tensor nor a number, so it cannot be described", fix="signature="
        )
    return Compiled(tuple(found), shapes_of(launches[0]))


def _value(name: str, kind: str, divisible: bool) -> Any:
    """Returns an argument of this type, as `describing.described` does.

    Raises:
        TritonExtError: no argument of a launch has the type.
    """
    if kind.startswith("*"):
        element = _ELEMENTS.get(kind.removeprefix("*k").removeprefix("*"))
        if element is not None:
            return (f"torch.{element}", 16 if divisible else 1)
    elif kind in _VALUES:
        return _VALUES[kind][divisible]
    raise TritonExtError(
        f"argument '{name}': a launch has no argument of type '{kind}' that can be described",
        fix=f"pointers, or one of {', '.join(_VALUES)}",
    )
