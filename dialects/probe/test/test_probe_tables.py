# SPDX-License-Identifier: Apache-2.0
"""What a session has seen, as tables of pandas and Arrow."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl

import triton_ext as tx
from triton_ext import probe
from triton_ext.errors import TritonExtError

pytestmark = pytest.mark.keeps_kernels


@triton.jit
def observed(x, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    probe.record("lanes", v, v > 0, i.to(tl.uint8), v.to(tl.float16))
    probe.record("program", tl.program_id(0))
    with probe.region("store"):
        tl.store(x + i, v / v)


@pytest.fixture
def session(on_native_backend: None, monkeypatch: pytest.MonkeyPatch) -> probe.Session:
    """A session with records, regions, counts by line and a NaN."""
    with probe.session() as s, tx.Pipeline().at_end("ttir", tx.passes.ttir.instrument(bytes=True, nan=True)):
        observed[(2,)](np.arange(-3, 13, dtype=np.float32), N=16)
    return s


TABLES = ("records", "regions", "lines", "nans")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["pandas", "arrow"])
def test_a_table_has_the_columns_of_the_array(kind: str, session: probe.Session) -> None:
    module = pytest.importorskip({"pandas": "pandas", "arrow": "pyarrow"}[kind])
    for name in TABLES:
        array = getattr(session, name)()
        table = getattr(session, name)(as_=kind)
        assert isinstance(table, module.DataFrame if kind == "pandas" else module.Table)
        names = list(table.columns) if kind == "pandas" else table.column_names
        assert names == list(array.dtype.names), name
        assert len(table) == len(array) > 0
        for column in names:
            found = np.asarray(table[column])
            np.testing.assert_array_equal(found.astype(array[column].dtype), array[column], strict=True)
            if array[column].dtype.kind != "U":
                assert found.dtype == array[column].dtype, column
    rows = session.records("lanes", coordinates=True, as_=kind)
    np.testing.assert_array_equal(np.asarray(rows["i0"]), np.asarray(rows["v2"]))


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "package"), [("pandas", "pandas"), ("arrow", "pyarrow")])
def test_without_the_package(kind: str, package: str, session: probe.Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    for name in TABLES:
        method: Any = getattr(session, name)
        says = rf"as_='{kind}': {package} is not installed \(fix: pip install {package}\)"
        with pytest.raises(TritonExtError, match=says):
            method(as_=kind)


@pytest.mark.slow
def test_another_kind(session: probe.Session) -> None:
    with pytest.raises(TritonExtError, match=r"as_ is 'polars' \(fix: one of numpy, pandas, arrow\)"):
        session.records(as_="polars")
