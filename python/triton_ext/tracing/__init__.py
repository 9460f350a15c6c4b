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
    """Compiles `kernel` afresh and records the IR around every pass.

    Args:
        kernel: as of `describe`; so are `target`, `signature`, `options` and `pipeline`.
        target: e.g. ``cuda:90``.
        signature: type or value of each argument.
        options: of the backend.
        pipeline: the edits to apply.
        html: file to write as one page that needs nothing else, with the differences that each pass made.
        directory: directory to write as one file for each changed module, stage output and source.
        sources: directory whose Python files are shown where the IR names them. Those of the kernel's own functions
            are shown anyway, but a file with IR may name any file, so of that one no others are.

    Returns:
        What was recorded, the IR of every pass that changed it included.

    Raises:
        TritonExtError: as of `describe`; or a file cannot be written.
    """
    return trace_request(request_for(kernel, target, signature, options), pipeline, html, directory, sources)


def trace_request(
    task: KernelRequest,
    pipeline: Pipeline | None,
    html: str | os.PathLike[str] | None,
    directory: str | os.PathLike[str] | None,
    sources: str | os.PathLike[str] | None,
) -> Compilation:
    """As `trace`, for what `request_for` has made."""
    from .page import write_files, write_page

    compilation = compile_observed(task, Level.IR, pipeline, sources)
    try:
        if html is not None:
            write_page(compilation, Path(html))
        if directory is not None:
            write_files(compilation, Path(directory))
    except (OSError, ValueError) as error:  # a null character in a name is no error of the system
        what = getattr(error, "filename", None) or html or directory
        raise TritonExtError(f"{what!r}: {getattr(error, 'strerror', None) or error}") from error
    return compilation
