# SPDX-License-Identifier: Apache-2.0
"""What tests import is in the package `support`, so no module of a test needs a name that is unique among all tests."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from support import ROOT


def imported(tree: ast.AST) -> Iterator[str]:
    """Yields the first part of the name of each module that `tree` imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield str(node.module).partition(".")[0]


def test_no_test_imports_another_file_by_a_bare_name() -> None:
    files = [
        file
        for directory in ("test", "passes", "dialects", "backends")
        for file in (ROOT / directory).rglob("*.py")
        if "test" in file.relative_to(ROOT).parts
    ]
    stems = {file.stem for file in files}
    assert len(stems) > 100
    found = {file: stems.intersection(imported(ast.parse(file.read_text()))) for file in files}
    assert {str(file): names for file, names in found.items() if names} == {}
