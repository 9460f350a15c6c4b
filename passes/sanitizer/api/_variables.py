# SPDX-License-Identifier: Apache-2.0
"""The values of the variables on a line of a kernel, in one lane of a launch, computed on the host.

The address and the mask of an access are expressions of program ids, iterations, lanes and arguments, and the pass
`intensity` says which of their parts have a name. A value that depends on data is not known: the kernel may have
overwritten it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from . import _source
from ._finding import Finding
from ._goals import active_at
from ._launch import Launch
from ._operations import Empty
from ._search import Search
from ._uses import Use
from ._values import Box, Evaluation

#: The value of what was loaded.
FROM_MEMORY = "from memory"
#: How many boxes the search for the iterations of an access may look at.
_BUDGET = 1000


def of_line(launch: Launch, use: Use, file: str, line: int, box: Box) -> dict[str, Any]:
    """Returns the values of the variables on a line, in the order in which they stand there.

    Args:
        launch: the launch.
        use: the access, loop or branch whose address, mask or condition they are parts of.
        file: the Python file.
        line: the line in it.
        box: the point at which they are asked for; what an interval of several numbers decides is left out.
    """
    roots = [node for node in (use.mask, use.offset, use.value) if node is not None]
    nodes = _nodes(launch, {*launch.graph.cone(roots)}, file, line)
    return _values(launch, nodes, file, line, box)


def _values(launch: Launch, nodes: Mapping[str, list[int]], file: str, line: int, box: Box) -> dict[str, Any]:
    """Returns the values of the variables on a line at a point, of those whose nodes are given."""
    names = _source.names_in(file, line)
    known = {
        name: [
            node
            for node in nodes.get(name, ())
            if _is_in(launch, node, box) and _is_along(launch, node, _source.dimensions_in(file, line, name))
        ]
        for name in names
    }
    try:
        values = Evaluation(launch.graph, [node for some in known.values() for node in some])(box)
    except Empty:
        values = {}
    found: dict[str, Any] = {}
    for name in names:
        some = {_shown(launch, node, values[node].actual) for node in known[name] if node in values}
        if len(some) == 1 and None not in some:
            (found[name],) = some
        elif name not in nodes and isinstance(value := launch.values.get(name), (bool, int)):
            found[name] = value
    return found


def of_access(launch: Launch, finding: Finding, offset: int | None) -> dict[str, Any] | None:
    """Returns the values of the variables on the line of an access in its first lane; None if it is not of this launch.

    Args:
        launch: the launch.
        finding: about the access.
        offset: of its address from the tensor's first element, in bytes; None if it is not known.
    """
    place = finding.file, finding.line, finding.column
    for use in launch.uses:
        if (use.place.file, use.place.line, use.place.column) != place or use.what == "unknown":
            continue
        if use.argument is not None and finding.argument not in (None, launch.names[use.argument]):
            continue
        box = _box_of(launch, use, finding, offset)
        if box is not None:
            return of_line(launch, use, finding.file, finding.line, box)
    return None


def of_masked_load(launch: Launch, finding: Finding) -> dict[str, Any] | None:
    """Returns the values of the variables on the line of a load, in the lane that is off and reaches an effect.

    The iterations of loops are not known. If the finding has no address, its lane is one of the effect, and not of the
    load.
    """
    for use in launch.uses:
        if (use.place.file, use.place.line, use.place.column) == (finding.file, finding.line, finding.column):
            box = _programs(launch, finding)
            if box is None or use.what not in ("load", "atomic"):
                continue
            if finding.address is not None:
                box |= lane_of(use.shape, finding.lane or 0)
            return of_line(launch, use, finding.file, finding.line, box)
    return None


def of_operation(launch: Launch, finding: Finding, shape: tuple[int, ...]) -> dict[str, Any] | None:
    """Returns the values of the variables on the line of an operation that is not an access, in its first lane.

    Which elements of a tensor belong to the lane is known if the line only has elementwise operations of one dimension.
    Others have the values of scalars only, and inside of loops only those that are the same in each iteration.
    """
    box = _programs(launch, finding)
    if box is None:
        return None
    if len(shape) == 1 and _source.is_elementwise(finding.file, finding.line):
        box |= lane_of(shape, finding.lane or 0)
    nodes = _nodes(launch, None, finding.file, finding.line)
    return _values(launch, nodes, finding.file, finding.line, box)


def lane_of(shape: tuple[int, ...], lane: int) -> Box:
    """Returns the position of a lane, row-major in a tile of this shape, along each dimension."""
    found: Box = {}
    lane = max(lane, 0)
    for dimension in range(len(shape) - 1, -1, -1):
        lane, at = divmod(lane, shape[dimension])
        found["lane", dimension] = at, at
    return found


def _programs(launch: Launch, finding: Finding) -> Box | None:
    """Returns the program of a finding; None if the launch does not have it."""
    assert finding.program is not None
    if any(number >= size for number, size in zip(finding.program, launch.sizes, strict=False)):
        return None
    return {("program", axis): (number, number) for axis, number in enumerate(finding.program)}


def _box_of(launch: Launch, use: Use, finding: Finding, offset: int | None) -> Box | None:
    """Returns the program, the lane and, if they are known, the first iterations in which the access is at an address.

    Returns None if it is never there.
    """
    assert finding.lane is not None
    if (fixed := _programs(launch, finding)) is None:
        return None
    fixed |= lane_of(use.shape, finding.lane)
    masks = [] if use.mask is None else [use.mask]
    offsets = [] if use.offset is None else [use.offset]
    wanted = None
    if offset is not None and use.offset is not None:
        if offset % use.bytes:
            return None
        wanted = offset // use.bytes
    goal = active_at(use.mask, use.offset, wanted)
    search = Search(launch.graph, use.reach, use.shape, roots=[*masks, *offsets], goal=goal, budget=_BUDGET)
    whole = search.box()
    if whole is None:
        return None
    box = {variable: fixed.get(variable, at) for variable, at in whole.items()}
    answer = search.find(box)
    if answer.verdict is False:
        return None
    if answer.verdict:
        point, _ = search.first(box, answer)
        return {**fixed, **{variable: (at, at) for variable, at in point.items()}}
    return {**box, **fixed}


def _nodes(launch: Launch, cone: Collection[int] | None, file: str, line: int) -> dict[str, list[int]]:
    """Returns the nodes of the variables that a line reads: those of the last assignment before it.

    Only nodes in `cone` count; None for all of the kernel.
    """
    first, last = _source.function_around(file, line)
    start = _source.statement_around(file, line)
    assigned: dict[str, dict[int, list[int]]] = {}
    for name, node, where in launch.variables:
        if where.file == file and first <= where.line <= last and where.line < start and (cone is None or node in cone):
            assigned.setdefault(name, {}).setdefault(where.line, []).append(node)
    return {name: at[max(at)] for name, at in assigned.items()}


def _is_in(launch: Launch, node: int, box: Box) -> bool:
    """Whether a box has an interval for each variable on which a node depends."""
    leaves = (launch.graph.nodes[one] for one in launch.graph.cone([node]))
    return all((kind, *rest)[:2] in box for kind, *rest in leaves if kind in ("program", "iteration", "lane"))


def _is_along(launch: Launch, node: int, dimensions: list[tuple[int, ...]]) -> bool:
    """Whether a node varies along the dimensions that its variable has on the line.

    The same numbers along another dimension are another node: that of ``k[None, :]``, or of another variable.
    """
    leaves = (launch.graph.nodes[one] for one in launch.graph.cone([node]))
    lanes = {leaf[1] for leaf in leaves if leaf[0] == "lane"}
    return len(dimensions) < 2 and all(lanes <= {*some} for some in dimensions)


def _shown(launch: Launch, node: int, value: tuple[int, int]) -> Any:
    """Returns the value of a node as a report shows it; None if it is not known."""
    if value[0] == value[1]:
        return bool(value[0]) if launch.graph.width(node) == 1 else value[0]
    leaves = (launch.graph.nodes[one] for one in launch.graph.cone([node]))
    is_loaded = any(kind == "unknown" and rest[0] == "data from memory" for kind, *rest in leaves)
    return FROM_MEMORY if is_loaded else None


def merged(values: Mapping[str, Any], local: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the values of a finding with those of variables, which come last and have their names' last values."""
    return {**{name: value for name, value in values.items() if name not in local}, **local}
