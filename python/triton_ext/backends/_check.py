# SPDX-License-Identifier: Apache-2.0
"""Finds out why a backend cannot be used, by importing it in a process of its own, because its code may do anything.

``python -P -m triton_ext.backends._check NAME FD [RUNTIME]`` writes the problem to the file descriptor FD as JSON, or
null, apart from what the backend prints. RUNTIME is the library that the backend needs at run time.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

from ..errors import TritonExtError
from ..loading import index
from ..support import resources, scratch
from ..support.json_shape import AnyOf, parsed

#: Seconds that Triton and a backend may take to be imported.
_SECONDS = 60


def problem_of(name: str, directory: Path, runtime: Path | None) -> str | None:
    """Returns why the backend `name` cannot be used; None if it can. Kept in the index until a file of it changes.

    Args:
        name: the name of the backend.
        directory: its Python files.
        runtime: the library that it needs at run time, if it needs one.
    """
    subject = f"{directory} in {sys.prefix} with {runtime}"
    known = index.recall("backend", subject, {"problem": AnyOf(str, None)})
    if known is None:
        started = time.time_ns()
        known = {"problem": _ask(name, runtime)}
        files = [directory, *sorted(path for path in directory.rglob("*") if path.suffix in (".py", ".json"))]
        index.remember("backend", subject, known, [*files, *([runtime] if runtime else ())], started)
        index.save()
    problem: str | None = known["problem"]
    return problem


def _ask(name: str, runtime: Path | None) -> str | None:
    with scratch.scratch_file() as answer:
        command = [sys.executable, "-P", "-m", __spec__.name, name, str(answer.fileno())]
        process = subprocess.Popen(
            [*command, *([str(runtime)] if runtime else ())],
            env={**resources.child_environment(), "TRITON_EXT_PIPELINE": ""},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[answer.fileno()],
            start_new_session=True,
        )
        try:
            status = process.wait(_SECONDS)
        except subprocess.TimeoutExpired:
            return f"it is not imported within {_SECONDS} s"
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        answer.seek(0)
        found = parsed(answer.read(), {"problem": AnyOf(str, None)})
    if found is not None:
        problem: str | None = found["problem"]
        return problem
    how = f"crashes ({signal.Signals(-status).name})" if status < 0 else f"ends the process (exit code {status})"
    return f"importing it {how}"


def main() -> None:
    """Imports the backend that the command line names, asks whether it is active, and loads its runtime."""
    from ._registry import classes_of

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    name, answer, *libraries = sys.argv[1:]
    problem = None
    try:
        _, driver = classes_of(name)
        try:
            driver.is_active()  # type: ignore[attr-defined]
        except Exception as error:
            problem = f"backend '{name}': is_active raises {type(error).__name__}: {error}"
        for library in libraries:
            ctypes.CDLL(library, mode=os.RTLD_NOW)
    except TritonExtError as error:
        problem = error.message
    except OSError as error:
        problem = f"its runtime does not load: {error}"
    os.write(int(answer), json.dumps({"problem": problem}).encode())
    os._exit(0)  # what the backend has registered for the end of the process could hang


if __name__ == "__main__":
    main()
