# SPDX-License-Identifier: Apache-2.0
"""``tx.sanitize.check_launch``: what goes wrong in a launch, from its numbers alone. Nothing runs or is allocated."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from triton_ext.errors import TritonExtError

from . import _json, _sarif, _text
from ._bounds import bounds
from ._finding import Finding
from ._first_size import FirstSize, first_sizes
from ._launch import Launch, bound, prepared
from ._located import at_argument
from ._promises import promise
from ._search import Answer
from ._uses import Place, Use
from ._wrapping import blamed, described
from ._wraps import overflow, varied, with_sizes

CHECKS = ("overflow", "bounds", "hints")
_KINDS = ("proved", "refuted", "unknown")


@dataclass(frozen=True)
class Decision:
    """The result of a check for one operation.

    Attributes:
        check: ``overflow``, ``bounds``, ``view`` or ``hints``.
        file: the Python file.
        line: the line of the operation.
        column: its column.
        what: the operation, such as ``load``.
        verdict: ``proved``: it is right in every lane; ``refuted``: there is a finding; ``unknown``: see `why`.
        why: why nothing is known.
    """

    check: str
    file: str
    line: int
    column: int
    what: str
    verdict: str
    why: str = ""


@dataclass(frozen=True)
class LaunchReport:
    """The findings of `check_launch`. It is true if there are any.

    Attributes:
        findings: each wrong operation once, the first in the source first.
        verdicts: what each check says of each operation.
        first_sizes: for each named argument, the least value with which the kernel's integers wrap.
        without_first_size: for each of these arguments that has none, the reason.
    """

    findings: tuple[Finding, ...]
    verdicts: tuple[Decision, ...]
    first_sizes: Mapping[str, FirstSize]
    without_first_size: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.findings)

    @property
    def unknown(self) -> tuple[Decision, ...]:
        """The verdicts that are neither proved nor refuted."""
        return tuple(verdict for verdict in self.verdicts if verdict.verdict == "unknown")

    def text(self) -> str:
        """Returns the findings with their source lines, what is unknown, and a summary, as lines of text."""
        notes = [f"{one.file}:{one.line}: {one.check} of this {one.what} is unknown: {one.why}" for one in self.unknown]
        notes += [f"no first size of {name}: {reason}" for name, reason in self.without_first_size.items()]
        counts = [f"{sum(one.verdict == kind for one in self.verdicts)} {kind}" for kind in _KINDS]
        return "\n\n".join([*map(_text.finding_text, self.findings), *notes, f"check_launch: {', '.join(counts)}"])

    __str__ = text

    def json(self) -> str:
        """Returns the findings, the verdicts and the first sizes as JSON."""
        data = {
            "version": 1,
            "findings": [asdict(one) for one in self.findings],
            "verdicts": [asdict(one) for one in self.verdicts],
            "first_sizes": {name: asdict(one) for name, one in self.first_sizes.items()},
            "without_first_size": dict(self.without_first_size),
        }
        return _json.dumps(data)

    def sarif(self) -> str:
        """Returns the findings as a log in SARIF 2.1.0."""
        return _sarif.log(self.findings, name="triton-ext check_launch")


def check_launch(
    kernel: Any,
    *arguments: object,
    grid: object,
    checks: str | Collection[str] = CHECKS,
    vary: str | Collection[str] | None = None,
    target: object = None,
    options: Mapping[str, Any] | None = None,
    **named: object,
) -> LaunchReport:
    """Checks a launch without running it.

    Each operation is decided for all programs, iterations and lanes. A finding has a program and a lane in which it
    happens, found by exact evaluation; what cannot be decided is `unknown`, with the reason.

    Args:
        kernel: a kernel, autotuned or not (then every configuration is checked), an ``ASTSource`` or a compiled kernel.
        arguments: as for the launch. A tensor may be one of the device ``meta``, or a `Tensor` that only describes one.
        grid: as in ``kernel[grid]``.
        checks: ``overflow``, ``bounds`` (with ``view``) and ``hints``; all by default.
        vary: the names of integer arguments whose least value that overflows is searched, all others being equal; by
            default all, if something overflows. The grid follows if it is a function.
        target: e.g. ``cuda:90``; by default that of the active driver. No GPU is needed.
        options: options of the backend.
        named: more arguments, by name.

    Raises:
        TritonExtError: the arguments do not fit, or a name in `checks` or `vary` is wrong.
        PipelineError: a pass failed.
    """
    wanted = set(checks.split(",") if isinstance(checks, str) else checks)
    if not wanted <= set(CHECKS):
        raise TritonExtError(f"there is no check '{min(wanted - set(CHECKS))}', expected {', '.join(CHECKS)}")
    findings: dict[tuple[str, Place, str], Finding] = {}
    verdicts: dict[Decision, None] = {}
    sizes: dict[str, FirstSize] = {}
    without: dict[str, str] = {}
    for values in bound(kernel, arguments, named):
        launch = prepared(kernel, values, grid, target, options or {})
        found = list(_checked(launch, wanted, verdicts))
        has_overflow = any(one.check == "overflow" for one in found)
        names = varied(vary, launch) if vary is not None or has_overflow else []
        least, reasons = first_sizes(kernel, launch, names, grid=grid, target=target, options=options or {})
        for name, size in least.items():
            if name not in sizes or size.value < sizes[name].value:
                sizes[name] = size
        without |= reasons
        for one in found:
            key = (one.check, Place(one.file, one.line, one.column), one.argument or one.message)
            findings.setdefault(key, one)
    without = {name: reason for name, reason in without.items() if name not in sizes}
    finished = [with_sizes(one, sizes) if one.check == "overflow" else one for one in findings.values()]
    finished.sort(key=lambda one: (one.file, one.line, one.column))
    return LaunchReport(tuple(finished), tuple(verdicts), sizes, without)


def _checked(launch: Launch, wanted: set[str], verdicts: dict[Decision, None]) -> Iterator[Finding]:
    """Yields the findings of a launch, and adds to the verdicts."""

    def note(check: str, use: Use, answer: Answer) -> None:
        text = {False: "proved", True: "refuted", None: "unknown"}[answer.verdict]
        verdicts[Decision(check, use.place.file, use.place.line, use.place.column, use.what, text, answer.why)] = None

    blamed_already: set[int] = set()
    if "hints" in wanted and 0 not in launch.sizes:
        yield from at_argument(launch)
    for use in launch.uses:
        if use.what == "unknown":
            note("bounds", use, Answer(None, why=f"{use.why} may access memory"))
            continue
        has_wrapped = is_exact = False
        if "overflow" in wanted:
            answer, search = overflow(launch, use)
            if answer is not None and search is not None:
                note("overflow", use, answer)
                has_wrapped, is_exact = answer.verdict is True, answer.verdict is False
                if has_wrapped:
                    node = blamed(launch, use, search.at(answer.point))
                    if node not in blamed_already:
                        blamed_already.add(node)
                        yield described(launch, use, search, answer, node)
        if "bounds" in wanted and use.what in ("load", "store", "atomic"):
            yield from bounds(launch, use, note, exact=has_wrapped, is_exact=is_exact)
        if "hints" in wanted and use.what in ("hint", "assume"):
            yield from promise(launch, use, note)
