# SPDX-License-Identifier: Apache-2.0
"""DSL functions in the cache, in the interpreter, under autotuning, and in the first kernel of a process."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from support import environment, forked_python
from triton_ext.backends import declared
from triton_ext.loading import discovery

pytestmark = pytest.mark.slow


def run(directory: Path, program: str, **variables: str) -> str:
    """What `program` prints, in a process of its own."""
    (directory / "program.py").write_text(program)
    done = forked_python.run(
        [sys.executable, directory / "program.py"],
        env=environment(TRITON_CACHE_DIR=str(directory / "cache"), **variables),
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


KEY = """
import triton, triton.language as tl, triton_ext as tx

@tx.language.op("tally.count", result={result})
def count(x: tl.tensor{more}):
    '''{doc}'''

@triton.jit
def kernel(x):
    count(tl.load(x))

print(kernel.cache_key)
"""


OWN = """
import triton, triton.language as tl, triton_ext as tx

class Own(tl.core.base_value):
    def _flatten_ir(self, handles):
        BODY

@tx.language.op("tally.count", result="x")
def count(x: Own):
    pass

@triton.jit
def kernel(x):
    count(x)

print(kernel.cache_key)
"""


def key(directory: Path, libraries: Path, result: str = '"x"', more: str = "", doc: str = "a") -> str:
    return run(directory, KEY.format(result=result, more=more, doc=doc), TRITON_EXT_PATH=str(libraries))


def test_the_key_covers_declaration_and_libraries(libraries: Path, tmp_path: Path) -> None:
    first = key(tmp_path, libraries)
    assert first == key(tmp_path, libraries)
    assert first == key(tmp_path, libraries, doc="b")
    assert first != key(tmp_path, libraries, result="lambda x: x.type")
    assert key(tmp_path, libraries, result="lambda x: x.type") != key(tmp_path, libraries, result="lambda x: tl.int32")
    assert first != key(tmp_path, libraries, more=", y: tl.constexpr = None")
    for name in ("tally", "lower_tally"):
        copy = shutil.copytree(libraries, tmp_path / name)
        with (copy / f"libtriton_ext_{name}.so").open("ab") as file:
            file.write(b"\0")
        assert key(tmp_path, copy) != first


def test_the_key_covers_classes_of_ones_own(tmp_path: Path) -> None:
    keys = [run(tmp_path, OWN.replace("BODY", body)) for body in ("pass", "pass", "handles.clear()")]
    assert keys[0] == keys[1] != keys[2]


FIRST = """
import sys, triton, triton.language as tl
from support.language import TARGETS, source
from support.language.tally import order

hits = []
triton.knobs.compilation.listener = lambda **seen: hits.append(seen["cache_hit"])

@triton.jit
def sorts(x, y):
    low, high = order(tl.load(x), tl.load(y), "label")
    tl.store(x, low)
    tl.store(y, high)

for _ in range(2):
    compiled = triton.compile(source(sorts, "*fp32 *fp32"), target=TARGETS[sys.argv[1] if sys.argv[1:] else "cuda"])
print(hits, "tally" in compiled.asm["ttir"])
"""


def test_the_first_kernel_of_a_process_and_the_cache(tmp_path: Path) -> None:
    assert run(tmp_path, FIRST) == "[False, True] False\n"
    assert run(tmp_path, FIRST) == "[True, True] False\n"


def test_with_stages_in_a_process_of_their_own(tmp_path: Path) -> None:
    assert run(tmp_path, FIRST, TRITON_EXT_ISOLATE="1") == "[False, True] False\n"


AUTOTUNED = """
import numpy as np, triton, triton.language as tl, triton_ext as tx
from support.language.tally import order

configs = [triton.Config({"N": 64}), triton.Config({"N": 128})]
pipelines = {"none": tx.Pipeline(), "cse": tx.Pipeline().at_end("ttir", tx.builtin.common.cse())}

@tx.autotune(configs, key=["n"], pipelines=pipelines)
@triton.jit
def sorts(x, y, n, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    low, high = order(tl.load(x + i), tl.load(y + i), "label")
    tl.store(x + i, low)
    tl.store(y + i, high)

if __name__ == "__main__":
    x, y = np.random.default_rng(0).standard_normal((2, 1024), np.float32)
    low, high = np.minimum(x, y), np.maximum(x, y)
    sorts[lambda meta: (1024 // meta["N"],)](x, y, 1024)
    assert (x == low).all() and (y == high).all()
    print(sorts.best_config)
"""


def test_under_autotune(tmp_path: Path) -> None:
    if "cpu" not in declared():
        pytest.skip("this checkout has no backend 'cpu'")  # any backend's directory may be deleted
    assert "pipeline: " in run(tmp_path, AUTOTUNED, TRITON_DEFAULT_BACKEND="cpu")


INTERPRETED = """
import torch, triton, triton.language as tl
from support.language import tally
from support.language.tally import floor, note, order, scope, spread, timed

@triton.jit
def kernel(x, y, z, N: tl.constexpr):
    i = tl.arange(0, N)
    with timed("t"):
        a, b = tl.load(x + i), tl.load(y + i)
    low, high = order(a, b, "label")
    note("n", low, i, mask=i < 2)
    with scope("s"):
        tl.store(x + i, low)
    tl.store(y + i, floor(high))
    tl.store(z + i, spread(i, i * 3))

x, y = torch.tensor([1.0, 5.0, 2.5, 7.5]), torch.tensor([3.5, 2.0, 2.75, 0.0], dtype=torch.bfloat16)
y = y.to(torch.float32) if {single} else y
z = torch.zeros(4, dtype=torch.int32)
kernel[(1,)](x if {single} else x.to(torch.bfloat16), y, z, N=4)
print(y.tolist(), z.tolist())
print([n if isinstance(n, str) else (n[0], [v.tolist() for v in n[1]], n[2].tolist()) for n in tally.noted])
"""


@pytest.mark.parametrize("single", [True, False])
def test_the_interpreter(single: bool, tmp_path: Path) -> None:
    """In float32 and in bfloat16; without the library."""
    pytest.importorskip("torch")
    program = INTERPRETED.format(single=single).replace("floor(high)", "floor(high.to(tl.float32))")
    numbers, noted = run(tmp_path, program, TRITON_INTERPRET="1", TRITON_EXT_PATH="").splitlines()
    assert numbers == "[3.0, 5.0, 2.0, 7.0] [0, 2, 4, 6]"
    note = ("n", [[1.0, 2.0, 2.5, 0.0], [0, 1, 2, 3]], [True, True, False, False])
    assert noted == str(["begin t", "end t", note, "begin s", "end s"])


WITHOUT_NUMPY = """
import torch, triton, triton.language as tl, triton_ext as tx

@tx.language.op("tally.count", result="x")
def count(x: tl.tensor) -> tl.tensor:
    '''Has no implementation in NumPy.'''

@triton.jit
def kernel(x):
    tl.store(x, count(tl.load(x)))

try:
    kernel[(1,)](torch.zeros(1))
except Exception as error:
    print(error)
"""


def test_the_interpreter_without_an_implementation(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    printed = run(tmp_path, WITHOUT_NUMPY, TRITON_INTERPRET="1")
    assert "count(x): has no NumPy implementation, which TRITON_INTERPRET=1 asks for" in printed
    assert "(fix: @tx.language.op('tally.count', interpret=function))" in printed


def test_both_libraries_are_found(libraries: Path) -> None:
    found = {e.name: e for e in discovery.extensions() if e.path.parent == libraries.resolve()}
    assert {name: e.problem for name, e in found.items()} == {"tally": None, "lower_tally": None}
    manifest = found["tally"].manifest
    assert manifest is not None
    assert (manifest.lower_with, manifest.lower_at) == ("lower_tally", "ttir:start")
