# SPDX-License-Identifier: Apache-2.0
"""Keeps the objects of changed sources for the next run of the tests, so that planted bugs are compiled once.

An object file depends on the command that compiles it, on the compiler, on the sources, and on the headers that they
include. Ninja knows the headers: the compiler has listed them when it compiled the checkout's version of the sources. A
planted bug adds no header but those of `mutants.SWITCH`, which belong to the compiler. So these inputs together name
the object in `support.kept`, and a change of one of them compiles again.

ccache does the same for each compilation on the machine, if it is installed; this needs no installation.
"""

from __future__ import annotations

import functools
import os
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path

from support import kept
from triton_ext.authoring import build


def find(
    compile_it: Callable[[], bytes],
    command: str,
    output: str,
    sources: Iterable[Path],
    *,
    base: Path,
    build_dir: Path,
) -> bytes:
    """Returns the object that `compile_it` returns, or returned when its inputs were the same.

    Args:
        compile_it: compiles the changed sources.
        command: what compiles the checkout's version of them.
        output: that version's object, as Ninja names it.
        sources: the changed sources and those that are compiled with them, in a copy of the checkout.
        base: the directory of the copy.
        build_dir: the directory of the checkout's build, which is up to date.
    """
    headers = [build_dir / path for path in _listed(build_dir, output)]
    assert headers, f"Ninja knows no header of {output}"
    programs = [word for word in command.split(" ") if _is_program(word)]
    read = {str(path): _digest(path) for path in headers}
    depends = command, *map(_version, programs), kept.digest(sorted(sources), base), repr(read)
    return kept.output(compile_it, *depends, kind="objects")


def _listed(build_dir: Path, output: str) -> list[str]:
    """Returns the files that the compiler has read to make `output`."""
    command = [build.tool("ninja"), "-C", build_dir, "-t", "deps", output]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return [line.strip() for line in done.stdout.splitlines() if line.startswith(" ")]


def _is_program(word: str) -> bool:
    """Returns whether a word of a command is the compiler, or ccache or CMake, which start it."""
    return word.startswith("/") and Path(word).is_file() and os.access(word, os.X_OK)


@functools.cache
def _version(program: str) -> str:
    return subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout


@functools.cache
def _digest(header: Path) -> str:
    return kept.digest([header])
