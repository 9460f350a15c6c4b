# SPDX-License-Identifier: Apache-2.0
"""`tx.intensity`: rooflines, their plots, and the model for autotuning."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import triton
import triton.language as tl

import triton_ext as tx
from support.intensity import kernels
from support.intensity.found import found
from triton_ext.errors import TritonExtError


@pytest.mark.slow
def test_rooflines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add = found(kernels.add, BLOCK=1024)
    limit = add.roofline("NVIDIA H200", n=2**20, grid=1024)
    assert limit.limit == "memory"
    assert limit.seconds == pytest.approx(12 * 2**20 / 4.8e12)
    assert limit.fraction(2 * limit.seconds) == pytest.approx(0.5)
    assert "limited by memory" in str(limit)
    matmul = found(kernels.matmul, types=dict.fromkeys("xy", "*bf16"), BM=128, BN=128, BK=16, GROUP=2)
    sizes = {"M": 4096, "N": 4096, "K": 4096, "grid": 32**2}
    limit = matmul.roofline("H200", **sizes)
    assert (limit.limit, limit.unit) == ("compute", "bf16")
    assert limit.seconds == pytest.approx(2 * 4096**3 / 989.4e12)
    assert matmul.roofline("H200", requested=True, **sizes).limit == "memory"
    mine = tx.intensity.Device("mine", 1e9, {"vector": 1e9, "bf16": 4e9})
    assert matmul.roofline(mine, **sizes).seconds == pytest.approx(2 * 4096**3 / 4e9)
    with pytest.raises(TritonExtError, match="peaks of 'H1' are not known, only those of H200, "):
        add.roofline("H1", n=1, grid=1)
    with pytest.raises(TritonExtError, match=r"peak of mine for bf16 is not known.*fix: a Device with flops"):
        matmul.roofline(tx.intensity.Device("mine", 1e9, {"vector": 1e9}), **sizes)
    for name in ("roofline.svg", "roofline.png"):
        matmul.plot(tmp_path / name, mine, measured=[("first", 40.0), ("second", 50.0)], **sizes)
    assert (tmp_path / "roofline.png").read_bytes().startswith(b"\x89PNG")
    text = (tmp_path / "roofline.svg").read_text()
    assert all(label in text for label in ("first: 86%", "second: 69%", "mine bf16: 0.004 TFLOP/s"))
    with pytest.raises(TritonExtError, match=r"an \.svg or a \.png, not '\.pdf'"):
        matmul.plot(tmp_path / "roofline.pdf", mine, **sizes)
    with pytest.raises(TritonExtError, match=r"cannot take 0\.0 seconds"):
        matmul.plot(tmp_path / "roofline.svg", mine, measured=[("first", 0.0)], **sizes)
    with pytest.raises(TritonExtError, match="nothing to draw: add"):
        add.plot(tmp_path / "roofline.svg", mine, n=0, grid=0)
    nothing, point = (one.point(name) for one, name in ((add.roofline(mine, n=0, grid=0), "nothing"), (limit, "point")))
    tx.intensity.plot(tmp_path / "both.svg", [nothing, point])
    assert "nothing: not drawn, no FLOPs or no bytes" in (tmp_path / "both.svg").read_text()
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(TritonExtError, match="fix: pip install matplotlib"):
        matmul.plot(tmp_path / "roofline.svg", mine, **sizes)


@pytest.mark.slow
def test_a_model_for_autotuning() -> None:
    torch = pytest.importorskip("torch")
    tiles = [{"BM": m, "BN": m, "BK": 16, "GROUP": 2} for m in (16, 64, 32)]
    configs = [triton.Config(tile) for tile in tiles]
    model = tx.intensity.perf_model(kernels.matmul, "H200", requested=True, target="cuda:90")
    for tune in (triton.autotune, tx.autotune):
        tuner = tune(configs, key=["M"], prune_configs_by={"perf_model": model, "top_k": 2})(kernels.matmul)
        x = torch.empty(1, dtype=torch.bfloat16)
        tuner.nargs = {"x": x, "y": x, "z": x, "M": 512, "N": 512, "K": 512}
        grid = lambda meta: (triton.cdiv(512, meta["BM"]) * triton.cdiv(512, meta["BN"]),)  # noqa: E731
        kept = tuner.prune_configs({"grid": grid, "warmup": False})
        assert [config.kwargs["BM"] for config in kept] == [64, 32]  # larger tiles request fewer bytes
    whiles = tx.intensity.perf_model(kernels.whiles, "H200", target="cuda:90")
    assert whiles(grid=(1,), x=x, y=x, n=5, B=8) == float("inf")


@triton.jit
def asserting(x, B: tl.constexpr):
    tl.static_assert(B >= 32)
    tl.store(x + tl.arange(0, B), 1.0)


def test_the_model_of_a_configuration_that_the_kernel_rejects() -> None:
    torch = pytest.importorskip("torch")
    model = tx.intensity.perf_model(asserting, "H200", target="cuda:90")
    assert model(grid=(1,), x=torch.empty(1), B=16) == float("inf")
    assert 0 < model(grid=(1,), x=torch.empty(1), B=32) < 1


@triton.jit
def powers(x, B: tl.constexpr):
    tl.store(x + tl.arange(0, B), 1.0)


def test_the_model_of_a_configuration_that_does_not_compile() -> None:
    torch = pytest.importorskip("torch")
    model = tx.intensity.perf_model(powers, "H200", target="cuda:90")
    assert model(grid=(1,), x=torch.empty(1), B=48) == float("inf")  # not a power of two
    assert 0 < model(grid=(1,), x=torch.empty(1), B=64) < 1
