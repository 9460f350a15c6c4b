# SPDX-License-Identifier: Apache-2.0
"""``tx.target.active`` refuses targets that cannot run kernels, and leaves the process as it was."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from triton.backends import backends
from triton.backends.driver import DriverBase
from triton.runtime import driver

import triton_ext as tx


class NoDevice(DriverBase):
    """A driver that, as Triton's, fails where its device is missing."""

    def __init__(self) -> None:
        raise AssertionError("libdevice.so cannot be found!\nInstall it.")

    is_active = classmethod(lambda cls: False)
    map_python_to_cpp_type = get_current_target = get_active_torch_device = get_benchmarker = None


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("linalg", r"the target 'linalg' compiles kernels and does not run them \(fix: triton-ext list\)"),
        ("sick", r"the target 'sick' cannot run kernels on this machine: libdevice.so cannot be found!$"),
        ("cpuu", r"no target 'cpuu'; did you mean 'cpu'\?"),
        (3, "expected the name of a target, got 3"),
    ],
)
def test_a_target_that_cannot_run_kernels(name: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(backends, "sick", SimpleNamespace(driver=NoDevice))
    before = driver.active
    for choose in (tx.target.activate, lambda name: tx.target.active(name).__enter__()):
        with pytest.raises(tx.TritonExtError, match=message):
            choose(name)
        assert driver.active is before


def test_a_driver_may_look_for_its_device_first(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    class Looker(DriverBase):
        """A driver that has to look before it is made, as Triton's for NVIDIA where PyTorch is not loaded."""

        def __init__(self) -> None:
            calls.append("made")

        is_active = classmethod(lambda cls: calls.append("looked"))
        map_python_to_cpp_type = get_current_target = get_active_torch_device = get_benchmarker = None

    monkeypatch.setitem(backends, "looker", SimpleNamespace(driver=Looker))
    with tx.target.active("looker"):
        assert calls == ["looked", "made"]
