# SPDX-License-Identifier: Apache-2.0
"""The subcommands of ``triton-ext`` that this backend adds."""
