# SPDX-License-Identifier: Apache-2.0
"""What the generators of glue share: their command line, the manifest, and writing a file whole or not at all.

Standard library only: they run in the build, before anything is installed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

MANIFEST_FORMAT = 2


def run(generate: Callable[[argparse.Namespace], dict[Path, str]], description: str | None, *flags: str) -> None:
    """Reads the command line and writes the files that `generate` returns.

    Args:
        generate: makes file names and texts from the arguments; raises ValueError if the ``.td`` cannot be served.
        description: of the program.
        flags: its own flags, beside those that every extension has.
    """
    parser = argparse.ArgumentParser(description=description)
    for flag in ("name", "class", "version", "triton", "llvm-commit", "headers", *flags):
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
    """What mlir-tblgen prints for the ``.td`` with `flags`."""
    return subprocess.run([*args.tblgen, *flags, str(args.td)], check=True, capture_output=True, text=True).stdout


def records(args: argparse.Namespace) -> str:
    """The definitions in the ``.td``, as mlir-tblgen prints records."""
    printed = tblgen(args, "--print-records")
    return printed[printed.index("- Defs -") :]


def manifest(args: argparse.Namespace, **fields: object) -> str:
    """The JSON members of the manifest as a C string; see ``triton_ext/Manifest.h``."""
    common = {
        "format": MANIFEST_FORMAT,
        "name": args.name,
        "version": args.version,
        "triton": args.triton,
        "llvm_commit": args.llvm_commit,
        "headers": args.headers,
    }
    return c_string(json.dumps({**common, **fields})[1:-1])


def c_string(text: str) -> str:
    """`text` as a C string literal."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
