# SPDX-License-Identifier: Apache-2.0
"""Programs that know nothing of checks: by a variable, by ``triton-ext sanitize``, by ``pytest --triton-sanitize``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from support import forked_python
from support.probe.native import native_backend

PROGRAM = """
import sys
import torch
import triton
import triton.language as tl

@triton.jit
def copy(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i, mask=i < n, other=0), mask=i < n)

def run(size):
    copy[(4,)](torch.zeros(size), torch.zeros(1024), 1024, B=256)

def test_right():
    run(1024)

def test_wrong():
    run(1000)

if __name__ == "__main__":
    run(int(sys.argv[1]))
    print("done", flush=True)
    sys.exit(int(sys.argv[2]))
"""


#: The address of the second program wraps to that of the first one, which is inside of the tensor.
WRAPS = """
import torch
import triton
import triton.language as tl

@triton.jit
def copy_rows(x, out, stride, B: tl.constexpr):
    i = tl.arange(0, B)
    row = tl.program_id(0)
    tl.store(out + row * B + i, tl.load(x + row * stride * 4 + i))

def test_wraps():
    copy_rows[(2,)](torch.zeros(64), torch.zeros(64), 2**30, B=16)

if __name__ == "__main__":
    test_wraps()
"""


FIXTURE = """
import pytest

@pytest.fixture
def made():
    run(1000)

def test_fixture(made):
    pass

def test_fails():
    run(1000)
    assert 1 == 2
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TRITON_DEFAULT_BACKEND", native_backend())
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "test_program.py"
    file.write_text(PROGRAM)
    return file


def call(*arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
    return forked_python.run(
        list(map(str, arguments)), env={**os.environ, **variables},
    )  # fmt: skip


def sanitize(*arguments: object) -> subprocess.CompletedProcess[str]:
    return call(sys.executable, "-m", "triton_ext", "sanitize", *arguments)


@pytest.mark.slow
def test_a_variable_checks_a_program(program: Path) -> None:
    done = call(sys.executable, program, 1000, 0, TRITON_EXT_SANITIZE="bounds")
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    assert "error[bounds]: load outside of x: 4 bytes behind its end\n" in done.stderr
    assert "--> test_program.py:10:23, in copy" in done.stderr
    done = call(sys.executable, program, 1000, 0, TRITON_EXT_SANITIZE="bounds,raise,output=out/%p.json")
    assert done.returncode == 1
    assert "SanitizerError: error[bounds]: load outside of x" in done.stderr
    (file,) = (program.parent / "out").glob("*.json")
    assert [one["check"] for one in json.loads(file.read_text())["findings"]] == ["bounds"]
    done = call(sys.executable, program, 1000, 0, TRITON_EXT_SANITIZE="bound")
    assert done.returncode == 1
    assert "there is no check 'bound', there are: bounds," in done.stderr
    done = call(sys.executable, program, 1000, 0, TRITON_EXT_SANITIZE="0")
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


TWICE = """
import os
from test_program import run

for mended in ("", "", "bounds"):
    os.environ["TRITON_EXT_SANITIZE"] = mended or os.environ["TRITON_EXT_SANITIZE"]
    try:
        run(1000)
        print("ran")
    except Exception as error:
        print(type(error).__name__, error)
"""


@pytest.mark.slow
def test_a_wrong_variable_fails_every_launch(program: Path) -> None:
    """A program that catches the first error must not run on without checks."""
    (program.parent / "twice.py").write_text(TWICE)
    done = call(sys.executable, "twice.py", TRITON_EXT_SANITIZE="bogus")
    first, second, *_, last = (line for line in done.stdout.splitlines() if line.strip() and "fix" not in line)
    assert first == second
    assert "there is no check 'bogus'" in second
    assert last == "ran"
    assert "load outside of x" in done.stderr


@pytest.mark.slow
def test_the_command(program: Path) -> None:
    done = sanitize("--checks", "bounds", "--", sys.executable, program, 1000, 0)
    assert done.returncode == 1
    assert "load outside of x" in done.stdout
    done = sanitize("--checks", "bounds", "--format", "json", "--", sys.executable, program, 1024, 0)
    assert done.returncode == 0, done.stderr
    head, _, report = done.stdout.partition("\n")
    assert head == "done"
    assert json.loads(report)["findings"] == []
    assert len(json.loads(report)["accesses"]) == 2
    done = sanitize("--checks", "bounds", "--output", "log.sarif", "--", sys.executable, program, 1000, 7)
    assert done.returncode == 7
    assert done.stdout.splitlines()[-1] == "wrote log.sarif"
    assert json.loads((program.parent / "log.sarif").read_text())["version"] == "2.1.0"


@pytest.mark.slow
def test_each_way_finds_what_wraps(program: Path) -> None:
    file = program.with_name("test_wraps.py")
    file.write_text(WRAPS)
    done = call(sys.executable, file, TRITON_EXT_SANITIZE="bounds,overflow")
    assert (done.returncode, done.stderr.count("error[")) == (0, 1), done.stderr
    assert "error[overflow]: this '*' wraps in i32" in done.stderr
    assert "= values: " in done.stderr
    done = sanitize("--", sys.executable, file)
    assert (done.returncode, done.stdout.count("error[overflow]")) == (1, 1), done.stdout
    options = ("-q", "-p", "no:cacheprovider", "--triton-sanitize", "--triton-sanitize-checks=overflow")
    done = call(sys.executable, "-m", "pytest", *options, file)
    assert done.returncode == 1
    assert "error[overflow]" in done.stdout


@pytest.mark.slow
def test_pytest(program: Path) -> None:
    found = [one.value for one in entry_points(group="pytest11") if one.name == "triton_ext"]
    assert found == ["triton_ext.pytest_plugin"]
    options = ("-q", "-p", "no:cacheprovider", "--triton-sanitize", "--triton-sanitize-checks=bounds")
    done = call(sys.executable, "-m", "pytest", *options, program)
    assert done.returncode == 1
    assert "1 failed, 1 passed" in done.stdout
    assert "error[bounds]: load outside of x: 4 bytes behind its end" in done.stdout
    assert "FAILED test_program.py::test_wrong" in done.stdout
    program.write_text(PROGRAM + FIXTURE)
    done = call(sys.executable, "-m", "pytest", *options, program)
    assert "2 failed, 1 passed" in done.stdout
    assert "1 error in" in done.stdout
    assert "ERROR test_program.py::test_fixture - Failed: error[bounds]" in done.stdout
    # A test that fails on its own has the findings as a section.
    assert "Captured triton-sanitize call" in done.stdout
    program.write_text(PROGRAM + TEARDOWN)
    done = call(sys.executable, "-m", "pytest", *options, program)
    assert "1 failed, 4 passed" in done.stdout
    assert "3 errors in" in done.stdout
    for test in ("test_behind", "test_fails_behind", "test_last"):
        assert f"ERROR test_program.py::{test} - " in done.stdout
    assert done.stdout.count("ERROR at teardown of ") == 3
    assert "ERROR test_program.py::test_behind - Failed: error[bounds]" in done.stdout
    assert "Captured triton-sanitize teardown" in done.stdout
    assert "ERROR test_program.py::test_fails_behind - ZeroDivisionError" in done.stdout
    assert "closed\n" in done.stdout
    done = call(sys.executable, "-m", "pytest", *options, "--triton-sanitize-checks=bound", program)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "there is no check 'bound'" in done.stderr


TEARDOWN = """
import pytest

@pytest.fixture
def wrong_behind():
    yield
    run(1000)

@pytest.fixture
def fails_behind():
    yield
    run(1000)
    1 / 0

@pytest.fixture(scope="module")
def of_module():
    yield
    run(1000)
    print("closed")

@pytest.fixture
def right_behind():
    yield
    run(1024)

def test_behind(of_module, wrong_behind):
    pass

def test_fails_behind(fails_behind):
    pass

def test_last(right_behind):
    pass
"""


FORKS = """
import multiprocessing
import os
import sys
from test_program import run

if __name__ == "__main__":
    if "first" in sys.argv:
        run(1000)
    child = multiprocessing.get_context("fork").Process(target=run, args=(900,))
    child.start()
    child.join()
    if os.fork() == 0:
        run(900)
        sys.exit(0)
    os.wait()
"""


@pytest.mark.slow
@pytest.mark.parametrize("first", [[], ["first"]])
def test_forks_have_reports(program: Path, first: list[str]) -> None:
    (program.parent / "forks.py").write_text(FORKS)
    done = sanitize("--checks", "bounds", "--format", "json", "--", sys.executable, "forks.py", *first)
    assert done.returncode == 1, done.stderr
    found = {tuple(one["shape"]): one["lanes"] for one in json.loads(done.stdout)["findings"]}
    # Each fork has 124 wrong lanes, and none of those that the process before has found.
    assert found == {(900,): 2 * 124} | ({(1000,): 24} if first else {})


INTERRUPTED = """
import os
import signal
import sys
import time
from test_program import run

run(1000)
os.kill(os.getppid(), signal.SIGINT)
time.sleep(1)
os.chdir("/")
print("saved", flush=True)
sys.exit(7)
"""


@pytest.mark.slow
def test_an_interrupted_program_ends_itself(program: Path) -> None:
    (program.parent / "interrupted.py").write_text(INTERRUPTED)
    done = sanitize("--checks", "bounds", "--", sys.executable, "interrupted.py")
    assert done.returncode == 7, done.stderr
    assert "saved\nerror[bounds]: load outside of x" in done.stdout
    leaves = "import os; from test_program import run; run(1000); os.chdir('/')"
    done = call(sys.executable, "-c", leaves, TRITON_EXT_SANITIZE="bounds,output=report.txt")
    assert done.returncode == 0, done.stderr
    assert "load outside of x" in (program.parent / "report.txt").read_text()
    done = sanitize("--", sys.executable, "-c", "import os; os.kill(os.getpid(), 9)")
    assert done.returncode == 128 + 9
    assert "signal 9 ended the command" in done.stderr


@pytest.mark.slow
def test_wrong_uses_of_the_command(program: Path) -> None:
    done = sanitize("--checks", "bound", "--", sys.executable, program)
    assert done.returncode == 1
    assert "triton-ext: error: sanitize: there is no check 'bound'" in done.stderr
    done = call(sys.executable, "-m", "triton_ext", "sanitize", "--", sys.executable, program, TRITON_INTERPRET="1")
    assert "TRITON_INTERPRET=1: kernels would not be checked (fix: unset it)" in done.stderr


EARLY = """
import {first}
import {second}
import triton.language as tl

@triton.jit
def copy(x, out):
    tl.store(out + tl.program_id(0), tl.load(x + tl.program_id(0)))

x, out = torch.empty(4), torch.empty(4)
x[:2] = 1
copy[(4,)](x, out)
print(torch.__spec__.loader.get_filename("torch") == torch.__file__)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("first", "second"), [("torch", "triton"), ("triton", "torch")])
def test_memory_from_before_the_first_kernel(program: Path, first: str, second: str) -> None:
    (program.parent / "early.py").write_text(EARLY.format(first=first, second=second))
    # Started, because a program that is forked has imported torch.
    command = [sys.executable, "early.py"]
    done = forked_python.start(command, env={**os.environ, "TRITON_EXT_SANITIZE": "uninit"})
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
    assert "error[uninit]: load of x at [2], which nothing has written\n" in done.stderr
    assert "= count: 2 lanes in 2 programs" in done.stderr
    done = forked_python.start(command, env={**os.environ, "TRITON_EXT_SANITIZE": "uninit,bogus"})
    assert done.returncode == 1
    assert "there is no check 'bogus'" in done.stderr
    assert "copy[(4,)](x, out)" in done.stderr  # the first kernel fails, no operator before it
