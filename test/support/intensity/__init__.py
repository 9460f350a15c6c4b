# SPDX-License-Identifier: Apache-2.0
"""What the tests of `passes/intensity` have in common."""
