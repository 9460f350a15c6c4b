# SPDX-License-Identifier: Apache-2.0
"""Accesses outside of a tensor's memory or of its view, decided from the numbers of a launch."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ._finding import Finding
from ._goals import active_and, between, outside
from ._launch import Launch
from ._located import of_access
from ._search import Answer, Goal, Search
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
        inside = (-(-start // use.bytes), (end - use.bytes) // use.bytes)
        goal = outside(use.mask, use.offset, inside, exact=exact)
        for finding in _searched(
            launch, use, check, note, goal=goal, roots=[use.offset], limits=(start, end), exact=exact
        ):
            yield finding
            return None
    if memory.has_holes and use.bytes == memory.bytes and not exact:
        if memory.nested is None or not is_exact or min(memory.strides) < 0:
            return note("view", use, Answer(None, why="what lies between the elements of the tensor is not known"))
        node = between(launch.graph, use.offset, memory.nested)
        goal = active_and(use.mask, node)
        yield from _searched(launch, use, "view", note, goal=goal, roots=[use.offset, node], limits=None, exact=False)
    return None


def _searched(
    launch: Launch,
    use: Use,
    check: str,
    note: Note,
    *,
    goal: Goal,
    roots: list[int],
    limits: tuple[int, int] | None,
    exact: bool,
) -> Iterator[Finding]:
    masks = [] if use.mask is None else [use.mask]
    search = Search(launch.graph, use.reach, use.shape, roots=[*masks, *roots], goal=goal)
    box = search.box()
    answer = search.find(box)
    note(check, use, answer)
    if answer.verdict and box is not None:
        point, is_first = search.first(box, answer)
        values = search.at(point)
        yield of_access(launch, use, check, point=point, values=values, limits=limits, exact=exact, is_first=is_first)
