# SPDX-License-Identifier: Apache-2.0
"""Checks that loaded libraries use the same copy of objects that must exist once per process; see `loading.singletons`.

`compare_all` loads every extension in a separate process, and reads the addresses that the dynamic loader has written
into it: the address that a library has for an object must be that of its host's copy.
"""

from __future__ import annotations

import ctypes
import functools
import json
import os
import resource
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from ..errors import TritonExtError
from ..loading.host import find_triton
from ..loading.library_bytes import in_words
from ..loading.singletons import exported, own_copies, references
from ..support import resources
from ..support.child import run_module

_RTLD_DI_LINKMAP = 2


@dataclass(frozen=True)
class Comparison:
    """The result for one library.

    Attributes:
        library: the file.
        origin: where it comes from, as in `discovery.Extension`.
        foreign: whether it was not built with triton-ext.
        same: the number of addresses that are those of the host.
        wrong: the mangled names of objects with a copy in the library, or with another address than the host's.
    """

    library: str
    origin: str
    foreign: bool
    same: int
    wrong: tuple[str, ...]


def compare_all() -> list[Comparison]:
    """Compares every library of this installation and every extension that is found, in a new process.

    Raises:
        TritonExtError: the process failed.
    """
    ended = run_module("triton_ext.authoring.addresses")
    if ended.status:
        raise TritonExtError(f"the libraries cannot be compared ({ended.how}): {ended.last_words or 'no message'}")
    return [Comparison(**{**each, "wrong": tuple(each["wrong"])}) for each in json.loads(ended.answer)]


def compare(library: Path, hosts: Iterable[Path], origin: str = "", foreign: bool = False) -> Comparison:
    """Compares one library, which this process has loaded from this file or from a copy with the same file name.

    In a library that is not loaded, only copies are found, and only if it was not stripped.

    Args:
        library: the file.
        hosts: the libraries whose objects it may use, libtriton first; this process has loaded them.
        origin: see `Comparison`.
        foreign: see `Comparison`.

    Raises:
        TritonExtError: a file cannot be read.
    """
    bases, expected = _bases(), dict[str, int]()
    shared: set[str] = set()
    for host in hosts:
        if host.name != library.name:
            shared |= _exported(host).keys()
            for name, offset in _exported(host, weak=False).items():
                expected.setdefault(name, bases[host.name] + offset)
    wrong, same = set(own_copies(library, shared)), 0
    for name, offset in references(library) if library.name in bases else ():
        if name in expected:
            if ctypes.c_size_t.from_address(bases[library.name] + offset).value == expected[name]:
                same += 1
            else:
                wrong.add(name)
    return Comparison(str(library), origin, foreign, same, tuple(sorted(wrong)))


_exported = functools.cache(exported)  # because reading libtriton's table takes a moment


class _LinkMap(ctypes.Structure):
    """The public part of ``struct link_map`` of the C library."""


_LinkMap._fields_ = [
    ("address", ctypes.c_size_t),
    ("name", ctypes.c_char_p),
    ("dynamic", ctypes.c_void_p),
    ("next", ctypes.POINTER(_LinkMap)),
    ("previous", ctypes.POINTER(_LinkMap)),
]


def _bases() -> dict[str, int]:
    """Returns the load address of every library in this process, by file name; the first one of each name counts."""
    at, process = ctypes.POINTER(_LinkMap)(), ctypes.CDLL(None)
    if process.dlinfo(ctypes.c_void_p(process._handle), _RTLD_DI_LINKMAP, ctypes.byref(at)):
        raise TritonExtError("the libraries of this process cannot be listed")
    bases: dict[str, int] = {}
    while at:
        bases.setdefault(os.path.basename(in_words(os.fsdecode(at.contents.name))), at.contents.address)
        at = at.contents.next
    return bases


def _run(descriptor: int) -> None:
    """Loads everything and writes the comparisons as JSON to the file `descriptor`."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    import triton._C.libtriton  # noqa: F401  # the libraries are linked to this copy

    from ..loading import discovery, loader
    from ..loading.libraries import load_infra

    load_infra()
    found = [(e.path, e.origin, e.manifest is None) for e in discovery.extensions() if e.problem is None]
    for extension in discovery.extensions():
        if extension.problem is None and extension.manifest is not None:  # loading a foreign one would run its code
            loader.load_library(extension)
    origins = {resources.library_dir(): "built in"}
    for path, origin, foreign in found:
        if not foreign:
            origins.setdefault(path.parent, origin)
    for directory, origin in origins.items():
        for library in sorted(directory.glob("libTritonExt*.so")):  # shared libraries, and runtimes of backends
            if library.name not in _bases():
                ctypes.CDLL(str(library))
            found.append((library, origin, False))
    loaded = _bases()
    hosts = [find_triton().library, *(path for path, _, foreign in found if not foreign and path.name in loaded)]
    comparisons = [compare(path, hosts, origin, foreign) for path, origin, foreign in found]
    os.write(descriptor, json.dumps([asdict(each) for each in comparisons]).encode())


if __name__ == "__main__":
    _run(int(sys.argv[1]))
    sys.stderr.flush()
    os._exit(0)  # as in `selftest`
