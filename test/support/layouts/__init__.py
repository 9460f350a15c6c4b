# SPDX-License-Identifier: Apache-2.0
"""Random layouts, and what the tests compare Triton's answers with."""
