# SPDX-License-Identifier: Apache-2.0
"""Without a session, a kernel with probes is the kernel without them, byte for byte.

Both kernels come from one file of one size: the second one has `pass` where the first one has a probe, so that the line
tables of the two agree, too.
"""

from __future__ import annotations

import importlib.util
import linecache
import os
import re
from pathlib import Path
from typing import Any

import pytest
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

import triton_ext.backends
from triton_ext import probe

KERNEL = """
import triton
import triton.language as tl
from triton_ext import probe


@triton.jit
def helper(v):
    probe.count("helper", v > 3)
    return v * 2


@triton.jit
def kernel(x, y, n, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    probe.count("programs")
    m = i < n
    probe.record("before", i, n, 7, mask=m)
    v = tl.load(x + i, mask=m, other=0.0)
    probe.check(v < 100, "small", v, tl.sum(v), mask=m)
    probe.minmax("v", v * 3, m)
    probe.stats("v", v - 0.25, m)
    probe.histogram("v", v + 0.125, 20, -1, 1, m)
    for k in range(n):
        probe.record("turn", k, tl.load(y + k), 0.5)
        with probe.region("turn"):
            v = helper(v) + 7
        with probe.region("of warps", per_warp=True):
            v += 1
        probe.record("clock", probe.clock())
        probe.check(k < 5, "early", k + 1)
    probe.count("lanes", m)
    tl.store(y + i, v + 0.5, mask=m)
"""
HERE = [name for name, backend in triton_ext.backends.declared().items() if backend.target.endswith(":native")]
EVERY = [
    pytest.param(kind, target, id=f"{target.backend}-{target.arch}")
    for kind, target in [
        ("cubin", GPUTarget("cuda", 80, 32)),
        ("cubin", GPUTarget("cuda", 90, 32)),
        ("hsaco", GPUTarget("hip", "gfx942", 64)),
        *(("so", GPUTarget(name, "x86-64", 0)) for name in HERE),
    ]
]


def compiled(text: str, target: GPUTarget, directory: Path) -> Any:
    """Compiles the kernel of a file with this text; the file's path is always the same."""
    path = directory / "observed.py"
    path.write_text(text)
    os.utime(path, (10**9, 10**9))  # ptxas writes time and size into the line table
    spec = importlib.util.spec_from_file_location("observed", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    exec(compile(text, str(path), "exec"), module.__dict__)  # not from the file's bytecode
    kinds = {"x": "*fp32", "y": "*fp32", "n": "i32", "N": "constexpr"}
    linecache.clearcache()  # which knows a file by its size and time
    return triton.compile(ASTSource(module.kernel, kinds, {"N": 128}), target=target)


def without_probes(text: str) -> str:
    """Returns the text with `pass` for each probe, `if True` for each region, and as many characters."""
    probes = re.compile(r"probe\.(?:count|record|check|minmax|stats|histogram)\(.*\)$", re.MULTILINE)
    plain, n = probes.subn(lambda match: "pass".ljust(len(match[0])), text)
    assert n == 11
    plain, n = re.subn(r"with probe\.region\(.*\):$", lambda match: "if True:".ljust(len(match[0])), plain, flags=re.M)
    assert n == 2
    return plain


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "target"), EVERY)
def test_the_binary_is_the_same(kind: str, target: GPUTarget, tmp_path: Path) -> None:
    observed = compiled(KERNEL, target, tmp_path).asm
    plain = compiled(without_probes(KERNEL), target, tmp_path).asm
    assert observed["source"] != plain["source"]
    assert observed[kind] == plain[kind]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "target"), EVERY)
def test_the_binary_differs_in_a_session(kind: str, target: GPUTarget, tmp_path: Path) -> None:
    """The comparison above can fail: with the passes of a session, the binary is another one."""
    plain = compiled(without_probes(KERNEL), target, tmp_path)
    with probe.pipeline():
        observed = compiled(KERNEL, target, tmp_path)
        same = compiled(without_probes(KERNEL), target, tmp_path)
    assert observed.asm[kind] != plain.asm[kind]
    assert observed.metadata.profile_scratch_size == 1024
    # A session makes the library of a CPU from its assembly, which gives other line tables.
    text = "asm" if kind == "so" else kind
    assert same.asm[text] == plain.asm[text]
    assert plain.metadata.profile_scratch_size == 0
