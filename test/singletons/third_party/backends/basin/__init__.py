# SPDX-License-Identifier: Apache-2.0
"""A backend of which the tests need the libraries alone; its pass is run by triton-ext-opt."""
