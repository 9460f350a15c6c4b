# SPDX-License-Identifier: Apache-2.0
"""What `tx.intensity` says is what `instrument` counts while the kernels run on this machine's processor."""

from __future__ import annotations

import random

import pytest
import triton

import triton_ext as tx
from support.intensity import compare
from support.intensity.kernels import Case, cases
from support.probe.native import native_backend

torch = pytest.importorskip("torch")


def bytes_of(case: Case, rng: random.Random) -> dict[str, int]:
    """Launches the kernel with probes, and returns the bytes that it has loaded and stored."""
    from triton_ext import probe

    tensors = {}
    for name, kind in case.pointers.items():
        numbers = [rng.randint(0, 20) for _ in range(20_000)]
        tensors[name] = torch.tensor(numbers, dtype=torch.int32 if kind == "*i32" else torch.float32)
    with probe.session() as session, tx.Pipeline().at_end("ttir", tx.passes.ttir.instrument(bytes=True)):
        case.kernel[case.grid](**tensors, **case.sizes)
    rows = session.lines()
    loaded, stored, atomic = (int(rows[name].sum()) for name in ("loaded", "stored", "atomic"))
    return {"loads": loaded + atomic, "stores": stored + atomic}


@pytest.mark.slow
def test_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    if not {"instrument", "probe"} <= {one.name for one in tx.extensions()}:
        pytest.skip("this checkout does not have the passes that count")  # any of their directories may be deleted
    backend = native_backend()
    monkeypatch.setenv("TRITON_DEFAULT_BACKEND", backend)
    monkeypatch.setattr(triton.runtime.driver, "_active", None)
    rng = random.Random(3)
    marks = {"exact": 0, "upper bound": 0, "unknown": 0}
    for case in cases(11, 1):
        truth = bytes_of(case, rng)
        constexprs = {name: n for name, n in case.sizes.items() if name.isupper() and name not in "MNK"}
        integers = {name: "i32" for name in case.sizes if name not in constexprs}
        found = tx.intensity(
            case.kernel, signature={**case.pointers, **integers, **constexprs}, target=f"{backend}:native"
        )
        values = {name: case.sizes[name] for name in integers}
        for what, amount in (("loads", found.loads), ("stores", found.stores)):
            number = amount(grid=case.grid, **values)
            marks[number.mark] += 1
            compare.check(f"{case} {what}", number, truth[what])
    assert marks["exact"] >= 30
    assert marks["upper bound"] == 3
