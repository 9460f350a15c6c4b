# SPDX-License-Identifier: Apache-2.0
"""Nothing is launched: the driver that is never active."""

from triton_ext.startup.driver import NoDriver

__all__ = ["NoDriver"]
