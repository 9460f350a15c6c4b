# SPDX-License-Identifier: Apache-2.0
"""Whether integers wrap in a launch so that it matters, and with which sizes they do first."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from triton_ext.errors import TritonExtError

from ._finding import Finding
from ._first_size import FirstSize
from ._goals import changed, wraps
from ._launch import Launch
from ._search import MOST_BOXES, Answer, Search
from ._uses import Use


def overflow(launch: Launch, use: Use, budget: int = MOST_BOXES) -> tuple[Answer | None, Search | None]:
    """Searches a point at which integers wrap so that an access, a trip count or a branch is another one.

    Args:
        launch: the launch.
        use: the access, the loop or the branch; of other uses the answer is None.
        budget: how many boxes each question may look at.
    """
    search = search_of(launch, use, budget)
    if search is None:
        return None, None
    box = search.box()
    answer = search.find(box)
    if answer.verdict and box is not None:
        point, _ = search.first(box, answer)
        answer = replace(answer, point=point)
    return with_address(answer, use), search


def search_of(launch: Launch, use: Use, budget: int = MOST_BOXES) -> Search | None:
    """Returns the search for a point at which integers wrap; None for uses to which they do not matter."""
    if use.what in ("load", "store", "atomic"):
        roots = [node for node in (use.mask, use.offset) if node is not None]
        goal = wraps(use.mask, use.offset)
    elif use.what in ("loop", "if") and use.value is not None:
        roots, goal = [use.value], changed(use.value)
    else:
        return None
    return Search(launch.graph, use.reach, use.shape, roots=roots, goal=goal, budget=budget)


def with_address(answer: Answer, use: Use) -> Answer:
    """Returns an answer, which is not known if the address of the access is not."""
    if answer.verdict is False and use.offset is None and use.what in ("load", "store", "atomic") and not use.why:
        return Answer(None, why="its address is not an expression of the kernel's arguments")
    return answer


def varied(vary: str | Collection[str] | None, launch: Launch) -> list[str]:
    """Returns the names of the integer arguments above 1 that are in `vary`; all of them if it is None.

    Raises:
        TritonExtError: a name in `vary` is not that of an integer argument.
    """
    integers = {name: value for name, value in launch.integers.items() if name in launch.values}
    names = [vary] if isinstance(vary, str) else list(integers if vary is None else vary)
    for name in names:
        if name not in integers:
            known = ", ".join(integers) or "none"
            raise TritonExtError(f"'{name}' is not an integer argument of '{launch.kernel}', these are: {known}")
    return [name for name in names if integers[name] > 1]


def with_sizes(finding: Finding, sizes: Mapping[str, FirstSize]) -> Finding:
    """Says in a finding with which sizes the kernel breaks first."""
    firsts = {name: size.value for name, size in sizes.items()}
    if not firsts:
        return finding
    # Equal sizes that grow together are told once.
    texts = {(frozenset((size.name, *size.others)), size.value): str(size) for size in reversed(sizes.values())}
    return replace(
        finding,
        message=f"{finding.message}; {'; '.join(reversed(texts.values()))}",
        values={**finding.values, "first sizes": firsts},
    )
