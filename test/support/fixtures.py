# SPDX-License-Identifier: Apache-2.0
"""Fixtures for tests in several directories; the root's conftest.py loads them. A test asks for one by its name.

They import what they need when a test asks for them, because pytest imports this module in every run.
"""

from __future__ import annotations

import pytest


@pytest.fixture
def on_native_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels run on this machine's processor, here and in processes that the test starts."""
    from triton.runtime import driver

    from support.probe.native import native_backend

    monkeypatch.setenv("TRITON_DEFAULT_BACKEND", native_backend())
    monkeypatch.setattr(driver, "_active", None)


@pytest.fixture
def on_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels run on the CPU backend in this process; the test is skipped in a checkout without it."""
    from triton.runtime import driver

    monkeypatch.setattr(driver, "_active", pytest.importorskip("triton_ext.backends.cpu.driver").CPUDriver())


@pytest.fixture
def without_ptxas(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ends compilations for NVIDIA after the PTX, for tests that look at no more; ptxas takes a quarter of the time."""
    from triton.backends.nvidia.compiler import CUDABackend

    monkeypatch.setattr(CUDABackend, "make_cubin", lambda *_: b"")
