# SPDX-License-Identifier: Apache-2.0
"""Makes Triton choose its driver again.

Triton chooses a driver at the first launch and keeps it in ``triton.runtime.driver._active``. ``set_active`` replaces
the driver by another one, and ``reset_active`` by the default driver, which it makes if there is none: without a GPU,
that is an error. Neither makes Triton choose again at the next launch, as it does while the attribute is None.
"""

from __future__ import annotations

from .table import differs, expected


def choose_driver_again() -> None:
    """Makes Triton forget its active driver, so that the next launch chooses one.

    Raises:
        TritonExtError: Triton differs from what the patch expects.
    """
    from triton.runtime import driver

    active = expected("driver_choice", driver, "_active")
    if active is not None and not hasattr(active, "get_current_target"):
        raise differs("driver_choice", f"triton.runtime.driver._active is {type(active).__name__}, expected a driver")
    driver._active = None
