# SPDX-License-Identifier: Apache-2.0
"""Makes findings of what the checks of kernels have written to the buffer of a session."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from triton_ext.probe._arguments import ANYWHERE, signed
from triton_ext.probe._decode import Records, Seen
from triton_ext.probe._firsts import First
from triton_ext.probe._layout import COUNT, RUNS
from triton_ext.probe._sites import Site
from triton_ext.probe._slot import Launch

from . import _source, _tensors
from ._explain import explained
from ._finding import Finding
from ._partners import Raced, is_clear
from ._variables import merged


@dataclass
class _Group:
    """The failures that become one finding: those of one check at one place, for one tensor."""

    site: Site
    note: Mapping[str, Any]
    first: tuple[Any, ...] | None = None  # program, lane, launch, address, values
    number: int | None = None  # of the argument
    programs: set[tuple[int, int, int]] = field(default_factory=set)
    recorded: int = 0
    kept: int = 0  # launches that have kept their first lane, and counted none
    sites: dict[Site, None] = field(default_factory=dict)


#: Returns the values of the variables on the line of a finding: gets the launch, the finding, the tensor's address, and
#: the shape of the tile.
Variables = Callable[[Launch, Finding, int, tuple[int, ...]], Mapping[str, Any]]


def findings_of(
    seen: Seen,
    launches: Mapping[int, Launch],
    variables: Variables | None = None,
    raced: Mapping[Launch, Raced] | None = None,
) -> list[Finding]:
    """Returns the findings, the one that occurred first before the others.

    Args:
        seen: what a session has seen.
        launches: what the serial numbers stand for that checks have recorded.
        variables: knows the values of variables; None if nobody does.
        raced: what finds the other program of a race, for launches with a shadow for races.
    """
    groups: dict[Any, _Group] = {}
    for records in seen.records:
        if records.site.note:
            _add(groups, records, launches)
    for first in seen.firsts:
        _add_first(groups, first)
    recorded = {site for group in groups.values() for site in group.sites}
    for site in seen.lines:
        # Failures without a record: the buffer was full.
        if site.note and site not in recorded and seen.sum(site, COUNT):
            note = json.loads(site.note)
            groups.setdefault(_key(site, note, note.get("argument")), _Group(site, note)).sites[site] = None
    # Those of a launch in the order of the program: checks behind a loop look at what the loop has done before.
    # Records do not have the order of the launches: those of a look at lanes come later than what it looks at.
    known = (*launches.values(), *(one.launch for one in seen.firsts), None) if groups else ()
    ranks = {launch: rank for rank, launch in enumerate(dict.fromkeys(known))}
    ordered = sorted(groups.values(), key=lambda one: (ranks[_launch_of(one)], one.note.get("order", 0)))
    return [_finding(group, seen, variables, raced or {}) for group in ordered]


def _launch_of(group: _Group) -> Launch | None:
    """Returns the launch in which a check has failed first; None if nothing is recorded."""
    return group.first[2] if group.first is not None else None


def _key(site: Site, note: Mapping[str, Any], argument: object) -> tuple[Any, ...]:
    return site.kernel, site.file, site.line, site.column, note["check"], note.get("access"), argument


def _add(groups: dict[Any, _Group], records: Records, launches: Mapping[int, Launch]) -> None:
    site = records.site
    note = json.loads(site.note)
    has_address = bool(note.get("address"))
    names = list(note.get("values", ()))
    lanes = records.lanes
    rest = records.values[1 + has_address :]
    if "lane" in names:
        lanes = rest[names.index("lane")]
    for row in range(len(lanes)):
        launch = launches.get(int(records.values[0][row]))
        address = signed(int(records.values[1][row])) if has_address else None
        number = note.get("argument")
        if number is None and address is not None and launch is not None:
            number = _tensors.nearest(launch.arguments, address, note.get("bytes", 1), note.get("arguments"))
        group = groups.setdefault(_key(site, note, number), _Group(site, note, number=number))
        group.sites[site] = None
        x, y, z = (int(axis[row]) for axis in records.programs)
        program = x, y, z
        group.programs.add(program)
        group.recorded += 1
        values = {name: value[row].item() for name, value in zip(names, rest, strict=False) if name != "lane"}
        found = (program, int(lanes[row]), launch, address, values)
        # Of the first launch, the first program: the order in which programs run is not determined.
        if group.first is None or (launch is group.first[2] and _order(note, found) < _order(note, group.first)):
            group.first = found


def _add_first(groups: dict[Any, _Group], first: First) -> None:
    """Adds the first lane of a launch, which has counted no others."""
    site = first.site
    note = {**json.loads(site.note), "check": "bounds" if first.is_out_of_memory else "view"}
    number = note["argument"]
    group = groups.setdefault(_key(site, note, number), _Group(site, note, number=number))
    group.programs.add(first.program)
    group.kept += 1
    found = (first.program, first.lane, first.launch, first.address, {})
    if group.first is None or (first.launch is group.first[2] and _order(note, found) < _order(note, group.first)):
        group.first = found


def _order(note: Mapping[str, Any], found: tuple[Any, ...]) -> tuple[Any, ...]:
    (x, y, z), lane, launch, _, values = found
    # Of a race, one of two programs only, so that both can be named.
    is_unclear = note["check"] == "race" and not is_clear(launch, note, (x, y, z), values["word"] % 2**64)
    return is_unclear, z, y, x, lane


def _finding(group: _Group, seen: Seen, variables: Variables | None, raced: Mapping[Launch, Raced]) -> Finding:
    site, note = group.site, group.note
    program, lane, launch, address, values = group.first or (None, None, None, None, {})
    partner = None
    if note["check"] == "race" and group.first is not None:
        word = values["word"] % 2**64
        values = {name: value for name, value in values.items() if name != "word"}
        if launch in raced:
            partner = raced[launch].partner(launch, note, program, address, word)
    lanes = sum(seen.sum(one, COUNT) for one in group.sites)
    recorded = values  # which are the kernel's own, such as operands
    if launch is not None:
        named = _source.names_in(site.file, site.line)
        numbers = [one for one in launch.arguments if not one.is_tensor and one.storage == ANYWHERE]
        values = {**values, **{one.name: one.address for one in numbers if one.name in named}}
    # A run of a check records its first lane, until there are too many.
    is_complete = group.recorded >= sum(seen.sum(one, RUNS) for one in group.sites)
    finding = Finding(
        check=str(note["check"]), kernel=site.kernel, file=site.file, line=site.line, column=site.column,
        program=program, lane=lane, lanes=max(lanes, group.recorded) + group.kept, address=address,
        programs=len(group.programs), at_least=not is_complete or group.kept > 0, counted=not group.kept,
        access=str(note.get("access") or ""), values=values,
    )  # fmt: skip
    tensor = launch.arguments[group.number] if launch is not None and group.number is not None else None
    if tensor is not None and tensor.is_tensor:
        finding = replace(finding, argument=tensor.name, shape=tensor.shape, strides=tensor.strides, dtype=tensor.dtype)
        if address is not None:
            size = int(note.get("bytes", tensor.itemsize) or tensor.itemsize)
            bounds = tensor.view if finding.check == "view" else tensor.storage
            distance = _tensors.outside(bounds, address, size)
            finding = replace(finding, coordinates=_tensors.coordinates(tensor, address), distance=distance or None)
    elif tensor is not None:
        finding = replace(finding, argument=tensor.name)
    if variables is not None and launch is not None:
        start = 0 if tensor is None else tensor.address
        local = variables(launch, finding, start, site.shape)
        local = {name: value for name, value in local.items() if name not in recorded}
        finding = replace(finding, values=merged(finding.values, local))
    return explained(finding, note, launch, tensor, partner)
