# SPDX-License-Identifier: Apache-2.0
"""``triton_ext.edits.Anchor``: the name by which the reference pages link the class."""

from .pipeline.anchors import Anchor

__all__ = ["Anchor"]
