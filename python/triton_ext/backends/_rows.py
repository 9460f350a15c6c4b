# SPDX-License-Identifier: Apache-2.0
"""The rows of ``triton-ext list``: every extension, and every backend, also those that have no library."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from ..errors import TritonExtError
from ..loading.discovery import Extension, extensions
from . import declaration_in, directories
from ._check import problem_of
from ._places import origin_of


def listed() -> list[Extension]:
    """Returns all extensions, as `extensions` does, and an extension of the kind ``backend`` for each backend.

    The problem of a backend is that of its library, or what keeps its Python files from being imported. `path` is its
    library, or its directory if there is none.
    """
    rows = {row.path: row for row in extensions()}
    for name, places in directories().items():
        library = next((row for row in rows.values() if row.name == name and row.kind in ("backend", "plugin")), None)
        for number, directory in enumerate(places):
            origin = origin_of(directory)
            if library is None or number:
                row = Extension(name, "backend", None, "", directory, origin, None, None)
            else:
                row = dataclasses.replace(library, kind="backend")
            if number:
                problem: str | None = f"duplicate: the name of the target '{name}' is also claimed by {places[0]}"
            else:
                problem = row.problem or _problem(name, directory, row.path)
            rows[row.path] = dataclasses.replace(row, problem=problem)
    for row in rows.values():
        if row.kind == "backend" and row.name not in directories():
            gone = "its Python files are gone; the next build removes the library (fix: triton-ext build)"
            rows[row.path] = dataclasses.replace(row, problem=row.problem or gone)
    return sorted(rows.values(), key=lambda row: (row.origin != "built in", row.origin, row.name))


def _problem(name: str, directory: Path, library: Path) -> str | None:
    """Returns why a backend whose library is fine cannot be used; None if it can."""
    try:
        declaration = declaration_in(directory)
    except TritonExtError as error:
        return error.message
    runtime = library.with_name(f"libTritonExt{name[:1].upper()}{name[1:]}Runtime.so")
    if not declaration.has_runtime:
        return problem_of(name, directory, None)
    if library == directory:
        return f"libtriton_ext_{name}.so is missing (fix: triton-ext build {name})"
    if not runtime.is_file():
        return f"{runtime} is missing (fix: triton-ext build {name})"
    return problem_of(name, directory, runtime)
