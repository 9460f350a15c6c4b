# SPDX-License-Identifier: Apache-2.0
"""Runs the documentation's pages as programs: every shell and Python block, in order.

A block after a line that ends in a file name and a colon is the content of that file. If a paragraph says that a
command prints the next block, the output of the command must contain it.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Collection
from pathlib import Path

from support import ROOT

#: The page for users who only have the wheel; test/wheel runs it with nothing else installed.
INSTALL = ROOT / "docs" / "install.md"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
_BLOCK = re.compile(
    r"(?:`(?P<file>[\w./-]+)`[^`\n]*:\n\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)


def run_blocks(
    page: Path, directory: Path, python: Path | str, environment: dict[str, str], leave_out: Collection[str] = ()
) -> None:
    """Runs the blocks of `page` in `directory`, those in Python by `python`; stops at the first that fails."""

    def run(*command: str | Path) -> str:
        done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        return (done.stdout + done.stderr).replace(f"{directory}/", "")

    printed = ""
    for number, block in enumerate(_BLOCK.finditer(page.read_text())):
        text = block["text"]
        if block["file"]:
            file = directory / block["file"]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        elif block["language"] == "python":
            script = directory / f"block{number}.py"
            script.write_text(text)
            printed = run(python, script)
            if page.name == "README.md":
                assert printed.split() == re.findall(r"^ *print\(.*\)  # ([\w.]+)$", text, re.MULTILINE)
        elif block["language"] == "console":
            printed = ""
            for line in text.splitlines():
                command = re.split(r"(?:^|\s)#", line)[0].strip()
                if command not in leave_out:
                    printed += run("bash", "-euc", command)
        elif block["language"] == "text":
            if re.search(r"\bprints\b", page.read_text()[: block.start()].rstrip().rpartition("\n\n")[2]):
                missing = [line for line in text.splitlines() if _words(line) not in _words(printed)]
                assert not missing, f"{page.name}: this is not printed: {missing}\n{printed}"
        else:
            raise AssertionError(f"{page.name}: a block in '{block['language']}' that is neither run nor a file")


def _words(text: str) -> str:
    """Returns `text` without what differs from run to run, or with the terminal's width: times, white space."""
    return re.sub(r"\b\d+\.\d+\b", "0.0", " ".join(text.split()))
