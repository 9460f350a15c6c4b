# SPDX-License-Identifier: Apache-2.0
"""Runs of pytest in processes that are forked from one that has imported Triton and triton-ext.

This module imports neither of them, because both read variables that `serve` sets first.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import sys
import tempfile
import traceback
from collections.abc import Container, Mapping, Sequence
from multiprocessing.connection import Connection
from typing import IO

import pytest
from _pytest.config import get_config
from hypothesis import Phase, settings

from support import kept

#: What most runs import, and what reads no variable that differs from one run to the next.
IMPORTED = (
    "filelock",
    "triton.compiler.code_generator",
    "triton_ext.language",
    "triton_ext.pipeline.scope",
    "triton_ext.pipeline.stage_run",
    "triton_ext.pytest_plugin",
)

#: Packages with modules that a process imports for all later runs when one has imported them. Tests of several files
#: share a process, too, if pytest runs them itself.
SHARED = {"click", "elftools", "numpy", "support", "triton", "triton_ext"}
#: Those that pytest has to import itself, because it changes their assertions.
PLUGINS = {"support.fixtures"}


def serve(connection: Connection, environment: Mapping[str, str]) -> None:
    """Runs pytest for each request until the other end of `connection` is closed.

    A request has the arguments of pytest, the variables of the run and a file for its output. The answer is the status
    of the process that was forked for it, or minus the number of the signal that has ended that process.

    Args:
        connection: brings requests and takes answers.
        environment: variables that are the same for all runs.
    """
    os.environ.clear()
    os.environ.update(environment)
    imported = {"triton", "triton_ext"}.intersection(sys.modules)
    assert not imported, f"{imported} has read other variables"
    for name in IMPORTED:
        importlib.import_module(name)
    get_config()  # imports pytest's own plugins
    kept.load()
    gc.freeze()  # otherwise each collection of garbage looks at all of torch
    while True:
        try:
            arguments, variables, output = connection.recv()
        except EOFError:
            return
        with tempfile.TemporaryFile("w+") as imported:
            process = os.fork()
            if not process:
                connection.close()
                _run(arguments, variables, output, imported)
            connection.send(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
            imported.seek(0)
            for name in imported.read().split():
                with contextlib.suppress(ImportError, OSError):  # the caller has ended and removed the files
                    importlib.import_module(name)
        gc.freeze()


def _shared(before: Container[str]) -> list[str]:
    """Returns the modules of `SHARED` that this process has imported and that are not in `before`."""
    new = [name for name, module in sys.modules.items() if name not in before and getattr(module, "__spec__", None)]
    return [name for name in new if name.partition(".")[0] in SHARED and name not in PLUGINS]


def _run(arguments: Sequence[str], environment: Mapping[str, str], output: str, imported: IO[str]) -> None:
    """Runs pytest in this process, which ends with its status; writes to the file `output`, and the names of what it
    has imported to `imported`.

    A failing test of Hypothesis fails with the first example that it finds. Looking for the smallest one takes most of
    the time of a run with a planted bug, and the caller needs to know only that the test fails.
    """
    status, before = 1, {*sys.modules}
    try:
        file = os.open(output, os.O_WRONLY | os.O_APPEND)
        os.dup2(file, 1)
        os.dup2(file, 2)
        os.environ.clear()
        os.environ.update(environment)
        phases = (Phase.explicit, Phase.generate)
        settings.register_profile("planted", phases=phases, report_multiple_bugs=False, database=None)
        settings.load_profile("planted")
        status = int(pytest.main([*arguments]))
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        imported.write("\n".join(_shared(before)))
        imported.flush()
        os._exit(status)
