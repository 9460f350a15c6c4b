# SPDX-License-Identifier: Apache-2.0
"""`trace`: the IR before and after every pass and stage of one compilation, as a page and as files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..compilation.describe import compile_observed
from ..compilation.records import Compilation
from ..compilation.requests import KernelRequest, request_for
from ..errors import TritonExtError
from ..pipeline.inspection import Level
from ..pipeline.pipeline import Pipeline


def trace(
    kernel: object,
    *,
    target: object = None,
    signature: str | Mapping[str, object] | None = None,
    options: Mapping[str, Any] | None = None,
    pipeline: Pipeline | None = None,
    html: str | os.PathLike[str] | None = None,
    directory: str | os.PathLike[str] | None = None,
    sources: str | os.PathLike[str] | None = None,
) -> Compilation:
    """Compiles `kernel`, without Triton's cache, and records the IR before and after every pass.

    Args:
        kernel: a kernel; an ``ASTSource``; the path of a file with IR; or ``FILE.py:kernel``; see `describe`.
        target: e.g. ``cuda:90``.
        signature: type or value of each argument.
        options: options of the backend.
        pipeline: the edits to apply.
        html: a file to write as one page, which needs no other file and shows the differences that each pass made.
        directory: a directory to write, with a file for each changed module, stage output and source.
        sources: a directory whose Python files are shown if the IR names them. The files of the kernel's own functions
            are always shown. IR from a file may name any file, so without `sources` none of those is shown.

    Returns:
        The record, including the IR after every pass that changed it.

    Raises:
        TritonExtError: the kernel cannot be found, its signature does not fit, or a file cannot be written.
        PipelineError: an edit does not fit the kernel's pipeline, or a pass failed.
    """
    return trace_request(request_for(kernel, target, signature, options), pipeline, html, directory, sources)


def trace_request(
    task: KernelRequest,
    pipeline: Pipeline | None,
    html: str | os.PathLike[str] | None,
    directory: str | os.PathLike[str] | None,
    sources: str | os.PathLike[str] | None,
) -> Compilation:
    """Does what `trace` does, for a request of `request_for`."""
    from .files import write_files
    from .page import write_page

    compilation = compile_observed(task, Level.IR, pipeline, sources)
    try:
        if html is not None:
            write_page(compilation, Path(html))
        if directory is not None:
            write_files(compilation, Path(directory))
    except (OSError, ValueError) as error:  # ValueError for a name with a null character
        what = getattr(error, "filename", None) or html or directory
        raise TritonExtError(f"{what!r}: {getattr(error, 'strerror', None) or error}") from error
    return compilation
