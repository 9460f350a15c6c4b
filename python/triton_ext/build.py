# SPDX-License-Identifier: Apache-2.0
"""``triton_ext.build``: builds extensions from a program, as ``triton-ext build`` does; see `authoring.build`."""

from .authoring.build import build_tree, default_build_dir

__all__ = ["build_tree", "default_build_dir"]
