# SPDX-License-Identifier: Apache-2.0
"""The source text of a finding, and where the operation stands in it."""

from __future__ import annotations

import ast
import functools
import linecache


def text_of(file: str, line: int) -> str:
    """Returns a line of a file without its end; the empty text if it cannot be read."""
    return linecache.getline(file, line).rstrip("\n") if file and line else ""


def span_of(file: str, line: int, column: int) -> tuple[int, int]:
    """Returns the columns in which an operation begins and ends in its line, from 1, the end exclusive.

    Triton counts the columns of a kernel in a function from the kernel's own indentation.

    Args:
        file: a Python file.
        line: a line in it.
        column: as Triton says it, from 1; 0 if it is unknown.
    """
    text = text_of(file, line)
    indentation = len(text) - len(text.lstrip()) + 1
    if not text or not column:
        return indentation, len(text) + 1
    tree = _tree(file)
    column += _indentation_of_function(tree, line) if tree is not None else 0
    ends = [
        node.end_col_offset if node.end_lineno == line else len(text)
        for node in (ast.walk(tree) if tree is not None else ())
        if isinstance(node, ast.expr) and node.lineno == line and node.col_offset == column - 1
        if node.end_col_offset is not None
    ]
    if not ends and column > len(text):
        return indentation, len(text) + 1
    return column, max(ends, default=column) + 1


def names_in(file: str, line: int) -> list[str]:
    """Returns the names of variables that occur in a line, or in the lines of a simple statement that it is part of.

    They are in the order in which they stand there.
    """
    names = (
        node for statement in _statements(file, line) for node in ast.walk(statement) if isinstance(node, ast.Name)
    )
    return list(dict.fromkeys(one.id for one in sorted(names, key=lambda node: (node.lineno, node.col_offset))))


def dimensions_in(file: str, line: int, name: str) -> list[tuple[int, ...]]:
    """Returns the dimensions that the elements of a variable get in a line, for each place such as ``k[:, None]``.

    Of ``k[:, None]`` it is (0,), of ``k[None, :]`` (1,). A place without an index does not count.
    """
    found = dict[tuple[int, ...], None]()
    for node in (one for statement in _statements(file, line) for one in ast.walk(statement)):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == name:
            parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            found[tuple(i for i, part in enumerate(parts) if isinstance(part, ast.Slice))] = None
    return list(found)


#: Functions whose result has the shape of their operands, element by element; `store` and `load` take such operands.
_ELEMENTWISE = frozenset(
    (
        "store",
        "load",
        "where",
        "to",
        "exp",
        "exp2",
        "log",
        "log2",
        "sin",
        "cos",
        "sqrt",
        "rsqrt",
        "abs",
        "fma",
        "minimum",
    )
) | {"maximum", "cdiv", "clamp", "div_rn", "sqrt_rn", "floor", "ceil"}


def is_elementwise(file: str, line: int) -> bool:
    """Whether the tensors in a line belong together element by element: none is indexed, reduced or reshaped in it."""
    for node in (one for statement in _statements(file, line) for one in ast.walk(statement)):
        if isinstance(node, ast.Subscript):
            return False
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name not in _ELEMENTWISE:
                return False
    return True


def statement_around(file: str, line: int) -> int:
    """Returns the first line of the simple statement that a line is part of; the line itself if there is none."""
    return min((node.lineno for node in _statements(file, line)), default=line)


def function_around(file: str, line: int) -> tuple[int, int]:
    """Returns the first and the last line of the innermost function around a line; 0 and 0 without one."""
    tree = _tree(file)
    node = None if tree is None else _function_around(tree, line)
    return (0, 0) if node is None else (min(node.lineno, *_decorated(node)), node.end_lineno or 0)


def _decorated(node: ast.FunctionDef) -> list[int]:
    """Returns the lines of the decorators of a function, to which Triton assigns its arguments."""
    return [one.lineno for one in node.decorator_list] or [node.lineno]


def _statements(file: str, line: int) -> list[ast.stmt]:
    """Returns the simple statement that a line is part of, or several on one line."""
    return [node for node in _all_statements(_tree(file)) if node.lineno <= line <= (node.end_lineno or 0)]


# Each finding asks for several lines, and walking through a file takes milliseconds.
@functools.lru_cache(maxsize=64)
def _all_statements(tree: ast.AST | None) -> list[ast.stmt]:
    """Returns the simple statements of a file."""
    nodes = ast.walk(tree) if tree is not None else ()
    return [node for node in nodes if isinstance(node, ast.stmt) and not hasattr(node, "body")]


@functools.lru_cache(maxsize=64)
def _all_functions(tree: ast.AST) -> list[ast.FunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def _indentation_of_function(tree: ast.AST, line: int) -> int:
    """Returns the indentation of the innermost function around a line."""
    node = _function_around(tree, line)
    return node.col_offset if node is not None else 0


def _function_around(tree: ast.AST, line: int) -> ast.FunctionDef | None:
    """Returns the innermost function around a line; None without one."""
    around = [node for node in _all_functions(tree) if node.lineno <= line <= (node.end_lineno or 0)]
    return max(around, key=lambda node: node.lineno, default=None)


@functools.lru_cache(maxsize=64)
def _parsed(text: str) -> ast.AST | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return None


def _tree(file: str) -> ast.AST | None:
    return _parsed("".join(linecache.getlines(file)))
