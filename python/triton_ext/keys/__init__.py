# SPDX-License-Identifier: Apache-2.0
"""Makes cache keys of Python functions: describes what they do, and refuses what they read outside of the program."""
