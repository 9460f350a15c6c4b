# SPDX-License-Identifier: Apache-2.0
"""What the tests of ``triton-ext mcp`` share."""
