# SPDX-License-Identifier: Apache-2.0
"""Signatures for a kernel that has no declared example: which arguments are pointers, and values for constants.

The rules that need no numbers look at the structure of a kernel, so any types and values will do with which it
compiles. Each kernel is read with several guesses; what is reported is true with all of them.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Mapping
from typing import Any

#: Sizes of blocks that are tried, one list for each guess; constants take them in turn.
_SIZES = ((64, 64, 64, 64), (32, 64, 16, 128), (128, 16, 64, 32))
#: How many guesses have pointers to floats.
GUESSES = len(_SIZES)
_POINTERS = ("_ptr", "_ptrs", "Ptr", "_pointer")
_ACCESSES = ("load", "store", "make_tensor_descriptor", "atomic_")


def guesses(function: Any, tree: ast.FunctionDef, launched: Mapping[str, Any]) -> Iterator[dict[str, object]]:
    """Yields signatures for a kernel, as `tx.describe` takes them.

    The first ones have pointers to floats, the others pointers to integers, for kernels that the first do not fit.

    Args:
        function: the kernel.
        tree: its definition.
        launched: values of constants that the file gives where it launches kernels.
    """
    pointers = _pointers(tree)
    for element, sizes in itertools.product(("fp32", "i32"), _SIZES):
        signature: dict[str, object] = {}
        number = 0
        for parameter in function.params:
            name = parameter.name
            if parameter.is_constexpr:
                if name in launched:
                    signature[name] = launched[name]
                elif parameter.has_default:
                    signature[name] = parameter.default
                else:
                    signature[name] = _constant(name, sizes[number % len(sizes)])
                    number += 1
            elif name in pointers or name.endswith(_POINTERS):
                signature[name] = f"*{pointers.get(name) or element}"
            else:
                signature[name] = str(parameter.annotation_type or "i32")
        yield signature


def _constant(name: str, size: int) -> object:
    """Returns a value for a constant, from the words that people use."""
    upper = name.upper()
    if upper.startswith(("IS_", "HAS_", "USE_", "EVEN_", "DO_", "CAUSAL")):
        return True
    if upper.startswith("GROUP") or "STAGES" in upper or "WARPS" in upper:
        return 4
    return "" if upper.startswith("ACTIVATION") else size


def constants_at_launches(tree: ast.Module) -> dict[str, Any]:
    """Returns the constants that a file passes by name where it launches kernels, as in ``k[grid](x, BLOCK=64)``.

    A name with several values is left out.
    """
    found: dict[str, set[Any]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript):
            for one in node.keywords:
                if one.arg and isinstance(one.value, ast.Constant):
                    found.setdefault(one.arg, set()).add(one.value.value)
    return {name: next(iter(values)) for name, values in found.items() if len(values) == 1}


def _pointers(tree: ast.FunctionDef) -> dict[str, str]:
    """Returns the parameters from which addresses are computed, the first one of each sum, with their elements.

    The element type is empty if any will do.
    """
    assigned: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AugAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                pairs = [(target, node.value)]
                if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                    pairs = list(zip(target.elts, node.value.elts, strict=False))
                for name, value in pairs:
                    if isinstance(name, ast.Name):
                        assigned.setdefault(name.id, []).append(value)
    parameters = {one.arg for one in tree.args.args}
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            function = node.func.attr
            for base in _base(node.args[0], assigned, parameters, set()) if function.startswith(_ACCESSES) else ():
                found[base] = "i32" if function == "atomic_cas" else found.get(base, "")
    return found


def _base(node: ast.expr, assigned: Mapping[str, list[ast.expr]], parameters: set[str], seen: set[str]) -> set[str]:
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        node = node.left
    if isinstance(node, ast.IfExp):
        return _base(node.body, assigned, parameters, seen) | _base(node.orelse, assigned, parameters, seen)
    if not isinstance(node, ast.Name) or node.id in seen:
        return set()
    first = [one for one in assigned.get(node.id, []) if not (isinstance(one, ast.Name) and one.id == node.id)]
    if node.id in parameters:
        return {node.id}
    return _base(first[0], assigned, parameters, seen | {node.id}) if first else set()
