# SPDX-License-Identifier: Apache-2.0
"""The plugin that pytest loads by its entry point: brings the plugins of extensions.

It imports neither Triton nor any library: most runs of pytest do not need them.
"""

from __future__ import annotations

from typing import Any

from . import backends


def pytest_addoption(parser: object, pluginmanager: Any) -> None:  # noqa: ARG001
    """Registers the plugins of extensions, whose options pytest then adds."""
    for file in backends.pytest_plugins():
        name = f"triton_ext_pytest_{file.parent.parent.name}"
        if not pluginmanager.has_plugin(name):
            pluginmanager.register(backends.import_file(file, name), name)
