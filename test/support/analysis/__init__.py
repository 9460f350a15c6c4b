# SPDX-License-Identifier: Apache-2.0
"""Random programs on integers, the claims of the analyses about their values, and unsound rules to be noticed."""
