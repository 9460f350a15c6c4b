# SPDX-License-Identifier: Apache-2.0
"""A `Compilation` as one HTML page, which needs no other file."""

from __future__ import annotations

import base64
import gzip
import html
import json
import re
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from ..compilation import locations
from ..compilation.located import Chain, Located
from ..compilation.records import Compilation
from ..pipeline.records import PassRecord, StageRecord
from ..support.storage import write_whole
from .pictures import Pictures

_ASSETS = Path(__file__).parent
_SCRIPTS = ("syntax.js", "diff.js", "rows.js", "layouts.js", "page.js")
_COLOURS = {"ttir": "mlir", "ttgir": "mlir"}  # these are dialects of MLIR


def write_page(compilation: Compilation, path: Path) -> None:
    """Writes one HTML page with every module and the differences that each pass made, complete or not at all.

    Args:
        compilation: the record, with IR; without IR the page only lists the passes.
        path: the file; its directory is made if needed.

    Raises:
        OSError: the file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, page(compilation).encode())


def page(compilation: Compilation) -> str:
    """Returns the text of the page. All of `compilation` is compressed data for the script, so none of it is HTML."""
    data = json.dumps(_Payload(compilation).data(), separators=(",", ":")).encode()
    parts = {
        "title": html.escape(f"{compilation.kernel} · {compilation.target}"),
        "style": style(),
        "script": "".join((_ASSETS / name).read_text(encoding="utf-8") for name in _SCRIPTS),
        "data": base64.b64encode(gzip.compress(data, 9, mtime=0)).decode(),
    }
    template = (_ASSETS / "page.html").read_text(encoding="utf-8")
    return filled(template, parts)


def style() -> str:
    """Returns the style sheet: colours and fonts, for light and dark screens, and what only this page uses."""
    return (_ASSETS / "page.css").read_text(encoding="utf-8")


def filled(template: str, parts: Mapping[str, str]) -> str:
    """Returns `template` with the parts, which are HTML, in the places of their names: ``{{title}}``."""
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], template)


class _Payload:
    """The data for the script of the page.

    Modules share nearly all of their lines. So there is one table of lines; an entry is a line with the chain of places
    that it comes from; and a text is a list of runs of entries, each the number of the first entry and a count.
    """

    def __init__(self, compilation: Compilation) -> None:
        self.compilation = compilation
        self.lines: dict[str, int] = {}
        self.chains: dict[Chain, int] = {(): 0}
        self.entries: dict[tuple[int, int], int] = {}
        self.files: dict[str, int] = {}
        self.texts: dict[tuple[int, ...], int] = {}
        self.split: dict[tuple[str, str], int] = {}
        self.pictures = Pictures()

    def data(self) -> dict[str, Any]:
        of = self.compilation
        sources = dict(of.sources)
        for path in filter(None, (of.file, *sources)):
            self.file(path)
        stages = [self.stage(stage) for stage in of.stages]
        sass = None if of.sass is None else self.add(of.sass, "sass")
        sources_at = {path: self.add(text, "python") for path, text in sources.items()}
        chains = [[(self.file(f.file), f.line, f.column) for f in chain] for chain in self.chains]
        return {
            "kernel": of.kernel,
            "target": of.target,
            "triton": of.triton,
            "version": metadata.version("triton-ext"),
            "pipeline": of.pipeline,
            "seconds": of.seconds,
            "file": None if of.file is None else self.files[of.file],
            "stages": stages,
            "sass": sass,
            "files": [[path, sources_at.get(path)] for path in self.files],
            "chains": chains,
            "shown": [locations.shown_frame(chain, of.file, sources) for chain in self.chains],
            "lines": list(self.lines),
            "entries": [list(column) for column in zip(*self.entries, strict=True)] or [[], []],
            "texts": [list(runs) for runs in self.texts],
            "drawings": self.pictures.drawings,
            "layouts": {number: names for number, names in self.pictures.names.items() if names},
        }

    def stage(self, stage: StageRecord) -> dict[str, Any]:
        language = "llvm" if stage.name == "llvm" else "mlir"
        before = source = None if stage.source is None else self.add(stage.source, language)
        passes = []
        for record in stage.passes:
            after = before if record.ir is None else self.add(record.ir, language)
            # If the pass changed the module and IR was not recorded, the modules are unknown.
            known = record.ir is not None or not record.changed
            passes.append({**_facts(record), "before": before if known else None, "after": after if known else None})
            before = after if known else None
        output: dict[str, Any] = {"text": None, "bytes": None, "language": "text"}
        if isinstance(stage.output, bytes):
            output["bytes"] = len(stage.output)
        elif stage.output is not None:
            language = locations.language_of(stage.name, stage.output)
            output |= {"text": self.add(stage.output, language), "language": _COLOURS.get(language, language)}
        return {"name": stage.name, "seconds": stage.seconds, "source": source, "passes": passes, "output": output}

    def file(self, path: str) -> int:
        return self.files.setdefault(path, len(self.files))

    def add(self, text: str, language: str) -> int:
        """Adds `text` and returns its number; texts that differ only in the names of locations have one number."""
        found = self.split.get((text, language))
        if found is None:
            runs = tuple(self.runs(locations.split(text, language)))
            found = self.split[text, language] = self.texts.setdefault(runs, len(self.texts))
            if _COLOURS.get(language, language) == "mlir":
                self.pictures.add(found, text)
        return found

    def runs(self, located: Located) -> Iterator[int]:
        start = end = 0
        for line, chain in zip(located.lines, located.chains, strict=True):
            key = (
                self.lines.setdefault(line, len(self.lines)),
                self.chains.setdefault(chain, len(self.chains)),
            )
            entry = self.entries.setdefault(key, len(self.entries))
            if entry != end:
                if end > start:
                    yield from (start, end - start)
                start = entry
            end = entry + 1
        if end > start:
            yield from (start, end - start)


def _facts(record: PassRecord) -> dict[str, Any]:
    return {
        "name": record.name,
        "ordinal": record.ordinal,
        "arguments": record.arguments,
        "pipeline": record.pipeline,
        "edit": record.edit,
        "ran": record.ran,
        "seconds": record.seconds,
        "ops": (record.ops_before, record.ops_after),
        "changed": record.changed,
        "remarks": record.remarks,
    }
