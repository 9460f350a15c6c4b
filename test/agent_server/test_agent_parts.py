# SPDX-License-Identifier: Apache-2.0
"""The parts of the server that need no process: the root, bounded texts and lines, differences, options."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

import support
from triton_ext.agent_server.answers import cut
from triton_ext.agent_server.limits import LINE_CHARACTERS, PRINTED_BYTES, REQUEST_BYTES, Limits
from triton_ext.agent_server.reading import unified
from triton_ext.agent_server.root import RefusedError, Root
from triton_ext.agent_server.transport import BoundedLines
from triton_ext.cli.mcp import mcp
from triton_ext.errors import TritonExtError

children = pytest.importorskip("triton_ext.agent_server.children", reason="needs anyio", exc_type=ImportError)


@pytest.fixture
def root(tmp_path: Path) -> Root:
    inside = tmp_path / "a root"
    (inside / "deep").mkdir(parents=True)
    (inside / "k.py").touch()
    (inside / "deep" / "k.py").touch()
    (tmp_path / "a root2").mkdir()
    (tmp_path / "a root2" / "k.py").touch()
    (tmp_path / "link").symlink_to(inside)
    (inside / "up").symlink_to("..")
    return Root(tmp_path / "link")


@pytest.mark.parametrize("name", ["k.py", "./k.py", "deep/../k.py", "up/a root/k.py", "missing/../k.py"])
def test_names_inside_of_the_root(root: Root, name: str) -> None:
    assert root.file(name) == root.path / "k.py"
    assert root.file(str(root.path / name)) == root.path / "k.py"
    assert root.kernel(f"{name}:matmul") == f"{root.path}/k.py:matmul"


@pytest.mark.parametrize(
    "name", ["../a root2/k.py", "up/a root2/k.py", "/etc/passwd", "..", "", "deep", "k.py\0", "\udc80"]
)
def test_names_outside_of_the_root(root: Root, name: str) -> None:
    with pytest.raises(RefusedError):
        root.file(name)
    with pytest.raises(RefusedError):
        root.file(str(root.path / name))


def test_nothing_is_said_of_files_outside(root: Root) -> None:
    messages = set()
    for name in ("../a root2/k.py", "../a root2/missing.py"):
        with pytest.raises(RefusedError) as error:
            root.file(name)
        messages.add(str(error.value).replace("missing", "k"))
    assert len(messages) == 1


def test_listing_does_not_leave_the_root(root: Root) -> None:
    (root.path / "out.py").symlink_to(root.path.parent / "a root2" / "k.py")
    (root.path / ".git").mkdir()
    (root.path / ".git" / "k.py").touch()
    assert [str(p.relative_to(root.path)) for p in root.python_files(10)] == ["k.py", "deep/k.py"]
    assert len(list(root.python_files(1))) == 1


@pytest.mark.parametrize("directory", ["missing", "k.py", "\0"])
def test_a_root_that_is_no_directory(root: Root, directory: str) -> None:
    with pytest.raises(TritonExtError, match="--root"):
        Root(f"{root.path}/{directory}")


def test_a_text_is_cut_at_a_line() -> None:
    assert cut("a\nb", 100, "more") == "a\nb"
    assert cut("aaaa\nbbbb\ncccc", 10, "ask for b") == "aaaa\nbbbb\n[... 1 of 3 lines left out; ask for b]"
    long = cut("x" * 10_000_000, 10_000, "")
    assert len(long) < LINE_CHARACTERS + 100
    assert "[... 10,000,000 characters in this line]" in long


def test_a_difference_has_heads_and_context() -> None:
    old = [f"line {i}" for i in range(20)]
    new = [*old[:5], "new", *old[6:15], *old[16:]]
    assert unified(old, new, 1) == (
        ["@@ -5 +5 @@", " line 4", "-line 5", "+new", " line 6", "@@ -15 +15 @@", " line 14", "-line 15", " line 16"],
        2,
        1,
    )
    assert unified(old, old, 3) == ([], 0, 0)
    assert unified([], ["a"], 3) == (["@@ -1 +1 @@", "+a"], 0, 1)


def test_a_line_of_input_is_bounded() -> None:
    reader, writer = os.pipe()
    with os.fdopen(writer, "wb") as file:
        file.write(b"short\n" + b"x" * 5000 + b"\n\nlast")
    lines = BoundedLines(reader, 10)
    found = b""
    while data := lines.read1(7):
        found += data
    os.close(reader)
    assert found == b"short\n" + b"x" * 10 + b"\n\nlast"


def test_beginning_and_end_of_what_is_printed_are_kept() -> None:
    printed = children.Printed()
    for _ in range(100):
        printed.add(b"abcdefgh" * 100)
    printed.add(b"the end")
    text = str(printed)
    assert text.startswith("abcdefgh")
    assert text.endswith("the end")
    assert f"[... {100 * 800 + 7 - 2 * PRINTED_BYTES:,} bytes left out ...]" in text


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ([], "Missing option '--root'"),
        (["--root", ".", "--time-limit", "soon"], "'soon' is not a duration, expected e.g. 30s or 5m"),
        (["--root", ".", "--time-limit", "0s"], "'0s' is not a duration"),
        (["--root", ".", "--memory-limit", "all"], "'all' is not a size, expected e.g. 512M or 16G"),
        (["--root", ".", "--output-limit", "1"], "500"),
    ],
)
def test_options_of_the_command(options: list[str], says: str) -> None:
    done = CliRunner().invoke(mcp, options)
    assert done.exit_code == 2
    assert says in done.output


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    done = CliRunner().invoke(mcp, ["--root", "."])
    assert str(done.exception) == "the package mcp is not installed (fix: pip install 'triton-ext[mcp]')"


def test_the_limits_that_the_page_names() -> None:
    page = " ".join((support.ROOT / "docs" / "agents.md").read_text().split())
    limits, options = Limits(), {option.name: option.default for option in mcp.params}
    assert options["time_limit"] == f"{limits.seconds:g}s"
    assert options["memory_limit"] == f"{limits.memory >> 30}G"
    assert options["output_limit"] == limits.output
    assert f"`--time-limit`, {limits.seconds:g} s" in page
    assert f"`--memory-limit`, {limits.memory >> 30} GiB" in page
    assert f"`--output-limit`, {limits.output:,} characters" in page
    assert f"the first and the last {PRINTED_BYTES:,} bytes" in page
    assert f"length of a request | {REQUEST_BYTES >> 20} MiB" in page
    assert f"that an action writes | {limits.file >> 30} GiB" in page
