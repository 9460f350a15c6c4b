# SPDX-License-Identifier: Apache-2.0
"""``triton-ext test``."""

from __future__ import annotations

from pathlib import Path

import click

from ..authoring.project import find_project
from ..authoring.testing import run_tests
from ..errors import TritonExtError


@click.command("test")
@click.argument("names", nargs=-1)
@click.option("--watch", is_flag=True, help="Build and test again whenever a file is saved, until Ctrl-C.")
def test(names: tuple[str, ...], watch: bool) -> None:
    """Build and test the extensions NAMES of this source tree, or all of them."""
    project = find_project(Path.cwd())
    if project is None:
        raise TritonExtError(
            f"{Path.cwd()} is not a source tree of extensions", fix="triton-ext new bundle NAME && cd NAME"
        )
    if watch:
        from ..authoring.watch import repeat

        repeat(lambda: run_tests(project, names), project.root, names)
    else:
        run_tests(project, names)
