# SPDX-License-Identifier: Apache-2.0
"""Kernels that run through linalg and stock MLIR, random kernels, and the page of operations that convert."""
