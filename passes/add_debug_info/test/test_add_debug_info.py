# SPDX-License-Identifier: Apache-2.0
"""A kernel that `add_debug_info` describes has the lines of its source in its machine code, and computes the same."""

from __future__ import annotations

import ctypes
import inspect
import re
import subprocess
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
import triton
import triton.language as tl
from triton._C.libtriton import ir, llvm

import triton_ext as tx
from support import mutants
from support.linalg import execute
from triton_ext.sdk.sources import SourceUnavailableError

pytestmark = pytest.mark.slow


@triton.jit
def scaled(x, out, factor):
    i = tl.arange(0, 16)
    tl.store(out + i, tl.load(x + i) * factor)  # the line


SIGNATURE = "*i32, *i32, i32"


def lowered(described: bool) -> str:
    """Returns the kernel in LLVM's dialect, with the locations that its module in linalg has."""
    linalg = tx.linalg.compile(scaled, SIGNATURE, lowered=True, debug_info=described)
    stock = [str(execute.mlir_opt()), "-mlir-print-debuginfo", f"--pass-pipeline={execute.STOCK}"]
    return subprocess.run(stock, input=linalg, capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def texts() -> dict[bool, str]:
    """Returns the kernel in LLVM's dialect without and with the description."""
    try:
        execute.mlir_opt()
    except SourceUnavailableError as error:
        pytest.skip(f"stock mlir-opt can only be had over the network: {error.message}")
    return {described: lowered(described) for described in (False, True)}


def to_llvm_ir(dialect: str, path: Path) -> str:
    path.write_text(dialect)
    context = ir.context()
    ir.load_dialects(context)
    return str(llvm.to_module(ir.parse_mlir_module(str(path), context), llvm.context()))


def test_lines_reach_llvm(texts: dict[bool, str], tmp_path: Path) -> None:
    source, first = inspect.getsourcelines(scaled.fn)
    line = first + next(i for i, text in enumerate(source) if "# the line" in text)
    described = to_llvm_ir(texts[True], tmp_path / "described.mlir")
    assert 'DISubprogram(name: "scaled"' in described
    assert f'DIFile(filename: "{Path(__file__).name}"' in described
    assert f"DILocation(line: {line}," in described
    assert "DILocation" not in to_llvm_ir(texts[False], tmp_path / "bare.mlir")


@pytest.mark.parametrize("described", [False, True])
def test_executed(described: bool, texts: dict[bool, str]) -> None:
    library = execute.build(texts[described], "scaled")
    function: Any = library.scaled
    for factor in (-3, 0, 7):
        x, out = torch.randint(-99, 99, (16,), dtype=torch.int32), torch.zeros(16, dtype=torch.int32)
        function(*map(ctypes.c_int64, (x.data_ptr(), out.data_ptr())), ctypes.c_int32(factor), 1, 1, 1, 0, 0, 0)
        assert out.equal(x * factor)
    assert (b"debug_line" in Path(library._name).read_bytes()) == described


def ttir() -> str:
    """Returns the kernel's ttir, which has locations."""
    found: list[str] = []
    edits = tx.Pipeline().at_end("ttir", lambda module: found.append(str(module)))
    edits.edits[0].entries[0].function.cache_key = "ttir"
    tx.linalg.compile(scaled, SIGNATURE, pipeline=edits)
    return found[0]


@pytest.mark.parametrize("way", [{}, {"via": "structured"}, {"via": "structured", "pointers": "memref"}])
def test_the_argument(way: dict[str, Any]) -> None:
    """Both functions have the argument, and every form has the locations."""
    place = re.compile(rf'di_file<"{Path(__file__).name}" in "')
    text = tx.linalg.compile(scaled, SIGNATURE, debug_info=True, **way)
    assert place.search(text)
    assert tx.linalg.convert(ttir(), debug_info=True, **way) == text
    for form in "text", "generic":
        assert place.search(tx.linalg.compile(scaled, SIGNATURE, debug_info=True, form=form, **way))
        assert "loc(" not in tx.linalg.compile(scaled, SIGNATURE, form=form, **way)
    full = tx.Pipeline().set("linalgir.add_debug_info", full=True)
    assert "emissionKind = Full" in tx.linalg.convert(ttir(), debug_info=True, pipeline=full, **way)


def test_the_option_is_an_argument() -> None:
    with pytest.raises(tx.TritonExtError, match="'debug_info': set the argument 'debug_info'"):
        tx.linalg.compile(scaled, SIGNATURE, options={"debug_info": True})


bug = partial(mutants.Mutation, "AddDebugInfo.cpp")

BUGS = {
    "operations without a line stay so": bug("!placeOf(op->getLoc())", "false"),
    "a function is described twice": bug("isDescribed(loc)", "false"),
    "all code is optimized": bug("optimized", "true", behind='"triton-ext"), '),
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the pass with all bugs in it and returns the directory of its libraries."""
    return mutants.build_with_bugs("passes/add_debug_info", BUGS, tmp_path_factory.mktemp("bugs"))


@pytest.mark.parametrize("bug", ["", *BUGS])
def test_the_lit_tests_notice_a_bug(bug: str, libraries: Path) -> None:
    assert mutants.lit_passes("passes/add_debug_info", libraries, bug) == (not bug)
