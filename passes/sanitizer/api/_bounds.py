# SPDX-License-Identifier: Apache-2.0
"""Accesses outside of a tensor's memory or of its view, decided from the numbers of a launch."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ._finding import Finding
from ._goals import active_and, between, outside
from ._launch import Launch
from ._located import of_access
from ._memory import Memory
from ._search import Answer, Search
from ._uses import Use

#: Takes the name of a check, the operation, and the answer.
Note = Callable[[str, Use, Answer], None]


def bounds(launch: Launch, use: Use, note: Note, *, exact: bool, is_exact: bool) -> Iterator[Finding]:
    """Yields the finding about an access that is outside of its tensor.

    Args:
        launch: the launch.
        use: the access.
        note: is called with each answer.
        exact: whether exact addresses count, because the actual ones have wrapped, which is a finding of its own.
        is_exact: whether it was shown that both are the same.
    """
    if use.offset is None or use.argument is None:
        # Of a descriptor of which nothing is known but its shape, what is outside is not accessed.
        is_safe = use.why == "descriptor" and use.argument is None
        why = "" if is_safe else "its address is not an expression of the kernel's arguments"
        return note("bounds", use, Answer(False if is_safe else None, why=why))
    memory = launch.memories.get(launch.names[use.argument])
    if memory is None:
        return note("bounds", use, Answer(None, why=f"'{launch.names[use.argument]}' is not a tensor"))
    limits = [("bounds", memory.start, memory.end)]
    if (memory.low, memory.high) != (memory.start, memory.end):
        limits.append(("view", memory.low, memory.high))
    for check, start, end in limits:
        search = outside_of(launch, use, start, end, exact=exact)
        for finding in _searched(launch, use, check, note, search=search, limits=(start, end), exact=exact):
            yield finding
            return None
    if memory.has_holes and use.bytes == memory.bytes and not exact:
        gaps = between_elements(launch, use, memory) if is_exact else None
        if gaps is None:
            return note("view", use, Answer(None, why="what lies between the elements of the tensor is not known"))
        yield from _searched(launch, use, "view", note, search=gaps, limits=None, exact=False)
    return None


def between_elements(launch: Launch, use: Use, memory: Memory) -> Search | None:
    """Returns the search for an address between the elements of a tensor; None if these are not known.

    Args:
        launch: the launch.
        use: the access; its address does not wrap.
        memory: the memory of the tensor, which has holes.
    """
    assert use.offset is not None
    if memory.nested is None or use.bytes != memory.bytes or min(memory.strides) < 0:
        return None
    node = between(launch.graph, use.offset, memory.nested)
    masks = [] if use.mask is None else [use.mask]
    goal = active_and(use.mask, node)
    return Search(launch.graph, use.reach, use.shape, roots=[*masks, use.offset, node], goal=goal)


def outside_of(launch: Launch, use: Use, start: int, end: int, *, exact: bool = False) -> Search:
    """Returns the search for an address outside of some bytes, which are counted from the tensor's first element."""
    assert use.offset is not None
    masks = [] if use.mask is None else [use.mask]
    inside = (-(-start // use.bytes), (end - use.bytes) // use.bytes)
    goal = outside(use.mask, use.offset, inside, exact=exact)
    return Search(launch.graph, use.reach, use.shape, roots=[*masks, use.offset], goal=goal)


def _searched(
    launch: Launch,
    use: Use,
    check: str,
    note: Note,
    *,
    search: Search,
    limits: tuple[int, int] | None,
    exact: bool,
) -> Iterator[Finding]:
    answer, finding = first_finding(launch, use, check, search=search, limits=limits, exact=exact)
    note(check, use, answer)
    if finding is not None:
        yield finding


def first_finding(
    launch: Launch, use: Use, check: str, *, search: Search, limits: tuple[int, int] | None, exact: bool = False
) -> tuple[Answer, Finding | None]:
    """Returns the answer of a search for an access, and the finding at the first point where it holds, if any does.

    Args:
        launch: the launch.
        use: the access.
        check: the name of the check.
        search: the search.
        limits: as for `of_access`.
        exact: as for `of_access`.
    """
    box = search.box()
    answer = search.find(box)
    if not answer.verdict or box is None:
        return answer, None
    point, is_first = search.first(box, answer)
    values = search.at(point)
    return answer, of_access(
        launch, use, check, point=point, values=values, limits=limits, exact=exact, is_first=is_first
    )
