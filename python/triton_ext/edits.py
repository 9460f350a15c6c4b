# SPDX-License-Identifier: Apache-2.0
"""``triton_ext.edits.Anchor``, as the reference names it."""

from .pipeline.anchors import Anchor

__all__ = ["Anchor"]
