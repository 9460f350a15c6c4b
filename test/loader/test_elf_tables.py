# SPDX-License-Identifier: Apache-2.0
"""The tables of an ELF file are read as pyelftools reads them, and damaged ones are errors."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.enums import ENUM_ST_INFO_BIND, ENUM_ST_INFO_TYPE, ENUM_ST_SHNDX

from support.fixture_types import MakePlugin
from triton_ext.errors import TritonExtError
from triton_ext.loading import elf_tables
from triton_ext.loading.elf import missing_symbols, read_library
from triton_ext.loading.elf_tables import DYNSYM, Exports, symbols
from triton_ext.support import resources


def test_symbols_are_those_that_pyelftools_reads() -> None:
    library = resources.library_dir() / "libTritonExtPassInfra.so"
    with library.open("rb") as file:
        entries = [
            (symbol.name, symbol.entry) for symbol in ELFFile(file).get_section_by_name(".dynsym").iter_symbols()
        ]
    read = [
        (
            name.encode(),
            ENUM_ST_INFO_TYPE[entry.st_info.type],
            ENUM_ST_INFO_BIND[entry.st_info.bind],
            ENUM_ST_SHNDX.get(entry.st_shndx, entry.st_shndx),
            entry.st_value,
        )
        for name, entry in entries
    ]
    assert len(read) > 50
    assert list(symbols(library.read_bytes(), DYNSYM)) == read
    assert not any(Exports(library).has(name) for name in ("", "\0", "tritonGetPluginInfo\0"))


@pytest.mark.parametrize("flag", [(), ("-Wl,--hash-style=sysv",)], ids=["with a hash table", "without one"])
def test_a_name_without_end(flag: tuple[str, ...], make_plugin: MakePlugin, monkeypatch: pytest.MonkeyPatch) -> None:
    """All names of a library are read when it is loaded, and when it has no hash table of the GNU kind."""
    library = make_plugin(flags=flag)
    monkeypatch.setattr(elf_tables, "_MOST_NAME_BYTES", 4)
    with pytest.raises(TritonExtError, match="a symbol's name does not end, or has more than 4 bytes"):
        read_library(library)
    if flag:
        with pytest.raises(TritonExtError, match="is damaged: a symbol's name does not end"):
            missing_symbols(frozenset({"a"}), [library])


@pytest.mark.parametrize("damage", ["no buckets", "a bucket without end", "an empty file"])
def test_a_damaged_table(damage: str, make_plugin: MakePlugin, monkeypatch: pytest.MonkeyPatch) -> None:
    library = make_plugin(flags=("-Wl,--hash-style=gnu",))
    content = bytearray(library.read_bytes())
    with library.open("rb") as file:
        start = ELFFile(file).get_section_by_name(".gnu.hash")["sh_offset"]
    buckets, first, words, _ = struct.unpack_from("<IIII", content, start)
    if damage == "no buckets":
        struct.pack_into("<I", content, start, 0)
    elif damage == "a bucket without end":
        struct.pack_into(f"<{words}Q", content, start + 16, *[2**64 - 1] * words)  # the filter lets all names through
        struct.pack_into(f"<{buckets}I", content, start + 16 + 8 * words, *[first] * buckets)
        struct.pack_into("<I", content, start + 16 + 8 * words + 4 * buckets, 0)  # another symbol, not the last one
        monkeypatch.setattr(elf_tables, "_MOST_IN_BUCKET", 1)
    library.write_bytes(b"" if damage == "an empty file" else content)
    with pytest.raises(TritonExtError, match="is damaged"):
        missing_symbols(frozenset({"tritonGetPluginInfo"}), [library])


def test_a_missing_library(tmp_path: Path) -> None:
    with pytest.raises(TritonExtError, match="is damaged"):
        missing_symbols(frozenset({"a"}), [tmp_path / "nothing.so"])
