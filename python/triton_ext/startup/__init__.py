# SPDX-License-Identifier: Apache-2.0
"""Applies ``TRITON_EXT_PIPELINE`` and offers ``passes.plugin.add_*`` when Triton is imported, to programs as they are.

Triton imports what the entry-point group ``triton.backends`` names, and asks each for a compiler and a driver. This one
has a compiler that supports no target and a driver that is never active.
"""
