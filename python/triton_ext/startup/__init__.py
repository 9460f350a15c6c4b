# SPDX-License-Identifier: Apache-2.0
"""Applies ``TRITON_EXT_PIPELINE``, offers ``passes.plugin.add_*`` and our targets when a program imports Triton.

Triton imports the packages of the entry-point group ``triton.backends``, and takes a compiler and a driver from each.
This package has a compiler that supports no target and a driver that is never active.
"""
