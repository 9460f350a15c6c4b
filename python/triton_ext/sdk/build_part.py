# SPDX-License-Identifier: Apache-2.0
"""Builds a part: downloads the sources, takes the few files that are needed, compiles and links them.

The part is complete or absent. Downloads and objects of a build that was stopped stay for the next one.
"""

from __future__ import annotations

import concurrent.futures
import os
import posixpath
import shutil
import subprocess
import sys
import time
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import BuildError
from ..loading.host import find_triton
from ..loading.singletons import exported, own_copies, write_stub
from ..support.clang import names_of
from ..support.lock import alone
from ..support.resources import infra_dir
from ..support.storage import needed_cache_dir, private_dir
from . import INSTALL_COMMAND, Sdk
from .ar_archive import static_library_members
from .archive import unpack
from .debian import connect
from .download import Say, fetch, file_sha256
from .install_steps import WAITING, check_space, complete_or_absent, storage_errors, to_stderr
from .parts import Part, compiler, key_of, llvm_library_dir, part_dir
from .precompiled import make_header
from .source_file import load_source_list
from .sources import PartSource, SourceUnavailableError

_FLAGS = (
    "-O2", "-std=c++20", "-fPIC", "-fno-rtti", "-fno-exceptions", "-fvisibility-inlines-hidden",
    "-ffunction-sections", "-fdata-sections", "-w",
)  # fmt: skip
_LINK_FLAGS = ("-shared", "-Wl,--no-undefined", "-Wl,--as-needed", "-Wl,--gc-sections", "-Wl,-s", "-Wl,-rpath,$ORIGIN")


def install_part(id_: str, sdk: Sdk, force: bool, say: Say | None) -> Part:
    """Builds the part `id_` for `sdk`; does nothing if it is there and `force` is false.

    Args:
        id_: name of the part.
        sdk: the SDK that it is for.
        force: build again, even if it is there.
        say: is called with one line of news; None for stderr.

    Raises:
        BuildError: there is no such part, or it cannot be built; nothing incomplete is left behind.
    """
    source, triton = load_source_list().part(id_), find_triton()
    if source.llvm_commits and triton.llvm_commit not in source.llvm_commits:
        raise BuildError(
            f"the sources of {id_} were not checked against LLVM {triton.llvm_commit[:8]}", fix="upgrade triton-ext"
        )
    return _Builder(source, sdk, say or to_stderr).run(force)


@dataclass(frozen=True)
class _Builder:
    """One build of one part."""

    source: PartSource
    sdk: Sdk
    say: Say

    @property
    def target(self) -> Path:
        """The directory of the part to be."""
        return part_dir(self.sdk, self.source.id)

    def run(self, force: bool) -> Part:
        """Builds the part, unless it is there already and `force` is false; returns it."""
        key = key_of(self.source, self.sdk)
        root, work = self.target.parent, needed_cache_dir(INSTALL_COMMAND) / "downloads" / self.target.name
        with storage_errors(root):
            private_dir(root)
            with alone(Path(f"{self.target}.lock"), self.say, WAITING):
                present = Part.load(self.target)
                if present and present.key == key and not force:
                    if present.problem is None:
                        return present
                    self.say(f"the part in {self.target} is made anew: {present.problem}")
                check_space(root, self.source.download_mb)
                objects = work / f"objects-{key_of(self.source, self.sdk, own=False)[:16]}"
                if force:
                    shutil.rmtree(objects, ignore_errors=True)
                private_dir(objects)
                with complete_or_absent(self.target) as staging:
                    part = self._build(staging, work, objects, key)
                shutil.rmtree(work)
        return part

    def _build(self, staging: Path, work: Path, objects: Path, key: str) -> Part:
        """Builds the part in the directory `staging`."""
        libraries = llvm_library_dir(self.sdk)
        if libraries is None:
            built = self._compile_sources(work, objects)
        else:
            self.say(f"taking the part {self.source.id} from {libraries}")
            built = [*self._take_members(libraries, objects), self._compile_own(objects)]
        self._link(built, staging / self.source.library, objects)
        part = Part(
            path=self.target,
            id=self.source.id,
            key=key,
            library=self.source.library,
            dialects=self.source.dialects,
            origin=str(libraries.parent) if libraries else "sources",
            files=len(self.source.sources),
            size=(staging / self.source.library).stat().st_size,
            programs={self.source.library: file_sha256(staging / self.source.library)},
        )
        part.save(staging)
        return part

    def _compile_sources(self, work: Path, objects: Path) -> list[Path]:
        """Compiles LLVM's files and ours, several at a time; objects of an earlier build are used again."""
        tree = work / "sources"
        shutil.rmtree(tree, ignore_errors=True)
        tree.mkdir()
        package = self.source.package
        url = f"{connect(self.say)}/{package.path}"
        archive = fetch(url, work, sha256=package.sha256, size=package.size, say=self.say)
        self._unpack(archive, tree)
        jobs = {objects / f"{f.replace('/', '.')}.o": tree / f for f in self.source.sources}
        waiting = {obj: file for obj, file in jobs.items() if not obj.is_file()}
        workers = int(os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL") or len(os.sched_getaffinity(0)))
        self.say(f"compiling {len(waiting) + 1} files of {self.source.id}, {workers} at a time")
        started, done = time.monotonic(), 0
        flags = self._precompile(objects)
        pool = concurrent.futures.ThreadPoolExecutor(workers)
        try:
            tasks: list[Future[None]] = [pool.submit(self._compile, file, obj, *flags) for obj, file in waiting.items()]
            own = pool.submit(self._compile_own, objects)
            everything: list[Future[Any]] = [*tasks, own]
            for task in concurrent.futures.as_completed(everything):
                task.result()
                done += 1
                if done % 5 == 0 or done == len(tasks) + 1:
                    self.say(f"  {done} of {len(tasks) + 1} after {time.monotonic() - started:.0f} s")
        finally:
            pool.shutdown(cancel_futures=True)
        return [*jobs, own.result()]

    def _unpack(self, archive: Path, tree: Path) -> None:
        wanted = {*self.source.sources, *self.source.private}

        def select(name: str) -> str | None:
            # The first component is the archive's own.
            inner = posixpath.relpath(name.partition("/")[2] or ".", self.source.root)
            return inner if inner in wanted else None

        self.say(f"taking {len(wanted)} files out of {archive.name}")
        unpack(archive, tree, select, verified=True, most=len(wanted))
        if missing := sorted(f for f in wanted if not (tree / f).is_file()):
            raise BuildError(f"{archive.name} has no {missing[0]}", fix="upgrade triton-ext")

    def _precompile(self, objects: Path) -> tuple[str, ...]:
        """Compiles the headers that many of the files include, which is most of their time; returns clang's flags.

        A precompiled header is not necessary, so none is used if it cannot be made.
        """
        target = objects / "headers.pch"
        partial = target.with_suffix(".part")
        try:
            if not target.is_file():
                make_header(partial, self.sdk, Path(compiler()), _FLAGS, self.source.headers)
                partial.rename(target)
        except subprocess.CalledProcessError:
            return ()
        return ("-include-pch", str(target))

    def _compile_own(self, objects: Path) -> Path:
        triton, target = find_triton(), objects / "own.o"
        manifest = self._tool(
            sys.executable, str(infra_dir() / "cmake" / "manifest.py"), "--kind=infra", f"--name={self.source.id}",
            "--version=", f"--triton={triton.version}", f"--llvm-commit={triton.llvm_commit}",
            f"--headers={self.sdk.headers}",
        )  # fmt: skip
        self._compile(infra_dir() / self.source.own, target, f"-DTRITON_EXT_MANIFEST_FIELDS={manifest.strip()}")
        return target

    def _compile(self, file: Path, target: Path, *flags: str) -> None:
        """Compiles `file`; `target` is complete or absent."""
        include = [*self.sdk.include_dirs, find_triton().include_dir]
        partial = target.with_suffix(".part")
        launcher = [ccache] if (ccache := shutil.which("ccache")) else []
        self._tool(
            *launcher, compiler(), *_FLAGS, *flags, *(f"-isystem{path}" for path in include),
            f"-I{file.parent}", f"-I{infra_dir() / 'pass' / 'include'}", "-c", str(file), "-o", str(partial),
        )  # fmt: skip
        partial.rename(target)

    def _take_members(self, libraries: Path, objects: Path) -> list[Path]:
        """Takes the objects of the part's files out of the static libraries of a full LLVM install.

        Whole libraries would also have classes that are in libtriton, with other type ids.
        """
        taken = []
        for name, files in self.source.files.items():
            archive = libraries / f"lib{name}.a"
            if not archive.is_file():
                raise BuildError(f"{archive} is missing", fix="triton-ext sdk install --with linalg --source ID")
            members = dict(static_library_members(archive))
            for file in files:
                read = members.get(posixpath.basename(file) + ".o")
                if read is None:
                    raise BuildError(f"{archive} has no {posixpath.basename(file)}.o", fix="another LLVM install")
                target = objects / f"{file.replace('/', '.')}.o"
                target.write_bytes(read())
                taken.append(target)
        return taken

    def _link(self, objects: list[Path], target: Path, work: Path) -> None:
        self.say(f"linking {target.name}")
        linker = next(filter(None, map(shutil.which, names_of("ld.lld"))), None)
        libtriton, stub = find_triton().library, work / "libtriton.o"
        write_stub(stub, [libtriton], compiler())
        self._tool(
            compiler(), *_LINK_FLAGS, *([f"--ld-path={linker}"] if linker else []), f"-Wl,-soname,{target.name}",
            str(stub), *map(str, objects), f"-L{libtriton.parent}", f"-l:{libtriton.name}", "-o", str(target),
        )  # fmt: skip
        if own := own_copies(target, exported(libtriton)):
            raise BuildError(f"{target.name} has a copy of its own of {own[0]}, which must exist once per process")

    def _tool(self, *command: str) -> str:
        """Runs a program of the build, such as the compiler, and returns what it prints.

        Raises:
            BuildError: it failed; the message has its first error.
        """
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines() or ["?"]
            raise BuildError(
                f"the part {self.source.id} cannot be built with {compiler()}: {lines[0].strip()}",
                fix="triton-ext doctor",
            )
        return done.stdout


__all__ = ["SourceUnavailableError", "install_part"]
