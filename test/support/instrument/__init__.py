# SPDX-License-Identifier: Apache-2.0
"""Kernels for the pass `instrument`, and what NumPy says that it counts."""
