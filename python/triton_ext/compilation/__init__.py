# SPDX-License-Identifier: Apache-2.0
"""One compilation of one kernel: how it is asked for, what was observed of it, and how that is shown."""
