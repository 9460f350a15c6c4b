# SPDX-License-Identifier: Apache-2.0
"""Compilations to look at, real and made up."""
