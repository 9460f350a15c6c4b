# SPDX-License-Identifier: Apache-2.0
"""Reads ``infra/sdk/sources.toml``."""

from __future__ import annotations

import tomllib
from typing import Any

from ..support.resources import infra_dir
from .sources import Archive, Guard, Package, PartSource, Runtime, Source, SourceList, Suite, ToolSource


def load_source_list() -> SourceList:
    """Reads ``infra/sdk/sources.toml``."""
    data = tomllib.loads((infra_dir() / "sdk" / "sources.toml").read_text())
    runtime = data["runtime"]
    return SourceList(
        sources=tuple(_source(rank, table) for rank, table in enumerate(data["source"])),
        prune=tuple(data["keep"]["prune"]),
        guards=tuple(Guard(**{**table, "ops": tuple(table["ops"])}) for table in data["guard"]),
        runtime=Runtime(
            loader=runtime["loader"],
            libraries=tuple(runtime["libraries"]),
            packages=tuple(Package(**table, suite=runtime["suite"]) for table in runtime["package"]),
        ),
        debian=Archive(
            signing_keys=tuple(data["debian"]["signing_keys"]),
            suites=tuple(Suite(**table) for table in data["debian"]["suite"]),
        ),
        parts=tuple(_part(table) for table in data.get("part", ())),
        tools=tuple(_tool(table) for table in data.get("tool", ())),
    )


def _source(rank: int, table: dict[str, Any]) -> Source:
    """Reads one ``[[source]]`` table, in which ``suite`` and ``version_prefix`` apply to all packages."""
    table = dict(table)
    shared = {key: table.pop(key) for key in ("suite", "version_prefix") if key in table}
    packages = tuple(Package(**package, **shared) for package in table.pop("package", ()))
    commits = tuple(table.pop("llvm_commits", ()))
    return Source(rank=rank, packages=packages, llvm_commits=commits, **table)


def _part(table: dict[str, Any]) -> PartSource:
    """Reads one ``[[part]]`` table."""
    lists = {key: tuple(table[key]) for key in ("dialects", "llvm_commits", "private", "headers")}
    files = {library: tuple(names) for library, names in table["files"].items()}
    return PartSource(**{**table, **lists, "package": Package(**table["package"]), "files": files})


def _tool(table: dict[str, Any]) -> ToolSource:
    """Reads one ``[[tool]]`` table, in which ``suite`` applies to the packages of libraries."""
    table = dict(table)
    suite = table.pop("suite")
    lists = {key: tuple(table[key]) for key in ("llvm_commits", "libraries")}
    packages = tuple(Package(**package) for package in table.pop("package"))
    library_packages = tuple(Package(**package, suite=suite) for package in table.pop("library_package"))
    return ToolSource(**{**table, **lists, "packages": packages, "library_packages": library_packages})
