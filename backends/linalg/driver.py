# SPDX-License-Identifier: Apache-2.0
"""The driver of the target, which is never active, because kernels are not launched."""

from triton_ext.startup.driver import NoDriver

__all__ = ["NoDriver"]
