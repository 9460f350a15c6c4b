# SPDX-License-Identifier: Apache-2.0
"""Triton kernels on x86-64 CPUs: ``kernel[grid](...)`` with torch CPU tensors or NumPy arrays.

The backend is active where no GPU is, or with ``TRITON_DEFAULT_BACKEND=cpu``, or after `activate`.
"""

from __future__ import annotations

__all__ = ["activate", "deactivate"]


def activate() -> None:
    """Makes the CPU what kernels run on in this process, also where there is a GPU."""
    from triton.runtime import driver

    from .driver import CPUDriver

    if not isinstance(driver._active, CPUDriver):
        driver.set_active(CPUDriver())


def deactivate() -> None:
    """Goes back to what Triton takes by itself."""
    from triton.runtime import driver

    driver._active = None
