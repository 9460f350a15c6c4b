# SPDX-License-Identifier: Apache-2.0
"""The types of fixtures that are functions."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

#: Builds parts of the ABI self-test and returns the library; see test/doctor/conftest.py.
BuildSelfTest = Callable[..., Path]
#: Returns the directory of a name, which a function has filled, once in a run of the tests; see the root's conftest.py.
MakeOnce = Callable[[str, Callable[[Path], object]], Path]
#: Compiles a plugin and returns the library; see test/loader/conftest.py.
MakePlugin = Callable[..., Path]
#: Runs code or a module in a fresh Python; see test/loader/conftest.py.
RunPython = Callable[..., subprocess.CompletedProcess[str]]
