# SPDX-License-Identifier: Apache-2.0
"""Triton kernels on x86-64 CPUs: ``kernel[grid](...)`` with torch CPU tensors or NumPy arrays.

The backend is active on a machine without a GPU, with ``TRITON_DEFAULT_BACKEND=cpu``, and after `activate`.
"""

from __future__ import annotations

__all__ = ["activate", "deactivate"]


def activate() -> None:
    """Runs the kernels of this process on the CPU, even if there is a GPU."""
    from triton.runtime import driver

    from .driver import CPUDriver

    if not isinstance(driver._active, CPUDriver):
        driver.set_active(CPUDriver())


def deactivate() -> None:
    """Makes Triton choose its driver again at the next launch."""
    from triton_ext.patches.driver_choice import choose_driver_again

    choose_driver_again()
