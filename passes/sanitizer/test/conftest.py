# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests in this folder."""

from support.sanitizer.looking import decides, ways_to_look
from support.sanitizer.mutations import libraries

__all__ = ["decides", "libraries", "ways_to_look"]
