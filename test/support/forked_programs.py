# SPDX-License-Identifier: Apache-2.0
"""lit tests whose ``triton-ext-opt`` is forked from a process that has loaded libtriton.

Starting Python, loading libtriton and looking at all extensions takes a run of ``triton-ext-opt`` most of its time: 0.2
of 0.25 s of processor time. `ShTest` does this once in each of lit's processes, which then forks for each run. A run is
still a process of its own: with its own memory, environment, directory and pipes, and it may crash. What it finds
loaded is what it would load itself, because that depends on the variables `DECIDING` only; a run with other ones is
started from its file, and so is every other program. ``test/opt`` tests ``triton-ext-opt`` as it is installed.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import lit.formats
import lit.TestRunner

from support.become import become

#: What decides which libraries a run loads. `support.mutants` enables bugs by a variable that is read later.
DECIDING = ("HOME", "XDG_CACHE_HOME", "TRITON_EXT_")
_LATER = "TRITON_EXT_MUTANT"
#: Programs beside Python that are forked.
PROGRAMS = {Path(sys.executable).with_name(name) for name in ("triton-ext-opt", "triton-linalg-opt")}


class ShTest(lit.formats.ShTest):  # type: ignore[misc]  # lit has no types
    """A lit test as a shell script, as lit has it, whose `PROGRAMS` are forked."""

    def execute(self, test: object, litConfig: object) -> object:
        """Runs one test."""
        if lit.TestRunner.subprocess is subprocess:
            lit.TestRunner.subprocess = SimpleNamespace(**{**vars(subprocess), "Popen": popen})
        return super().execute(test, litConfig)


def popen(arguments: Sequence[str], *, executable: str, env: Mapping[str, str], **options: Any) -> subprocess.Popen:  # type: ignore[type-arg]
    """Starts a program as `subprocess.Popen` does, or forks it."""
    if Path(executable) in PROGRAMS and _deciding(env) == load(_deciding(env)):
        program = functools.partial(_become, executable, list(arguments[1:]), dict(env), _open_files())
        # The child calls this instead of starting the program, with its directory and pipes set up.
        options |= {"preexec_fn": program}
    return subprocess.Popen(arguments, executable=executable, env=env, **options)


def _deciding(environment: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(i for i in environment.items() if i[0].startswith(DECIDING) and i[0] != _LATER))


_loaded: list[tuple[tuple[str, str], ...]] = []


def load(deciding: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """Loads what runs with the variables `deciding` load, unless another call has; returns the variables then."""
    if not _loaded:
        _loaded.append(deciding)
        own = dict(os.environ)
        for name, _ in _deciding(own):
            del os.environ[name]
        os.environ.update(deciding)
        try:
            from triton_ext import driver
            from triton_ext.loading import discovery, loader, named_dialects  # noqa: F401 - for the runs

            driver.opt_library()
            discovery.extensions()
            for program in PROGRAMS:
                _main(program)
        finally:
            os.environ.clear()
            os.environ.update(own)
        gc.freeze()  # otherwise each run's collections look at what is loaded
    return _loaded[0]


def load_here() -> None:
    """Loads what runs with the variables of this process load, so that processes that it forks need not."""
    load(_deciding(os.environ))


@functools.cache
def _main(program: Path) -> Callable[[], object] | None:
    """Returns the function that a program of this environment calls; None if there is no such program."""
    if not program.exists():
        return None
    found = re.search(r"^from (\S+) import (\S+)$", program.read_text(), re.MULTILINE)
    assert found, program
    return getattr(importlib.import_module(found[1]), found[2])  # type: ignore[no-any-return]


def _open_files() -> frozenset[str]:
    return frozenset(os.listdir("/proc/self/fd"))


def _become(executable: str, arguments: list[str], environment: dict[str, str], before: frozenset[str]) -> None:
    """Runs a program in this process, which has just been forked, and ends it."""
    # The process that has forked reads from a pipe until it is closed, as it is if a program starts.
    for number in _open_files() - before - {"0", "1", "2"}:
        with contextlib.suppress(OSError):
            os.close(int(number))
    main = _main(Path(executable))
    become(main or os.abort, [executable, *arguments], environment)
