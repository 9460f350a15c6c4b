# SPDX-License-Identifier: Apache-2.0
"""Files, processes and texts: what every other package stands on, and what knows nothing of Triton."""
