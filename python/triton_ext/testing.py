# SPDX-License-Identifier: Apache-2.0
"""``triton_ext.testing``: the functions that the ``lit.cfg.py`` of a source tree calls; see `authoring.testing`."""

from .authoring.testing import LIT_SUFFIXES, configure_lit

__all__ = ["LIT_SUFFIXES", "configure_lit"]
