# SPDX-License-Identifier: Apache-2.0
"""Probes in a kernel with ``num_ctas > 1``, whose programs would not find the buffer, are refused by the compiler."""

from __future__ import annotations

import re
from typing import Any

import pytest
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from support.probe import observations
from triton_ext import probe
from triton_ext.errors import PipelineError


@triton.jit
def without_probes(N: tl.constexpr):
    tl.device_assert(tl.sum(tl.arange(0, N)) > 0)


def compiled(kernel: Any, num_ctas: int) -> Any:
    source = ASTSource(kernel, {"N": "constexpr"}, {"N": 16})
    return triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_ctas": num_ctas})


def test_the_error_has_the_line_of_the_probe() -> None:
    place = f"{observations.__file__}:{observations.offering.fn.__code__.co_firstlineno + 3}"
    message = f"{place}: the probe record 'three' is in the kernel 'offering', which is compiled with num_ctas=2; "
    with probe.pipeline(), pytest.raises(PipelineError, match=f"^{re.escape(message)}expected num_ctas=1 .fix: .*$"):
        compiled(observations.offering, 2)


@pytest.mark.slow
def test_other_kernels_are_not_refused() -> None:
    with probe.pipeline():
        assert compiled(observations.offering, 1).metadata.profile_scratch_size > 0
        assert compiled(without_probes, 2).metadata.num_ctas == 2
    assert compiled(observations.offering, 2).metadata.num_ctas == 2
