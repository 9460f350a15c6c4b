# SPDX-License-Identifier: Apache-2.0
"""The target ``linalg:generic``: Triton kernels as linalg on tensors, for other toolchains to take from there."""
