# SPDX-License-Identifier: Apache-2.0
"""`instrument` leaves Triton's software pipeline alone: as many asynchronous copies in the PTX as without it. Without a
session, the binary is the same."""

from __future__ import annotations

import pytest
from triton.backends.compiler import GPUTarget

import triton_ext as tx
from triton_ext import probe
from triton_ext.demo import compile_matmul

RULES = ["bytes", "calls", "loops", "masked", "regions", "nan"]


def compiled(arch: int, *rules: str) -> tuple[int, bool]:
    """Compiles a matrix product with masks in its loop; returns its asynchronous copies and whether it has probes."""
    with (
        probe.pipeline(),
        tx.Pipeline().at_end("ttir", tx.passes.ttir.instrument(**dict.fromkeys(rules, True))),
    ):
        kernel = compile_matmul(GPUTarget("cuda", arch, 32))
    return kernel.asm["ptx"].count("cp.async.c"), kernel.metadata.profile_scratch_size > 0


@pytest.mark.slow
@pytest.mark.usefixtures("without_ptxas")
@pytest.mark.parametrize("arch", [80, 90])
def test_the_copies_stay(arch: int) -> None:
    plain, has_probes = compiled(arch)
    assert plain >= 6
    assert not has_probes
    assert [compiled(arch, rule) for rule in RULES] == [(plain, True)] * len(RULES)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "target"), [("cubin", GPUTarget("cuda", 90, 32)), ("hsaco", GPUTarget("hip", "gfx942", 64))]
)
def test_without_a_session_the_binary_is_the_same(kind: str, target: GPUTarget) -> None:
    plain = compile_matmul(target).asm[kind]
    instrumented = tx.Pipeline().at_end("ttir", tx.passes.ttir.instrument(**dict.fromkeys(RULES, True)))
    with instrumented:
        assert compile_matmul(target).asm[kind] == plain
    with probe.pipeline(), instrumented:
        assert compile_matmul(target).asm[kind] != plain
