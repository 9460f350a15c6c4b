# SPDX-License-Identifier: Apache-2.0
"""Keeps the libraries of projects that only tests build, so that each is configured and compiled once.

It is for tests that use what they build. Those that test building call `triton_ext.build.build_tree` itself.

The inputs are those of a wheel (`kept_wheel`), which are more than a project reads of the checkout: an edit of a Python
file of triton-ext builds anew. With them, the project's files and the definitions name the libraries in `support.kept`.
``TRITON_EXT_PATH`` does not count, because a build does not read it, and tests set it to temporary directories.
"""

from __future__ import annotations

import functools
import io
import os
import zipfile
from collections.abc import Sequence
from pathlib import Path
from unittest import mock

from support import ROOT, kept, kept_wheel
from triton_ext.authoring import build


def build_tree(source: Path, build_dir: Path, definitions: Sequence[str] = (), *, results: Path | None = None) -> None:
    """Puts the libraries of a project into `build_dir`, as `triton_ext.build.build_tree` does, or did.

    Args:
        source: the project.
        build_dir: an empty directory, or none yet.
        definitions: variables for CMake, as ``NAME=VALUE``.
        results: a directory that the definitions name, which the build fills; all of its files are kept then.
    """
    place, pattern = (results, "*") if results else (build_dir, "*.so")

    def compute() -> bytes:
        build.build_tree(source, build_dir, definitions=tuple(definitions))
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            for file in sorted(place.rglob(pattern)):
                if file.is_file():
                    archive.write(file, file.relative_to(place))
        return packed.getvalue()

    if not (ROOT / ".git").exists():  # nothing tells the checkout's files from others
        compute()
        return
    own = kept.digest(sorted(path for path in source.rglob("*") if path.is_file() and path.suffix != ".pyc"), source)
    named = [text.replace(str(results), "results") if results else text for text in definitions]
    with mock.patch.dict(os.environ):
        os.environ.pop("TRITON_EXT_PATH", None)
        found = kept.output(compute, own, repr(named), *_inputs(), kind="objects")
    with zipfile.ZipFile(io.BytesIO(found)) as archive:
        archive.extractall(place)


@functools.cache
def _inputs() -> tuple[str, ...]:
    return tuple(kept_wheel.inputs())
