# SPDX-License-Identifier: Apache-2.0
"""Runs of lit in processes that are forked from one that has loaded libtriton (`forked_programs`).

``python -m support.forked_lit`` reads requests, one JSON object in a line: the arguments of lit, and variables that
this process has not. It answers each with the status and the output, until the end of its input.
"""

from __future__ import annotations

import json
import multiprocessing.pool  # noqa: F401 - for lit
import os
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence

import lit.main

import triton_ext.testing  # noqa: F401 - for lit.cfg.py
from support import forked_programs


def run(arguments: Sequence[str], variables: Mapping[str, str]) -> tuple[int, str]:
    """Runs lit in a process of its own; returns its status, and its output with its errors."""
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        process = os.fork()
        if not process:
            status = 2
            try:
                os.dup2(output.fileno(), 1)
                os.dup2(output.fileno(), 2)
                os.environ.update(variables)
                sys.argv = ["lit", *arguments]
                lit.main.main()
                status = 0
            except SystemExit as ended:
                status = ended.code if isinstance(ended.code, int) else 2
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(status)
        status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        output.seek(0)
        return status, output.read()


def main() -> None:
    """Answers requests."""
    forked_programs.load_here()
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(run(request["arguments"], request["variables"])), file=answers, flush=True)


if __name__ == "__main__":
    main()
