# SPDX-License-Identifier: Apache-2.0
"""Builds the pass of `print_strides` with all mutations of `strides_mutations`, and runs it on programs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import support
from support import kept_build, mutants
from support.cpu import strides_mutations

CPU = support.ROOT / "backends" / "cpu"
REMARK = re.compile(r"<stdin>:(\d+):\d+: remark: (.*)")


def build_pass(scratch: Path) -> Path:
    """Builds the pass in the empty directory `scratch` and returns its library."""
    source = scratch / "print_strides"
    shutil.copytree(CPU / "test" / "print_strides", source)
    for name in ("Operations.h", "Operations.cpp", "Strides.h", "Strides.cpp"):
        shutil.copy(CPU / "lowering" / name, source)
    mutants.apply(source, strides_mutations.STRIDES)
    kept_build.build_tree(source, source / "build")
    return source / "build" / "libtriton_ext_print_strides.so"


def remarks(texts: Sequence[str], library: Path, mutant: str) -> list[dict[int, str]]:
    """Returns, for each of the functions, the remark at each line that has one; the first line is 0."""
    done = subprocess.run(
        [Path(sys.executable).with_name("triton-ext-opt"), "-", "-triton-ext-print-strides"],
        input="\n".join(texts),
        env={**os.environ, "TRITON_EXT_PATH": str(library), "TRITON_EXT_MUTANT": mutant},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = {int(line): remark for line, remark in REMARK.findall(done.stderr)}
    result, first = [], 1
    for text in texts:
        size = text.count("\n") + 1
        result.append({line - first: found[line] for line in range(first, first + size) if line in found})
        first += size
    return result
