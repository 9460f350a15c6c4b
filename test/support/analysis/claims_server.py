# SPDX-License-Identifier: Apache-2.0
"""Runs triton-ext-opt for each request in a line of standard input, for `integer_claims`.

The driver runs each input in a process of its own, so that hundreds of runs need only one Python and one libtriton.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile

from triton_ext import driver


def run(arguments: list[str], mutant: str) -> tuple[int, str]:
    """Returns the exit code of ``triton-ext-opt`` and what it writes to standard error."""
    os.environ["TRITON_EXT_MUTANT"] = mutant
    saved = os.dup(2)
    with tempfile.TemporaryFile("w+", errors="replace") as errors:
        os.dup2(errors.fileno(), 2)
        try:
            driver.main(arguments)
        except SystemExit as ended:
            code = ended.code
        finally:
            os.dup2(saved, 2)
            os.close(saved)
        errors.seek(0)
        said = errors.read()
    return (code, said) if isinstance(code, int) else (1, f"{said}{code}")


def main() -> None:
    """Answers each request, which is a list of the arguments of `run`, with its result."""
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        print(json.dumps(run(*json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
