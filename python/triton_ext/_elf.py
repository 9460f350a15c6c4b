# SPDX-License-Identifier: Apache-2.0
"""Reads what a shared library says of itself without loading it."""

from __future__ import annotations

import mmap
import stat
from dataclasses import dataclass
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from .errors import TritonExtError

# pyelftools trusts the offsets in a file, so a damaged one can fail in many ways.
_DAMAGE = (ELFError, ValueError, KeyError, AttributeError, IndexError, OverflowError, TypeError, AssertionError)
ENTRY_POINT = "tritonGetPluginInfo"
_NOTE_SECTION = ".note.triton_ext"
# How g++ spells the function whose name keys MLIR's implicit type ids; clang writes "[DesiredTypeName = ...]".
_GCC_TYPE_NAME = b"[with DesiredTypeName = "


@dataclass(frozen=True)
class Library:
    """The facts of a shared library that decide whether libtriton can host it.

    Attributes:
        path: the file.
        note: text of its triton-ext manifest note, or None.
        exports_entry_point: whether it exports ``tritonGetPluginInfo``.
        undefined: names of its undefined symbols, weak ones left out.
        needed: file names of the libraries that it is linked to.
        gcc_type_names: whether it holds type names in g++'s spelling.
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
        TritonExtError: the file is missing, unreadable or no ELF shared library.
    """
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):  # opening a pipe would wait for its writer
            raise TritonExtError(f"{path} is {'a directory' if stat.S_ISDIR(mode) else 'no regular file'}")
        with path.open("rb") as file:
            elf = ELFFile(file)
            symbols = elf.get_section_by_name(".dynsym")
            if symbols is None:
                raise TritonExtError(f"{path} is no shared library")
            undefined: set[str] = set()
            exports = False
            for symbol in symbols.iter_symbols():
                if symbol["st_shndx"] != "SHN_UNDEF":
                    exports |= symbol.name == ENTRY_POINT
                elif symbol.name and symbol["st_info"]["bind"] != "STB_WEAK":
                    undefined.add(symbol.name)
            note = None
            if section := elf.get_section_by_name(_NOTE_SECTION):
                notes = [n for n in section.iter_notes() if n["n_name"] == "TritonExt"]
                note = notes[0]["n_descdata"].decode(errors="replace") if notes else None
            dynamic = elf.get_section_by_name(".dynamic")
            needed = tuple(tag.needed for tag in dynamic.iter_tags("DT_NEEDED")) if dynamic else ()
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                gcc_type_names = data.find(_GCC_TYPE_NAME) >= 0
    except FileNotFoundError:
        raise TritonExtError(f"{path}: no such file") from None
    except OSError as error:
        raise TritonExtError(f"{path}: {error.strerror}") from None
    except _DAMAGE as error:
        raise TritonExtError(f"{path} is no ELF shared library: {error}") from None
    return Library(path, note, exports, frozenset(undefined), needed, gcc_type_names)


def missing_symbols(names: frozenset[str], libraries: list[Path]) -> list[str]:
    """Those of `names` that none of `libraries` exports, sorted.

    Raises:
        TritonExtError: one of `libraries` cannot be read.
    """
    missing = set(names)
    for library in libraries:
        try:
            with library.open("rb") as file:
                table = ELFFile(file).get_section_by_name(".gnu.hash")
                missing = {name for name in missing if table.get_symbol(name) is None}
        except (OSError, *_DAMAGE) as error:
            raise TritonExtError(f"{library} is damaged: {error}") from None
    return sorted(missing)
