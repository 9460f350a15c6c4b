# SPDX-License-Identifier: Apache-2.0
"""The types of what ``infra/sdk/sources.toml`` describes; `source_file` reads it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from ..errors import BuildError


class SourceUnavailableError(BuildError):
    """A source cannot be used on this machine at the moment; the next one may be."""


@dataclass(frozen=True)
class Package:
    """One Debian package.

    Attributes:
        name: its name.
        path: its path below a mirror.
        sha256: the hash of the file, as hex digits.
        size: the bytes of the file.
        suite: the suite whose index has its successor; None if only the pinned file can be used.
        version_prefix: the beginning that the version of a successor must have.
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
        rank: position in ``sources.toml``; the lower, the better the match.
        arch: machine that the files run on, empty if any.
        base: URL that `path` is relative to.
        base_env: environment variable that replaces `base`.
        path: archive below `base`; ``{llvm8}`` stands for the first eight digits of the LLVM commit.
        llvm_version: the beginning that the version of the headers must have; empty means libtriton's major version.
        headers_commit: the LLVM commit of the headers, if the headers do not contain it.
        llvm_commits: the LLVM commits of libtriton that it was checked against; empty means any.
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
        """Whether it is tried without being named, which needs hashes that verify its downloads."""
        return bool(self.packages)


@dataclass(frozen=True)
class Suite:
    """A suite of the Debian archive, and the fields that its signed release file must have.

    Attributes:
        name: the directory of the suite below ``dists``.
        suite: the field ``Suite``.
        codename: the field ``Codename``.
        max_age_days: the age that the field ``Date`` may have if there is no ``Valid-Until``.
    """

    name: str
    suite: str
    codename: str
    max_age_days: int


@dataclass(frozen=True)
class Archive:
    """The Debian archive: the keys that sign it, and the suites that are used.

    Attributes:
        signing_keys: fingerprints of primary keys, one of which must have signed.
        suites: the suites.
    """

    signing_keys: tuple[str, ...]
    suites: tuple[Suite, ...]

    def suite(self, name: str) -> Suite:
        """Returns the suite in the directory `name`.

        Raises:
            BuildError: ``sources.toml`` does not describe it.
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
    """The C library and the other libraries that mlir-tblgen needs, for systems that have older ones."""

    loader: str
    libraries: tuple[str, ...]
    packages: tuple[Package, ...]


@dataclass(frozen=True)
class PartSource:
    """A part of MLIR that libtriton lacks, and the sources that it is built from.

    Attributes:
        id: the name of the part.
        library: the file name of the library.
        dialects: the names of its dialects.
        own: our source file in it, relative to ``infra``.
        llvm_commits: the LLVM commits of libtriton that the sources were checked against; empty means any.
        download_mb: the size of the downloads.
        root: the directory in the archive, below its top directory, that files are relative to.
        private: headers that the sources include and that are not installed.
        headers: installed headers that many of the sources include; each source is compiled with all of them.
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
    headers: tuple[str, ...]
    package: Package
    files: dict[str, tuple[str, ...]]

    @property
    def sources(self) -> list[str]:
        """All source files."""
        return [file for files in self.files.values() for file in files]


@dataclass(frozen=True)
class ToolSource:
    """A program of stock MLIR, and the packages that contain it.

    Attributes:
        id: the name of the program.
        arch: the machine that it runs on.
        llvm_version: the version of its LLVM.
        llvm_commits: the LLVM commits of libtriton that it was checked against; empty means any.
        download_mb: the size of the downloads.
        program_package: the name of the package with the program itself.
        libraries: the shared libraries that it needs, except those of the runtime.
        packages: the packages of the program and of LLVM.
        library_packages: the packages of the libraries that LLVM needs.
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


_T = TypeVar("_T", Source, PartSource, ToolSource)


@dataclass(frozen=True)
class SourceList:
    """The content of ``sources.toml``.

    Attributes:
        sources: where headers and mlir-tblgen come from, the best match first.
        prune: patterns of headers, relative to ``include``, that an SDK leaves out.
        guards: ops that are unusable with some headers.
        runtime: the C library for mlir-tblgen on older systems.
        debian: how the Debian archive signs its indexes.
        parts: the dialects that can be built.
        tools: the programs of stock MLIR that can be installed.
    """

    sources: tuple[Source, ...]
    prune: tuple[str, ...]
    guards: tuple[Guard, ...]
    runtime: Runtime
    debian: Archive
    parts: tuple[PartSource, ...] = ()
    tools: tuple[ToolSource, ...] = ()

    @property
    def packages(self) -> tuple[Package, ...]:
        """Every package with a pinned hash."""
        return (
            *(package for source in self.sources for package in source.packages),
            *self.runtime.packages,
            *(part.package for part in self.parts),
            *(package for tool in self.tools for package in (*tool.packages, *tool.library_packages)),
        )

    def source(self, id_: str) -> Source:
        """Returns the source named `id_`.

        Raises:
            BuildError: there is none; the message lists those that there are.
        """
        return _find(id_, self.sources, "no SDK source is named '{}', there are: {}")

    def part(self, id_: str) -> PartSource:
        """Returns the part named `id_`.

        Raises:
            BuildError: there is none; the message lists the parts and the tools, which ``--with`` takes alike.
        """
        return _find(id_, self.parts, "the SDK has no part '{}', there is: {}", self.tools)

    def tool(self, id_: str) -> ToolSource:
        """Returns the tool named `id_`.

        Raises:
            BuildError: there is none; the message lists those that there are.
        """
        return _find(id_, self.tools, "no tool is named '{}', there is: {}")


def _find(id_: str, among: tuple[_T, ...], problem: str, also_named: tuple[ToolSource, ...] = ()) -> _T:
    for one in among:
        if one.id == id_:
            return one
    ids = ", ".join([one.id for one in among] + [tool.id for tool in also_named]) or "none"
    raise BuildError(problem.format(id_, ids), fix="triton-ext sdk install")


def contents(source: PartSource | ToolSource) -> dict[str, Any]:
    """Returns `source` as a dictionary without the sizes of packages, because their hashes determine the contents."""

    def without_size(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: without_size(item) for key, item in value.items() if key != "size"}
        return [without_size(item) for item in value] if isinstance(value, list | tuple) else value

    return {key: without_size(value) for key, value in asdict(source).items()}
