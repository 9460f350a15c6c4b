# SPDX-License-Identifier: Apache-2.0
"""If a pass fails in a stage of the CPU backend, the error gives the reason, also without a pipeline."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler import make_backend

#: A module that becomes invalid when its number of warps changes.
TTGIR = """
#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%x: !tt.ptr<i32>) {
    %0 = tt.splat %x : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, #blocked>
    %1 = tt.load %0 : tensor<128x!tt.ptr<i32>, #blocked>
    tt.store %0, %1 : tensor<128x!tt.ptr<i32>, #blocked>
    tt.return
  }
}
"""


def _make_ttir(target: GPUTarget) -> Callable[[Any], Any]:
    backend = make_backend(target)
    return lambda module: backend.make_ttir(module, {}, backend.parse_options({}), target.arch)


def _make_llir() -> Callable[[Any], Any]:
    backend = make_backend(GPUTarget("cpu", "x86-64", 0))
    return lambda module: backend.make_llir(module, {}, backend.parse_options({}))


STAGES: dict[str, Callable[[], Callable[[Any], Any]]] = {
    "cpu: make_ttir": lambda: _make_ttir(GPUTarget("cpu", "x86-64", 0)),
    "cpu: make_llir": _make_llir,
    "linalg: make_ttir": lambda: _make_ttir(GPUTarget("linalg", "generic", 1)),
}


@pytest.mark.parametrize("stage", STAGES)
def test_a_failure_says_why(stage: str, tmp_path: Path) -> None:
    file = tmp_path / "kernel.ttgir"
    file.write_text(TTGIR)
    context = ir.context()
    ir.load_dialects(context)
    module = ir.parse_mlir_module(str(file), context)
    module.context = context
    module.set_attr("ttg.num-warps", ir.builder(context).get_int32_attr(3))
    run = STAGES[stage]()
    with pytest.raises(RuntimeError) as error:
        run(module)
    assert f"failed in {stage.partition(': ')[2]}: " in str(error.value)
    assert "Layout has 4 warps per CTA, but the context requires 3 warps per CTA" in str(error.value)
