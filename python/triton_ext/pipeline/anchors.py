# SPDX-License-Identifier: Apache-2.0
"""`Anchor`: a place in a pipeline, by the names of passes."""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass
from typing import Literal

from ..errors import PipelineError
from ..support.shown import shown

_ANCHOR = re.compile(r"(?:(?P<stage>\w+):)?(?P<name>[\w.*?-]+)(?:#(?P<ordinal>[1-9]\d*|last))?")
#: Of an ordinal.
_MOST_DIGITS = 9


@dataclass(frozen=True)
class Anchor:
    """A place in a pipeline: the passes of a backend by name.

    A name matches where its components are the last ones of ``group.pass``, so ``pipeline`` and ``ttgpuir.pipeline``
    match ``ttgpuir.pipeline`` and ``amd.ttgpuir.pipeline``. ``*`` and ``?`` match as in file names.

    Attributes:
        name: e.g. ``ttgpuir.coalesce``, ``nvidia.*`` or ``canonicalizer``.
        ordinal: which of the matches of a stage is meant, from 1, or ``last``; None means all.
        stage: the one stage in which it is looked for; None means every stage.
    """

    name: str
    ordinal: int | Literal["last"] | None = None
    stage: str | None = None

    @classmethod
    def parse(cls, text: str) -> Anchor:
        """The anchor written as ``[stage:]name[#n|#last]``.

        Raises:
            PipelineError: it is not written like that.
        """
        match = _ANCHOR.fullmatch(text) if isinstance(text, str) else None
        if match is None:
            raise PipelineError(f"{shown(text)} is no anchor, expected '[stage:]group.pass[#n|#last]'")
        ordinal = match["ordinal"]
        if ordinal and len(ordinal) > _MOST_DIGITS:
            raise PipelineError(f"an anchor with an ordinal of {len(ordinal):,} digits: no stage has so many passes")
        number = int(ordinal) if ordinal and ordinal != "last" else None
        return cls(match["name"], "last" if ordinal == "last" else number, match["stage"])

    def matches(self, name: str) -> bool:
        """Whether the pass `name` is meant, its ordinal left aside."""
        parts = name.split(".")
        return any(fnmatch.fnmatchcase(".".join(parts[i:]), self.name) for i in range(len(parts)))

    def covers(self, other: Anchor) -> bool:
        """Whether it is sure to match every pass that `other` matches, whatever a stage runs."""
        if self.stage not in (None, other.stage):
            return False
        if self.ordinal is not None:  # which one that is depends on the others of the name
            return (self.name, self.ordinal) == (other.name, other.ordinal)
        # `other.name` may itself be a pattern: what takes its `*` for a character takes what that stands for, but `?`
        # stands for one character only.
        return self.name == other.name or ("?" not in self.name and self.matches(other.name))

    def __str__(self) -> str:
        return self.name + (f"#{self.ordinal}" if self.ordinal else "")
