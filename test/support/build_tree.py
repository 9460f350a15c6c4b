# SPDX-License-Identifier: Apache-2.0
"""A checkout that tests may break: writes extensions into it and runs its ``triton-ext``."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import support
from support import forked_python

# An editable installation comes before everything in PYTHONPATH.
MAIN = """
import sys
sys.meta_path[:] = [finder for finder in sys.meta_path if "editable" not in repr(finder)]
from triton_ext.cli import main
main()
"""

_TD = """
include "mlir/Pass/PassBase.td"
def PlainPass : Pass<"triton-ext-plain"> { let summary = "s"; }
"""
_CPP = """
#include "mlir/Pass/Pass.h"
namespace mlir::triton_ext::plain { std::unique_ptr<Pass> createPlainPass() { return nullptr; } }
"""
#: The files of the smallest pass that makes a library, for `Tree.add`.
PLAIN = {"CMakeLists_txt": "triton_ext_add_pass(plain PlainPass STAGE ttir)\n", "Plain_td": _TD, "Plain_cpp": _CPP}


@dataclass(frozen=True)
class Tree:
    """A checkout.

    Attributes:
        root: its directory.
    """

    root: Path

    @property
    def stage(self) -> Path:
        """Where its libraries are put."""
        return self.root / "python" / "triton_ext" / "lib"

    def digests(self) -> dict[str, str]:
        """Name and digest of everything that is staged."""
        return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(self.stage.iterdir())}

    def add(self, extension: str, **files: str) -> Path:
        """Writes the directory `extension`, e.g. ``passes/one``; ``Foo_td`` is the file ``Foo.td``."""
        directory = self.root / extension
        directory.mkdir(parents=True)
        for name, text in files.items():
            stem, _, suffix = name.rpartition("_")
            (directory / f"{stem}.{suffix}").write_text(text)
        return directory

    def command(self, *arguments: str) -> list[str]:
        """``triton-ext`` of this checkout."""
        return [sys.executable, "-c", MAIN, *arguments]

    def environment(self, **variables: str) -> dict[str, str]:
        """The environment in which `command` is that of this checkout."""
        return {**os.environ, "PYTHONPATH": support.path(self.root / "python"), **variables}

    def run(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Runs ``triton-ext`` of this checkout in it."""
        return forked_python.run(
            self.command(*arguments),
            cwd=self.root,
            env=self.environment(**variables),
            timeout=300,
        )
