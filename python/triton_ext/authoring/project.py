# SPDX-License-Identifier: Apache-2.0
"""The source tree that a command works on: a checkout of triton-ext, or a bundle project."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from ..loading.discovery import ENTRY_POINT_GROUP
from ..support import resources

KINDS = {"pass": "passes", "dialect": "dialects", "backend": "backends"}


@dataclass(frozen=True)
class Project:
    """A source tree with extensions.

    Attributes:
        root: its directory.
        package: the Python package of a bundle, into which its libraries go; None for a checkout of triton-ext.
    """

    root: Path
    package: str | None

    @property
    def libraries(self) -> Path:
        """Where its libraries are after a build."""
        return self.root / "src" / self.package if self.package else resources.library_dir()

    def extensions(self) -> dict[str, Path]:
        """Directory of each of its extensions."""
        files = (file for kind in KINDS.values() for file in sorted(self.root.glob(f"{kind}/*/CMakeLists.txt")))
        return {file.parent.name: file.parent for file in files if not file.parent.name.startswith(".")}


def find_project(directory: Path) -> Project | None:
    """The project whose root is `directory`; None if it is none."""
    if (directory / "infra" / "cmake" / "TritonExtConfig.cmake").is_file():
        return Project(directory, None)
    try:
        fields = tomllib.loads((directory / "pyproject.toml").read_text())
        packages = fields["project"]["entry-points"][ENTRY_POINT_GROUP]
        return Project(directory, next(iter(packages.values())))
    except (OSError, ValueError, KeyError, StopIteration, TypeError, AttributeError):
        return None
