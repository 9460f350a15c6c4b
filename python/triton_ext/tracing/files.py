# SPDX-License-Identifier: Apache-2.0
"""A `Compilation` as a directory of files: every module, and a table of the passes."""

from __future__ import annotations

import os
import re
from pathlib import Path

from ..compilation import locations
from ..compilation.records import Compilation
from ..errors import TritonExtError
from ..pipeline.records import PassRecord
from ..support.columns import aligned
from ..support.storage import whole_directory

_EXTENSIONS = {"mlir": "mlir", "ttir": "mlir", "ttgir": "mlir", "llvm": "ll", "text": "txt"}
_INDEX = "index.txt"
_TITLE = "triton-ext trace: "


def write_files(compilation: Compilation, directory: Path) -> list[Path]:
    """Writes the modules of `compilation` as files, and ``index.txt`` with the table of passes.

    The module after a pass is written without locations, so that ``diff`` of two files shows what the pass did. The
    result of a stage is written unchanged. An earlier trace in `directory` is replaced; if writing fails, it stays.

    Args:
        compilation: the record, with IR.
        directory: the directory, which is made if needed.

    Returns:
        The files, ``index.txt`` first.

    Raises:
        TritonExtError: the directory contains a file that is not part of a trace.
        OSError: the files cannot be written.
    """
    directory = directory.resolve()
    _refuse_foreign(directory)
    files = _files(compilation)
    directory.parent.mkdir(parents=True, exist_ok=True)
    with whole_directory(directory) as new:
        for name, content in files.items():
            path = new / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    return [directory / name for name in files]


def _refuse_foreign(directory: Path) -> None:
    """Raises TritonExtError if `directory` contains a file that its index does not list."""
    if not os.path.lexists(directory):
        return
    another = "name another directory"
    if not directory.is_dir():
        raise TritonExtError(f"{directory} is not a directory", fix=another)
    index = directory / _INDEX
    text = index.read_text(encoding="utf-8", errors="replace") if index.is_file() else ""
    ours: set[str] = set()
    if text.startswith(_TITLE):
        ours = {_INDEX, *re.findall(r"^ +[\d,]+  (\S.*)$", text.partition("\nfiles\n")[2], re.MULTILINE)}
    for path in sorted(directory.rglob("*")):
        name = path.relative_to(directory).as_posix()
        is_ours = any(o.startswith(f"{name}/") for o in ours) if path.is_dir() else name in ours
        if not is_ours or path.is_symlink():
            raise TritonExtError(f"{directory} contains {name}, which is not part of a trace", fix=another)


def _files(compilation: Compilation) -> dict[str, bytes]:
    """Returns the content of each file by name, the index first."""
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
        language, suffix = ("llvm", "ll") if stage.name == "llvm" else ("mlir", "mlir")
        if stage.passes and stage.source is not None:
            put(f"{folder}/00-source.{suffix}", locations.split(stage.source, language).text)
        rows = []
        for position, record in enumerate(stage.passes, 1):
            file = ""
            if record.ir is not None:
                name = f"{folder}/{position:02}-{_safe(record.name)}.{suffix}"
                file = put(name, locations.split(record.ir, language).text)
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
    """Returns the text of the index: the table of passes, and the list of files, which `_refuse_foreign` reads."""
    what = f"{compilation.kernel} for {compilation.target}, Triton {compilation.triton}"
    edits = f"edits: {' '.join(compilation.pipeline.split())}\n" if compilation.pipeline else ""
    headings = ("", "", "* changed, - dropped", "ms", "ops", "file")
    rows = [headings, *(tuple(" ".join(cell.split()) for cell in row) for row in table)]
    body = "\n".join(aligned(rows, right=(0, 3, 4)))
    listed = "\n".join(f"{len(content):>12,}  {name}" for name, content in files.items() if name != _INDEX)
    return f"{_TITLE}{' '.join(what.split())}\n{edits}\n{body}\nfiles\n{listed}\n"


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.2f}"


def _safe(name: str) -> str:
    """Returns `name` with all characters replaced that a file name should not have."""
    return re.sub(r"[^\w.+-]", "_", name)[:100].lstrip(".") or "_"
