# SPDX-License-Identifier: Apache-2.0
"""``triton_ext.record``: the classes that `tx.describe` and `tx.trace` return; the reference pages link them here."""

from .compilation.records import Compilation
from .pipeline.records import PassRecord, StageRecord

__all__ = ["Compilation", "PassRecord", "StageRecord"]
