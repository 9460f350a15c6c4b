# SPDX-License-Identifier: Apache-2.0
"""The fixtures of `sdk_world`, for every test in this directory."""

from sdk_world import server, world

__all__ = ["server", "world"]
