# SPDX-License-Identifier: Apache-2.0
"""What enters cache keys: descriptions of Python functions, and what these read from outside of the program."""
