# SPDX-License-Identifier: Apache-2.0
"""A run of ``triton-ext-opt`` that lit forks ends and prints as one that it starts (`support.forked_programs`)."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from typing import Any

import pytest

from support import environment

MODULE = "module { tt.func public @foo() { tt.return } }\n"
#: Command lines, and variables beside those with which libtriton was loaded.
RUNS: dict[str, tuple[list[str], dict[str, str]]] = {
    "a pass of an extension": (["triton-ext-opt", "in.mlir", "-triton-ext-rename=new=bar"], {}),
    "a dialect of an extension": (["triton-linalg-opt", "in.mlir", "-canonicalize"], {}),
    "standard input": (["triton-ext-opt", "-canonicalize"], {}),
    "a file for the result": (["triton-ext-opt", "in.mlir", "-o", "out.mlir"], {}),
    "no such pass": (["triton-ext-opt", "in.mlir", "-triton-ext-renam"], {}),
    "no such option": (["triton-ext-opt", "in.mlir", "-triton-ext-rename=nwe=bar"], {}),
    "no such file": (["triton-ext-opt", "other.mlir"], {}),
    "no extension of this name": (["triton-ext-opt", "in.mlir", "--load-extension=renam"], {}),
    "other libraries": (["triton-ext-opt", "in.mlir", "-triton-ext-rename=new=bar"], {"TRITON_EXT_LIBRARY_DIR": "/no"}),
}

#: Runs each command line in both ways; prints how each run has ended and what it has printed, and which were forked.
PROGRAM = """
import json, os, subprocess, sys
from pathlib import Path
from support import forked_programs

class Recorded(subprocess.Popen):
    def __init__(self, *arguments, **options):
        self.is_forked = "preexec_fn" in options
        super().__init__(*arguments, **options)

def ended(start, command, variables):
    Path("in.mlir").write_text(sys.argv[2])
    Path("out.mlir").unlink(missing_ok=True)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    executable = str(Path(sys.executable).with_name(command[0]))
    with start(command, executable=executable, env={**os.environ, **variables}, text=True, **pipes) as process:
        printed = process.communicate(sys.argv[2])
    made = Path("out.mlir").read_text() if Path("out.mlir").exists() else ""
    return process.is_forked, [process.returncode, *printed, made]

started = [ended(Recorded, *run) for run in json.loads(sys.argv[1])]
subprocess.Popen = Recorded
forked_programs.load_here()
forked = [ended(forked_programs.popen, *run) for run in json.loads(sys.argv[1])]
forked_programs._main = lambda program: os.abort
print(json.dumps([started, forked, ended(forked_programs.popen, ["triton-ext-opt"], {})]))
"""


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Whether each run was forked and how it has ended: of those that were started, of the others, and of a crash."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(list(RUNS.values())), MODULE],
        cwd=tmp_path_factory.mktemp("runs"), env=environment(), capture_output=True, text=True, check=True,
    )  # fmt: skip
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
def test_a_forked_run_ends_as_a_started_one(name: str, ended: Any) -> None:
    (_, started), (is_forked, forked) = (runs[[*RUNS].index(name)] for runs in ended[:2])
    assert forked == started
    assert is_forked == (name != "other libraries")
    assert (started[0] == 0) == (not name.startswith(("no ", "other ")))
    assert any(started[1:])


@pytest.mark.slow
def test_a_crash_is_one_of_the_run(ended: Any) -> None:
    assert ended[2] == [True, [-signal.SIGABRT, "", "", ""]]
