# SPDX-License-Identifier: Apache-2.0
"""Files, processes and texts, for all other packages; independent of Triton."""
