# SPDX-License-Identifier: Apache-2.0
"""``triton_ext.record``: what `tx.describe` and `tx.trace` return, as the reference names it."""

from .compilation.records import Compilation
from .pipeline.records import PassRecord, StageRecord

__all__ = ["Compilation", "PassRecord", "StageRecord"]
