# SPDX-License-Identifier: Apache-2.0
"""A Python program that is forked finds, prints and ends as one that is started (`support.forked_python`)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support import environment, forked_python

pytestmark = pytest.mark.slow
LOOK = """
import atexit, os, sys, threading
atexit.register(print, "the end", flush=True)
print(sys.argv, sys.path[0], sys.orig_argv[1:], os.getcwd())
print(__name__, globals().get("__file__"), __spec__ and __spec__.name)
print([name in sys.modules for name in ("torch", "numpy", "triton", "triton_ext", "support", "pytest")])
print(os.environ.get("SET"), sorted(os.listdir("/proc/self/fd"))[:3], os.getpgrp() == os.getpgid(os.getppid()))
import torch.nn, numpy, pytest
import triton, support
print(torch.__spec__.origin, torch.ones(2).numpy().sum(), sys.modules["torch"] is torch, numpy.__spec__.name)
threading.Timer(0.1, print, ["a thread"]).start()
print(sys.stdin.read(), file=sys.stderr)
"""
#: What Python is asked to run, and a part of what is printed.
PROGRAMS = {
    "code": (["-c", LOOK, "a", "-b"], "the end"),
    "a file": (["look.py", "a"], "a thread"),
    "a module": (["-m", "look", "a"], "a thread"),
    "a module of pytest": (["-m", "pytest", "--version"], "pytest "),
    "an exception": (
        ["-c", "def f():\n    1 / 0\nf()"],
        'Traceback (most recent call last):\n  File "<string>", line 3',
    ),
    "a hook for exceptions": (["-c", "import sys; sys.excepthook = lambda *error: print(error[1]); 1 / 0"], "division"),
    "a message": (["-c", "raise SystemExit('the message')"], "the message"),
    "a status": (["-c", "raise SystemExit(300)"], ""),
    "what C writes": (["-c", "import ctypes; ctypes.CDLL(None).printf(b'from C\\n'); print('from Python')"], "from C"),
    "a signal": (["-c", "import os; os.kill(os.getpid(), 11)"], ""),
    "an interruption": (["-c", "raise KeyboardInterrupt"], "KeyboardInterrupt"),
    "no such module": (["-m", "no_such_module"], "No module named no_such_module"),
    "an option": (["-B", "-c", "import sys; print(sys.flags.dont_write_bytecode)"], "1"),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_a_started_program(tmp_path: Path, name: str) -> None:
    (tmp_path / "look.py").write_text(LOOK)
    command, part = PROGRAMS[name]
    options = {"env": environment(SET="1"), "cwd": tmp_path}
    forked = forked_python.run([sys.executable, *command], text="input", **options)
    started = forked_python.start([sys.executable, *command], input="input", **options)
    assert part in forked.stdout + forked.stderr
    assert vars(forked) == vars(started)


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_what_c_writes_before_an_abort(unbuffered: str) -> None:
    command = [sys.executable, "-c", "import ctypes, os; ctypes.CDLL(None).printf(b'from C\\n'); os.abort()"]
    variables = environment(PYTHONUNBUFFERED=unbuffered)
    forked, started = forked_python.run(command, env=variables), forked_python.start(command, env=variables)
    assert vars(forked) == vars(started)
    assert forked.stdout == ("from C\n" if unbuffered else "")


def test_forks_at_once_and_a_time_limit(tmp_path: Path) -> None:
    program = [
        sys.executable,
        "-c",
        "import os, sys, time; print(os.getpid(), flush=True); time.sleep(float(sys.argv[1]))",
    ]
    with pytest.raises(subprocess.TimeoutExpired) as stopped:
        forked_python.run([*program, 60], timeout=1)
    process = int(str(stopped.value.output))
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
    first, second = (int(forked_python.run([*program, 0], check=True).stdout) for _ in range(2))
    assert len({os.getpid(), process, first, second}) == 4
    with pytest.raises(subprocess.CalledProcessError):
        forked_python.run([sys.executable, "-c", "raise SystemExit(3)"], check=True)


def test_a_script_of_this_environment_is_forked(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(*_: object, **__: object) -> None:
        raise AssertionError

    script = Path(sys.executable).with_name("triton-ext")
    expected = forked_python.start([script, "--help"])
    monkeypatch.setattr(forked_python, "start", start)
    assert vars(forked_python.run([script, "--help"])) == vars(expected)
    for other in ({"PYTHONHASHSEED": "1"}, {"OMP_NUM_THREADS": "3"}):
        with pytest.raises(AssertionError):
            forked_python.run([script, "--help"], env={**os.environ, **other})
