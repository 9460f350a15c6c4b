# SPDX-License-Identifier: Apache-2.0
"""Finds the kernels of a Python file for `triton-ext lint`, also those that a function defines, and loads them."""

from __future__ import annotations

import ast
import symtable
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


def _variables_around(source: str, definition: Definition) -> list[str]:
    """Returns the variables of the functions and classes around a kernel that it uses, or that a kernel it calls uses.

    Other kernels of the same function are not among them. A variable can have the name of one of the module, whose
    value says nothing about it.
    """
    module = symtable.symtable(source, definition.name, "exec")
    siblings = {node.name: node for node in definition.siblings}
    found: dict[str, None] = {}
    seen, left = set(), [definition.node]
    while left:
        node = left.pop()
        if node in seen:
            continue
        seen.add(node)
        for name in _names_from_around(module, node):
            if name in siblings:
                left.append(siblings[name])
            else:
                found[name] = None
    return list(found)


def _imports_around(tree: ast.Module, inner: ast.FunctionDef, names: Sequence[str]) -> dict[str, ast.stmt]:
    """Returns the statements of the functions around `inner` that import `names`, unless other statements bind them."""
    around = next(
        one
        for one in ast.walk(tree)
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        if one.lineno < inner.lineno <= (one.end_lineno or 0)
    )
    nodes = list(ast.walk(around))
    bound = {one.id for one in nodes if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load)}
    bound |= {one.arg for one in nodes if isinstance(one, ast.arg)}
    imports = [one for one in nodes if isinstance(one, ast.Import | ast.ImportFrom)]
    found = {alias.asname or alias.name.partition(".")[0]: one for one in imports for alias in one.names}
    return {name: found[name] for name in names if name in found and name not in bound}


def _names_from_around(module: symtable.SymbolTable, node: ast.FunctionDef) -> set[str]:
    """Returns the names in a function, its decorators and its defaults that are bound by what is around it."""
    chain = _tables_down_to(module, node)
    if chain is None:
        return set()
    *outer, around, own = chain
    free = {symbol.get_name() for symbol in own.get_symbols() if symbol.is_free()}
    if not outer:  # a function of the module
        return free
    arguments = node.args
    given = [*node.decorator_list, *arguments.defaults, *(one for one in arguments.kw_defaults if one is not None)]
    given += [one.annotation for one in ast.walk(arguments) if isinstance(one, ast.arg) and one.annotation is not None]
    names = {one.id for expression in given for one in ast.walk(expression) if isinstance(one, ast.Name)}
    known = {symbol.get_name(): symbol for symbol in around.get_symbols()}
    return free | {name for name in names if name in known and (known[name].is_local() or known[name].is_free())}


def _tables_down_to(table: symtable.SymbolTable, node: ast.FunctionDef) -> list[symtable.SymbolTable] | None:
    """Returns the table of a function behind those around it; None if `table` does not have it."""
    for child in table.get_children():
        if child.get_name() == node.name and child.get_lineno() == node.lineno:
            return [table, child]
        if (rest := _tables_down_to(child, node)) is not None:
            return [table, *rest]
    return None


def loaded(path: str, definition: Definition) -> Any:
    """Returns the kernel of a definition. The file is executed; a function that defines kernels is not called.

    Raises:
        TritonExtError: the file raised, or the kernel needs the variables of the function around it to be defined.
    """
    from triton_ext.compilation.requests import load_kernel

    if not definition.around:
        return load_kernel(path, definition.node.name)
    outermost = load_kernel(path, definition.around[0])
    source = Path(path).read_text()
    variables = _variables_around(source, definition)
    imports = _imports_around(ast.parse(source), definition.node, variables)
    if variables := [name for name in variables if name not in imports]:
        where = "a variable" if len(variables) == 1 else "variables"
        names = ", ".join(f"'{name}'" for name in variables)
        raise TritonExtError(
            f"{definition.name} cannot be defined alone: it uses {names}, {where} of the enclosing function"
        )
    namespace = dict(vars(sys.modules[outermost.__module__]))
    for node in [*dict.fromkeys(imports.values()), *definition.siblings]:
        try:
            exec(compile(ast.Module([node], []), str(Path(path).resolve()), "exec"), namespace)
        except Exception as error:  # whatever a decorator raises without the variables around it
            if node is definition.node:
                raise TritonExtError(f"{definition.name} cannot be defined alone: {error}") from error
    return namespace[definition.node.name]
