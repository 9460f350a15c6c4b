# SPDX-License-Identifier: Apache-2.0
"""`missing_symbols` finds a name in a library if and only if the library's table of symbols defines it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from triton_ext.errors import TritonExtError
from triton_ext.loading import elf, elf_tables
from triton_ext.loading.host import find_triton
from triton_ext.loading.libraries import infra_library
from triton_ext.support.clang import names_of


def defined_and_not(library: Path) -> tuple[frozenset[str], frozenset[str]]:
    """Returns the names that the table of symbols defines, and other names: undefined ones, and one that is longer."""
    defined, others = set(), set()
    for name, _, _, section, _ in elf_tables.symbols(library.read_bytes(), elf_tables.DYNSYM):
        (others if section == elf_tables.UNDEFINED else defined).add(name.decode())
    others |= {f"{name}_" for name in defined} | {name[:-1] for name in defined}
    return frozenset(defined), frozenset(others - defined)


@pytest.mark.parametrize("library", [infra_library(), find_triton().library], ids=["infra", "libtriton"])
def test_each_name_of_a_library_is_found_and_no_other(library: Path) -> None:
    """Of libtriton's names, one of 50 is looked for."""
    defined, others = (
        frozenset(sorted(names)[:: 1 + 49 * (len(names) > 10_000)]) for names in defined_and_not(library)
    )
    assert len(defined) > 5
    assert elf.missing_symbols(defined | others, [library]) == sorted(others)


@pytest.mark.slow
@pytest.mark.parametrize("style", ["gnu", "sysv", "both"])
def test_tables_of_each_style(style: str, tmp_path: Path) -> None:
    """A linker can leave out the table that `missing_symbols` looks into."""
    source, library = tmp_path / "some.c", tmp_path / "some.so"
    source.write_text("int other(void);\n" + "\n".join(f"int f{n}(void) {{ return other(); }}" for n in range(100)))
    clang = next(filter(None, map(shutil.which, names_of("clang"))))
    command = [clang, "-shared", "-fPIC", f"-Wl,--hash-style={style}", source, "-o", library]
    subprocess.run(command, check=True)
    defined, others = defined_and_not(library)
    assert {f"f{n}" for n in range(100)} <= defined
    assert "other" in others
    assert elf.missing_symbols(defined | others, [library]) == sorted(others)


def test_a_table_that_points_elsewhere_is_damaged(tmp_path: Path) -> None:
    """Each row of the table ends behind the table."""
    with infra_library().open("rb") as file:
        section = elf.ELFFile(file).get_section_by_name(".gnu.hash")
        start, size = section["sh_offset"], section["sh_size"]
    content = bytearray(infra_library().read_bytes())
    for at in range(start + 16, start + size, 4):
        content[at : at + 4] = b"\xfe\xff\xff\x7f"
    library = tmp_path / infra_library().name
    library.write_bytes(content)
    with pytest.raises(TritonExtError, match="is damaged"):
        elf.missing_symbols(frozenset({"any"}), [library])
