# SPDX-License-Identifier: Apache-2.0
"""A stand-in for a device, and kernels that are tuned on it."""
