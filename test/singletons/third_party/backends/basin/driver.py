# SPDX-License-Identifier: Apache-2.0
"""Launches nothing."""
