# SPDX-License-Identifier: Apache-2.0
"""Says in a sentence what a finding means, and what mends it if the cause is known."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from triton_ext.probe._arguments import Argument
from triton_ext.probe._slot import Launch

from ._finding import Finding
from ._partners import Partner
from ._tensors import beyond

#: Accesses that are further outside than this come from an offset that has wrapped, most likely.
FAR = 2**31 - 2**20

#: What mends an offset that has wrapped, most likely.
WRAPPED = "the offset has wrapped in 32 bits, most likely: compute it in 64 bits, e.g. pid.to(tl.int64) * stride"

#: What mends a descriptor whose shape goes beyond its tensor.
DESCRIPTOR_REMEDY = "make the descriptor with the shape of the tensor"

#: Further places that notes name, and what is there.
_RELATED = {"through": "where they mix with other lanes", "sink": "what they reach"}

#: In the paths of Triton's own functions, of which the reader need not know.
_LIBRARY = "/triton/language/"

Explanation = tuple[str, str, str]  # message, suggestion, severity


@dataclass(frozen=True)
class _Case:
    """A finding, what the pass says of its check, and if they are known, its first launch, the tensor of the access and
    the other access of a race.
    """

    finding: Finding
    note: Mapping[str, Any]
    launch: Launch | None
    tensor: Argument | None
    partner: Partner | None

    @property
    def access(self) -> str:
        return self.finding.access or "access"

    @property
    def place(self) -> str:
        """Of what the access is, and at which index."""
        index = f" at {_index(self.finding)}" if self.finding.coordinates else ""
        return (self.finding.argument or "memory") + index


def explained(
    finding: Finding,
    note: Mapping[str, Any],
    launch: Launch | None,
    tensor: Argument | None,
    partner: Partner | None = None,
) -> Finding:
    """Returns `finding` with its message, suggestion and severity.

    Args:
        finding: a finding of a check that has run.
        note: what the pass says of the check.
        launch: the launch in which it has failed first; None if it is unknown.
        tensor: the tensor of the access; None if there is none.
        partner: the other access of a race; None if it is not known.
    """
    explain = _EXPLANATIONS.get(finding.check, _other)
    message, suggestion, severity = explain(_Case(finding, note, launch, tensor, partner))
    related = tuple(
        (str(note.get(f"{name}_file", finding.file)), int(note[f"{name}_line"]), what)
        for name, what in _RELATED.items()
        if note.get(f"{name}_line") and note[f"{name}_line"] != finding.line
        if _LIBRARY not in str(note.get(f"{name}_file"))
    )
    if partner is not None:
        related += tuple(_other_access(partner))
        finding = replace(finding, other=partner.program)
    return replace(finding, message=message, suggestion=suggestion, severity=severity, related=related)


def _other_access(partner: Partner) -> Iterator[tuple[str, int, str]]:
    """Yields the places of the other access of a race, and what is known of it."""
    who = ""
    if partner.program is not None:
        who = f" of program {partner.program}"
    elif partner.programs:
        who = f" of one of {partner.programs} programs"
    for file, line, kind in partner.places:
        may = (
            "the other access" if partner.is_certain or len(partner.places) == 1 else "the other access may be this one"
        )
        yield file, line, f"{may}, {'an' if kind[0] == 'a' else 'a'} {kind}{who}"


def _bounds(case: _Case) -> Explanation:
    finding = case.finding
    if case.tensor is None or finding.argument is None:
        return f"{case.access} outside of every tensor of the launch", "", "error"
    message = f"{case.access} outside of {finding.argument}"
    if finding.shape is not None and 0 in finding.shape:
        message += ", which has no elements"
    elif finding.distance:
        side = "behind its end" if finding.distance > 0 else "before its start"
        number = abs(finding.distance)
        message += f": {number} byte{'s' * (number != 1)} {side}"
    return message, _bound_suggestion(case, case.tensor), "error"


def _view(case: _Case) -> Explanation:
    name = case.finding.argument
    message = f"{case.access} outside of the view {name}, but inside of the memory that the view is a part of"
    return message, _bound_suggestion(case, case.tensor) if case.tensor is not None else "", "warning"


def _bound_suggestion(case: _Case, tensor: Argument) -> str:
    finding = case.finding
    if finding.distance is not None and abs(finding.distance) > FAR:
        return WRAPPED
    if beyond(tensor):
        return DESCRIPTOR_REMEDY
    if finding.distance is not None and finding.distance < 0:
        return "the index is negative: add a lower bound to the mask, e.g. mask=offsets >= 0"
    sizes = _sizes(tensor)
    if not case.note.get("masked"):
        limit = f" < {sizes[0]}" if len(tensor.shape) == 1 and sizes else " within the shape"
        return f"pass a mask, e.g. mask=offsets{limit}"
    text = f"the mask lets {'element ' + _index(finding) if finding.coordinates else 'the lane'} through"
    fitting = [name for name, value in finding.values.items() if value in sizes]
    # Where the line names a size of the tensor, only what it names is suspected.
    if wrong := _too_large(case.launch, sizes, {*finding.values} if fitting else None):
        text += f"; does it compare with the wrong bound? {', '.join(wrong)}, and the shape is {tensor.shape}"
    elif finding.lanes == finding.programs and finding.counted:
        text += ", one too many in a program: < instead of <=?"
    elif fitting:
        are = "are sizes" if len(fitting) > 1 else "is a size"
        text += (
            f"; {' and '.join(fitting)} {are} of {finding.argument}: do the offsets in the mask move with the pointer?"
        )
    return text


def _too_large(launch: Launch | None, sizes: list[int], names: set[str] | None) -> list[str]:
    """Returns the numbers among the arguments that can be a bound that is too large for a tensor with these sizes; of
    these names only, unless that is None.
    """
    numbers = [one for one in (launch.arguments if launch is not None else ()) if not one.is_tensor and one.address]
    return [
        f"{one.name} = {one.address}"
        for one in numbers
        if names is None or one.name in names
        if one.address not in sizes and any(size < one.address <= 64 * size for size in sizes)
    ]


def _sizes(tensor: Argument) -> list[int]:
    """Returns the number of elements, and the sizes of the axes, without 0."""
    return [size for size in dict.fromkeys((math.prod(tensor.shape), *tensor.shape)) if size]


def _index(finding: Finding) -> str:
    return "[" + ", ".join(map(str, finding.coordinates or ())) + "]"


def _lanes(case: _Case) -> Explanation:
    sink = str(case.note.get("sink") or "result")
    line = f" in line {case.note['sink_line']}" if case.note.get("sink_line") else ""
    sink = "an atomic operation" if sink == "atomic" else f"a {sink}"
    message = f"lanes that the mask of this load turns off reach {sink}{line}"
    return message, "pass other= to the load: a lane that its mask turns off has no value without it", "error"


def _uninit(case: _Case) -> Explanation:
    message = f"{case.access} of {case.place}, which nothing has written"
    return message, "torch.zeros instead of torch.empty, or a kernel that writes every element first", "error"


def _race(case: _Case) -> Explanation:
    other = case.partner.program if case.partner is not None else None
    who = "another program of the launch" if other is None else f"program {other}"
    message = f"{case.access} of {case.place}, which {who} touches, too"
    return message, "atomic operations on both lines, or elements of its own for each program", "error"


def _hints(case: _Case) -> Explanation:
    hint, promised = str(case.note.get("hint") or "a hint"), case.note.get("promised")
    remedy = "remove the hint: with a false one the compiler may merge accesses that do not belong together"
    if hint == "assume":
        return "tl.assume is false", "remove it: the compiler may leave out what the condition excludes", "error"
    if hint == "divisibility":
        name = case.finding.argument or "an argument"
        remedy = f"do_not_specialize_on_alignment=['{name}'], or a launch that passes the tensor itself"
        return f"{name} is not a multiple of {promised}, for which the kernel was compiled", remedy, "error"
    if hint == "multiple_of":
        return f"tl.multiple_of promises multiples of {promised}", remedy, "error"
    return f"tl.{hint} promises runs of {promised} numbers", remedy, "error"


def _arith(case: _Case) -> Explanation:
    fault = str(case.note.get("fault") or "an operation without a defined result")
    remedies = {"zero": "tl.where(divisor != 0, divisor, 1), or a mask", "shift": "a shift below the width of the type"}
    return fault, next((text for word, text in remedies.items() if word in fault), ""), "error"


def _other(case: _Case) -> Explanation:
    return f"the check '{case.finding.check}' has failed", "", "error"


_EXPLANATIONS: dict[str, Callable[[_Case], Explanation]] = {
    "bounds": _bounds,
    "view": _view,
    "lanes": _lanes,
    "uninit": _uninit,
    "race": _race,
    "hints": _hints,
    "arith": _arith,
}
