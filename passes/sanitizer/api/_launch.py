# SPDX-License-Identifier: Apache-2.0
"""A launch that does not happen: the kernel's graph of integers, and the numbers of its arguments and its grid."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from triton_ext.probe._arguments import part_of

from triton_ext.errors import TritonExtError

from ._memory import Memory, is_tensor, memory_of
from ._types import is_plain, type_of_argument
from ._uses import Place, Use, distinct, loops_of, place_of, uses_of
from ._values import Graph

#: Where there is no GPU, kernels are translated for this target; their integers are the same for all.
_TARGET = "cuda:90"
#: The width of integers of Python, which do not wrap.
UNLIMITED = 1024


@dataclass
class Launch:
    """One launch of a kernel.

    Attributes:
        kernel: the name of the kernel.
        graph: its integers.
        uses: its accesses, loops, branches and promises.
        names: the names of its arguments, as the IR has them.
        types: their types in the IR.
        values: the arguments by name.
        memories: the memory of each tensor, by the name of the argument.
        hints: by the name of an argument, the divisor that its value was specialised on.
        places: where each node is computed.
        file: the file of the kernel.
        line: its line.
        sizes: of the grid.
        variables: of the source: the name, the node, and where it is assigned.
    """

    kernel: str
    graph: Graph
    uses: list[Use]
    names: list[str]
    types: list[str]
    values: Mapping[str, Any]
    memories: Mapping[str, Memory]
    hints: Mapping[str, int]
    places: Sequence[Place]
    place: Place
    sizes: list[int] = field(default_factory=list)
    variables: Sequence[tuple[str, int, Place]] = ()

    @property
    def integers(self) -> dict[str, int]:
        """The integer arguments by name."""
        return {self.names[i]: value for i, value in self.graph.arguments.items()}


def bound(kernel: Any, arguments: Sequence[object], named: Mapping[str, object]) -> list[dict[str, Any]]:
    """Returns the arguments of a launch by name: one mapping for each configuration of an autotuner.

    Raises:
        TritonExtError: they do not fit the kernel.
    """
    configurations: list[dict[str, Any]] = [{}]
    decorators: list[Any] = []  # the outermost one first, which is the order in which a launch asks them
    inner, source = source_of(kernel), None
    if hasattr(inner, "constants") and hasattr(inner, "signature") and hasattr(inner, "attrs"):
        inner, source = inner.fn, inner
        constants = {inner.arg_names[path[0]]: value for path, value in source.constants.items() if len(path) == 1}
        configurations = [constants]
    while hasattr(inner, "fn") and not inspect.isfunction(inner.fn):
        decorators.append(inner)
        inner = inner.fn
    if not hasattr(inner, "fn"):
        raise TritonExtError(f"'{kernel}' is not a kernel", fix="put @triton.jit on it")
    signature = inspect.signature(inner.fn)
    try:
        arguments_by_name = dict(signature.bind_partial(*arguments, **named).arguments)
    except TypeError as error:
        raise TritonExtError(f"the arguments do not fit the kernel: {error}") from None
    found = []
    for given in _decorated(decorators, [{**known, **arguments_by_name} for known in configurations]):
        for name, parameter in signature.parameters.items():
            if name not in given and parameter.default is inspect.Parameter.empty:
                raise TritonExtError(f"the arguments do not fit the kernel: '{name}' is missing")
            given.setdefault(name, parameter.default)
        plain = {name: _plain(value) for name, value in given.items()}
        if plain not in found:
            found.append(plain)
    return found


def _plain(value: Any) -> Any:
    """Returns an argument with numbers of NumPy, which have a shape and a type as tensors do, as those of Python."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple):
        parts = [_plain(one) for one in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


def _decorated(decorators: Sequence[Any], launches: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns launches with the arguments that decorators add.

    As in Triton, each configuration of an autotuner is a launch of its own, and a heuristic sees the values that the
    ones before it have computed.
    """
    for decorator in decorators:
        if hasattr(decorator, "configs"):
            launches = [{**config.kwargs, **known} for known in launches for config in decorator.configs]
        elif hasattr(decorator, "values"):
            for known in launches:
                for name, heuristic in decorator.values.items():
                    known[name] = heuristic(dict(known))
    return launches


def prepared(
    kernel: Any, values: Mapping[str, Any], grid: object, target: object, options: Mapping[str, Any]
) -> Launch:
    """Returns a launch of a kernel with these arguments.

    Raises:
        TritonExtError: an argument or the grid cannot be understood.
        PipelineError: a pass failed.
    """
    return numbered(translated(kernel, values, target, options), values, grid)


def translated(
    kernel: Any, values: Mapping[str, Any], target: object, options: Mapping[str, Any]
) -> tuple[Any, Any, Any]:
    """Returns what the pass `intensity` says of a kernel, the request for its compilation, and its function.

    Raises:
        TritonExtError: an argument cannot be understood.
        PipelineError: a pass failed.
    """
    from triton_ext.intensity.description import described

    kernel = source_of(kernel)
    function = _function(kernel)
    is_source = hasattr(kernel, "constants") and hasattr(kernel, "attrs")
    signature = None if is_source else {name: type_of_argument(function, name, value) for name, value in values.items()}
    return *described(kernel, default_target(target), signature, options, optimized=False, names=True), function


def numbered(translation: tuple[Any, Any, Any], values: Mapping[str, Any], grid: object) -> Launch:
    """Returns a launch of a kernel that `translated` has translated.

    Raises:
        TritonExtError: an argument or the grid cannot be understood.
    """
    from triton_ext.intensity.description import names_of

    description, request, function = translation
    parts = [_part(name, values) for name in names_of(description, request)]
    names = [name for name, _ in parts]
    loops = loops_of(description["body"])
    widths, arguments, sizes, strides = _numbers(description, [value for _, value in parts])
    tensors = {name: _tensor(value) for name, value in parts}
    memories = {name: memory_of(tensor) for name, tensor in tensors.items() if tensor is not None}
    graph = Graph([list(node) for node in description["nodes"]], loops, widths, arguments, sizes)
    for i, value in arguments.items():
        if not -(1 << (widths[i] - 1)) <= value < 1 << widths[i]:
            raise TritonExtError(f"'{names[i]}' is {value}, which its type i{widths[i]} cannot hold")
    numbers = grid_of(grid, values)
    graph.grid = [graph.add("constant", size) for size in numbers]
    attributes = getattr(request.source, "attrs", None) or {}
    hints = {
        _shown_at(path, function.arg_names, values): int(number)
        for path, pairs in attributes.items()
        for key, number in pairs
        if key == "tt.divisibility"
    }
    uses = distinct(uses_of(description["body"], graph.add, strides))
    places = [place_of(text) for text in description["places"]]
    types = [argument["type"] for argument in description["arguments"]]
    place = place_of(f"{description['line']}:0")
    variables = [(name, node, place_of(f"{text}:0")) for name, node, text in description.get("variables", ()) if text]
    return Launch(
        description["kernel"], graph, uses, names, types, values, memories, hints, places, place, numbers, variables
    )  # fmt: skip


def integers_of(
    translation: tuple[Any, Any, Any], values: Mapping[str, Any]
) -> tuple[dict[int, int], dict[tuple[int, int], int]]:
    """Returns the integer arguments, and the sizes of descriptors, of a launch of a kernel that is `translated`."""
    from triton_ext.intensity.description import names_of

    description, request, _ = translation
    _, integers, sizes, _ = _numbers(description, [_part(name, values)[1] for name in names_of(description, request)])
    return integers, sizes


def _numbers(description: Mapping[str, Any], values: Sequence[Any]) -> tuple[Any, ...]:
    """Returns the widths and values of integers by number, and the sizes and strides of descriptors."""
    widths: dict[int, int] = {}
    arguments: dict[int, int] = {}
    sizes: dict[tuple[int, int], int] = {}
    strides: dict[int, tuple[int, ...]] = {}
    for i, (value, argument) in enumerate(zip(values, description["arguments"], strict=True)):
        kind = argument["type"]
        if kind[0] == "i" and kind[1:].isdecimal():
            widths[i] = int(kind[1:])
            if isinstance(value, int):
                arguments[i] = int(value)
        elif kind.startswith("!tt.tensordesc"):
            shape = getattr(value, "shape", ())
            sizes |= {(i, dimension): int(size) for dimension, size in enumerate(shape)}
            if is_tensor(getattr(value, "base", None)):
                strides[i] = tuple(map(int, value.strides))
    return widths, arguments, sizes, strides


def _part(name: str, values: Mapping[str, Any]) -> tuple[str, Any]:
    """Returns the name and the value of an argument of the function: ``pair.1`` is that of a tuple, ``pair[1]``."""
    shown, value = part_of(values, name)
    return (shown if isinstance(values.get(name.partition(".")[0]), tuple) else name), value


def _shown_at(path: Sequence[int], names: Sequence[str], values: Mapping[str, Any]) -> str:
    """Returns the name, as `_part` does, of the argument that Triton knows by the numbers of its parts."""
    shown, value = names[path[0]], values.get(names[path[0]])
    for part in path[1:]:
        fields = getattr(value, "_fields", None)
        shown += f".{fields[part]}" if fields else f"[{part}]"
        value = value[part] if isinstance(value, tuple) else None
    return shown


def grid_of(grid: Any, values: Mapping[str, Any]) -> list[int]:
    """Returns the three numbers of a grid: of a number, a tuple, or a function of the arguments.

    Raises:
        TritonExtError: it is not a grid.
    """
    if callable(grid):
        grid = grid(dict(values))
    sizes = [grid] if isinstance(grid, int) else list(grid)
    if not 1 <= len(sizes) <= 3 or any(isinstance(size, float) for size in sizes):
        raise TritonExtError(f"{grid} is not a grid, expected one to three integers")
    sizes = [int(size) for size in sizes] + [1] * (3 - len(sizes))
    if min(sizes) < 0:
        raise TritonExtError(f"the grid {tuple(sizes)} has a negative size")
    return sizes


def source_of(kernel: Any) -> Any:
    """Returns the source of a compiled kernel, and any other kernel as it is."""
    return kernel.src if not hasattr(kernel, "fn") and hasattr(kernel, "src") else kernel


def _function(kernel: Any) -> Any:
    while hasattr(kernel, "fn") and not inspect.isfunction(kernel.fn):
        kernel = kernel.fn
    return kernel


def default_target(target: object) -> object:
    """Returns the target for which a kernel is translated: that of the active driver if none is given."""
    if target is not None:
        return target
    from triton.runtime import driver

    try:
        return driver.active.get_current_target()
    except RuntimeError:
        return _TARGET


def _tensor(value: Any) -> Any:
    """Returns an argument that is a tensor, and the tensor below a descriptor; None for other arguments."""
    value = value if is_plain(value) else value.base
    return value if is_tensor(value) else None
