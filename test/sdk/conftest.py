# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests in this folder."""

from sdk_signing import signer
from sdk_world import server, world

__all__ = ["server", "signer", "world"]
