# SPDX-License-Identifier: Apache-2.0
"""`Report`: what a block of `tx.sanitize` has found, as a list, as text, as JSON and as SARIF."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triton_ext.probe._layout import COUNT

from triton_ext.errors import TritonExtError
from triton_ext.support.storage import write_whole

from . import _json, _sarif, _text
from ._finding import Finding
from ._names import found_by
from ._verdicts import KINDS, Verdict

if TYPE_CHECKING:
    from ._shadows import Shadows

FORMATS = ("text", "json", "sarif")
#: The checks that a launch can make needless, and why.
PROVED_AT_LAUNCH = {
    "race": "no two programs of a launch touched the same bytes, one of them writing",
    "uninit": "each tensor was written before the launch",
}


#: The end of what the pass says of accesses by pointers from memory or from integers.
POINTS = "if its pointer points into a tensor of the launch"
#: Why such an access is not supported.
NOWHERE = "a pointer pointed into no tensor of the launch"


class Report:
    """The findings of the checks; `tx.sanitize` returns one.

    It can be read at any time, within its block and behind it. Reading it waits for the devices.
    """

    def __init__(
        self, session: Any, checks: Sequence[str], shadows: Shadows | None = None, overflows: Any = None
    ) -> None:
        """Makes a report.

        Args:
            session: has the records; None if there are none.
            checks: the names of the checks.
            shadows: of the block; None if they are not known.
            overflows: the launches that are decided for ``overflow``, as `Overflows`; None if there are none.
        """
        self._session = session
        self._shadows = shadows
        self._overflows = overflows
        self._checks = tuple(checks)
        self._verdicts: dict[Verdict, None] = {}
        self._last: Iterable[Verdict] | None = None  # the verdicts that were added last
        self._known: list[Finding] = []  # of a report without a session
        self._launched: dict[str, Finding] = {}  # what launches have found
        self._launches_with_findings = 0
        self._lock = threading.Lock()

    @property
    def checks(self) -> tuple[str, ...]:
        """The names of the checks."""
        return self._checks

    @property
    def findings(self) -> list[Finding]:
        """The findings, grouped by line, check and tensor, the one that occurred first before the others."""
        if self._session is None:
            return list(self._known)
        from ._looks import note_firsts
        from ._resolve import findings_of

        seen = self._session._see()
        note_firsts(seen.firsts)
        variables = None if self._overflows is None else self._overflows.variables
        raced = None if self._shadows is None else self._shadows.raced
        found = findings_of(seen, self._session._launches, variables, raced)
        # A kernel that was compiled in another block can have other checks.
        all_found = [*self._launched.values(), *(one for one in found if one.check in found_by(self._checks))]
        return all_found if self._overflows is None else self._overflows.joined(all_found)

    @property
    def accesses(self) -> list[Verdict]:
        """The verdict on each access of the kernels that have run: proved, checked or unsupported."""
        nowhere = self._nowhere()
        own = [
            replace(one, verdict="unsupported", why=NOWHERE) if _place(one) in nowhere else self._at_launches(one)
            for one in self._verdicts
        ]
        return own if self._overflows is None else [*own, *self._overflows.verdicts()]

    def _nowhere(self) -> set[tuple[str, str, int, int]]:
        """Returns the check and the places of accesses of which a pointer pointed into no tensor of the launch."""
        if self._session is None or not any(one.why.endswith(POINTS) for one in self._verdicts):
            return set()
        seen = self._session._see()
        sites = (site for site in seen.lines if site.name == "nowhere" and seen.sum(site, COUNT))
        return {("bounds", site.kernel, site.line, site.column) for site in sites}

    def _at_launches(self, verdict: Verdict) -> Verdict:
        """Returns the verdict after the launches: an access whose tensors never needed a shadow is proved."""
        key = _place(verdict)
        is_open = verdict.verdict == "checked" and verdict.check in PROVED_AT_LAUNCH
        if self._shadows is None or not is_open:
            return verdict
        if key in self._shadows.mixed:
            why = "a launch had elements of several sizes in one storage, or not aligned in it, which have no shadow"
            return replace(verdict, verdict="unsupported", why=why)
        if key in self._shadows.looked:
            return verdict
        return replace(verdict, verdict="proved", why=PROVED_AT_LAUNCH[verdict.check])

    def counts(self) -> dict[str, int]:
        """Returns how many checks of accesses were ``proved``, ``checked`` and ``unsupported``."""
        found = Counter(one.verdict for one in self.accesses)
        return {kind: found[kind] for kind in KINDS}

    def text(self) -> str:
        """Returns the findings with their source lines, and a summary, as lines of text."""
        return _text.report(self.findings, self.accesses)

    __str__ = text

    def json(self) -> str:
        """Returns the findings and the accesses as JSON. The fields are those of `Finding` and `Verdict`."""
        data = {
            "version": 1,
            "checks": self.checks,
            "findings": [asdict(one) for one in self.findings],
            "accesses": [asdict(one) for one in self.accesses],
        }
        return _json.dumps(data)

    def sarif(self) -> str:
        """Returns the findings as a log in SARIF 2.1.0, which code hosts and editors show beside the source."""
        return _sarif.log(self.findings)

    def write(self, path: str | Path, format: str | None = None) -> None:  # noqa: A002 - as in the command
        """Writes the report to a file.

        Args:
            path: the path of the file.
            format: ``text``, ``json`` or ``sarif``; default: what the suffix says, ``.json`` or ``.sarif``, else text.

        Raises:
            TritonExtError: there is no such format, or the file cannot be written.
        """
        path = Path(path)
        format = format or {".json": "json", ".sarif": "sarif"}.get(path.suffix, "text")  # noqa: A001
        if format not in FORMATS:
            raise TritonExtError(f"there is no format '{format}', there are: {', '.join(FORMATS)}")
        content = {"text": self.text, "json": self.json, "sarif": self.sarif}[format]()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, content.encode() if content.endswith("\n") else f"{content}\n".encode())
        except OSError as error:
            raise TritonExtError(f"{path}: {error.strerror}") from error

    def _add_kernel(self, verdicts: Iterable[Verdict]) -> None:
        if self._last is verdicts:  # each launch asks, and most of them are of the kernel before
            return
        own = found_by(self._checks)
        self._verdicts.update(dict.fromkeys(one for one in verdicts if one.check in own))
        self._last = verdicts

    def _add_launch(self, finding: Finding) -> None:
        """Adds what is wrong in a launch."""
        with self._lock:
            self._launches_with_findings += 1
            _merge(self._launched, replace(finding, values={}), finding)

    def _begin_fork(self) -> None:
        """Forgets what the process before the fork has seen."""
        self._verdicts.clear()
        self._last = None
        self._launched.clear()
        self._launches_with_findings = 0


def _place(verdict: Verdict) -> tuple[str, str, int, int]:
    return verdict.check, verdict.kernel, verdict.line, verdict.column


def read(content: str) -> Report:
    """Returns the report whose `Report.json` is `content`."""
    data = json.loads(content)
    report = Report(None, data["checks"])
    findings = [Finding(**{name: _tuples(value) for name, value in one.items()}) for one in data["findings"]]
    report._known = findings
    report._add_kernel(Verdict(**one) for one in data["accesses"])
    return report


def merged(reports: Sequence[Report]) -> Report:
    """Returns a report with the findings of several processes; equal ones, but for their counts, become one."""
    checks = dict.fromkeys(name for one in reports for name in one.checks)
    report = Report(None, tuple(checks))
    report._known = _without_repeats(finding for one in reports for finding in one.findings)
    for one in reports:
        report._add_kernel(one.accesses)
    return report


def _without_repeats(findings: Iterable[Finding]) -> list[Finding]:
    found: dict[str, Finding] = {}
    for one in findings:
        # Each process numbers its own addresses; the distance and the coordinates say where in the tensor.
        _merge(found, one, one)
    return list(found.values())


def identity(finding: Finding) -> str:
    """Returns a text that is the same for a finding when it has occurred more often."""
    return repr(replace(finding, lanes=0, programs=0, at_least=False, counted=True, address=None, suggestion=""))


def _merge(found: dict[str, Finding], alike: Finding, one: Finding) -> None:
    """Adds the finding `one` to `found`, or its counts to those of an earlier one to which `alike` is equal."""
    key = identity(alike)
    known = found.setdefault(key, one)
    if known is not one:
        found[key] = replace(
            known,
            lanes=known.lanes + one.lanes,
            programs=max(known.programs, one.programs),
            at_least=known.at_least or one.at_least,
            counted=known.counted and one.counted,
        )


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


class SanitizerError(TritonExtError):
    """A check of a kernel has failed.

    Attributes:
        report: the report with all findings until now.
        findings: those that have occurred since the error before, with the lanes since then; the message has these.
    """

    def __init__(self, report: Report, findings: Sequence[Finding]) -> None:
        self.report = report
        self.findings = list(findings)
        super().__init__(_text.report(self.findings, report.accesses))
