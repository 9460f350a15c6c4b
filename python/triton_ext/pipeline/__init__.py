# SPDX-License-Identifier: Apache-2.0
"""Pipelines: their edits, how they are written, which are active, and how a compilation runs with them."""
