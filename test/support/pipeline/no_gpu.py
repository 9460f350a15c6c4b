# SPDX-License-Identifier: Apache-2.0
"""A driver that stands in for a GPU up to the launch."""

from __future__ import annotations

from triton.backends.compiler import GPUTarget


class NoGpu:
    """Has the part of a Triton driver that a compilation through ``kernel[grid]`` needs."""

    def __init__(self, target: GPUTarget) -> None:
        self.target = target

    def get_current_target(self) -> GPUTarget:
        return self.target

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: int) -> int:
        return 0
