# SPDX-License-Identifier: Apache-2.0
"""Libraries of extensions: found, described, verified against the installed Triton, and loaded."""
