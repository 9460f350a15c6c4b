# SPDX-License-Identifier: Apache-2.0
"""Requests, kernels and paths that are meant to end the server, to leave its limits or to leave its root."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import support
from support.agent_server.lines import Lines

if importlib.util.find_spec("mcp") is None:  # importing it takes a second
    pytest.skip("mcp is not installed", allow_module_level=True)
pytest.importorskip("torch")
pytestmark = pytest.mark.slow

#: Seconds for what never ends.
LIMIT = 1.5
DOUBLE = {"kernel": "kernels.py:double", "inputs": "kernels.py:numbers"}


NEVER_RETURNS = {
    "jsonrpc": "2.0",
    "id": 903,
    "method": "tools/call",
    "params": {"name": "check_kernel", "arguments": {**DOUBLE, "inputs": "kernels.py:never_returns"}},
}


def processes_with(text: str) -> list[int]:
    """Returns the processes whose environment contains `text`, other than this one's."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and int(entry.name) != os.getpid():
            try:
                if text.encode() in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def left_after_a_while(text: str) -> list[int]:
    """Returns the processes that are left: waits until there are none, or for 20 seconds."""
    until = time.monotonic() + 20
    while (found := processes_with(text)) and time.monotonic() < until:
        time.sleep(0.05)
    return found


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("agents") / "inside"
    root.mkdir()
    shutil.copy(support.ROOT / "test" / "support" / "agent_server" / "kernels.py", root)
    (root / "endless_import.py").write_text("while True:\n    pass\n")
    (root / "broken_import.py").write_text("1 / 0\n")
    (root.parent / "outside.py").write_text((root / "kernels.py").read_text())
    (root / "link.py").symlink_to(root.parent / "outside.py")
    (root / "linked").symlink_to(root.parent)
    (root / "inner.py").symlink_to(root / "kernels.py")
    os.mkfifo(root / "pipe.py")
    return root


@pytest.fixture(scope="module")
def server(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lines]:
    """One server for all attacks: none ends it."""
    cache = str(tmp_path_factory.mktemp("kernels"))
    options = ("--time-limit=1m", "--memory-limit=2G", "--output-limit=3000")
    server = Lines(root, *options, TRITON_CACHE_DIR=cache, TRITON_DEFAULT_BACKEND="cpu")
    server.call("list_kernels")  # waits until the fork server has imported torch
    yield server
    server.write(json.dumps(NEVER_RETURNS))
    time.sleep(0.5)
    assert server.close() == 0
    assert left_after_a_while(cache) == []


@pytest.fixture(autouse=True)
def still_serves(server: Lines) -> Iterator[None]:
    yield
    assert server.request("tools/list", {})["result"]["tools"]


# Requests.


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b"\xff\xfe\x00",
        b"null",
        b"[]",
        b'{"jsonrpc": "2.0"}',
        b'{"jsonrpc": "1.0", "id": 1, "method": "tools/list"}',
        b'{"jsonrpc": "2.0", "id": {}, "method": 5}',
        b"[" * 200_000,
        b'{"jsonrpc": "2.0", "id": 1, "method": "' + b"x" * (6 << 20) + b'"}',
        rb'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "\ud800"}}',
        b'{"jsonrpc": "2.0", "id": ' + b"9" * 5000 + b', "method": "tools/list"}',
    ],
    ids=[
        "empty",
        "brace",
        "no-utf8",
        "null",
        "list",
        "bare",
        "version",
        "types",
        "deep",
        "long",
        "surrogate",
        "digits",
    ],
)
def test_lines_that_are_not_requests(server: Lines, line: bytes) -> None:
    server.write(line)


def test_unknown_methods_and_tools(server: Lines) -> None:
    assert "error" in server.request("tools/nonsense", {})
    assert "error" in server.request("tools/call", {})
    answer = server.request("tools/call", {"name": "run_shell", "arguments": {"command": "id"}})
    assert "error" in answer or answer["result"]["isError"]


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"kernel": 5},
        {"kernel": "kernels.py:double", "inputs": ["kernels.py:numbers"]},
        {**DOUBLE, "rounds": "many"},
        {**DOUBLE, "rounds": 0},
        {**DOUBLE, "rounds": 10**30},
        {**DOUBLE, "milliseconds": -1},
        {**DOUBLE, "launch": 1e300},
        {**DOUBLE, "options": {"num_warps": [1]}},
        {**DOUBLE, "options": {f"o{i}": i for i in range(1000)}},
        {**DOUBLE, "pipeline": "x" * 100_000},
        {**DOUBLE, "kernel": "k" * 100_000},
        {**DOUBLE, "rounds": None},
    ],
    ids=str,
)
def test_arguments_of_wrong_types(server: Lines, arguments: dict[str, object]) -> None:
    answer = server.request("tools/call", {"name": "measure_kernel", "arguments": arguments})
    assert answer["result"]["isError"]
    assert "measure_kernel" in answer["result"]["content"][0]["text"]


def test_numbers_at_the_edges(server: Lines) -> None:
    text = json.dumps({**DOUBLE, "absolute_tolerance": "NUMBER"}).replace('"NUMBER"', "1e999")
    call = f'{{"name": "check_kernel", "arguments": {text}}}'
    server.write(f'{{"jsonrpc": "2.0", "id": 901, "method": "tools/call", "params": {call}}}')
    answer = server.answer(901)
    assert "error" in answer or answer["result"]["isError"]
    status, text, _ = server.call("check_kernel", **DOUBLE, options={"n": 10**40})
    assert status in ("launch error", "compile error"), text
    status, text, _ = server.call("read_ir", **DOUBLE, what="ttir", lines="999999999-1")
    assert status == "ok"


@pytest.mark.parametrize("pattern", ["(", "*", "(?P<a>", "a" * 500])
def test_patterns(server: Lines, pattern: str) -> None:
    status, _, _ = server.call("read_ir", **DOUBLE, what="ttir", pattern=pattern)
    assert status == ("ok" if pattern[0] == "a" else "input error")


# Paths.


@pytest.mark.parametrize(
    "path",
    [
        "../outside.py",
        "link.py",
        "linked/outside.py",
        "./linked/../outside.py",
        "/etc/passwd",
        "/proc/self/root" + "/etc/passwd",
        "/proc/self/cwd/setup.py",
        "/dev/stdin",
        "/proc/self/fd/0",
        "kernels.py\0.txt",
        "~/kernels.py",
        "missing.py",
        ".",
        "pipe.py",
        "a" * 4000,
        "x/" * 1000 + "y.py",
    ],
    ids=lambda path: repr(path)[:30],
)
def test_paths_outside(server: Lines, root: Path, path: str) -> None:
    for arguments in ({**DOUBLE, "kernel": f"{path}:double"}, {**DOUBLE, "inputs": f"{path}:numbers"}):
        status, text, _ = server.call("check_kernel", **arguments)
        assert status == "refused", text
        assert str(root) not in text
    status, text, _ = server.call("compile_kernel", kernel=f"{path}.ttir", target="cuda:90")
    assert status == "refused", text


def test_absolute_paths_and_links_inside(server: Lines, root: Path) -> None:
    for path in (root / "kernels.py", "inner.py", "linked/inside/kernels.py", f"/proc/self/root{root}/kernels.py"):
        assert server.call("check_kernel", kernel=f"{path}:double", inputs="kernels.py:numbers")[0] == "ok"


@pytest.mark.parametrize("name", ["", "os.system", "__import__('os')", "a b", "double:double"])
def test_names_that_are_no_functions(server: Lines, name: str) -> None:
    assert server.call("check_kernel", **{**DOUBLE, "kernel": f"kernels.py:{name}"})[0] == "refused"
    assert server.call("check_kernel", **{**DOUBLE, "inputs": f"kernels.py:{name}"})[0] == "refused"


@pytest.mark.parametrize("function", ["os:abort", "os.path:join", "triton:jit", "outside:aborts", "kernels:os.abort"])
def test_pipelines_with_functions_from_elsewhere(server: Lines, function: str) -> None:
    status, text, _ = server.call("compile_kernel", **DOUBLE, pipeline=f"ttir: at_end({function})")
    assert status == "refused", text


@pytest.mark.parametrize(
    "options", [{"ir_override": "x"}, {"extern_libs": "x"}, {"ptx_options": "-o /tmp/x"}, {"ptx_options": "@x"}]
)
def test_options_that_name_files(server: Lines, options: dict[str, object]) -> None:
    status, text, _ = server.call(
        "compile_kernel", kernel="kernels.py:double", signature="*fp32, *fp32, i32, 64", options=options
    )
    assert status == "refused", text


def test_a_pipeline_is_not_read_from_a_file(server: Lines, root: Path) -> None:
    status, text, _ = server.call("compile_kernel", **DOUBLE, pipeline=f"@{root.parent}/outside.py")
    assert status == "pipeline error"
    assert "import" not in text


# Kernels.


@pytest.mark.parametrize(
    "arguments",
    [
        {"kernel": "endless_import.py:double"},
        {"inputs": "endless_import.py:numbers"},
        {"inputs": "kernels.py:never_returns"},
        {"inputs": "kernels.py:waits_for_input"},
        {"kernel": "kernels.py:endless"},
        {"pipeline": "ttir: at_end(kernels:loops)"},
    ],
    ids=str,
)
def test_what_never_ends_is_killed(server: Lines, arguments: dict[str, str]) -> None:
    started = time.monotonic()
    status, text, _ = server.call("check_kernel", **{**DOUBLE, **arguments}, time_limit=LIMIT)
    assert status == "time limit", text
    assert f"longer than {LIMIT:g} s" in text
    assert LIMIT <= time.monotonic() - started < LIMIT + 10


@pytest.mark.parametrize(
    ("inputs", "status", "says"),
    [
        ("raises", "input error", "ValueError: no such data"),
        ("never_ends", "input error", "more than 64 launches"),
        ("needs_memory", "input error", "memory"),
        ("allocates_for_ever", "memory limit", "2,048 MiB"),
        ("raises_odd_text", "input error", "ValueError: "),
        ("returns_text", "input error", "expected the arguments of a launch by name"),
        ("missing", "input error", "no function 'missing'"),
        ("faults", "crash", "SIGSEGV"),
        ("exits", "input error", "SystemExit"),
        ("exits_at_once", "crash", "exit status 7"),
        ("is_killed", "crash", "SIGKILL"),
        ("forges_an_answer", "crash", "exit status 0"),
        ("has_a_thread_that_stays", "ok", "bit-equal"),
        ("writes_answers", "ok", "bit-equal"),
    ],
)
def test_inputs_that_break(server: Lines, inputs: str, status: str, says: str) -> None:
    found, text, _ = server.call("check_kernel", **{**DOUBLE, "inputs": f"kernels.py:{inputs}"})
    assert found == status, text
    assert re.search(says, text)


def test_the_file_raises(server: Lines) -> None:
    status, text, _ = server.call("check_kernel", **{**DOUBLE, "kernel": "broken_import.py:double"})
    assert (status, "ZeroDivisionError" in text) == ("input error", True)


def test_output_is_bounded(server: Lines) -> None:
    status, text, _ = server.call(
        "check_kernel", **{**DOUBLE, "inputs": "kernels.py:prints_for_ever"}, time_limit=LIMIT
    )
    assert status == "time limit"
    assert "bytes left out" in text
    assert len(text) < 5000
    status, text, _ = server.call("read_ir", **DOUBLE, what="asm", lines="1-100000")
    assert status == "ok"
    assert len(text) < 3400
    assert "lines left out; ask for a smaller range" in text


def test_no_process_is_left(server: Lines, root: Path) -> None:
    assert server.call("check_kernel", **{**DOUBLE, "inputs": "kernels.py:leaves_a_process"})[0] == "ok"
    left = int((root / "left.txt").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(left, 0)


def test_no_file_is_left(server: Lines, root: Path) -> None:
    before = {path.name for path in root.iterdir()}
    pipeline = 'llvm: at_end(llvm{passes="function(dot-cfg)"})'
    assert server.call("compile_kernel", **DOUBLE, pipeline=pipeline)[0] == "ok"
    assert {path.name for path in root.iterdir()} - before <= {"__pycache__"}


@pytest.mark.parametrize(
    ("function", "status", "says"),
    [
        ("aborts", "crash", "SIGABRT in pass 'kernels:aborts'"),
        ("fails", "compile error", "this pass never works"),
        ("missing", "pipeline error", "missing"),
        ("changes_nothing", "ok", "kernels:changes_nothing"),
    ],
)
def test_passes_that_break(server: Lines, function: str, status: str, says: str) -> None:
    found, text, _ = server.call("compile_kernel", **DOUBLE, pipeline=f"ttir: at_end(kernels:{function})")
    assert found == status, text
    assert says in text


def test_a_request_can_be_cancelled(server: Lines) -> None:
    started = time.monotonic()
    server.write(json.dumps({**NEVER_RETURNS, "id": 902}))
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 902}}
    time.sleep(0.3)
    server.write(json.dumps(cancelled))
    assert server.call("list_kernels")[0] == "ok"
    assert time.monotonic() - started < 30  # of the 60 seconds that it may take


def test_a_killed_fork_server_is_replaced(server: Lines) -> None:
    def forked() -> list[int]:
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdecimal():
                try:
                    parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                    command = (entry / "cmdline").read_bytes()
                except OSError:
                    continue
                if parent == server.process.pid and b"forkserver" in command:
                    found.append(int(entry.name))
        return found

    (before,) = forked()
    os.kill(before, signal.SIGKILL)
    assert server.call("list_kernels")[0] == "ok"
    (after,) = forked()
    assert after != before


def test_nothing_is_left_of_a_killed_server(root: Path, tmp_path: Path) -> None:
    server = Lines(root, TRITON_CACHE_DIR=str(tmp_path / "kernels"), TRITON_DEFAULT_BACKEND="cpu")
    assert server.call("list_kernels")[0] == "ok"
    server.write(json.dumps(NEVER_RETURNS))
    time.sleep(0.5)
    until = time.monotonic() + 20
    while len(processes_with(str(tmp_path))) < 4 and time.monotonic() < until:
        time.sleep(0.05)
    server.process.kill()
    assert left_after_a_while(str(tmp_path)) == []
