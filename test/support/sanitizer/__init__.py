# SPDX-License-Identifier: Apache-2.0
"""What the tests of `passes/sanitizer` have in common: the corpus's cases, and an oracle that says what is wrong with a
launch.
"""
