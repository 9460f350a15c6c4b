# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests in this folder."""

from support.sdk.signing import signer
from support.sdk.world import server, world

__all__ = ["server", "signer", "world"]
