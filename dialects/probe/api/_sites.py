# SPDX-License-Identifier: Apache-2.0
"""The sites of a kernel: which probes it has. The compiler writes them into the module as a table, in JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from triton_ext.errors import TritonExtError

from ._arguments import names_of
from ._layout import HEAD, LOCAL, SLOT_STRIDE, STRIDE

_TABLE = re.compile(r'probe\.sites = "((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True)
class Site:
    """One probe in one kernel.

    Attributes:
        kind: ``count``, ``record``, ``check``, ``minmax``, ``stats``, ``histogram``, ``outside`` or ``region``.
        name: the name, or the message of a check.
        kernel: the kernel's name.
        file: the source file; empty if it is unknown.
        line: the line of the probe.
        types: the element type of each value, as MLIR calls it; with a ``u`` before it if it is unsigned.
        shape: the shape of the tensors; () if the probe has only scalars.
        bins: the number of bins of a histogram, and its first and last edge; (0, 0, 0) for other kinds.
        per_warp: whether a region is recorded by each warp, not by the program.
        block: for a region, how many records a block of the buffer has; else 0.
        warps: how many warps of a program record a region.
        loop: the number of the loop that has room for the records of all of its turns, and the place of this region's
            records in those of a turn; None for other regions.
        lines: where its numbers and its bins begin in the chunks of its kernel.
        rules: what the pass `instrument` observes with it; empty if it is written in the kernel.
        weight: how many bytes each count stands for.
        lanes: how many lanes each count stands for; 0 if it does not say.
        note: what a pass that has inserted a check says about it; empty without such a pass.
        column: the column of a check with a note, from 1.
        in_loop: whether a check with a note can run several times in a program.
        tensor: the argument from whose memory the observed operation reads; empty if it is not known.
    """

    kind: str
    name: str
    kernel: str
    file: str
    line: int
    types: tuple[str, ...] = ()
    shape: tuple[int, ...] = ()
    bins: tuple[int, float, float] = (0, 0.0, 0.0)
    per_warp: bool = False
    block: int = 0
    warps: int = 1
    loop: tuple[int, int] | None = None
    lines: tuple[int, int] = (0, 0)
    rules: tuple[str, ...] = ()
    weight: int = 0
    lanes: int = 0
    note: str = ""
    column: int = 0
    in_loop: bool = False
    tensor: str = field(default="", compare=False)

    @property
    def has_records(self) -> bool:
        """Whether it appends records to the buffer."""
        return self.kind in ("record", "check")

    @property
    def can_lose(self) -> bool:
        """Whether it writes to the part of the buffer that can be full."""
        return self.has_records or self.kind == "region"

    @property
    def words(self) -> int:
        """How many words a record takes."""
        return HEAD + len(self.types)


#: The sites of each kernel that this process has compiled or loaded with probes, by the key in the buffer.
tables: dict[int, tuple[Site, ...]] = {}


def read_sites(kernel: Any) -> None:
    """Keeps the sites of a ``CompiledKernel``, new or from Triton's cache."""
    if getattr(kernel.metadata, "profile_scratch_align", 1) < STRIDE:
        return
    table = table_in(str(kernel.asm.get("ttir", "")))
    if table is not None:
        _learn(table, kernel.src)


def table_in(module: str) -> bytes | None:
    """Returns the table of sites in the text of a module, or None if it has no probes."""
    text = _TABLE.search(module)
    return re.sub(r"\\([0-9A-F]{2}|.)", _unescape, text[1]).encode("latin-1") if text else None


def sites_in(content: bytes, source: Any = None) -> tuple[str, tuple[Site, ...]]:
    """Returns the kernel's name and the sites of a table.

    Args:
        content: the table.
        source: what the kernel was compiled from; None if it is not known.
    """
    table = json.loads(content.decode(errors="replace"))
    names = table.get("arguments", ())
    if hasattr(source, "fn"):  # a file of IR has only numbers for its arguments
        names = names_of(source, names)
    sites = tuple(
        Site(
            one["kind"], one["name"], table["kernel"], one.get("file", ""), one.get("line", 0), tuple(one["types"]),
            tuple(one["shape"]), (one.get("bins", 0), float(one.get("lo", 0)), float(one.get("hi", 0))),
            one.get("per_warp", False), one.get("records_of_block", 0), one.get("warps", 1),
            (one["loop"], one["place"]) if "loop" in one else None,
            (one["line_of_chunks"], one.get("bins_line", 0)),
            tuple(one.get("rules", "").split()), one.get("weight", 0), one.get("lanes", 0),
            one.get("note", ""), one.get("column", 0), one.get("in_loop", False),
            _shown(names, one["argument"]) if "argument" in one else "",
        )
        for one in table["sites"]
    )  # fmt: skip
    return table["kernel"], sites


def launched_by(kernel: Any) -> tuple[int, tuple[str, ...]] | None:
    """Returns the key of a kernel's table and the names of its arguments, by number.

    None of a kernel without launch words that is not followed, either.

    Args:
        kernel: a ``CompiledKernel``.
    """
    table = table_in(str(kernel.asm.get("ttir", "")))
    has_slot = getattr(kernel.metadata, "profile_scratch_align", 1) >= SLOT_STRIDE
    if table is None or not (has_slot or _words_of(table, "follows")):
        return None
    return _learn(table, kernel.src), tuple(json.loads(table.decode(errors="replace"))["arguments"])


def raised_by(kernel: Any) -> tuple[str, ...]:
    """Returns the checks for which a ``CompiledKernel`` raises the flag of its slot."""
    table = table_in(str(kernel.asm.get("ttir", "")))
    return _words_of(table, "raises") if table is not None else ()


def followed_by(kernel: Any) -> tuple[str, ...]:
    """Returns the checks for which the host has to look at each launch of a ``CompiledKernel``."""
    table = table_in(str(kernel.asm.get("ttir", "")))
    return _words_of(table, "follows") if table is not None else ()


def _words_of(table: bytes, name: str) -> tuple[str, ...]:
    return tuple(json.loads(table.decode(errors="replace")).get(name, ()))


def sites_of(key: int) -> tuple[Site, ...]:
    """Returns the sites of the kernel whose key is in `key`, a word of the buffer.

    Raises:
        TritonExtError: this process has not compiled or loaded the kernel.
    """
    sites = tables.get(key & ~LOCAL & (2**64 - 1))
    if sites is None:
        raise TritonExtError("the buffer has records of a kernel that this process has not compiled or loaded")
    return sites


def _shown(names: Sequence[str], number: int) -> str:
    """Returns the name of an argument as Python writes it: ``pair[1]`` for ``pair.1``."""
    return re.sub(r"\.(\d+)", r"[\1]", names[number]) or f"argument {number}"


def _learn(content: bytes, source: Any) -> int:
    """Keeps the sites of a table by the key that lower_probe computes from the same bytes, and returns the key."""
    key = 0xCBF29CE484222325
    for byte in content:
        key = (key ^ byte) * 0x100000001B3 % 2**64
    key = key & ~LOCAL or LOCAL + 1
    kernel, sites = sites_in(content, source)
    if tables.setdefault(key, sites) != sites:
        raise TritonExtError(
            f"the probes of {kernel} and of {(tables[key] or sites)[0].kernel} have the same key in the buffer",
            fix="another name for one of the kernels",
        )
    return key


def _unescape(match: re.Match[str]) -> str:
    return chr(int(match[1], 16)) if len(match[1]) == 2 else match[1]
