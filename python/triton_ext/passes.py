# SPDX-License-Identifier: Apache-2.0
"""``tx.passes.<stage>.<name>(**options)``: extension passes as typed Python values.

The module has one attribute for each stage. ``any`` has the passes that take the modules of every stage; each stage has
them, too. ``plugin`` has the passes of plugins that are not built with triton-ext.
"""

from __future__ import annotations

from .errors import ExtensionNotFoundError
from .loading.discovery import extensions, find_pass
from .pipeline.extension_passes import ANY, STAGES, PassFactory


class StagePasses:
    """The passes that extensions offer for one stage, as attributes."""

    def __init__(self, stage: str) -> None:
        self._stage = stage

    def __getattr__(self, name: str) -> PassFactory:
        if name.startswith("__"):
            raise AttributeError(name)
        return PassFactory(find_pass(name, self._stage), name, self._stage)

    def __dir__(self) -> list[str]:
        return sorted(
            name
            for e in extensions()
            if e.plugin and not e.problem and e.is_for(self._stage)
            for name in e.plugin.passes
        )

    def __repr__(self) -> str:
        return f"<passes for stage {self._stage}: {', '.join(dir(self)) or 'none'}>"


def __getattr__(stage: str) -> StagePasses:
    if stage.startswith("__"):
        raise AttributeError(stage)
    if stage not in __dir__():
        raise ExtensionNotFoundError(f"no stage '{stage}'; there is: {', '.join(__dir__())}")
    return StagePasses(stage)


def __dir__() -> list[str]:
    return [*STAGES, ANY, "plugin"]
