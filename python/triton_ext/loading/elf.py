# SPDX-License-Identifier: Apache-2.0
"""Reads facts about a shared library from its ELF file, without loading it."""

from __future__ import annotations

import functools
import io
from dataclasses import dataclass
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf import elffile
from elftools.elf.sections import Section

from ..errors import TritonExtError
from .elf_tables import DYNSYM, UNDEFINED, WEAK, Exports, NoHashTableError, damage, symbols
from .library_bytes import LibraryBytes, read_bytes

ENTRY_POINT = b"tritonGetPluginInfo"
_NOTE_SECTION = ".note.triton_ext"
# The prefixes of objects that belong to another library (see `singletons`). The references are weak, but such an object
# would be at address 0 if that library lacked it, so they count as needed.
_STATIC_LOCALS = (b"_ZZ", b"_ZGVZ")
# Limits for the sizes in a library, so that a hostile library takes no longer than a good one. They are a hundred times
# the sizes of libtriton and the extensions: 41 sections, a manifest of 5 kB and 34 entries.
_MOST_SECTIONS, _MOST_NOTE_BYTES, _MOST_DYNAMIC_BYTES = 4096, 1 << 19, 1 << 16
# In a library that g++ has built: the spelling of the function whose name is the key of MLIR's implicit type ids. clang
# writes "[DesiredTypeName = ...]".
_GCC_TYPE_NAME = b"[with DesiredTypeName = "


class ELFFile(elffile.ELFFile):  # type: ignore[misc]  # pyelftools has no types
    """An ELF file whose hash table is a section like others; pyelftools makes an object of each of its numbers."""

    def _make_gnu_hash_section(self, header: object, name: str) -> Section:
        return Section(header, name, self)


@dataclass(frozen=True)
class Library:
    """The facts about a shared library that decide whether libtriton can load it.

    Attributes:
        path: the file.
        note: the text of its manifest; None if it has none.
        exports_entry_point: whether it exports ``tritonGetPluginInfo``.
        undefined: the names of its undefined symbols; weak ones only if they are function-local static variables.
        needed: the file names of the libraries that it is linked to.
        gcc_type_names: whether it contains type names in g++'s spelling.
    """

    path: Path
    note: str | None
    exports_entry_point: bool
    undefined: frozenset[str]
    needed: tuple[str, ...]
    gcc_type_names: bool


def read_library(path: Path) -> Library:
    """Reads the ELF file `path`.

    Raises:
        TritonExtError: the file is missing, unreadable or not an ELF shared library.
    """
    return parse_library(read_bytes(path))


def parse_library(library: LibraryBytes) -> Library:
    """Reads an ELF file out of its bytes.

    Raises:
        TritonExtError: it is not an ELF shared library.
    """
    path, content = library.path, library.content
    with damage(f"{path} is not an ELF shared library"):
        elf = ELFFile(io.BytesIO(content))
        if elf.num_sections() > _MOST_SECTIONS:
            raise ELFError(f"it has {elf.num_sections():,} sections")
        if elf.get_section_by_name(".dynsym") is None:
            raise TritonExtError(f"{path} is not a shared library")
        undefined: set[str] = set()
        exports = False
        for name, _, bind, section, _ in symbols(content, DYNSYM):
            if section != UNDEFINED:
                exports |= name == ENTRY_POINT
            elif name and (bind != WEAK or name.startswith(_STATIC_LOCALS)):
                undefined.add(name.decode(errors="replace"))
        note = None
        if section := elf.get_section_by_name(_NOTE_SECTION):
            _check_size(section, _MOST_NOTE_BYTES)
            found = next((n for n in section.iter_notes() if n["n_name"] == "TritonExt"), None)
            note = found["n_descdata"].decode(errors="replace") if found else None
        dynamic = elf.get_section_by_name(".dynamic")
        if dynamic:
            _check_size(dynamic, _MOST_DYNAMIC_BYTES)
        needed = tuple(str(tag.needed) for tag in dynamic.iter_tags("DT_NEEDED")) if dynamic else ()
        gcc_type_names = _GCC_TYPE_NAME in content
    return Library(path, note, exports, frozenset(undefined), needed, gcc_type_names)


def _check_size(section: Section, most: int) -> None:
    if section["sh_size"] > most:
        raise ELFError(f"its section {section.name} has {section['sh_size']:,} bytes, expected {most:,} at most")


def missing_symbols(names: frozenset[str], libraries: list[Path]) -> list[str]:
    """Returns those of `names` that none of `libraries` exports, sorted.

    Raises:
        TritonExtError: one of `libraries` cannot be read.
    """
    missing = set(names)
    for library in libraries:
        with damage(f"{library} is damaged"):
            known = library.stat()
            identity = library, known.st_mtime_ns, known.st_size, known.st_ino
            try:
                exports = _exports(*identity)
            except NoHashTableError:
                missing -= _all_exported(*identity)
            else:
                missing = {name for name in missing if not exports.has(name)}
    return sorted(missing)


@functools.lru_cache(maxsize=64)  # libtriton is asked for every extension
def _exports(library: Path, _mtime: int, _size: int, _inode: int) -> Exports:
    return Exports(library)


@functools.lru_cache(maxsize=8)
def _all_exported(library: Path, _mtime: int, _size: int, _inode: int) -> frozenset[str]:
    """Returns the names that `library` defines for other libraries."""
    found = symbols(library.read_bytes(), DYNSYM)
    return frozenset(name.decode(errors="replace") for name, _, _, section, _ in found if section != UNDEFINED)
