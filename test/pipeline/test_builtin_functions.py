# SPDX-License-Identifier: Apache-2.0
"""A function under ``triton.language.core.builtin`` that a kernel calls is in the kernel's key, unless it is Triton's
own."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import support
from support import forked_python

pytestmark = pytest.mark.slow

#: A module of wrappers as a bundle has them; `#` is what changes.
OPS = """
import os
from triton.language import core
import helpers

LIMIT = 7

@core.builtin
def scaled(x, _semantic=None):
    return x.__mul__({body}, _semantic=_semantic)

def stands_for(x, _semantic=None):
    return scaled(x, _semantic=_semantic)

@core.builtin
def indirect(x, _semantic=None):
    return stands_for(x, _semantic=_semantic)

core.tensor.scaled_member = scaled
core.scaled_in_core = scaled
"""
CALLS = {
    "from import": ("from ops import scaled", "scaled(v)"),
    "of a module": ("import ops", "ops.scaled(v)"),
    "of a builtin": ("import ops", "ops.indirect(v)"),
    "a member": ("import ops", "v.scaled_member()"),
    "in Triton's module": ("import ops", "tl.core.scaled_in_core(v)"),
    "of a jit function": ("import ops\n@triton.jit\ndef helper(v):\n    return ops.scaled(v)", "helper(v)"),
}
KERNEL = """
import triton, triton.language as tl
{imports}

@triton.jit
def kernel(x, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    tl.store(x + i, {call})
"""
#: Prints whether the kernel came from the cache, and the factor with which it multiplies.
PROGRAM = """
import contextlib, json, re, sys
import triton
from triton.backends.compiler import GPUTarget
sys.path.insert(0, sys.argv[1])
how = sys.argv[2]
if how == "with a pipeline":
    import triton_ext as tx
    around = tx.Pipeline().at_end("ttir", tx.builtin.common.cse())
else:
    around = contextlib.nullcontext()
if how == "imported last":
    import triton_ext
import kernel_file
hits = []
triton.knobs.compilation.listener = lambda *, cache_hit, **_: hits.append(cache_hit)
source = triton.compiler.ASTSource(kernel_file.kernel, {"x": "*fp32", "BLOCK": "constexpr"}, {"BLOCK": 32})
with around:
    ttir = triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm["ttir"]
print(json.dumps([float(re.search(r"dense<(.*?)> : tensor<32xf32>", ttir)[1]), *hits]))
"""
Run = Callable[..., list[object]]


@pytest.fixture
def run(tmp_path: Path, kernel_cache: Path) -> Run:
    def run(body: str, call: str = "from import", how: str = "", helper: str = "2.0") -> list[object]:
        imports, expression = CALLS[call]
        (tmp_path / "helpers.py").write_text(f"N = {helper}\ndef number(): return N\n")
        (tmp_path / "ops.py").write_text(OPS.format(body=body))
        (tmp_path / "kernel_file.py").write_text(KERNEL.format(imports=imports, call=expression))
        command = [sys.executable, "-B", "-c", PROGRAM, str(tmp_path), how]
        in_tree = {"TRITON_BACKENDS_IN_TREE": "1"} if how == "imported last" else {}
        environment = {**os.environ, "TRITON_CACHE_DIR": str(kernel_cache), **in_tree}
        done = forked_python.run(command, env=environment)
        assert done.returncode == 0, done.stderr
        return list(json.loads(done.stdout))

    return run


@pytest.mark.parametrize("call", CALLS)
def test_another_body_is_another_kernel(call: str, run: Run) -> None:
    assert [run("2.0", call), run("3.0", call), run("2.0", call)] == [[2.0, False], [3.0, False], [2.0, True]]


@pytest.mark.parametrize("how", ["with a pipeline", "imported last"])
def test_however_triton_ext_comes_in(how: str, run: Run) -> None:
    assert [run("2.0", how=how), run("3.0", how=how), run("2.0", how=how)] == [[2.0, False], [3.0, False], [2.0, True]]


def test_what_it_refers_to_counts(run: Run) -> None:
    assert [run("LIMIT"), run("LIMIT + 0.0")] == [[7.0, False], [7.0, False]]
    body = "helpers.number()"
    assert [run(body), run(body, helper="4.0"), run(body)] == [[2.0, False], [4.0, False], [2.0, True]]


def test_one_that_reads_anything_is_known_by_its_file(run: Run) -> None:
    body = "float(os.environ.get('NO_SUCH_VARIABLE', '{}'))"
    found = [run(body.format(number)) for number in (5, 6, 5)]
    assert found == [[5.0, False], [6.0, False], [5.0, True]]


@pytest.mark.parametrize("what", ["helpers.N", "helpers.number()", "vars(helpers)['N']"])
def test_one_that_reads_anything_is_known_by_what_else_it_reads(what: str, run: Run) -> None:
    body = f"float(os.environ.get('NO_SUCH_VARIABLE', {what}))"
    assert [run(body), run(body, helper="4.0"), run(body)] == [[2.0, False], [4.0, False], [2.0, True]]


def test_one_that_reads_anything_is_known_by_every_file_behind_it(run: Run, tmp_path: Path) -> None:
    """Only a run shows which module the function reads."""
    body = "float(eval(os.environ.get('NO_SUCH_VARIABLE', 'helpers.deep.N')))"
    found = []
    for number in (5, 6, 5):
        (tmp_path / "deep.py").write_text(f"N = {number}\n")
        found.append(run(body, helper="0.0\nimport deep"))
    assert found == [[5.0, False], [6.0, False], [5.0, True]]


def test_a_kernel_without_one_has_triton_s_key() -> None:
    """The key is the same with triton-ext, and in a process that has never imported it."""
    program = (
        "import sys\nfrom support.pipeline.kernels import matmul, softmax, squares\n"
        "print([k.cache_key for k in (softmax, squares, matmul)])\n"
    )
    ours = "from triton_ext.keys.builtins import follow_builtins\nimport triton\nfollow_builtins()\n"
    found = [
        forked_python.run(
            [sys.executable, "-c", text], check=True,
            env=support.environment(TRITON_BACKENDS_IN_TREE="1"),
        ).stdout
        for text in (f"{program}assert 'triton_ext' not in sys.modules", ours + program)
    ]  # fmt: skip
    assert found[0] == found[1]
