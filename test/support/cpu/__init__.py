# SPDX-License-Identifier: Apache-2.0
"""Helpers for the tests of backends/cpu: programs, wrong rules, and cases to compare with the interpreter."""
