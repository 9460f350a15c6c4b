# SPDX-License-Identifier: Apache-2.0
"""`Session.plot`: what is in the picture, and its errors."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import triton
import triton.language as tl

from triton_ext import probe
from triton_ext.errors import TritonExtError

pytestmark = pytest.mark.keeps_kernels


@triton.jit
def observed(x, N: tl.constexpr):
    i = tl.arange(0, N)
    for k in range(3):
        with probe.region("turn"):
            v = tl.load(x + i) * (k - 3)
            tl.store(x + i, v)
    probe.histogram("values", tl.load(x + i), 8, -1, 1)


@pytest.fixture
def session(on_native_backend: None, monkeypatch: pytest.MonkeyPatch) -> probe.Session:
    """A session that has seen two regions and a histogram."""
    with probe.session() as s:
        observed[(2,)](np.linspace(-2, 2, 64, dtype=np.float32), N=64)
    return s


@pytest.mark.slow
def test_the_picture_has_the_regions_and_the_histograms(session: probe.Session, tmp_path: Path) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    with matplotlib.rc_context({"svg.fonttype": "none"}):  # text stays text
        session.plot(tmp_path / "seen.svg")
    text = (tmp_path / "seen.svg").read_text()
    line = observed.fn.__code__.co_firstlineno + 4
    assert f"turn  test_probe_plot.py:{line}" in text
    assert "6 of " in text
    histogram = session.histograms()["values"]
    assert f"values ({histogram.below} below, {histogram.above} above, 0 NaNs)" in text
    session.plot(tmp_path / "seen.png")
    assert (tmp_path / "seen.png").read_bytes()[:4] == b"\x89PNG"


@pytest.mark.slow
def test_without_matplotlib(session: probe.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(TritonExtError, match=r"Matplotlib is not installed \(fix: pip install matplotlib\)"):
        session.plot(tmp_path / "seen.svg")


@pytest.mark.slow
def test_nothing_to_draw(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    with pytest.raises(TritonExtError, match="neither a region nor a histogram"):
        probe.session().plot(tmp_path / "seen.svg")
    assert not (tmp_path / "seen.svg").exists()
