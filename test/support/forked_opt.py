# SPDX-License-Identifier: Apache-2.0
"""Runs of ``triton-ext-opt`` in processes that are forked from one that has loaded libtriton (`forked_programs`).

``python -m support.forked_opt`` reads requests, one JSON object in a line: the arguments, the input and the active bug
of the libraries. It answers each with the status, the output and the errors, until the end of its input.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
from pathlib import Path

from support import environment

TOOL = str(Path(sys.executable).with_name("triton-ext-opt"))
#: The servers of this process, by the libraries that they load.
_servers: dict[str, subprocess.Popen[str]] = {}


def run(*arguments: str | Path, text: str = "", mutant: str = "") -> subprocess.CompletedProcess[str]:
    """Runs ``triton-ext-opt`` with the environment of this process and the input `text`.

    Args:
        arguments: the command line behind the program.
        text: what the program reads from standard input.
        mutant: the name of the active bug; empty for none.
    """
    libraries = os.environ.get("TRITON_EXT_LIBRARY_DIR", "")
    if libraries not in _servers:
        command = [sys.executable, "-m", "support.forked_opt"]
        _servers[libraries] = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment()
        )
    server = _servers[libraries]
    assert server.stdin is not None
    assert server.stdout is not None
    request = {"arguments": list(map(str, arguments)), "text": text, "mutant": mutant}
    print(json.dumps(request), file=server.stdin, flush=True)
    return subprocess.CompletedProcess([TOOL, *arguments], *json.loads(server.stdout.readline()))


@atexit.register
def _end() -> None:
    for server in _servers.values():
        server.communicate()  # its input ends, and so does it


def answer(arguments: list[str], text: str, mutant: str) -> tuple[int, str, str]:
    """Returns the status, the output and the errors of one run."""
    from support import forked_programs

    process = forked_programs.popen(
        [TOOL, *arguments],
        executable=TOOL,
        env={**os.environ, "TRITON_EXT_MUTANT": mutant},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )
    out, errors = process.communicate(text)
    return process.returncode, out, errors


def main() -> None:
    """Answers requests."""
    from support import forked_programs

    forked_programs.load_here()
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        print(json.dumps(answer(**json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
