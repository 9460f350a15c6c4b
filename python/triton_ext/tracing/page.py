# SPDX-License-Identifier: Apache-2.0
"""Views of a `Compilation` for reading: one page that needs nothing else, and a directory of files."""

from __future__ import annotations

import base64
import gzip
import html
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

from ..compilation import locations
from ..compilation.locations import Chain, Located
from ..compilation.records import Compilation
from ..errors import TritonExtError
from ..pipeline.records import PassRecord, StageRecord
from ..support.storage import write_whole

_ASSETS = Path(__file__).parent
_STYLE = ("page.css",)
_SCRIPTS = ("syntax.js", "diff.js", "rows.js", "page.js")
_EXTENSIONS = {"mlir": "mlir", "ttir": "mlir", "ttgir": "mlir", "llvm": "ll", "text": "txt"}
_COLOURS = {"ttir": "mlir", "ttgir": "mlir"}  # these are dialects of MLIR
_INDEX = "index.txt"
_TITLE = "triton-ext trace: "


def write_page(compilation: Compilation, path: Path) -> None:
    """Writes one HTML page with every module and the differences that each pass made, whole or not at all.

    Args:
        compilation: with its IR; without it the page still lists the passes.
        path: the file; its directory is made if needed.

    Raises:
        OSError: the file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, page(compilation).encode())


def page(compilation: Compilation) -> str:
    """The text of that page. Nothing of `compilation` is in it as HTML: the script gets it as compressed data."""
    data = json.dumps(_Payload(compilation).data(), separators=(",", ":")).encode()
    parts = {
        "title": html.escape(f"{compilation.kernel} · {compilation.target}"),
        "style": "".join((_ASSETS / name).read_text(encoding="utf-8") for name in _STYLE),
        "script": "".join((_ASSETS / name).read_text(encoding="utf-8") for name in _SCRIPTS),
        "data": base64.b64encode(gzip.compress(data, 9, mtime=0)).decode(),
    }
    template = (_ASSETS / "page.html").read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], template)


class _Payload:
    """What the page's script reads.

    Modules share nearly all of their lines. So there is one table of lines, an entry of it is a line and where it comes
    from, and a text is runs of entries: the number of the first and how many follow.
    """

    def __init__(self, compilation: Compilation) -> None:
        self.compilation = compilation
        self.lines: dict[str, int] = {}
        self.chains: dict[Chain, int] = {(): 0}
        self.entries: dict[tuple[int, int], int] = {}
        self.files: dict[str, int] = {}
        self.texts: dict[tuple[int, ...], int] = {}
        self.split: dict[tuple[str, str], int] = {}

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
        }

    def stage(self, stage: StageRecord) -> dict[str, Any]:
        before = source = None if stage.source is None else self.add(stage.source, "mlir")
        passes = []
        for record in stage.passes:
            after = before if record.ir is None else self.add(record.ir, "mlir")
            # Where it changed the module and the IR was not asked for, there is nothing to show.
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
        """The number of `text`; texts that differ in nothing but the names of locations are one."""
        found = self.split.get((text, language))
        if found is None:
            runs = tuple(self.runs(locations.split(text, language)))
            found = self.split[text, language] = self.texts.setdefault(runs, len(self.texts))
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


def write_files(compilation: Compilation, directory: Path) -> list[Path]:
    """Writes the modules of `compilation` as files, and ``index.txt`` with the table of passes.

    What a pass left is written without locations, so that ``diff`` of two files shows what the pass did; what a stage
    gave is written as it was. An earlier trace in `directory` is replaced; on failure all stays as it was.

    Args:
        compilation: with its IR.
        directory: made if needed.

    Returns:
        The files, `index.txt` first.

    Raises:
        TritonExtError: the directory holds something that is no trace.
        OSError: the files cannot be written.
    """
    directory = directory.resolve()
    _refuse_foreign(directory)
    files = _files(compilation)
    directory.parent.mkdir(parents=True, exist_ok=True)
    # A directory that nobody else can enter until it has its name; the old one goes into it, too.
    scratch = Path(tempfile.mkdtemp(prefix=f".{directory.name[:100]}.", dir=directory.parent))
    partial, replaced = scratch / "new", scratch / "old"
    try:
        for name, content in files.items():
            path = partial / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        if directory.exists():
            directory.rename(replaced)
        try:
            partial.rename(directory)
        except OSError:
            if replaced.exists():
                replaced.rename(directory)
            raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return [directory / name for name in files]


def _refuse_foreign(directory: Path) -> None:
    """Raises unless everything in `directory` is listed in its index, as `write_files` leaves it."""
    if not os.path.lexists(directory):
        return
    another = "name another directory"
    if not directory.is_dir():
        raise TritonExtError(f"{directory} is no directory", fix=another)
    index = directory / _INDEX
    text = index.read_text(encoding="utf-8", errors="replace") if index.is_file() else ""
    ours: set[str] = set()
    if text.startswith(_TITLE):
        ours = {_INDEX, *re.findall(r"^ +[\d,]+  (\S.*)$", text.partition("\nfiles\n")[2], re.MULTILINE)}
    for path in sorted(directory.rglob("*")):
        name = path.relative_to(directory).as_posix()
        is_ours = any(o.startswith(f"{name}/") for o in ours) if path.is_dir() else name in ours
        if not is_ours or path.is_symlink():
            raise TritonExtError(f"{directory} holds {name}, which is no part of a trace", fix=another)


def _files(compilation: Compilation) -> dict[str, bytes]:
    """The content of each file by name, the index first."""
    files: dict[str, bytes] = {_INDEX: b""}

    def put(name: str, content: str | bytes) -> str:
        stem, dot, extension = name.rpartition(".")
        number = 2
        while name in files:
            name, number = f"{stem}-{number}{dot}{extension}", number + 1
        files[name] = content if isinstance(content, bytes) else content.encode("utf-8", "surrogateescape")
        return name

    sources = dict(compilation.sources)
    if compilation.file in sources:
        put("00-source.py", sources[compilation.file])
    for path, text in sources.items():
        if path != compilation.file:
            put(f"sources/{_safe(Path(path).stem)}.py", text)
    kernel = _safe(compilation.kernel)
    table: list[tuple[str, ...]] = []
    for stage in compilation.stages:
        folder = _safe(stage.name)
        if stage.passes and stage.source is not None:
            put(f"{folder}/00-source.mlir", locations.split_mlir(stage.source).text)
        rows = []
        for position, record in enumerate(stage.passes, 1):
            file = ""
            if record.ir is not None:
                name = f"{folder}/{position:02}-{_safe(record.name)}.mlir"
                file = put(name, locations.split_mlir(record.ir).text)
            rows.append(_table_row(position, record, file))
        output = ""
        if isinstance(stage.output, bytes):
            output = put(f"{kernel}.{folder}", stage.output)
        elif stage.output is not None:
            language = locations.language_of(stage.name, stage.output)
            extension = _EXTENSIONS.get(language, language)
            output = put(f"{kernel if extension == stage.name else folder}.{extension}", stage.output)
        table += [("", "", stage.name, _milliseconds(stage.seconds), "", output), *rows, ("",) * 6]
    if compilation.sass is not None:
        put(f"{kernel}.sass", compilation.sass)
    files[_INDEX] = _index(compilation, table, files).encode("utf-8", "surrogateescape")
    return files


def _table_row(position: int, record: PassRecord, file: str) -> tuple[str, ...]:
    mark = "*" if record.changed else "-" if not record.ran else ""
    name = f"{record.name}#{record.ordinal}" if record.ordinal > 1 else record.name
    arguments = " ".join(f"{key}={value}" for key, value in record.arguments)
    delta = f"{record.ops_after - record.ops_before:+}" if record.ops_after != record.ops_before else ""
    what = " ".join(
        filter(None, (name, f"{{{arguments}}}" if arguments else "", f"({record.edit})" * bool(record.edit)))
    )
    return (str(position), mark, what, _milliseconds(record.seconds) if record.ran else "", delta, file)


def _index(compilation: Compilation, table: list[tuple[str, ...]], files: dict[str, bytes]) -> str:
    """The table of passes, and the list of files by which `_refuse_foreign` knows them."""
    what = f"{compilation.kernel} for {compilation.target}, Triton {compilation.triton}"
    edits = f"edits: {' '.join(compilation.pipeline.split())}\n" if compilation.pipeline else ""
    headings = ("", "", "* changed, - dropped", "ms", "ops", "file")
    rows = [headings, *(tuple(" ".join(cell.split()) for cell in row) for row in table)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(headings))]
    right = (0, 3, 4)
    body = "\n".join(
        "  ".join(
            c.rjust(w) if i in right else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )
    listed = "\n".join(f"{len(content):>12,}  {name}" for name, content in files.items() if name != _INDEX)
    return f"{_TITLE}{' '.join(what.split())}\n{edits}\n{body}\nfiles\n{listed}\n"


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.2f}"


def _safe(name: str) -> str:
    """`name` as part of a file name."""
    return re.sub(r"[^\w.+-]", "_", name)[:100].lstrip(".") or "_"
