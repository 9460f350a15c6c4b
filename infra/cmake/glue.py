# SPDX-License-Identifier: Apache-2.0
"""The part that the generators of glue share: command line, mlir-tblgen, and writing files whole or not at all.

They use the standard library only, because they run in the build, before anything is installed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from manifest import add_arguments


def run(generate: Callable[[argparse.Namespace], dict[Path, str]], description: str | None, *flags: str) -> None:
    """Reads the command line and writes the files that `generate` returns.

    Args:
        generate: makes file names and texts from the arguments; raises ValueError if the ``.td`` cannot be served.
        description: what the program does, for ``--help``.
        flags: the flags of this generator, beside those of every generator.
    """
    parser = argparse.ArgumentParser(description=description)
    add_arguments(parser)
    for flag in flags:
        parser.add_argument(f"--{flag}", required=True)
    parser.add_argument("td", type=Path)
    parser.add_argument("tblgen", nargs="+", help="mlir-tblgen and its include flags, after --")
    args = parser.parse_args()
    try:
        files = generate(args)
    except ValueError as error:
        sys.exit(f"{args.td}: error: {error}")
    except subprocess.CalledProcessError as error:
        sys.exit(error.stderr)
    for path, text in files.items():
        partial = path.with_suffix(".part")
        partial.write_text(text)
        os.replace(partial, path)


def tblgen(args: argparse.Namespace, *flags: str) -> str:
    """Returns what mlir-tblgen prints for the ``.td`` with `flags`."""
    return subprocess.run([*args.tblgen, *flags, str(args.td)], check=True, capture_output=True, text=True).stdout


def records(args: argparse.Namespace) -> str:
    """Returns the definitions in the ``.td``, as mlir-tblgen prints records."""
    printed = tblgen(args, "--print-records")
    return printed[printed.index("- Defs -") :]
