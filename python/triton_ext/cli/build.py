# SPDX-License-Identifier: Apache-2.0
"""``triton-ext build``."""

from __future__ import annotations

from pathlib import Path

import click

from ..authoring.build import build_tree, default_build_dir
from ..errors import BuildError


@click.command("build")
@click.argument("names", nargs=-1)
@click.option(
    "--source", type=click.Path(path_type=Path), default=".", help="The source tree; default: the current directory."
)
@click.option(
    "--build-dir",
    type=click.Path(path_type=Path),
    help="The directory to build in; default: build/dev in the source directory.",
)
@click.option("-D", "definitions", multiple=True, metavar="VAR=VALUE", help="A variable of CMake; may be repeated.")
@click.option("--watch", is_flag=True, help="Build again whenever a file is saved, until Ctrl-C.")
def build(
    names: tuple[str, ...], source: Path, build_dir: Path | None, definitions: tuple[str, ...], watch: bool
) -> None:
    """Build the extensions NAMES of a source tree with those in their directories, or everything."""
    source = source.resolve()
    if not (source / "CMakeLists.txt").is_file():
        raise BuildError(f"{source} has no CMakeLists.txt", fix="triton-ext build --source DIR")

    def once() -> None:
        build_tree(source, build_dir or default_build_dir(source), names, definitions)

    if watch:
        from ..authoring.watch import repeat

        repeat(once, source, names)
    else:
        once()
