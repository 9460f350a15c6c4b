# SPDX-License-Identifier: Apache-2.0
"""``--watch``: runs an action now, and again whenever a source file is saved, until Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import click

from ..errors import TritonExtError
from .project import KINDS, Project

_SOURCES = (".cpp", ".h", ".td", ".txt", ".cmake", ".py", ".mlir", ".ttir", ".ttgir", ".toml")
_TIMEOUT_MS = 200


def repeat(action: Callable[[], None], root: Path, names: tuple[str, ...] = ()) -> None:
    """Calls `action` at once and after every change of a source; prints its errors and goes on.

    Args:
        action: the function; if a file changes while it runs, it runs once more.
        root: the source tree.
        names: the extensions to watch; empty for all of them and the infrastructure.

    Raises:
        TritonExtError: the package that watches files is missing.
    """
    try:
        from watchfiles import watch
    except ImportError:
        raise TritonExtError("watching needs the package watchfiles", fix="pip install watchfiles") from None

    # Watching begins with the first wait, which has to end before the first run: a timeout ends it.
    waiting = watch(
        *_places(root, names),
        watch_filter=lambda _change, path: path.endswith(_SOURCES),
        rust_timeout=_TIMEOUT_MS,
        yield_on_timeout=True,
    )
    for number, changes in enumerate(waiting):
        if number and not changes:
            continue
        try:
            action()
        except TritonExtError as error:
            click.secho(f"error: {error}", fg="red", err=True)
        click.secho("waiting for a file to be saved; Ctrl-C ends", dim=True)


def _places(root: Path, names: tuple[str, ...]) -> Iterator[Path]:
    known = Project(root, None).extensions()
    if names:
        yield from (known[name] for name in names if name in known)
    else:
        yield root / "CMakeLists.txt"
        yield from (root / kind for kind in ("infra", *KINDS.values()) if (root / kind).is_dir())
