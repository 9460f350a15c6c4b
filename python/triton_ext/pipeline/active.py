# SPDX-License-Identifier: Apache-2.0
"""A pipeline that is ready to be used: its edits, the libraries that they need, and the cache key of both."""

from __future__ import annotations

import hashlib
import json
import threading
from typing import TYPE_CHECKING

from ..keys.watch import Watch
from ..loading.libraries import load_infra
from ..loading.loader import load_library
from ..support.resources import own_code
from .builtin_passes import BuiltinPass
from .edits import Edit, Entry, PythonPass
from .extension_passes import Pass
from .steps import Layer

if TYPE_CHECKING:
    from .stack import Stack

#: Held while the state of pipelines changes: of this module, of `stack` and of `hook`.
lock = threading.RLock()
#: How often an active pipeline has changed.
generation = 0
#: How often a key was left behind: what was compiled under it had read something that has changed in place since.
_left_behind: dict[str, int] = {}


class Active:
    """The edits of a pipeline with the libraries that they need, and the cache key of both.

    Raises:
        TritonExtError: a library cannot be used, or no key can be made of a Python function.
    """

    def __init__(self, edits: tuple[Edit, ...]) -> None:
        self.edits = edits
        self._passes = [entry for edit in edits for entry in edit.entries if isinstance(entry, Pass)]
        functions = [entry.function for edit in edits for entry in edit.entries if isinstance(entry, PythonPass)]
        self.watch = Watch([*functions, *(edit.function for edit in edits if edit.function)])
        self._known: tuple[list[str], tuple[str, ...]] = [], ()
        self.key = ""
        self.round = 0  # how often its key had been left behind when it was computed
        self.entered: Stack | None = None  # the last one that had it on top; most launches are like the one before
        self.refresh()

    def refresh(self, *, inside: bool = True) -> None:
        """Takes up libraries that were built again, and Python functions that do something else now.

        Args:
            inside: look at objects that the functions read, not only at which objects they are.
        """
        libraries = [load_library(item.extension) for item in self._passes]
        known = [library.digest for library in libraries], self.watch.fingerprints(inside=inside)
        is_left = inside and self.round != _left_behind.get(self.key, 0)
        if self.key and known == self._known and not is_left:
            return
        global generation  # noqa: PLW0603
        loaded = dict(zip(self._passes, libraries, strict=True))
        layer = Layer(self.edits, {item: library.add[item.name] for item, library in loaded.items()})
        digests = {item: library.digest for item, library in loaded.items()}
        import triton._C.libtriton  # noqa: F401 - to which what `load_infra` loads is linked

        identity = [load_infra(), own_code(), known[1], [_edit_key(edit, digests) for edit in self.edits]]
        with lock:
            self.key = hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:32]
            self.round = _left_behind.get(self.key, 0)
            self.layer = layer
            self._known = known
            generation += 1

    def follow(self) -> None:
        """Takes up Python functions that do something else because a variable has been assigned."""
        if self.watch.fingerprints(inside=False) != self._known[1]:
            self.refresh(inside=False)

    def drift(self) -> str:
        """What has changed in place since the key was computed, for the key on disk.

        A launch has asked for the kernel already, without it, and will keep the kernel under the key in memory. So
        that key is for this block only: whoever computes it later, in this process, gets another one.
        """
        drift = self.watch.drift()
        if drift:
            with lock:
                _left_behind[self.key] = max(_left_behind.get(self.key, 0), self.round + 1)
        return drift


def _edit_key(edit: Edit, digests: dict[Pass, str]) -> list[object]:
    entries = [_entry_key(entry, digests) for entry in edit.entries]
    return [edit.verb, edit.stage, str(edit.anchor), entries, edit.arguments, edit.on_missing]


def _entry_key(entry: Entry, digests: dict[Pass, str]) -> list[object]:
    if isinstance(entry, PythonPass):
        return ["python"]  # which one, `fingerprints` says
    if isinstance(entry, BuiltinPass):
        return ["builtin", entry.name, entry.args]
    return ["pass", entry.name, entry.args, digests[entry]]
