# SPDX-License-Identifier: Apache-2.0
"""A thousand mutations of real kernels' TTIR and TTGIR: the driver neither crashes nor hangs nor prints half a module.

libtriton itself does crash on some: it checks its attributes with assertions, and ``tt.expand_dims`` with an axis out
of range writes beyond a shape. The driver has to turn each such crash into an error; how many there were is reported.
What libtriton does after it has written beyond a shape is up to chance, and an endless loop is possible: only such a
module may reach the limit of CPU time.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

SEEDS, EACH = (1, 2), 500
TARGETS = (("cuda", 90, 32), ("cuda", 80, 32), ("hip", "gfx942", 64))


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Writes TTIR and TTGIR of a matrix product for three targets."""
    from triton.backends.compiler import GPUTarget

    from triton_ext.demo import compile_matmul

    directory = tmp_path_factory.mktemp("kernels")
    paths = []
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("TRITON_CACHE_DIR", str(directory / "cache"))
        for target in TARGETS:
            kernel = compile_matmul(GPUTarget(*target))
            for stage in ("ttir", "ttgir"):
                paths.append(directory / f"matmul_{target[1]}.{stage}")
                paths[-1].write_text(kernel.asm[stage])
    return paths


@pytest.mark.slow
def test_a_thousand_mutations(
    kernels: list[Path], tmp_path: Path, record_property: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    program = Path(__file__).with_name("mutations.py")
    workers = [
        subprocess.Popen(
            [sys.executable, program, tmp_path, str(seed), str(EACH), *kernels], stdout=subprocess.PIPE, text=True
        )
        for seed in SEEDS
    ]
    results = [json.loads(line) for worker in workers for line in worker.communicate(timeout=600)[0].splitlines()]
    assert [worker.returncode for worker in workers] == [0] * len(SEEDS)
    assert len(results) == len(SEEDS) * EACH

    broken = [r for r in results if not _keeps_the_contract(r)]
    assert broken == []
    crashes = [r for r in results if "error: crash while " in r["said"]]
    hangs = [r for r in crashes if "CPU time limit" in r["said"]]
    assert not [r for r in hangs if not _corrupts_libtriton(Path(r["module"]))]
    accepted = sum(r["code"] == 0 for r in results)
    assert accepted > 0.05 * len(results), "hardly any mutation reaches a pass"
    summary = f"{len(results)} mutations: {accepted} accepted, {len(results) - accepted - len(crashes)} refused, "
    summary += f"{len(crashes)} crashes of libtriton caught {dict(Counter(r['mutator'] for r in crashes))}"
    record_property("fuzz", summary)
    with capsys.disabled():
        print(f"\n  {summary}; slowest {max(r['seconds'] for r in results):.2f} s")


def _corrupts_libtriton(module: Path) -> bool:
    """Returns whether a ``tt.expand_dims`` of `module` has an axis that no tensor of the kernels has."""
    axes = re.findall(r"tt\.expand_dims.*?axis = (-?\w+)", module.read_text("latin-1"))
    return any(axis not in ("0", "1", "2") for axis in axes)


def _keeps_the_contract(result: dict[str, Any]) -> bool:
    """Returns whether the driver either succeeded with output, or failed with exit code 1, a message, and no output."""
    if result["code"] == 0:
        return bool(result["output"])
    return result["code"] == 1 and "error:" in result["said"] and not result["output"]
