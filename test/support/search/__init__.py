# SPDX-License-Identifier: Apache-2.0
"""Kernels for searches, with passes that help, break results, crash or hang."""
