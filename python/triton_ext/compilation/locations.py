# SPDX-License-Identifier: Apache-2.0
"""Separates the result of a stage from its locations, in any of the languages of Triton's backends.

Differences are made on text without locations, because an alias such as ``#loc12`` may get another number although
nothing else has changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from .assembly_locations import split_assembly, split_sass
from .llvm_locations import split_llvm
from .located import Chain, Located, plain
from .mlir_locations import split_mlir


def shown_frame(chain: Chain, kernel_file: str | None, known_files: Iterable[str] = ()) -> int:
    """Returns the index of the frame of `chain` that is shown first.

    It is the innermost frame in the kernel's file, else the innermost in one of `known_files`, else 0.
    """
    known = tuple(known_files)
    for wanted in ((kernel_file,), known):
        for index, frame in enumerate(chain):
            if frame.file in wanted:
                return index
    return 0


def language_of(stage: str, text: str) -> str:
    """Returns the language of `text`, the result of `stage`: a key of `LANGUAGES`, or ``text``."""
    if stage in LANGUAGES:
        return stage
    if re.search(r"^(?:(?:builtin\.)?module\b|#\w+ = |\"builtin\.module\")", text, re.MULTILINE):
        return "mlir"
    if re.search(r"^(?:; ModuleID|source_filename = |target triple = |define )", text, re.MULTILINE):
        return "llvm"
    return "text"


def split(text: str, language: str) -> Located:
    """Returns `text`, which is in `language` (see `language_of`), separated from its locations."""
    return LANGUAGES.get(language, plain)(text)


#: By language, the function that separates a text from its locations. A stage of the same name returns this language,
#: and the page of a trace colours a text by it.
LANGUAGES: dict[str, Callable[[str], Located]] = {
    "mlir": split_mlir,
    "ttir": split_mlir,
    "ttgir": split_mlir,
    "llvm": split_llvm,
    "ptx": split_assembly,
    "amdgcn": split_assembly,
    "sass": split_sass,
    "python": plain,
}
