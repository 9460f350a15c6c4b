# SPDX-License-Identifier: Apache-2.0
"""``triton-ext new``."""

from __future__ import annotations

from pathlib import Path

import click

from ..authoring.new import create
from ..pipeline.extension_passes import ANY, STAGES


@click.command("new")
@click.argument("kind", type=click.Choice(["pass", "dialect", "layout", "backend", "bundle"]))
@click.argument("name")
@click.option(
    "--dir", "parent", type=click.Path(path_type=Path), help="Write a separate project into the directory DIR/NAME."
)
@click.option("--stage", type=click.Choice([*STAGES, ANY]), help="The stage that the pass is for; default: ttir.")
def new(kind: str, name: str, parent: Path | None, stage: str | None) -> None:
    """Write a new extension NAME that builds and whose tests pass.

    A layout is a dialect with an attribute that says which thread holds which element of a tensor. In a checkout of
    triton-ext or in a bundle, a pass goes to passes/NAME, a dialect to dialects/NAME and a backend to backends/NAME.
    Elsewhere, and with --dir, it becomes a bundle: a separate project, which pip installs and triton-ext then finds.
    """
    create(kind, name, parent, stage)
