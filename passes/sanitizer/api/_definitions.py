# SPDX-License-Identifier: Apache-2.0
"""Finds the kernels of a Python file for `triton-ext lint`, also those that a function defines, and loads them."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from triton_ext.errors import TritonExtError


@dataclass(frozen=True)
class Definition:
    """A kernel or a function that kernels call.

    Attributes:
        node: its definition.
        around: the names of the functions and classes around it, the outermost one first.
        siblings: the kernels of the function around it, in order; empty for one of the module.
    """

    node: ast.FunctionDef
    around: tuple[str, ...]
    siblings: tuple[ast.FunctionDef, ...]

    @property
    def name(self) -> str:
        """The name, with those of the functions around it: ``make.kernel``."""
        return ".".join([*self.around, self.node.name])


def definitions(tree: ast.Module) -> dict[str, Definition]:
    """Returns what ``triton.jit`` decorates in a file, by name."""
    found: dict[tuple[str, ...], list[ast.FunctionDef]] = {}
    names = _names_of_jit(tree)
    for node, around in _functions(tree.body, ()):
        if any(_last_name(one) in names for one in node.decorator_list):
            found.setdefault(around, []).append(node)
    all_ = [
        Definition(node, around, tuple(nodes) if around else ()) for around, nodes in found.items() for node in nodes
    ]
    return {one.name: one for one in all_}


def _functions(body: Sequence[ast.stmt], around: tuple[str, ...]) -> Iterator[tuple[ast.FunctionDef, tuple[str, ...]]]:
    """Yields functions and what is around them, also those under a condition, such as whether Triton is installed."""
    for node in body:
        if isinstance(node, ast.FunctionDef):
            yield node, around
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from _functions(node.body, (*around, node.name))
        elif isinstance(node, ast.If | ast.Try | ast.With | ast.For | ast.While):
            for part in ("body", "orelse", "finalbody"):
                yield from _functions(getattr(node, part, ()), around)
            for handler in getattr(node, "handlers", ()):
                yield from _functions(handler.body, around)


def _names_of_jit(tree: ast.Module) -> set[str]:
    """Returns the last parts of the names that ``triton.jit`` has in a file: ``jit``, and those given to it."""
    names = {"jit"}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names |= {one.asname for one in node.names if one.name == "jit" and one.asname}
        elif isinstance(node, ast.Assign) and _last_name(node.value) in names:
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return names


def _last_name(node: ast.expr) -> str:
    """Returns the last part of a name, also of one that is called or given to ``functools.partial``; else empty."""
    if isinstance(node, ast.Call):
        name = _last_name(node.func)
        return _last_name(node.args[0]) if name == "partial" and node.args else name
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def helpers(found: Mapping[str, Definition]) -> set[str]:
    """Returns the names of the functions that kernels call: they return a value, or another one calls them."""
    called = set()
    for name, definition in found.items():
        for node in ast.walk(definition.node):
            if isinstance(node, ast.Return) and node.value is not None:
                called.add(name)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                near = ".".join([*definition.around, node.func.id])
                called |= {one for one in (near, node.func.id) if one in found}
    return called


def loaded(path: str, definition: Definition) -> Any:
    """Returns the kernel of a definition. The file is executed; a function that defines kernels is not called.

    Raises:
        TritonExtError: the file raised, or the kernel needs the variables of the function around it to be defined.
    """
    from triton_ext.compilation.requests import load_kernel

    if not definition.around:
        return load_kernel(path, definition.node.name)
    outermost = load_kernel(path, definition.around[0])
    namespace = dict(vars(sys.modules[outermost.__module__]))
    for node in definition.siblings:
        try:
            exec(compile(ast.Module([node], []), str(Path(path).resolve()), "exec"), namespace)
        except Exception as error:  # whatever a decorator raises without the variables around it
            if node is definition.node:
                raise TritonExtError(f"{definition.name} cannot be defined alone: {error}") from error
    return namespace[definition.node.name]
