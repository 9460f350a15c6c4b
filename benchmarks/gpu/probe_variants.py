# SPDX-License-Identifier: Apache-2.0
"""Other forms of the clocks and records of a region in a loop, for probe.py: each is a pipeline for a session.

Those that change the PTX are for experiments alone: they look for the text that Triton 3.9 and lower_probe write.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from typing import Any

import triton_ext as tx
from triton_ext import probe

_ASSEMBLY = r"\t// begin inline asm\n\t{}[^\n]*\n\n\t// end inline asm\n"
_CLOCK = re.compile(_ASSEMBLY.format(r"mov\.u64 (%rd\d+), %clock64;"))
_STORE = re.compile(_ASSEMBLY.format(r"@(%p\d+) st\.global\.b64 \[ (%rd\d+) \+ 0 \], \{ %rd\d+ \};"))
_EFFECT = re.compile(r"cp\.async|bar\.|wgmma|\bst\.|\bld\.|fence|mbarrier|shfl|bra|clock64")


def _in_loop(ptx: str, edit: Callable[[str, list[Any], list[Any]], tuple[str, str]]) -> str:
    """Returns the PTX with the loop that has regions changed, and that of a kernel without clocks as it is.

    Args:
        ptx: the text.
        edit: takes the loop's body, its clocks and the stores of its records; returns the text before the body, and it.

    Raises:
        ValueError: the kernel has clocks, but no loop contains them.
    """
    if "%clock64" not in ptx:
        return ptx
    ptx = re.sub(r"^\t\.loc[^\n]*\n", "", ptx, flags=re.MULTILINE)
    for branch in re.finditer(r"\t@%p\d+ bra\s+(\$L\w+);", ptx):
        begin = ptx.find(f"\n{branch[1]}:")
        body = ptx[begin : branch.start()]
        clocks = list(_CLOCK.finditer(body))
        if 0 <= begin < branch.start() and clocks:
            before, after = edit(body, clocks, list(_STORE.finditer(body)))
            return ptx[:begin] + before + after + ptx[branch.start() :]
    raise ValueError("no loop with regions")


def _arithmetic_first(body: str, clocks: list[Any], _: list[Any]) -> tuple[str, str]:
    """Moves the arithmetic behind the last clock before it: what it computes has no time, and nothing else moves.

    An instruction stays if it writes a register that one before it reads or writes, or if it reads a register that such
    an instruction has written.
    """
    end = clocks[-1]
    parts = re.split(r"(\t// begin inline asm\n.*?// end inline asm\n|[^\n]*\n)", body[end.end() :], flags=re.DOTALL)
    first, rest = [], []
    used: set[str] = set(re.findall(r"%\w+", end[0]))
    for part in filter(None, parts):
        registers = re.findall(r"%\w+", part)
        is_arithmetic = part.startswith("\t") and "asm" not in part and not _EFFECT.search(part) and registers
        if is_arithmetic and not used.intersection(registers):
            first.append(part)
        else:
            rest.append(part)
            used.update(registers)
    return "", body[: end.start()] + "".join(first) + end[0] + "".join(rest)


def _one_clock(body: str, clocks: list[Any], _: list[Any]) -> tuple[str, str]:
    """Takes the end of a turn as the begin of the next one: one clock in a turn."""
    first, last = clocks[0], clocks[-1]
    rest = body[: first.start()] + body[first.end() :]
    return f"\n{first[0].rstrip()}", f"{rest}\tmov.b64 {first[1]}, {last[1]};\n"


def _one_warp(body: str, clocks: list[Any], stores: list[Any]) -> tuple[str, str]:
    """Reads the clocks in the threads that store, not in all of them."""
    both = re.search(rf"and\.pred\s+{stores[-1][1]}, (%p\d+), (%p\d+);", body)
    if both is None:
        raise ValueError("no predicate")
    thread = next(one for one in both.groups() if not re.search(rf"set\S+\s+{one},", body))
    for clock in clocks:
        body = body.replace(clock[0], clock[0].replace("mov.u64", f"@{thread} mov.u64"))
    return "", body


def _without_stores(body: str, _: list[Any], stores: list[Any]) -> tuple[str, str]:
    """Writes no records; then ptxas removes the clocks, too, and the counting of turns stays."""
    for store in stores:
        body = body.replace(store[0], "")
    return "", body


def _pipeline(settles: bool, edit: Any) -> tx.Pipeline:
    """Returns the pipeline of a session with or without the pass settle_regions, and with a change of the PTX."""
    found = _usual()
    if not settles:
        kept = [one for one in found.edits if "settle_regions" not in str(one)]
        if len(kept) != len(found.edits) - 1:
            raise ValueError("the pipeline of a session has no pass settle_regions")
        found = tx.Pipeline(tuple(kept))
    if edit is not None:

        def change(source: Any, metadata: dict[str, Any], inner: Any) -> Any:
            return _in_loop(inner(source, metadata), edit)

        found = found.stage("ptx", change)
    return found


_usual = probe.pipeline
#: For each form whether the session settles the ends of regions, and what changes the PTX.
FORMS: dict[str, tuple[bool, Any]] = {
    "as it is": (True, None),
    "ends where they are written": (False, None),
    "there, arithmetic first": (False, _arithmetic_first),
    "one clock in a turn": (True, _one_clock),
    "clocks of one warp": (True, _one_warp),
    "neither clocks nor records": (True, _without_stores),
}


@contextlib.contextmanager
def form(name: str) -> Iterator[None]:
    """Sessions in the block have one of `FORMS`."""
    settles, edit = FORMS[name]
    kept = probe._session.pipeline
    probe._session.pipeline = kept if settles and edit is None else lambda: _pipeline(settles, edit)
    try:
        yield
    finally:
        probe._session.pipeline = kept
