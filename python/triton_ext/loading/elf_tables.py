# SPDX-License-Identifier: Apache-2.0
"""Reads sections and symbols of an ELF file for x86-64 at their offsets.

pyelftools makes an object of each section and of each entry of a hash table. libtriton has 140,000 symbols, and the
object file that each build links first has 2,690 sections: that takes a tenth of a second or more for each file.

Except `damage`, the functions raise exceptions of many kinds if the file is damaged, such as ``struct.error``.
"""

from __future__ import annotations

import contextlib
import functools
import mmap
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ..errors import TritonExtError

_SECTION = struct.Struct("<IIQQQQII16x")  # Elf64_Shdr without its last two members
_SYMBOL = struct.Struct("<IBBHQQ")  # Elf64_Sym
_HASH_TABLE = struct.Struct("<IIII")  # number of buckets, first symbol, number of words of the filter, its shift
_COMPRESSED = 0x800  # SHF_COMPRESSED
UNDEFINED, DATA = 0, 1  # SHN_UNDEF, STT_OBJECT
LOCAL, WEAK, UNIQUE = 0, 2, 10  # STB_LOCAL, STB_WEAK, STB_GNU_UNIQUE
SYMTAB, DYNSYM, GNU_HASH = 2, 11, 0x6FFFFFF6  # SHT_SYMTAB, SHT_DYNSYM, SHT_GNU_HASH
#: The most bytes of a symbol's name, so that a hostile library takes no longer than a good one. Ours have 1,100.
_MOST_NAME_BYTES = 1 << 16
#: The most symbols of a bucket that are compared. Linkers make buckets of few symbols.
_MOST_IN_BUCKET = 4096


class NoHashTableError(Exception):
    """The library has no hash table of the GNU kind."""


class Section(NamedTuple):
    """What a section header says: members of Elf64_Shdr."""

    name: int
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int


def mapped(path: Path) -> mmap.mmap:
    """Returns the bytes of the file `path`, which are read when they are used.

    Raises:
        OSError: it cannot be read.
        ValueError: it is empty.
    """
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def sections(content: bytes | mmap.mmap) -> list[Section]:
    """Returns the headers of all sections."""
    if content[:6] != b"\x7fELF\2\1":
        raise ValueError("it is not for x86-64")
    (table,) = struct.unpack_from("<Q", content, 40)
    size, count = struct.unpack_from("<HH", content, 58)
    return [Section(*_SECTION.unpack_from(content, table + size * number)) for number in range(count)]


def symbols(content: bytes | mmap.mmap, kind: int) -> Iterator[tuple[bytes, int, int, int, int]]:
    """Yields name, type, binding, section and value of each symbol in the table of the `kind`, which may be missing.

    A file has at most one table of a kind.
    """
    found = sections(content)
    table = next((section for section in found if section.kind == kind), None)
    if table is None:
        return
    strings = found[table.link]
    if (table.flags | strings.flags) & _COMPRESSED:  # a few bytes could expand to gigabytes
        raise ValueError("its symbols are compressed")
    names = content[strings.offset : strings.offset + strings.size]
    for start, info, _, section, value, _ in _SYMBOL.iter_unpack(content[table.offset : table.offset + table.size]):
        end = names.find(b"\0", start, start + _MOST_NAME_BYTES)
        if end < 0:
            raise ValueError(f"a symbol's name does not end, or has more than {_MOST_NAME_BYTES:,} bytes")
        yield names[start:end], info & 15, info >> 4, section, value


class Exports:
    """Answers whether a library defines a symbol for others, by its hash table, as the dynamic linker does.

    To look up the symbols that an extension needs takes milliseconds; to read all those of libtriton takes half a
    second. The tables are copies, so that the file may change or go meanwhile.
    """

    def __init__(self, library: Path) -> None:
        """Finds the tables.

        Raises:
            NoHashTableError: it has none.
            OSError: it cannot be read.
        """
        with mapped(library) as content:
            found = sections(content)
            hashes = [section for section in found if section.kind == GNU_HASH]
            tables = [section for section in found if section.kind == DYNSYM]
            if not hashes or not tables:
                raise NoHashTableError(f"{library} has no hash table")
            self._hashes, self._symbols, self._names = (
                content[section.offset : section.offset + section.size]
                for section in (hashes[0], tables[0], found[tables[0].link])
            )
        self._buckets, self._first, self._words, self._shift = _HASH_TABLE.unpack_from(self._hashes)
        self._filter = _HASH_TABLE.size
        self._bucket = self._filter + 8 * self._words
        self._chain = self._bucket + 4 * self._buckets
        self._known: dict[str, bool] = {}

    def has(self, name: str) -> bool:
        """Returns whether the library defines `name` for others."""
        if name not in self._known:
            self._known[name] = self._look_up(name.encode())
        return self._known[name]

    def _look_up(self, name: bytes) -> bool:
        code = gnu_hash(name)
        (word,) = struct.unpack_from("<Q", self._hashes, self._filter + 8 * (code // 64 % self._words))
        if not word >> code % 64 & word >> (code >> self._shift) % 64 & 1:
            return False
        (number,) = struct.unpack_from("<I", self._hashes, self._bucket + 4 * (code % self._buckets))
        if number < self._first:  # the bucket is empty
            return False
        for symbol in range(number, number + _MOST_IN_BUCKET):
            (found,) = struct.unpack_from("<I", self._hashes, self._chain + 4 * (symbol - self._first))
            if found | 1 == code | 1:
                at, _, _, section, _, _ = _SYMBOL.unpack_from(self._symbols, _SYMBOL.size * symbol)
                if section != UNDEFINED and self._names[at : at + len(name) + 1] == name + b"\0":
                    return True
            if found & 1:  # the last one of the bucket
                return False
        raise ValueError(f"a bucket of its hash table has more than {_MOST_IN_BUCKET:,} symbols")


@contextlib.contextmanager
def damage(what: str) -> Iterator[None]:
    """Turns every exception of the body, which reads a file that may be damaged, into one error.

    Code that trusts the offsets and sizes in a damaged file, as pyelftools does, raises many kinds of exceptions.

    Args:
        what: the beginning of the message.

    Raises:
        TritonExtError: the body raised.
    """
    try:
        yield
    except TritonExtError:
        raise
    except Exception as error:
        raise TritonExtError(f"{what}: {str(error) or type(error).__name__}") from None


@functools.lru_cache(maxsize=1 << 15)
def gnu_hash(name: bytes) -> int:
    """Returns the hash of a symbol's name, of 32 bits."""
    code = 5381
    for byte in name:
        code = (code * 33 + byte) & 0xFFFFFFFF
    return code
