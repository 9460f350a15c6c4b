# SPDX-License-Identifier: Apache-2.0
"""No package of triton_ext uses a name with an underscore from another one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "python" / "triton_ext"
BACKENDS = PACKAGE.parents[1] / "backends"


def package_of(parts: tuple[str, ...]) -> str:
    """Returns the package of a module; modules at the top count as one package."""
    if parts[:1] == ("backends",):  # each backend is a package; the core's own modules beside them begin with `_`
        return ".".join(parts[:2]) if parts[1:] and not parts[1].startswith("_") else "backends"
    return parts[0] if parts and (PACKAGE / parts[0] / "__init__.py").is_file() else ""


def imported(tree: ast.AST, place: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...], str, int]]:
    """Yields each import of a module from triton_ext: its local name, the module, the name there, and the line."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom):
            continue
        if node.level:
            base = place[: len(place) - node.level]
        elif (node.module or "").partition(".")[0] == "triton_ext":
            base = ()
        else:
            continue
        inner = (node.module or "").split(".") if node.module else []
        module = (*base, *(inner if node.level else inner[1:]))
        for alias in node.names:
            yield alias.asname or alias.name, module, alias.name, node.lineno


def reaches(source: str, place: tuple[str, ...]) -> list[str]:
    """Returns the private names of other packages that the module `place` uses."""
    tree, here = ast.parse(source), package_of(place)
    found, modules = [], {}
    for name, module, taken, line in imported(tree, place):
        private = taken.startswith("_") and not taken.startswith("__")
        if package_of(module) != here and (private or any(part.startswith("_") for part in module)):
            found.append(f"line {line}: {'.'.join(module)}.{taken}")
        if package_of((*module, taken)) != here:
            modules[name] = ".".join((*module, taken))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            name = node.attr
            if name.startswith("_") and not name.startswith("__"):
                found.append(f"line {node.lineno}: {modules[node.value.id]}.{name}")
    return found


def places() -> dict[Path, tuple[str, ...]]:
    found = {path: path.relative_to(PACKAGE).with_suffix("").parts for path in PACKAGE.rglob("*.py")}
    for path in BACKENDS.rglob("*.py"):
        parts = path.relative_to(BACKENDS).with_suffix("").parts
        if "test" not in parts:
            found[path] = ("backends", *parts)
    return {path: parts for path, parts in found.items() if parts[0] not in ("lib", "share")}


@pytest.mark.slow
def test_no_package_reaches_into_another() -> None:
    found = {str(path): reaches(path.read_text(), parts) for path, parts in places().items()}
    assert len(found) > 100
    assert {path: names for path, names in found.items() if names} == {}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("from ..pipeline.hook import _thread", ["line 1: pipeline.hook._thread"]),
        ("from ..pipeline import hook\nhook._thread.nested", ["line 2: pipeline.hook._thread"]),
        ("from triton_ext.sdk import _install", ["line 1: sdk._install"]),
        ("from triton_ext.sdk._install import install", ["line 1: sdk._install.install"]),
        ("from .store import _REPORT\nfrom . import store\nstore._REPORT", []),
        ("from ..pipeline import hook\nhook.is_taken\nfrom .. import __version__", []),
    ],
)
def test_it_sees_those_who_do(source: str, expected: list[str]) -> None:
    assert reaches(source, ("tuning", "tuner")) == expected
