# SPDX-License-Identifier: Apache-2.0
"""Translates a kernel up to the end of the stage ttir, where the pass `intensity` describes it.

Other extensions import this module, too: the description has every integer of a kernel.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from triton_ext.compilation.requests import KernelRequest, request_for
from triton_ext.errors import TritonExtError
from triton_ext.pipeline import scope
from triton_ext.pipeline.pipeline import ready

_ATTRIBUTE = "triton_ext.intensity"


def described(
    kernel: object,
    target: object,
    signature: object,
    options: Mapping[str, Any],
    *,
    optimized: bool = True,
    names: bool = False,
) -> tuple[Any, KernelRequest]:
    """Returns what the pass writes about a kernel, and the request for its compilation.

    Args:
        kernel: as `request_for` takes it, and so are the following.
        target: e.g. ``cuda:90``.
        signature: the types and values of the arguments.
        options: options of the backend.
        optimized: whether the stage ttir runs. Without it, the integers are those that the source computes: Triton's
            passes merge ``(i + 2**30) + 2**30`` into one addition of a constant that has wrapped.
        names: whether the description has the ``variables`` of the source.

    Raises:
        TritonExtError: the kernel cannot be found, or its signature does not fit.
        PipelineError: a pass failed.
    """
    request = request_for(kernel, target, signature, options)  # type: ignore[arg-type]
    with contextlib.ExitStack() as scopes:
        for outer in request.pipelines:
            active = ready(outer)
            scope.enter(active, by_use=True)
            scopes.callback(scope.leave, active)
        module = _to_ttir(request, optimized=optimized)
    _describe(module, names=names)
    text = module.get_operation().get_str_attr(_ATTRIBUTE)
    kernels = json.loads(text) if text else []
    if len(kernels) != 1:
        raise TritonExtError(f"expected one kernel in the module of '{request.kernel}', found {len(kernels)}")
    return kernels[0], request


def _describe(module: Any, *, names: bool) -> None:
    """Runs the pass behind all edits of the active pipelines, which one of ours would be inside of."""
    from triton._C.libtriton import ir, passes

    manager = ir.pass_manager(module.context)
    passes.plugin.add_intensity(manager, ["names=true"] if names else [])
    manager.run(module, "intensity")


def _to_ttir(request: KernelRequest, *, optimized: bool) -> Any:
    """Does what ``triton.compile`` does up to the end of the stage ttir, without its cache."""
    from triton import __version__
    from triton._C.libtriton import ir
    from triton.compiler.compiler import IRSource, make_backend

    backend = make_backend(request.target)
    context = ir.context()
    source = request.source
    if isinstance(source, str):
        source = IRSource(source, context, backend)
    else:
        ir.load_dialects(context)
        backend.load_dialects(context)
    options = backend.parse_options({**request.options, **source.parse_options()})
    stages: dict[str, Callable[[Any, dict[str, Any]], Any]] = {}
    backend.add_stages(stages, options, source.language)
    if "ttir" not in stages:
        raise TritonExtError(f"'{request.kernel}' has no stage ttir", fix="a kernel of @triton.jit")
    functions = backend.get_codegen_implementation(options)
    module = source.make_ir(request.target, options, functions, backend.get_module_map(), context)
    name = hashlib.sha256(request.kernel.encode()).hexdigest()
    metadata = {"hash": name, "target": request.target, **vars(options), "triton_version": __version__}
    if optimized:
        module = stages["ttir"](module, metadata)
    module.context = context  # the module's memory belongs to it
    return module


def names_of(description: Mapping[str, Any], request: KernelRequest) -> list[str]:
    """Returns the names of the arguments of a kernel; those that the IR does not name are taken from the signature."""
    arguments = description["arguments"]
    types = getattr(request.source, "signature", None) or {}
    declared = [name for name, kind in types.items() if kind != "constexpr"]
    if len(declared) == len(arguments):
        return [str(name) for name in declared]
    names = [str(argument.get("name", f"arg{i}")) for i, argument in enumerate(arguments)]
    # Triton passes the sizes of a descriptor twice, both as x.shape.0: once as a part of what the descriptor became.
    plain = [name for name in names if "." not in name]
    return names if len(set(plain)) == len(plain) else [f"arg{i}" for i in range(len(names))]


def types_of(description: Mapping[str, Any], request: KernelRequest, names: Sequence[str]) -> list[str]:
    """Returns the types of the arguments of a kernel: the IR's, and for unsigned integers the signature's."""
    declared = getattr(request.source, "signature", None) or {}
    unsigned = {name: kind for name, kind in declared.items() if str(kind) in ("u8", "u16", "u32", "u64")}
    return [unsigned.get(name, found["type"]) for name, found in zip(names, description["arguments"], strict=True)]


def sampled(
    kernel: Any, arguments: tuple[object, ...], named: Mapping[str, object]
) -> tuple[dict[str, object], dict[str, object]]:
    """Returns the signature for a launch with these arguments, and the arguments by name.

    Raises:
        TritonExtError: they do not fit the kernel.
    """
    from triton.runtime.autotuner import Heuristics
    from triton.runtime.jit import mangle_type

    inner = kernel
    given = dict(named)
    while hasattr(inner, "fn") and not inspect.isfunction(inner):
        if isinstance(inner, Heuristics):  # which computes constexprs of the arguments
            for name, rule in inner.values.items():
                given[name] = rule({**dict(zip(inner.arg_names, arguments, strict=False)), **given})
        inner, function = inner.fn, inner
    try:
        bound = inspect.signature(inner).bind(*arguments, **given)
    except TypeError as error:
        raise TritonExtError(f"the arguments do not fit the kernel: {error}") from None
    bound.apply_defaults()
    constexprs = {function.arg_names[i] for i in function.constexprs}
    values = dict(bound.arguments)
    types = {name: value if name in constexprs else mangle_type(value) for name, value in values.items()}
    return types, values
