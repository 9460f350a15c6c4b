# SPDX-License-Identifier: Apache-2.0
"""Finds the source tree that a command works on: a checkout of triton-ext, or a bundle project."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from ..loading.bundles import ENTRY_POINT_GROUP
from ..support import resources

KINDS = {"pass": "passes", "dialect": "dialects", "backend": "backends"}


@dataclass(frozen=True)
class Project:
    """A source tree with extensions.

    Attributes:
        root: the directory.
        package: the Python package of a bundle, which contains its libraries; None for a checkout of triton-ext.
    """

    root: Path
    package: str | None

    @property
    def libraries(self) -> Path:
        """The directory of its libraries after a build."""
        return self.root / "src" / self.package if self.package else resources.library_dir()

    def extensions(self) -> dict[str, Path]:
        """Returns the directory of each of its extensions, by name; a lowering pass may lie in its dialect's."""
        patterns = (*(f"{kind}/*/CMakeLists.txt" for kind in KINDS.values()), "dialects/*/*/CMakeLists.txt")
        files = (file for pattern in patterns for file in sorted(self.root.glob(pattern)))
        return {file.parent.name: file.parent for file in files if not file.parent.name.startswith(".")}


def find_project(directory: Path) -> Project | None:
    """Returns the project whose root is `directory`; None if there is none."""
    if (directory / "infra" / "cmake" / "TritonExtConfig.cmake").is_file():
        return Project(directory, None)
    try:
        fields = tomllib.loads((directory / "pyproject.toml").read_text())
        packages = fields["project"]["entry-points"][ENTRY_POINT_GROUP]
        return Project(directory, next(iter(packages.values())))
    except (OSError, ValueError, KeyError, StopIteration, TypeError, AttributeError):
        return None
