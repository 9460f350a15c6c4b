# SPDX-License-Identifier: Apache-2.0
"""Random loops, an interpreter for them, and bugs of the pass that the tests must notice."""
