# SPDX-License-Identifier: Apache-2.0
"""Attacks on triton-ext, a module for each area. `make attack` runs them, test/attack at a small scale."""
