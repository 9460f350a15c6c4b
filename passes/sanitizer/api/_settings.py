# SPDX-License-Identifier: Apache-2.0
"""The text of ``TRITON_EXT_SANITIZE``: how a program is checked that does not call `tx.sanitize`."""

from __future__ import annotations

from dataclasses import dataclass

from triton_ext.errors import TritonExtError

from ._names import ACTIONS, DEFAULT, checked_names

VARIABLE = "TRITON_EXT_SANITIZE"


@dataclass(frozen=True)
class Settings:
    """The settings by which a program is checked.

    Attributes:
        checks: the names of the checks.
        action: what becomes of an access out of bounds.
        raises: whether a failed check becomes an exception.
        output: the file that each process writes its report to, as ``Report.write`` does, where ``%p`` stands for the
            number of the process; empty to print the report to standard error when the process ends.
    """

    checks: tuple[str, ...] = DEFAULT
    action: str = "report"
    raises: bool = False
    output: str = ""

    def text(self) -> str:
        """Returns the settings as the text that `parse` reads."""
        parts = [*self.checks, f"action={self.action}", *(["raise"] if self.raises else [])]
        return ",".join([*parts, *([f"output={self.output}"] if self.output else [])])


def parse(text: str) -> Settings:
    """Returns the settings that `text` gives: names with commas between them.

    A name is that of a check, ``all``, ``1`` for the usual ones, ``raise``, ``action=…`` or, as the last one,
    ``output=…``.

    Raises:
        TritonExtError: a name is not one of these.
    """
    head, _, output = text.partition("output=")
    names = [name.strip() for name in head.split(",") if name.strip()]
    action = next((name.removeprefix("action=") for name in names if name.startswith("action=")), "report")
    if action not in ACTIONS:
        raise TritonExtError(f"{VARIABLE}: there is no action '{action}', there are: {', '.join(ACTIONS)}")
    checks = [name for name in names if name not in ("raise", "1") and not name.startswith("action=")]
    return Settings(checked_names(checks) if checks else DEFAULT, action, "raise" in names, output.strip())
