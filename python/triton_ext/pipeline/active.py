# SPDX-License-Identifier: Apache-2.0
"""A pipeline that is ready to be entered: its edits, the libraries that they need, and the cache key of both."""

from __future__ import annotations

import hashlib
import json
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from ..keys.watch import Watch
from ..loading.libraries import load_infra
from ..loading.loader import load_library
from ..support.resources import own_code
from .builtin_passes import BuiltinPass
from .edits import Edit, Entry, PythonPass
from .extension_passes import Pass
from .llvm_library import library_digest
from .llvm_passes import LLVM, LLVMPasses
from .option_dialects import digests as dialects_in
from .steps import Layer

if TYPE_CHECKING:
    from .stack import Stack

#: Held while the state of pipelines changes, in this module, in `stack` and in `hook`.
lock = threading.RLock()
#: Counts the changes of active pipelines; an answer of the hook holds for one generation.
generation = 0
#: By key, how often it was given up, because a function had read an object that has been changed in place since.
_left_behind: dict[str, int] = {}


class Active:
    """The edits of a pipeline with the libraries that they need, and the cache key of both.

    Raises:
        TritonExtError: a library cannot be used, or no key can be made of a Python function.
    """

    def __init__(self, edits: tuple[Edit, ...]) -> None:
        self.edits = edits
        entries = [entry for edit in edits for entry in edit.entries]
        self._passes = [entry for entry in entries if isinstance(entry, Pass)]
        self._named = [
            extension for entry in entries if isinstance(entry, LLVMPasses) for extension in entry.extensions
        ]
        self._uses_llvm = any(edit.stage == LLVM for edit in edits)
        functions = [entry.function for entry in entries if isinstance(entry, PythonPass)]
        self.watch = Watch([*functions, *(edit.function for edit in edits if edit.function)])
        self._known: tuple[list[str], tuple[str, ...]] = [], ()
        self.key = ""
        self.round = 0  # how often the key had been given up when it was computed
        # The last stack with this pipeline on top, to be used again: most launches are like the one before.
        self.entered: Stack | None = None
        self.refresh()

    def refresh(self, *, inside: bool = True) -> None:
        """Loads libraries that were built again, and computes the key anew if a library or a function has changed.

        Args:
            inside: also look for changes inside of the objects that functions read, not only for other objects.
        """
        extensions = [*(item.extension for item in self._passes), *self._named]
        libraries = [load_library(extension) for extension in extensions]
        dialects = dialects_in(text for item in self._passes for text in item.args)
        known = [library.digest for library in libraries], self.watch.fingerprints(inside=inside)
        is_left = inside and self.round != _left_behind.get(self.key, 0)
        if self.key and known == self._known and not is_left:
            return
        global generation  # noqa: PLW0603
        loaded = {e.path: library for e, library in zip(extensions, libraries, strict=True)}
        add = {item: loaded[item.extension.path].add[item.name] for item in self._passes}
        llvm = {path: library.llvm for path, library in loaded.items() if library.llvm is not None}
        layer = Layer(self.edits, add, llvm)
        digests = {path: library.digest for path, library in loaded.items()}
        import triton._C.libtriton  # noqa: F401 - the library that `load_infra` loads is linked to it

        runner = [library_digest()] if self._uses_llvm else []
        edits_key = [_edit_key(edit, digests) for edit in self.edits]
        identity = [load_infra(), own_code(), known[1], edits_key, dialects, *runner]
        with lock:
            self.key = hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:32]
            self.round = _left_behind.get(self.key, 0)
            self.layer = layer
            self._known = known
            generation += 1

    def follow(self) -> None:
        """Computes the key anew if a variable that a function reads has been assigned."""
        if self.watch.fingerprints(inside=False) != self._known[1]:
            self.refresh(inside=False)

    def drift(self) -> str:
        """Returns a text for the key on disk that says what has changed in place since the key was computed.

        Claim: no other compilation takes the kernel for its own. The launch has looked for the kernel under the key in
        memory, which does not have this text, and will put the kernel there. So that key is given up: when this process
        computes it again, it gets another round, which is part of the key. Example: a pass appends to a list that it
        reads. The kernel of the first launch stays in memory for the block; the next block compiles again.
        """
        drift = self.watch.drift()
        if drift:
            with lock:
                _left_behind[self.key] = max(_left_behind.get(self.key, 0), self.round + 1)
        return drift


def _edit_key(edit: Edit, digests: dict[Path, str]) -> list[object]:
    entries = [_entry_key(entry, digests) for entry in edit.entries]
    return [edit.verb, edit.stage, str(edit.anchor), entries, edit.arguments, edit.on_missing]


def _entry_key(entry: Entry, digests: dict[Path, str]) -> list[object]:
    if isinstance(entry, PythonPass):
        return ["python"]  # the fingerprints say which function
    if isinstance(entry, BuiltinPass):
        return ["builtin", entry.name, entry.args]
    if isinstance(entry, LLVMPasses):
        return ["llvm", entry.passes, [digests[extension.path] for extension in entry.extensions]]
    return ["pass", entry.name, entry.args, digests[entry.extension.path]]
