# SPDX-License-Identifier: Apache-2.0
"""A kernel's library names the Python file and its lines for debuggers and profilers."""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import triton
import triton.language as tl
from elftools.elf.elffile import ELFFile
from triton import knobs

SCRIPT = """\
import torch, triton, triton.language as tl

@triton.jit
def inner(v):
    return tl.exp(v) + 1  # line 5

@triton.jit
def kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)  # line 10
    w = inner(v)
    total = tl.sum(w, 0)
    tl.store(out + tl.program_id(0), total)  # line 13

x, out = torch.zeros(4096), torch.zeros(1)
kernel[(1,)](x, out, 4096, BLOCK=4096)
"""


@triton.jit
def traced(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)  # LOAD
    w = tl.exp(v)  # EXP
    w = w * w - v / 3  # ARITHMETIC
    tl.store(out + i, w, mask=i < n)  # STORE


def line_of(mark: str) -> int:
    return next(n for n, text in enumerate(Path(__file__).read_text().splitlines(), 1) if text.endswith(f"# {mark}"))


def line_table(library: bytes) -> dict[tuple[str, int], list[int]]:
    """Returns the addresses of each line from .debug_line, by the full name of the file and the line."""
    found: dict[tuple[str, int], list[int]] = {}
    dwarf = ELFFile(io.BytesIO(library)).get_dwarf_info()
    for unit in dwarf.iter_CUs():
        program = dwarf.line_program_for_CU(unit)
        assert program is not None
        assert program["version"] == 4  # files and directories are numbered from 1; directory 0 is that of the unit
        directories = [unit.get_top_DIE().attributes["DW_AT_comp_dir"].value, *program["include_directory"]]
        for entry in program.get_entries():
            if entry.state is None or entry.state.end_sequence:
                continue
            file = program["file_entry"][entry.state.file - 1]
            name = os.path.join(directories[file.dir_index], file.name).decode()
            found.setdefault((name, entry.state.line), []).append(entry.state.address)
    return found


def test_lines_in_the_library() -> None:
    kernel = traced[(1,)](torch.zeros(64), torch.zeros(64), 64, BLOCK=64)
    lines = line_table(kernel.asm["so"])
    for mark in ("LOAD", "EXP", "ARITHMETIC", "STORE"):
        assert (__file__, line_of(mark)) in lines, mark
    # The addresses lie in the kernel's code, in the order in which the kernel computes.
    file = ELFFile(io.BytesIO(kernel.asm["so"]))
    symbol = file.get_section_by_name(".symtab").get_symbol_by_name("traced")[0]
    start, end = symbol["st_value"], symbol["st_value"] + symbol["st_size"]
    assert all(start <= address < end for mark in ("LOAD", "STORE") for address in lines[__file__, line_of(mark)])
    assert min(lines[__file__, line_of("LOAD")]) < max(lines[__file__, line_of("STORE")])


def test_no_lines_where_they_are_not_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knobs.compilation, "disable_line_info", True)
    kernel = traced[(1,)](torch.zeros(64), torch.zeros(64), 64, BLOCK=32)
    assert ELFFile(io.BytesIO(kernel.asm["so"])).get_section_by_name(".debug_line") is None


GDB = """\
set pagination off
set auto-solib-add off
catch load kernel-
run
sharedlibrary kernel-
break script.py:10
break script.py:13
continue
backtrace 4
info source
delete 2
continue
backtrace 1
kill
"""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("gdb") is None, reason="there is no gdb on this machine (fix: apt-get install gdb)")
def test_gdb_stops_at_lines_of_the_kernel(tmp_path: Path) -> None:
    """gdb stops at a breakpoint given by Python file and line, and the backtrace names that line.

    gdb reads only the symbols of the kernel, because it needs ten seconds to read those of libtriton.
    """
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "commands").write_text(GDB)
    done = subprocess.run(
        ["gdb", "-nx", "-q", "-batch", "-x", "commands", "--args", sys.executable, "script.py"],
        cwd=tmp_path,
        env={**os.environ, "TRITON_DEFAULT_BACKEND": "cpu", "TRITON_EXT_CPU_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    output = done.stdout + done.stderr
    assert re.search(r"Breakpoint 2, .*script\.py:10\n10\t    v = tl\.load\(x \+ i, mask=i < n\)", output), output
    assert re.search(r"^#0 .*script\.py:10\n#1 .*kernel \(.*script\.py:\d+", output, re.MULTILINE), output
    assert f"Located in {tmp_path / 'script.py'}" in output
    assert re.search(r"Breakpoint 3, .*script\.py:13\n", output), output


@pytest.mark.slow
def test_libraries_that_stay_for_profilers(tmp_path: Path) -> None:
    """Libraries stay on disk if asked for, because ``perf report`` reads them after the process has ended."""
    (tmp_path / "script.py").write_text(SCRIPT)
    kept = tmp_path / "kept"
    subprocess.run(
        [sys.executable, "script.py"],
        cwd=tmp_path,
        env={**os.environ, "TRITON_DEFAULT_BACKEND": "cpu", "TRITON_EXT_CPU_KERNELS": str(kept)},
        check=True,
    )
    (library,) = kept.iterdir()
    assert (str(tmp_path / "script.py"), 10) in line_table(library.read_bytes())
