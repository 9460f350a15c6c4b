# SPDX-License-Identifier: Apache-2.0
"""The target ``linalg:generic``: lowers Triton kernels to linalg on tensors, for other toolchains."""
