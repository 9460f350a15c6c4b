# SPDX-License-Identifier: Apache-2.0
"""A driver that is never active."""

from __future__ import annotations

from collections.abc import Callable

from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase


class NoDriver(DriverBase):  # type: ignore[misc]
    """The driver that an entry point of ``triton.backends`` must have."""

    @classmethod
    def is_active(cls) -> bool:
        """Returns False."""
        return False

    def map_python_to_cpp_type(self, ty: str) -> str:  # noqa: D102
        raise NotImplementedError

    def get_current_target(self) -> GPUTarget:  # noqa: D102
        raise NotImplementedError

    def get_active_torch_device(self) -> object:  # noqa: D102
        raise NotImplementedError

    def get_benchmarker(self) -> Callable[..., object]:  # noqa: D102
        raise NotImplementedError
