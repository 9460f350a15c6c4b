# SPDX-License-Identifier: Apache-2.0
"""``triton-ext profile``: exact bytes at exact lines, however the program ends."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from support import forked_python
from support.instrument import tutorial
from triton_ext.cli import cli
from triton_ext.errors import TritonExtError

pytestmark = pytest.mark.usefixtures("on_native_backend")

PROGRAM = str(tutorial.__file__)
SOURCE = Path(PROGRAM).read_text().splitlines()
#: Bytes that the lines of the tutorial load and store: 1000 numbers; 30 rows of 100; 50x70 times 70x40, by tiles of 16.
BYTES = {
    "tl.store(z": (2 * 4 * 1000, 4 * 1000),
    "v = ": (4 * 30 * 100, 0),
    "tl.store(y": (0, 4 * 30 * 100),
    "left": (4 * 50 * 70 * 3, 0),
    "right": (4 * 70 * 40 * 4, 0),
    "tl.store(c": (0, 4 * 50 * 40),
}


def line_of(text: str) -> int:
    """Returns the number of the line of the tutorial that begins with `text`."""
    (found,) = [i for i, line in enumerate(SOURCE, 1) if line.strip().startswith(text)]
    return found


def profile(*arguments: str) -> Result:
    before = sys.argv[:], sys.path[:]
    done = CliRunner().invoke(cli, ["profile", *arguments])
    assert before == (sys.argv, sys.path)
    return done


@pytest.mark.slow
def test_lines_and_bytes(tmp_path: Path) -> None:
    path = tmp_path / "lines.json"
    done = profile("--loops", "--masked", "--json", str(path), PROGRAM, "1000")
    assert done.exit_code == 0, done.output
    written = json.loads(path.read_text())
    rows = {row["line"]: row for row in written["lines"]}
    assert {row["file"] for row in rows.values()} == {PROGRAM}
    assert {line: (row["loaded"], row["stored"]) for line, row in rows.items() if row["loaded"] or row["stored"]} == {
        line_of(text): numbers for text, numbers in BYTES.items()
    }
    assert all(rows[line]["source"] == SOURCE[line - 1].strip() for line in rows)
    loop = rows[line_of("for start")]
    assert (loop["loops"], loop["iterations"]) == (12, 12 * 5)
    assert [rows[line_of(f"def {name}")]["programs"] for name in ("add", "softmax", "matmul")] == [4, 30, 12]
    assert rows[line_of("v = ")]["off"] == 30 * 28
    assert (written["program"], written["status"], written["nans"]) == ([PROGRAM, "1000"], 0, [])
    out = done.stdout.splitlines()
    assert out[0] == "done"
    loaded, stored = (sum(numbers[i] for numbers in BYTES.values()) for i in (0, 1))
    assert out[1] == f"{PROGRAM}: 3 kernels, loaded {loaded} bytes, stored {stored} bytes"
    share = f"{BYTES['right'][0] / (loaded + stored):.1%}"
    assert out[3].split()[:2] == [f"tutorial.py:{line_of('right')}", share]
    assert out[-2] == "and 1 more lines (--top)"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "status", "said"),
    [
        ("exit", 3, ""),
        ("text", 1, "it ends with a text"),
        ("error", 1, "ValueError: it fails"),
        ("interrupt", 130, "KeyboardInterrupt"),
    ],
)
def test_the_report_comes_however_it_ends(how: str, status: int, said: str) -> None:
    # A process that a shell has started in the background ignores the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        done = profile("--top", "2", PROGRAM, "300", how)
    finally:
        signal.signal(signal.SIGINT, before)
    assert done.exit_code == status
    assert said in done.output
    assert "_profile.py" not in done.output  # no frames of ours in the traceback
    said_first, _, head, first, second, more = done.stdout.splitlines()
    assert said_first == "done"
    assert head.split()[:2] == ["line", "bytes"]
    assert first.split()[0] == f"tutorial.py:{line_of('right')}"
    assert second.split()[0] == f"tutorial.py:{line_of('left')}"
    assert more.startswith("and ")


@pytest.mark.slow
def test_sorted_otherwise() -> None:
    rows = profile("--sort", "line", "--no-bytes", "--top", "99", PROGRAM, "300").output.splitlines()
    lines = [int(row.split()[0].partition(":")[2]) for row in rows[3:]]
    assert lines == sorted(lines)
    assert rows[2].split() == ["line", "programs", "calls", "source"]


@pytest.mark.slow
def test_page_and_timeline(tmp_path: Path) -> None:
    page, timeline = tmp_path / "page.html", tmp_path / "timeline.json"
    done = profile("--regions", "--html", str(page), "--timeline", str(timeline), PROGRAM, "300")
    assert done.exit_code == 0, done.output
    text = page.read_text()
    assert "<script" not in text
    assert "<b>add" not in text
    assert "# &lt;b&gt;add&lt;/b&gt;" in text
    assert "http" not in text.replace("http-equiv", "")
    assert f">{line_of('left')}</td>" in text
    assert f">{BYTES['left'][0]:,}</td>" in text
    names = [event["name"] for event in json.loads(timeline.read_text())["traceEvents"]]
    assert (names.count("matmul"), names.count("scf.for"), names.count("tt.dot")) == (12, 12, 60)
    head = done.output.splitlines()[2]
    assert "time ns" in head


@pytest.mark.slow
def test_the_first_nan(tmp_path: Path) -> None:
    program = tmp_path / "nan.py"
    program.write_text(
        "import numpy as np, triton, triton.language as tl\n"
        "@triton.jit\ndef kernel(x):\n    i = tl.arange(0, 16)\n    v = tl.load(x + i)\n    tl.store(x + i, v / v)\n"
        "kernel[(1,)](np.arange(16, dtype=np.float32))\n"
    )
    done = profile("--nan", "--no-bytes", str(program))
    assert done.output.splitlines()[-1] == (
        f"the first NaN from arith.divf is at {program}:6, in the program (0, 0, 0), lane 0"
    )


@pytest.mark.slow
def test_what_does_not_fit_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("triton_ext.probe._profile.CAPACITY", 512)
    lines = profile("--regions", PROGRAM, "300").stdout.splitlines()
    (told,) = [line for line in lines if "regions are lost: their time is missing" in line]
    assert int(told.split()[0]) > 60
    assert f"tutorial.py:{line_of('left')}" in "".join(lines)  # counters do not need that room


@pytest.mark.slow
def test_a_program_with_a_session_of_its_own(tmp_path: Path) -> None:
    program = tmp_path / "own.py"
    program.write_text(
        "import numpy as np, triton, triton.language as tl\nfrom triton_ext import probe\n"
        "@triton.jit\ndef kernel(x):\n    probe.count('mine')\n    tl.store(x, 1)\n"
        "x = np.zeros(1, np.int32)\nkernel[(2,)](x)\n"
        "with probe.session() as s:\n    kernel[(3,)](x)\n"
        "print(s.counts(), s.lines()['stored'].sum())\n"
    )
    own, head, *_ = profile(str(program)).stdout.splitlines()
    assert own == "{'mine': 3} 12"
    assert head == f"{program}: 1 kernel, stored 8 bytes"  # what it has launched outside of its own session


def test_without_kernels(tmp_path: Path) -> None:
    program = tmp_path / "none.py"
    program.write_text("import sys\nassert __name__ == '__main__'\nprint(sys.argv[1:], sys.path[0])\n")
    done = profile(str(program), "-x", "--top", "3")
    assert done.output.splitlines() == [
        f"['-x', '--top', '3'] {tmp_path}",
        f"{program}: no kernel was launched in this process, so there is nothing to show",
    ]


KERNEL = (
    "import numpy as np, sys, triton, triton.language as tl\n"
    "@triton.jit\ndef kernel(x):\n    tl.store(x, 1)\n"
    "def launch():\n    kernel[(2,)](np.zeros(1, np.int32))\n"
)


@pytest.mark.slow
def test_a_program_that_changes_its_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = tmp_path / "there"
    there.mkdir()
    (tmp_path / "moves.py").write_text(f"import os\nos.chdir({str(there)!r})\n{KERNEL}launch()\nprint(__file__)\n")
    monkeypatch.chdir(tmp_path)
    done = profile("--json", "lines.json", "moves.py")
    assert done.output.startswith(f"{tmp_path}/moves.py\nmoves.py: 1 kernel, stored 8 bytes\n")
    rows = json.loads((tmp_path / "lines.json").read_text())["lines"]
    assert {row["file"] for row in rows} == {f"{tmp_path}/moves.py"}
    assert list(there.iterdir()) == []


@pytest.mark.slow
def test_threads_that_the_program_leaves_behind(tmp_path: Path) -> None:
    program = tmp_path / "threads.py"
    program.write_text(
        f"import threading, time\nfrom concurrent.futures import ThreadPoolExecutor\n{KERNEL}"
        "def work():\n    time.sleep(0.2)\n    launch()\n"
        "pool = ThreadPoolExecutor(1)\npool.submit(launch).result()\nthreading.Thread(target=work).start()\n"
    )
    assert profile(str(program)).output.splitlines()[0] == f"{program}: 1 kernel, stored 16 bytes"


@pytest.mark.slow
@pytest.mark.parametrize(
    "stream", ["type('NoFlush', (), {'write': lambda self, text: None})()", "open('/dev/full', 'w')"]
)
def test_a_program_that_puts_a_stream_in_the_place_of_its_output(stream: str, tmp_path: Path) -> None:
    program = tmp_path / "stream.py"
    program.write_text(f"{KERNEL}launch()\nsys.stdout = {stream}\nprint('text')\n")
    done = profile(str(program))
    assert done.exit_code == 0, done.output
    assert done.output.splitlines()[0] == f"{program}: 1 kernel, stored 8 bytes"


@pytest.mark.slow
def test_a_forked_process_leaves_the_report_to_its_parent(tmp_path: Path) -> None:
    program = tmp_path / "forks.py"
    program.write_text(
        f"import os\n{KERNEL}launch()\n"
        "child = os.fork()\nif not child:\n    sys.exit(3)\nprint(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    command = [sys.executable, "-m", "triton_ext", "profile", str(program)]
    done = forked_python.run(command)
    assert done.returncode == 0, done.stderr
    status, head, *_ = done.stdout.splitlines()
    assert (status, head) == ("3", f"{program}: 1 kernel, stored 8 bytes")
    assert done.stdout.count("kernel, stored") == 1


def test_a_syntax_error_has_no_frames_of_ours(tmp_path: Path) -> None:
    program = tmp_path / "wrong.py"
    program.write_text("def f(:\n")
    done = profile(str(program))
    assert done.exit_code == 1
    assert "SyntaxError" in done.output
    assert "runpy" not in done.output


@pytest.mark.slow
def test_the_directory_of_a_timeline_is_made(tmp_path: Path) -> None:
    path = tmp_path / "new" / "timeline.json"
    done = profile("--regions", "--timeline", str(path), PROGRAM, "300")
    assert done.exit_code == 0, done.output
    assert json.loads(path.read_text())["traceEvents"]


@pytest.mark.parametrize(("variable", "value"), [("TRITON_EXT_PROBE", "0"), ("TRITON_INTERPRET", "1")])
def test_variables_that_leave_nothing(variable: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, value)
    done: Any = profile(PROGRAM, "1")
    assert isinstance(done.exception, TritonExtError)
    assert f"{variable}={value}" in str(done.exception)


def test_a_timeline_needs_regions() -> None:
    done = profile("--timeline", "x.json", PROGRAM, "1")
    assert done.exit_code == 2
    assert "add --regions" in done.output
