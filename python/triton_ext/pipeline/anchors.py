# SPDX-License-Identifier: Apache-2.0
"""`Anchor`: a place in a pipeline, given by the name of a pass."""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass
from typing import Literal

from ..errors import PipelineError
from ..support.shown import shown

_ANCHOR = re.compile(r"(?:(?P<stage>\w+):)?(?P<name>[\w.*?-]+)(?:#(?P<ordinal>[1-9]\d*|last))?")
_MOST_DIGITS = 9  # of an ordinal


@dataclass(frozen=True)
class Anchor:
    """A place in a pipeline: the passes of a backend that have a name.

    A name matches if its components are the last ones of ``group.pass``. So ``pipeline`` and ``ttgpuir.pipeline`` match
    ``ttgpuir.pipeline`` and ``amd.ttgpuir.pipeline``. ``*`` and ``?`` match as in file names.

    Attributes:
        name: e.g. ``ttgpuir.coalesce``, ``nvidia.*`` or ``canonicalizer``.
        ordinal: selects one of the matches in a stage: a number from 1, or ``last``; None selects all.
        stage: the only stage in which the anchor is looked for; None for every stage.
    """

    name: str
    ordinal: int | Literal["last"] | None = None
    stage: str | None = None

    @classmethod
    def parse(cls, text: str) -> Anchor:
        """Returns the anchor that is written as ``[stage:]name[#n|#last]``.

        Raises:
            PipelineError: `text` does not have this form.
        """
        match = _ANCHOR.fullmatch(text) if isinstance(text, str) else None
        if match is None:
            raise PipelineError(f"{shown(text)} is not an anchor, expected '[stage:]group.pass[#n|#last]'")
        ordinal = match["ordinal"]
        if ordinal and len(ordinal) > _MOST_DIGITS:
            raise PipelineError(f"an anchor with an ordinal of {len(ordinal):,} digits: no stage has so many passes")
        number = int(ordinal) if ordinal and ordinal != "last" else None
        return cls(match["name"], "last" if ordinal == "last" else number, match["stage"])

    def matches(self, name: str) -> bool:
        """Whether the anchor's name matches the pass `name`; the ordinal does not count."""
        parts = name.split(".")
        return any(fnmatch.fnmatchcase(".".join(parts[i:]), self.name) for i in range(len(parts)))

    def covers(self, other: Anchor) -> bool:
        """Whether this anchor matches every pass that `other` matches, in any list of passes."""
        if self.stage not in (None, other.stage):
            return False
        if self.ordinal is not None:  # the pass that an ordinal selects depends on the list of passes
            return (self.name, self.ordinal) == (other.name, other.ordinal)
        # `other.name` may be a pattern, too. Match it as if it were a name: a `*` of ours that takes its `*` or `?` as
        # a character also takes all that they stand for. A `?` of ours would not: `a?` matches `a*`, but not `abc`.
        return self.name == other.name or ("?" not in self.name and self.matches(other.name))

    def __str__(self) -> str:
        return self.name + (f"#{self.ordinal}" if self.ordinal else "")
