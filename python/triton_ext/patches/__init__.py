# SPDX-License-Identifier: Apache-2.0
"""Everything in Triton that this package replaces or wraps."""
