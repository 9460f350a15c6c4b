# SPDX-License-Identifier: Apache-2.0
"""Kernels, functions as passes and a driver without a GPU, for the tests of pipelines."""
