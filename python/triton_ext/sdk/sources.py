# SPDX-License-Identifier: Apache-2.0
"""The manifest ``infra/sdk/sources.toml`` as typed values.

Reads one file and nothing else; what the sources hold is fetched by the modules beside this one.
"""

from __future__ import annotations

import tomllib
from dataclasses import asdict, dataclass
from typing import Any

from ..errors import BuildError
from ..support.resources import infra_dir


class SourceUnavailableError(BuildError):
    """A source cannot serve this machine right now; the next one may."""


@dataclass(frozen=True)
class Package:
    """One Debian package: its name, its path below a mirror, its hash and size, and where to look for its successor.

    A package without a suite is in no index any more: only the pinned file will do.
    """

    name: str
    path: str
    sha256: str
    size: int
    suite: str | None = None
    version_prefix: str = ""


@dataclass(frozen=True)
class Source:
    """One place that headers and mlir-tblgen come from.

    Attributes:
        id: name of the source, part of the SDK's directory name.
        kind: ``user``, ``archive`` or ``debian``.
        rank: position in the manifest; the lower, the better the match.
        arch: machine that the files run on, empty if any.
        base: URL that `path` is relative to.
        base_env: environment variable that replaces `base`.
        path: archive below `base`; ``{llvm8}`` stands for the first eight digits of the LLVM commit.
        llvm_version: what the version of the headers must begin with; empty: libtriton's own major version.
        headers_commit: LLVM commit of the headers, where the headers do not say it themselves.
        llvm_commits: LLVM commits of libtriton that it was checked against; empty: any.
        download_mb: size of what is downloaded.
        packages: the Debian packages.
    """

    id: str
    kind: str
    rank: int
    arch: str = ""
    base: str = ""
    base_env: str = ""
    path: str = ""
    llvm_version: str = ""
    headers_commit: str = ""
    llvm_commits: tuple[str, ...] = ()
    download_mb: int = 0
    packages: tuple[Package, ...] = ()

    @property
    def automatic(self) -> bool:
        """Whether it is tried without being named: only if hashes verify what is downloaded."""
        return bool(self.packages)


@dataclass(frozen=True)
class Suite:
    """A suite of the Debian archive, by what its signed release file must say.

    Attributes:
        name: directory of the suite below ``dists``.
        suite: the field ``Suite``.
        codename: the field ``Codename``.
        max_age_days: how old the field ``Date`` may be where there is no ``Valid-Until``.
    """

    name: str
    suite: str
    codename: str
    max_age_days: int


@dataclass(frozen=True)
class Archive:
    """The Debian archive: who signs it, and which suites are used.

    Attributes:
        signing_keys: fingerprints of the primary keys, of which one must have signed.
        suites: the suites.
    """

    signing_keys: tuple[str, ...]
    suites: tuple[Suite, ...]

    def suite(self, name: str) -> Suite:
        """The suite in the directory `name`.

        Raises:
            BuildError: ``sources.toml`` does not say what its release file must say.
        """
        for suite in self.suites:
            if suite.name == name:
                return suite
        raise BuildError(f"infra/sdk/sources.toml describes no suite '{name}'", fix="add it under [[debian.suite]]")


@dataclass(frozen=True)
class Guard:
    """Ops of one header that are unusable if their properties lack `property`."""

    header: str
    namespace: str
    ops: tuple[str, ...]
    property: str


@dataclass(frozen=True)
class Runtime:
    """The C library, and what else mlir-tblgen needs, for systems with older ones."""

    loader: str
    libraries: tuple[str, ...]
    packages: tuple[Package, ...]


@dataclass(frozen=True)
class PartSource:
    """A part of MLIR that libtriton lacks, and the sources that it is built from.

    Attributes:
        id: name of the part.
        library: file name of the library.
        dialects: the dialects in it.
        own: our file that is built with it, below ``infra``.
        llvm_commits: LLVM commits of libtriton that the sources were checked against; empty: any.
        download_mb: size of what is downloaded.
        root: the directory in the archive, below its top, that files are relative to.
        private: headers that are included and not installed.
        package: the source archive, as a file below a Debian mirror.
        files: the source files, by the static library of a full LLVM install that holds their objects.
    """

    id: str
    library: str
    dialects: tuple[str, ...]
    own: str
    llvm_commits: tuple[str, ...]
    download_mb: int
    root: str
    private: tuple[str, ...]
    package: Package
    files: dict[str, tuple[str, ...]]

    @property
    def sources(self) -> list[str]:
        """All source files."""
        return [file for files in self.files.values() for file in files]


@dataclass(frozen=True)
class ToolSource:
    """A program of stock MLIR, and the packages that it is in.

    Attributes:
        id: name of the program.
        arch: machine that it runs on.
        llvm_version: version of the LLVM that it is of.
        llvm_commits: LLVM commits of libtriton that it was checked against; empty: any.
        download_mb: size of what is downloaded.
        program_package: name of the package that the program itself is in.
        libraries: shared libraries that it needs, but for those of the runtime.
        packages: the packages of program and LLVM.
        library_packages: the packages of what LLVM needs.
    """

    id: str
    arch: str
    llvm_version: str
    llvm_commits: tuple[str, ...]
    download_mb: int
    program_package: str
    libraries: tuple[str, ...]
    packages: tuple[Package, ...]
    library_packages: tuple[Package, ...]


@dataclass(frozen=True)
class Manifest:
    """All of ``sources.toml``."""

    sources: tuple[Source, ...]
    prune: tuple[str, ...]
    guards: tuple[Guard, ...]
    runtime: Runtime
    debian: Archive
    parts: tuple[PartSource, ...] = ()
    tools: tuple[ToolSource, ...] = ()

    @property
    def packages(self) -> tuple[Package, ...]:
        """Every package that is pinned here."""
        return (
            *(package for source in self.sources for package in source.packages),
            *self.runtime.packages,
            *(part.package for part in self.parts),
            *(package for tool in self.tools for package in (*tool.packages, *tool.library_packages)),
        )

    def source(self, id_: str) -> Source:
        """The source named `id_`.

        Raises:
            BuildError: there is none; the message lists those that there are.
        """
        for source in self.sources:
            if source.id == id_:
                return source
        ids = ", ".join(source.id for source in self.sources)
        raise BuildError(f"no SDK source is named '{id_}', there are: {ids}", fix="triton-ext sdk install")

    def part(self, id_: str) -> PartSource:
        """The part named `id_`.

        Raises:
            BuildError: there is none; the message lists those that there are.
        """
        for part in self.parts:
            if part.id == id_:
                return part
        ids = ", ".join([*(part.id for part in self.parts), *(tool.id for tool in self.tools)]) or "none"
        raise BuildError(f"the SDK has no part '{id_}', there is: {ids}", fix="triton-ext sdk install")

    def tool(self, id_: str) -> ToolSource:
        """The tool named `id_`.

        Raises:
            BuildError: there is none; the message lists those that there are.
        """
        for tool in self.tools:
            if tool.id == id_:
                return tool
        ids = ", ".join(tool.id for tool in self.tools) or "none"
        raise BuildError(f"no tool is named '{id_}', there is: {ids}", fix="triton-ext sdk install")


def load_manifest() -> Manifest:
    """Reads ``infra/sdk/sources.toml``."""
    data = tomllib.loads((infra_dir() / "sdk" / "sources.toml").read_text())
    runtime = data["runtime"]
    return Manifest(
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


def contents(source: PartSource | ToolSource) -> dict[str, Any]:
    """`source` as a dictionary, without the sizes of packages: their hashes already say what they hold."""

    def without_size(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: without_size(item) for key, item in value.items() if key != "size"}
        return [without_size(item) for item in value] if isinstance(value, list | tuple) else value

    return {key: without_size(value) for key, value in asdict(source).items()}


def _source(rank: int, table: dict[str, Any]) -> Source:
    """One ``[[source]]`` table; ``suite`` and ``version_prefix`` are said once for all of its packages."""
    table = dict(table)
    shared = {key: table.pop(key) for key in ("suite", "version_prefix") if key in table}
    packages = tuple(Package(**package, **shared) for package in table.pop("package", ()))
    commits = tuple(table.pop("llvm_commits", ()))
    return Source(rank=rank, packages=packages, llvm_commits=commits, **table)


def _part(table: dict[str, Any]) -> PartSource:
    """One ``[[part]]`` table."""
    lists = {key: tuple(table[key]) for key in ("dialects", "llvm_commits", "private")}
    files = {library: tuple(names) for library, names in table["files"].items()}
    return PartSource(**{**table, **lists, "package": Package(**table["package"]), "files": files})


def _tool(table: dict[str, Any]) -> ToolSource:
    """One ``[[tool]]`` table; ``suite`` is that of the packages of libraries."""
    table = dict(table)
    suite = table.pop("suite")
    lists = {key: tuple(table[key]) for key in ("llvm_commits", "libraries")}
    packages = tuple(Package(**package) for package in table.pop("package"))
    library_packages = tuple(Package(**package, suite=suite) for package in table.pop("library_package"))
    return ToolSource(**{**table, **lists, "packages": packages, "library_packages": library_packages})
