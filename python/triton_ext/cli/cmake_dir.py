# SPDX-License-Identifier: Apache-2.0
"""``triton-ext cmake-dir``."""

from __future__ import annotations

import click

from ..support import resources


@click.command("cmake-dir")
def cmake_dir() -> None:
    """Print the directory for -DTritonExt_DIR=, so that find_package(TritonExt) of CMake finds this package."""
    click.echo(resources.infra_dir() / "cmake")
