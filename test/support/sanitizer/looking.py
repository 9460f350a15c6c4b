# SPDX-License-Identifier: Apache-2.0
"""Makes each launch run the kernel that looks at the shadow for `uninit`, also where the host knows what it finds."""

from __future__ import annotations

import pytest
from triton_ext.sanitize import _bytes, _init, _looks, _shadows


def always_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has the host know nothing of what is written."""
    monkeypatch.setattr(_init.Init, "known", lambda *_: _bytes.NONE)
    monkeypatch.setattr(_init.Init, "is_known", lambda *_: False)
    monkeypatch.setattr(_shadows.Shadows, "_understands", lambda *_: False)
    monkeypatch.setattr(_shadows.Shadows, "_is_known", lambda *_: False)


@pytest.fixture(params=["called", "in_kernels"])
def ways_to_look(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a CPU, looks at shadows are calls of the runtime, or code of the kernel, as on a GPU."""
    monkeypatch.setattr(_looks, "CALLS", request.param == "called")


@pytest.fixture(params=["host", "looks"])
def decides(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The host knows what is written, or kernels look at each byte."""
    if request.param == "looks":
        always_look(monkeypatch)
