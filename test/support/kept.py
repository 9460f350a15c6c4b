# SPDX-License-Identifier: Apache-2.0
"""What one run of the tests keeps for the next one in ``build/kept``: kernels, and outputs of compilers.

A test with the mark ``keeps_kernels`` executes kernels, and does not test how they are compiled or cached. Its cache of
kernels is a directory in ``build/kept``, not an empty temporary one. The claim is that it sees the kernels that it
would see with an empty cache:

- The directory belongs to this test alone, so it has no kernel of another test. Two runs at once may use it, because
  Triton and the CPU backend write an entry's files under other names, and rename them.
- Its name depends on everything of ours that compiles a kernel or decides what is compiled: the bytes of libraries,
  Python files, `support` and the test's own file; and on Python, Triton, the CPU and the variables ``TRITON_*``. So
  nothing in it was compiled by other code, even if a cache key, which covers the same files, were wrong. For example,
  every directory is empty after an edit of ``backends/cpu/compiler.py``.

`output` does the same for a compiler whose output depends only on what is named.

``TRITON_EXT_TEST_KEPT=0`` and CI keep nothing. Neither does a run with other libraries than the checkout's, or with an
option of our plugins of pytest. Only the runs of `support.mutants` keep kernels though they use other libraries: these
and the name of the active bug, which changes what the same bytes do, are part of the directory's name.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import pytest

from support import ROOT

KEPT = ROOT / "build" / "kept"
#: How many states of the code have kernels in `KEPT`, such as those of branches. The least recently used one goes.
STATES = 3
#: A test's kernels are kept if they take no more bytes on a disk.
MOST_BYTES = 64 << 20
#: The variable with the digest of libraries with planted bugs, in a run of tests that must notice one of them.
PLANTED = "TRITON_EXT_TEST_PLANTED"
#: How many outputs of each kind are kept. If there are more, the half that was used least recently goes.
MOST = {"outputs": 20_000, "objects": 1_000, "wheels": 4}


def is_on(environment: Mapping[str, str] = os.environ) -> bool:
    """Returns whether a process with this environment keeps anything."""
    other = {"CI", "TRITON_EXT_LIBRARY_DIR", "TRITON_EXT_PATH", "TRITON_EXT_MUTANT", "TRITON_INTERPRET"}
    return environment.get("TRITON_EXT_TEST_KEPT") != "0" and not any(map(environment.get, other))


def digest(paths: Iterable[Path], base: Path = ROOT) -> str:
    """Returns a digest of the names and bytes of files."""
    found = hashlib.sha256()
    for path in paths:
        found.update(f"{os.path.relpath(path, base)}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return found.hexdigest()


def inputs(root: Path = ROOT) -> Iterator[Path]:
    """Yields every file of the checkout that may change what a test compiles, except the test's own."""
    yield from sorted((root / "python" / "triton_ext" / "lib").iterdir())
    for name in ("python/triton_ext", "backends", "passes", "dialects", "test/support"):
        found = (path for path in (root / name).rglob("*") if path.suffix in {".py", ".json"})
        yield from sorted(path for path in found if not path.name.startswith("test_"))
    yield root / "conftest.py"


@functools.cache
def _machine() -> str:
    """Identifies Triton, Python and the CPU."""
    from triton.runtime.cache import triton_key

    lines = Path("/proc/cpuinfo").read_text().splitlines()
    cpu = sorted({line for line in lines if line.startswith(("flags", "model name"))})
    return repr((triton_key(), sys.version, platform.platform(), cpu))


@functools.cache
def _code() -> str:
    """Returns a digest of `inputs`."""
    return digest(inputs())


def load() -> None:
    """Computes what is the same for all tests, so that processes that this one forks need not."""
    _machine()
    _code()


@functools.cache
def _state(variables: tuple[tuple[str, str], ...]) -> Path:
    """Returns the directory of this state of the code, and removes those of older states."""
    # With the place, because Triton writes absolute paths into its cache.
    name = hashlib.sha256(repr((str(KEPT), _machine(), variables, _code())).encode()).hexdigest()[:16]
    directory = KEPT / "kernels" / name
    directory.mkdir(parents=True, exist_ok=True)
    os.utime(directory)
    for old in _by_use(directory.parent)[:-STATES]:
        shutil.rmtree(old, ignore_errors=True)
    return directory


def _by_use(directory: Path) -> list[Path]:
    """Returns what is in `directory`, the most recently used last; another process may remove some of it."""
    times = {}
    for path in directory.iterdir():
        with contextlib.suppress(FileNotFoundError):
            times[path] = path.stat().st_mtime
    return sorted(times, key=times.__getitem__)


def _names(directory: Path) -> set[str]:
    """Returns the names of a directory's entries. A directory that does not exist has none."""
    try:
        return {*os.listdir(directory)}
    except FileNotFoundError:
        return set()


def _bytes(directory: Path) -> int:
    """Returns about how many bytes `directory` takes on a disk."""
    found = [os.stat(os.path.join(parent, name)) for parent, _, names in os.walk(directory) for name in names]
    return sum(-(-stat.st_size // 4096) * 4096 for stat in found)


def keeps_kernels(item: pytest.Item, environment: Mapping[str, str]) -> bool:
    """Returns whether a test with the mark keeps its kernels.

    It does not if an option such as ``--triton-sanitize`` is on, which looks at compilations.

    Args:
        item: the test.
        environment: the environment with which pytest has started.
    """
    is_changed = any(value is True for name, value in vars(item.config.option).items() if name.startswith("triton"))
    return is_on(_without_planted(environment)) and not is_changed


def _without_planted(environment: Mapping[str, str]) -> dict[str, str]:
    """Returns the environment without what `support.mutants` has set in it."""
    planted = {PLANTED, "TRITON_EXT_LIBRARY_DIR", "TRITON_EXT_MUTANT"} if environment.get(PLANTED) else set()
    return {name: value for name, value in environment.items() if name not in planted}


def kernels_of(item: pytest.Item, environment: Mapping[str, str]) -> Iterator[Path]:
    """Yields the directory with the kernels of a test, for the time in which it runs.

    Args:
        item: the test.
        environment: the environment with which pytest has started.
    """
    unplanted = _without_planted(environment)
    named = (i for i in unplanted.items() if i[0].startswith("TRITON") and i[0] != "TRITON_CACHE_DIR")
    planted = [environment[name] for name in sorted(environment.keys() - unplanted) if name != "TRITON_EXT_LIBRARY_DIR"]
    own = "\0".join([item.nodeid, digest([item.path]), *planted])
    directory = _state(tuple(sorted(named))) / hashlib.sha256(own.encode()).hexdigest()[:32]
    before = _names(directory)
    yield directory
    # Tests whose inputs are random add kernels in each run.
    if _names(directory) - before and _bytes(directory) > MOST_BYTES:
        shutil.rmtree(directory, ignore_errors=True)


@functools.cache
def _outputs(kind: str) -> Path:
    directory = KEPT / kind
    directory.mkdir(parents=True, exist_ok=True)
    found = _by_use(directory)
    for old in found[: len(found) // 2] if len(found) > MOST[kind] else ():
        old.unlink(missing_ok=True)
    return directory


def output(compute: Callable[[], bytes], *depends: str, kind: str = "outputs") -> bytes:
    """Returns what `compute` returns, or returned when `depends` and the machine were the same.

    Args:
        compute: calls a compiler. If it raises, nothing is kept.
        depends: everything that determines the output: the compiler's version, its arguments, the text that it reads.
        kind: one of `MOST`.
    """
    if not is_on():
        return compute()
    file = _outputs(kind) / hashlib.sha256(repr((_machine(), depends)).encode()).hexdigest()
    try:
        found = file.read_bytes()
        os.utime(file)
        # The file is found by its name only, so its content has a digest, too: a file may be cut by a full disk.
        if hashlib.sha256(found[32:]).digest() == found[:32]:
            return found[32:]
    except OSError:
        pass
    made = compute()
    _write_whole(file, hashlib.sha256(made).digest() + made)
    return made


def _write_whole(file: Path, content: bytes) -> None:
    """Does what `triton_ext.support.storage.write_whole` does; the processes of `support.forked_pytest` import this
    module before they may import triton_ext."""
    partial = file.with_suffix(f".{os.getpid()}")
    partial.write_bytes(content)
    partial.replace(file)


class Hint:
    """A text that saves time if it is right, and may be wrong; `name` says of what."""

    def __init__(self, *name: str) -> None:
        self._file = KEPT / "hints" / hashlib.sha256(repr(name).encode()).hexdigest()

    def read(self) -> str:
        """Returns the text that was written last. It is empty if none is kept."""
        try:
            return self._file.read_text() if is_on() else ""
        except OSError:
            return ""

    def write(self, text: str) -> None:
        """Replaces the text, if anything is kept."""
        if is_on():
            self._file.parent.mkdir(parents=True, exist_ok=True)
            _write_whole(self._file, text.encode())
