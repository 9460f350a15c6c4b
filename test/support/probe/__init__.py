# SPDX-License-Identifier: Apache-2.0
"""Kernels with probes, and what NumPy says that the probes see: the same for compiled and interpreted kernels."""
