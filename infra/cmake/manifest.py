# SPDX-License-Identifier: Apache-2.0
"""Writes what the build knows of a library's manifest, as the C string that ``triton_ext/Manifest.h`` takes.

The generators of glue import it. As a program it prints the string, for libraries whose manifest needs no ``.td``. It
uses the standard library only, because it runs in the build.
"""

from __future__ import annotations

import argparse
import json

#: Raise it with the one in ``triton_ext.loading.manifest`` when a reader of the old format would misread the new one.
FORMAT = 2
_COMMON = ("name", "version", "triton", "llvm-commit", "headers")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the flags that every manifest is made from."""
    for flag in _COMMON:
        parser.add_argument(f"--{flag}", required=True)


def manifest(args: argparse.Namespace, **fields: object) -> str:
    """Returns the JSON members of the manifest as a C string.

    Args:
        args: has the flags that `add_arguments` has added.
        fields: the other members; those that are not given are empty.
    """
    common = {flag.replace("-", "_"): getattr(args, flag.replace("-", "_")) for flag in _COMMON}
    empty = {"stage": None, "argument": "", "summary": "", "description": "", "options": [], "ops": []}
    return c_string(json.dumps({"format": FORMAT, **common, **empty, **fields})[1:-1])


def c_string(text: str) -> str:
    """Returns `text` as a C string literal."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def main() -> None:
    """Prints the manifest that the command line describes."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_arguments(parser)
    parser.add_argument("--kind", required=True, choices=("backend", "infra"))
    parser.add_argument("--summary", default="")
    args = parser.parse_args()
    print(manifest(args, kind=args.kind, summary=args.summary))


if __name__ == "__main__":
    main()
