# SPDX-License-Identifier: Apache-2.0
"""`rename` keeps the meaning of a kernel: with and without it, the assembly differs in the name alone."""

from __future__ import annotations

import re
import string
from pathlib import Path

import pytest
import triton
import triton.language as tl
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from triton.backends.compiler import GPUTarget

import triton_ext as tx
from support import mutants


@triton.jit(noinline=True)
def limit(n):
    return n * n


@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < limit(n)
    tl.store(y + i, tl.exp(tl.load(x + i, mask=mask)), mask=mask)


SIGNATURE = {"x": "*fp32", "y": "*fp32", "n": "i32", "BLOCK": "constexpr"}
TARGETS = {"ptx": GPUTarget("cuda", 90, 32), "amdgcn": GPUTarget("hip", "gfx942", 64)}
NAMES = st.text(string.ascii_letters + string.digits + "_", min_size=1, max_size=40).filter(
    lambda s: not s[0].isdigit()
)


def assembly(kind: str, **options: str) -> str:
    source = triton.compiler.ASTSource(kernel, SIGNATURE, {"BLOCK": 128})
    with tx.Pipeline().at_end("ttir", tx.passes.ttir.rename(**options)):
        text = triton.compile(source, target=TARGETS[kind]).asm[kind]
    return re.sub(r"[ \t]+", " ", text)  # the name's length changes how comments are aligned


@pytest.mark.slow
@pytest.mark.parametrize("kind", TARGETS)
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=NAMES)
def test_only_the_name_differs(kind: str, name: str) -> None:
    plain, reference = (assembly(kind, old="kernel", new=new) for new in ("kernel", "UniqueName_0"))
    assert "UniqueName_0" not in plain
    assert reference.replace("UniqueName_0", "kernel") == plain
    renamed = assembly(kind, old="kernel", new=f"{name}_UniqueName_0")
    assert renamed.replace(f"{name}_UniqueName_0", "UniqueName_0") == reference


BUGS = {
    "uses stay": mutants.Mutation(
        "Rename.cpp", "symbols.rename(function, newName)", "(function.setName(newName), success())"
    ),
    "same name": mutants.Mutation("Rename.cpp", "!function || oldName == newName", "!function"),
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the pass with all bugs in it and returns the directory of its libraries."""
    return mutants.build_with_bugs("passes/rename", BUGS, tmp_path_factory.mktemp("bugs"))


@pytest.mark.slow
@pytest.mark.parametrize("bug", ["", *BUGS])
def test_the_lit_tests_notice_a_bug(bug: str, libraries: Path) -> None:
    assert mutants.lit_passes("passes/rename", libraries, bug) == (not bug)
