# SPDX-License-Identifier: Apache-2.0
"""``triton-ext-opt`` and ``tx.opt`` load the dialect of a layout that only an option of a pass names."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from triton_ext.loading.discovery import extensions

LAYOUT = "#layout_ext.warp_tile<{tile = [32, 32], vec = 4, order = [1, 0], warps = [2, 2], lanes = 32}>"
MODULE = """
#b = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"} {
  tt.func @f(%p: tensor<32x32x!tt.ptr<f32>, #b>) {
    %0 = tt.load %p : tensor<32x32x!tt.ptr<f32>, #b>
    tt.store %p, %0 : tensor<32x32x!tt.ptr<f32>, #b>
    tt.return
  }
}
"""


@pytest.mark.slow
@pytest.mark.skipif(all(e.name != "assign_layout" for e in extensions()), reason="needs passes/assign_layout")
def test_the_option_of_a_pass(tmp_path: Path) -> None:
    (tmp_path / "module.ttgir").write_text(MODULE)
    program = Path(sys.executable).with_name("triton-ext-opt")
    option = f'-triton-ext-assign-layout=kind=load layout="{LAYOUT}"'
    done = subprocess.run([program, tmp_path / "module.ttgir", option], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert f"#warp_tile = {LAYOUT}" in done.stdout


@pytest.mark.slow
@pytest.mark.skipif(all(e.name != "assign_layout" for e in extensions()), reason="needs passes/assign_layout")
def test_the_option_of_a_pass_of_opt() -> None:
    call = f"tx.opt({MODULE!r}, 'triton-ext-assign-layout{{kind=load layout=\"{LAYOUT}\"}}')"
    # Twice: what is registered already is not registered again. In a process of its own, which has no dialect yet.
    program = f"import triton_ext as tx\nassert {call} == {call}\nprint({call})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert f"#warp_tile = {LAYOUT}" in done.stdout
