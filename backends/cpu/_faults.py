# SPDX-License-Identifier: Apache-2.0
"""The line of a kernel in which a fault has happened, from the debug information of the kernel's library."""

from __future__ import annotations

import io
import os
from typing import Any

from elftools.elf.elffile import ELFFile

from ._loaded import Function


def place_of(function: int, address: int) -> str:
    """Returns ``"FILE:LINE: "`` for the instruction at `address`; empty if the line is not known.

    Args:
        function: the address of the kernel, a `Function` if Triton has loaded the kernel.
        address: the address of an instruction in the same library.
    """
    if not isinstance(function, Function):
        return ""
    elf = ELFFile(io.BytesIO(function.library))
    symbols = elf.get_section_by_name(".dynsym")
    found = symbols.get_symbol_by_name(function.name) if symbols is not None else None
    if not found or not elf.has_dwarf_info():
        return ""
    return _line_at(elf.get_dwarf_info(), address - int(function) + found[0].entry.st_value)


def _line_at(dwarf: Any, address: int) -> str:
    """Returns ``"FILE:LINE: "`` for an address of the file."""
    for unit in dwarf.iter_CUs():
        program = dwarf.line_program_for_CU(unit)
        before = None
        for state in (entry.state for entry in program.get_entries() if entry.state is not None):
            if before is not None and before.address <= address < state.address and before.line:
                return f"{_file_of(unit, program, before.file)}:{before.line}: "
            before = None if state.end_sequence else state
    return ""


def _file_of(unit: Any, program: Any, number: int) -> str:
    """Returns the full name of a file of a line program, in version 4 of DWARF, which LLVM writes for a kernel."""
    file = program["file_entry"][number - 1]
    directories = [unit.get_top_DIE().attributes["DW_AT_comp_dir"].value, *program["include_directory"]]
    name: bytes = os.path.join(directories[file.dir_index], file.name)
    return name.decode(errors="replace")
