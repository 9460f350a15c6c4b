# SPDX-License-Identifier: Apache-2.0
"""What tests import beside triton_ext.

A module here serves tests in several directories; a package serves the directory of tests with its name. Pytest finds
it because ``pyproject.toml`` puts `test` on the path. A process that a test starts does not inherit this: it gets
`environment`, and the program of such a process imports ``support``, too.
"""

from __future__ import annotations

import os
from pathlib import Path

#: The checkout.
ROOT = Path(__file__).resolve().parents[2]
#: The directory of what Python imports at its start in the processes of the tests.
SITE = str(ROOT / "test" / "support" / "site")
#: The directory that contains this package.
PATH = str(ROOT / "test")
#: What PYTHONPATH is in other processes.
PYTHONPATH = os.pathsep.join([PATH, SITE])


def path(*directories: str | Path) -> str:
    """Returns PYTHONPATH for a process that finds the modules in `directories` and starts fast, as `SITE` makes it."""
    return os.pathsep.join([SITE, *map(str, directories)])


def environment(**variables: str) -> dict[str, str]:
    """Returns this process's environment with `variables`, in which Python finds this package."""
    return {**os.environ, "PYTHONPATH": PYTHONPATH, **variables}
