# SPDX-License-Identifier: Apache-2.0
"""docs/ARCHITECTURE.md is the map of the tree: it names every directory, and the packages from top to bottom."""

from __future__ import annotations

import re
import subprocess
import tomllib

from support import ROOT

PAGE = (ROOT / "docs" / "ARCHITECTURE.md").read_text()
PACKAGE = ROOT / "python" / "triton_ext"


def rows(table: int) -> list[list[str]]:
    """Returns the names in the first column of a table of the section about directories, row by row."""
    section = PAGE.partition("\n## The directories\n")[2].partition("\n## ")[0]
    lines = re.findall(r"(?:^\|.*\n)+", section, re.MULTILINE)[table].splitlines()[2:]
    return [re.findall(r"`([^`]+)`", line.split("|")[1]) for line in lines]


def test_every_directory_is_named() -> None:
    tracked = subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).split()
    directories = {name.partition("/")[0] for name in tracked if "/" in name} - {"infra", "python"}
    directories |= {
        "/".join(name.split("/")[:2]) for name in tracked if name.startswith("infra/") and name.count("/") > 1
    }
    named = {name for row in rows(0) for name in row}
    assert named - {"python/triton_ext", "test/support"} == directories


def test_packages_are_in_the_order_of_their_layers() -> None:
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]
    layers = [layer.split(" : ") for layer in contract["layers"]]
    levels = {name: level for level, layer in enumerate(layers) for name in layer if name != "__main__"}
    names = [name for row in rows(1) for name in row]
    assert sorted(names) == sorted(levels)
    assert [levels[name] for name in names] == sorted(levels.values())


def test_every_path_exists() -> None:
    paths = {path for path in re.findall(r"`([\w.-]+(?:/[\w.-]+)+)`", PAGE) if "NAME" not in path}
    assert len(paths) > 40
    places = [ROOT, PACKAGE, ROOT / "backends" / "cpu", ROOT / "infra" / "pass" / "include"]
    places += [path.parent for path in ROOT.glob("passes/*/CMakeLists.txt")]  # such as api/api.json
    assert {path for path in paths if not any((place / path).exists() for place in places)} == set()
