# SPDX-License-Identifier: Apache-2.0
"""Proves that an extension's tests would notice a bug: builds it with bugs, for tests that must fail then."""

from __future__ import annotations

import atexit
import functools
import json
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO

from support import ROOT, forked_pytest, kept, kept_objects
from support import environment as environment_of
from triton_ext.authoring import build
from triton_ext.support import resources

#: Stands at the top of each file with bugs. The environment chooses the active bug, so one build has all of them.
SWITCH = """
#ifndef TRITON_EXT_MUTANT_SWITCH
#define TRITON_EXT_MUTANT_SWITCH
#include <cstdlib>
#include <string_view>
static bool mutant(std::string_view name) {
  const char *active = std::getenv("TRITON_EXT_MUTANT");
  return active && name == active;
}
#endif
"""


@dataclass(frozen=True)
class Ended:
    """How a process has ended.

    Attributes:
        returncode: its status, or minus the number of the signal that has ended it.
        stdout: its output and errors.
    """

    returncode: int
    stdout: str


@dataclass(frozen=True)
class Mutation:
    """An expression that a bug replaces.

    Attributes:
        file: the name of the source file.
        old: the expression; occurs once, or is the first one after `behind`.
        new: what is there instead, of the same type.
        behind: text before it.
    """

    file: str
    old: str
    new: str
    behind: str = field(default="", kw_only=True)

    def apply(self, text: str, name: str) -> str:
        """Returns `text` with both expressions, and a choice between them at run time."""
        assert self.behind or text.count(self.old) == 1, f"{name}: {text.count(self.old)} times {self.old!r}"
        at = text.index(self.old, text.index(self.behind) + len(self.behind))
        return f'{text[:at]}(mutant("{name}") ? ({self.new}) : ({self.old})){text[at + len(self.old) :]}'


def apply(directory: Path, mutations: Mapping[str, Mutation]) -> None:
    """Puts all bugs, by name, into the sources in `directory`, each behind the switch."""
    for file in {mutation.file for mutation in mutations.values()}:
        text = (directory / file).read_text()
        for name, mutation in mutations.items():
            if mutation.file == file:
                text = mutation.apply(text, name)
        (directory / file).write_text(SWITCH + text)


def copy_source(extension: str, scratch: Path) -> Path:
    """Copies the source of `extension` (e.g. ``passes/rename``) below the empty directory `scratch`, to be mutated."""
    source = scratch / extension
    shutil.copytree(ROOT / extension, source, ignore=shutil.ignore_patterns("__pycache__"))
    return source


def build_source(extension: str, scratch: Path) -> Path:
    """Builds what `copy_source` has copied and returns a directory with it and all other libraries.

    Compiles the sources that differ from the checkout's, with the commands of the checkout's build, and links them to
    that build's other objects. So the checkout must be built, as in ``make test``.

    Args:
        extension: its directory, relative to the repository.
        scratch: the directory that holds the copy.
    """
    libraries, build_dir = scratch / "lib", build.default_build_dir(ROOT)
    shutil.copytree(resources.library_dir(), libraries)
    copies = [file for file in (scratch / extension).rglob("*") if file.suffix in {".cpp", ".h", ".td"}]
    changed = [file for file in copies if file.read_bytes() != _original(file, scratch).read_bytes()]
    assert {file.suffix for file in changed} == {".cpp"}, "sources that are not compiled again may include it"
    # A directory beside those of the changed sources has another library.
    around = {directory for source in changed for directory in source.parents}
    newest = max(_original(file, scratch).stat().st_mtime for file in copies if file.parent in around)
    listed = subprocess.run([build.tool("ninja"), "-C", build_dir, "-t", "compdb"], check=True, capture_output=True)
    steps = json.loads(listed.stdout)
    compilations = [step for step in steps if step["output"].endswith(".o")]
    objects = {}
    directories = {ROOT / extension, *(_original(file, scratch).parent for file in copies)}
    # The commands name the precompiled headers relative to the directory in which they run.
    (scratch / "triton_ext_precompiled").symlink_to(build_dir / "triton_ext_precompiled")
    for step in compilations:
        sources = _sources(Path(step["file"]), build_dir)
        if sources.isdisjoint(_original(source, scratch) for source in changed):
            continue
        output, compiled = step["output"], scratch / Path(step["file"]).with_suffix(".o").name
        # ccache finds what it compiled for an earlier run, in another temporary directory.
        replaced = {f"CCACHE_BASEDIR={ROOT}": f"CCACHE_BASEDIR={scratch}"}
        replaced |= {str(source): str(scratch / source.relative_to(ROOT)) for source in sources}
        # A batch finds its sources in the directory of its library.
        replaced |= {f"-I{directory}": f"-I{scratch / directory.relative_to(ROOT)}" for directory in directories}
        command = " ".join(replaced.get(word, word) for word in step["command"].split(" "))
        command = command.replace(f" {output}", f" {compiled}")
        copied = [scratch / source.relative_to(ROOT) for source in sources]
        compile_it = functools.partial(_compile, command, compiled, scratch)
        found = kept_objects.find(compile_it, step["command"], output, copied, base=scratch, build_dir=build_dir)
        compiled.write_bytes(found)
        objects[output] = str(compiled)
    for step in steps:
        words = step["command"].split(" ")
        if "-shared" in words and not objects.keys().isdisjoint(words):
            library = Path(step["output"])
            assert (build_dir / library).stat().st_mtime >= newest, "the checkout's build is old: make build"
            # What follows the command of the linker checks the library and copies it into the checkout.
            linked = " ".join(objects.get(word, word) for word in words).partition(" && cd ")[0]
            _run(linked.replace(f" -o {library} ", f" -o {libraries / library.name} "), build_dir)
    return libraries


def build_with_bugs(
    extension: str, mutations: Mapping[str, Mutation], scratch: Path, *, within: str = "", beside: Sequence[str] = ()
) -> Path:
    """Builds an extension with all bugs in it and returns a directory with its library and all others.

    Args:
        extension: its directory, relative to the repository.
        mutations: the bugs, by name.
        scratch: an empty directory.
        within: the directory of the extension that the files of the bugs are relative to.
        beside: other extensions, whose Python is found beside the libraries.
    """
    for other in beside:
        copy_source(other, scratch)
    apply(copy_source(extension, scratch) / within, mutations)
    return build_source(extension, scratch)


def _sources(file: Path, build_dir: Path) -> set[Path]:
    """Returns the sources that are compiled as `file`: itself, or those of a batch (`triton_ext_batch` of CMake)."""
    if not file.is_relative_to(build_dir) or not file.read_text().startswith("// Generated by triton_ext_batch()"):
        return {file}
    directory = ROOT / file.parent.relative_to(build_dir)
    included = re.findall(r'^#include "(.*)"$', file.read_text(), re.MULTILINE)
    return {(directory / name).resolve() for name in included}


def _original(file: Path, scratch: Path) -> Path:
    return ROOT / file.relative_to(scratch)


def _compile(command: str, compiled: Path, directory: Path) -> bytes:
    _run(command, directory)
    return compiled.read_bytes()


def _run(command: str, directory: Path) -> None:
    done = subprocess.run(command, shell=True, cwd=directory, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]


def run_tests(file: Path, select: str, libraries: Path, mutant: str, cache: Path) -> Ended:
    """Runs tests of pytest in another process, up to the first one that fails.

    The process is forked from one that has imported torch, pytest and triton-ext, which take most of the time of such
    a run.

    Args:
        file: the tests.
        select: what selects some of them, as ``-k``.
        libraries: what `build_source` has returned.
        mutant: the name of the active bug; empty for none.
        cache: an empty directory for kernels. Each bug needs its own: all bugs are in one library, so their kernels
            have one cache key. Tests that keep kernels have a directory for each bug, too (`kept`).
    """
    environment = {
        "TRITON_EXT_LIBRARY_DIR": str(libraries),
        "TRITON_EXT_MUTANT": mutant,
        "TRITON_CACHE_DIR": str(cache),
    }
    # Such a run does not need them.
    plugins = ("no:cacheprovider", "no:anyio", "no:xdist", "no:xdist.looponfail", "no:unraisableexception")
    arguments = ["-q", "-x", *(word for plugin in plugins for word in ("-p", plugin)), str(file), "-k", select]
    with tempfile.NamedTemporaryFile("r", errors="replace") as output:
        server = _server(libraries)
        server.send((arguments, {**os.environ, **environment, kept.PLANTED: _digest(libraries)}, output.name))
        ended = Ended(server.recv(), output.read())
    # Python ends with 1, too, if an exception ends it.
    assert ended.returncode != 1 or " failed" in ended.stdout, ended.stdout[-3000:]
    return ended


@functools.cache
def _digest(libraries: Path) -> str:
    return kept.digest(sorted(libraries.iterdir()), libraries)


@functools.lru_cache(maxsize=2)
def _server(libraries: Path) -> Connection:
    """Starts a process that forks others, which use `libraries`. It ends when its connection is closed, as at exit."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["torch", "pytest", "hypothesis"])
    ours, other = context.Pipe()
    environment = {**os.environ, "TRITON_EXT_LIBRARY_DIR": str(libraries), "TRITON_EXT_MUTANT": ""}
    context.Process(target=forked_pytest.serve, args=(other, environment)).start()
    other.close()
    return ours


atexit.register(_server.cache_clear)  # before multiprocessing waits for the processes


def lit_passes(extensions: str | Sequence[str], libraries: Path, mutant: str) -> bool:
    """Whether the lit tests of extensions (e.g. ``passes/rename``) pass.

    The file that failed with this bug in an earlier run goes first, because one failed test says enough.

    Args:
        extensions: their directories, relative to the repository.
        libraries: what `build_source` has returned.
        mutant: the name of the active bug; empty for none.
    """
    directories = [extensions] if isinstance(extensions, str) else extensions
    hint = kept.Hint("lit", *directories, mutant)
    before = hint.read()
    if mutant and (ROOT / before).is_file() and _first_failure(libraries, mutant, [before]):
        return False
    failed = _first_failure(libraries, mutant, directories)
    hint.write(failed or "")
    return failed is None


def _first_failure(libraries: Path, mutant: str, paths: Sequence[str]) -> str | None:
    """Runs lit up to the first test that fails; returns its file, empty if lit does not say, or None if all pass."""
    pipes = _lit_server(libraries)
    # One process of lit, because each has to look at all extensions once.
    arguments = ["-s", "-j", "1", "--max-failures", "1", *(str(ROOT / path) for path in paths)]
    request = {"arguments": arguments, "variables": {"TRITON_EXT_MUTANT": mutant}}
    print(json.dumps(request), file=pipes[0], flush=True)
    status, output = json.loads(pipes[1].readline())
    assert "Total Discovered Tests" in output, output
    if status == 0:
        return None
    found = re.search(r"^Failed Tests \(1\):\n  \S+ :: (.+)$", output, re.MULTILINE)
    return found[1] if found else ""


#: The process that runs lit, if there is one, by the libraries that it uses.
_lit: dict[Path, subprocess.Popen[str]] = {}


def _lit_server(libraries: Path) -> tuple[IO[str], IO[str]]:
    """Returns the pipes to and from a process that runs lit with `libraries` (`forked_lit`)."""
    if libraries not in _lit:
        _end_lit()
        environment = environment_of(TRITON_EXT_LIBRARY_DIR=str(libraries))
        command = [sys.executable, "-m", "support.forked_lit"]
        _lit[libraries] = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
    server = _lit[libraries]
    assert server.stdin is not None
    assert server.stdout is not None
    return server.stdin, server.stdout


@atexit.register
def _end_lit() -> None:
    for libraries in [*_lit]:
        _lit.pop(libraries).communicate()  # its input ends, and so does it
