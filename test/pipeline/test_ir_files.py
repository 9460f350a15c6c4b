# SPDX-License-Identifier: Apache-2.0
"""A file with IR may come from anybody: it is read in a separate process, and refused if Triton cannot compile it."""

from __future__ import annotations

from pathlib import Path

import pytest

import triton_ext as tx
from support.attacks.loading import _IR, _SHOWS
from triton_ext.errors import TritonExtError

GOOD = _IR.replace("ASM", "v_mov_b32 $0, $1")


def described(tmp_path: Path, text: str, target: str = "hip:gfx942", suffix: str = ".ttir") -> tx.Compilation:
    path = tmp_path / f"k{suffix}"
    path.write_text(text)
    return tx.describe(str(path), target=target)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected one public tt.func, found none"),
        ("module {}\n", "expected one public tt.func, found none"),
        ("module { tt.func private @f() { tt.return } }", "found none"),
        ("module { tt.func public @f() { tt.return } tt.func @g() { tt.return } }", "found 2: @f, @g"),
        ("module { tt.func public @f() }", "k.ttir:1:"),
        ("module {\n garbage\n}", r"k.ttir:2:2: error: custom op 'garbage' is unknown"),
        ("(" * 5, "k.ttir:1:1: error:"),
    ],
)
def test_what_is_not_one_kernel(tmp_path: Path, text: str, message: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(TritonExtError, match=message):
        described(tmp_path, text)
    assert capfd.readouterr().err == ""


def test_what_is_not_text(tmp_path: Path) -> None:
    (tmp_path / "k.ttir").write_bytes(b"ML\xefR\xff")
    with pytest.raises(TritonExtError, match="can't decode"):
        tx.describe(str(tmp_path / "k.ttir"), target="cuda:90")


def test_ttgir_needs_its_number_of_warps(tmp_path: Path) -> None:
    with pytest.raises(TritonExtError, match=r"k.ttgir: expected a module with the attribute ttg.num-warps"):
        described(tmp_path, "module { tt.func public @f() { tt.return } }", "cuda:90", ".ttgir")


@pytest.mark.slow
def test_harmless_assembly_is_compiled(tmp_path: Path) -> None:
    assert described(tmp_path, GOOD).stages[-1].name == "hsaco"
    ptx = _IR.replace("ASM", "{ .reg .b32 tmp; mov.b32 tmp, $1; mov.b32 $0, tmp; }").replace("=v,v", "=r,r")
    assert "ptx" in [stage.name for stage in described(tmp_path, ptx, "cuda:90").stages]


@pytest.mark.parametrize("assembly", _SHOWS)
def test_assembly_that_reads_files(tmp_path: Path, assembly: str) -> None:
    (tmp_path / "secret").write_text("")
    text = _IR.replace("ASM", assembly.replace('"', "\\22").replace("SECRET", f"{tmp_path}/secret"))
    with pytest.raises(TritonExtError, match=r"k.ttir: assembly with the directive \."):
        described(tmp_path, text)


@pytest.mark.slow
def test_a_file_name_that_ends_its_comment(tmp_path: Path) -> None:
    """LLVM copies the name of the source file into a comment of the assembly, unchanged."""
    with pytest.raises(TritonExtError, match=r"directive \.incbin"):
        described(tmp_path, GOOD.replace("k.py", "k\\0A.incbin \\22/etc/hostname\\22\\0A.py"))
    assert described(tmp_path, GOOD.replace("k.py", "/home/me/.venv/k.include.py")).stages


def test_a_parser_that_crashes_takes_nothing_with_it(tmp_path: Path) -> None:
    depth = 200_000
    text = GOOD.replace("noinline = false", f"noinline = false, x = {'[' * depth}{']' * depth}")
    with pytest.raises(TritonExtError, match="reading it crashed"):
        described(tmp_path, text)


@pytest.mark.parametrize("levels", [6, 22])
def test_locations_that_double(tmp_path: Path, levels: int) -> None:
    """22 lines expand to four million calls, on which LLVM ends the process."""
    more = "".join(f"#loc{i} = loc(callsite(#loc{i - 1} at #loc{i - 1}))\n" for i in range(2, levels + 2))
    text = GOOD.replace("tt.return loc(#loc1)", f"tt.return loc(#loc{levels + 1})") + more
    with pytest.raises(TritonExtError, match="a location that was inlined more than 50 times"):
        described(tmp_path, text)


@pytest.mark.slow
def test_calls_in_calls(tmp_path: Path) -> None:
    more = "".join(f'#loc{i} = loc(callsite("f.py":{i}:1 at #loc{i - 1}))\n' for i in range(2, 4000))
    assert described(tmp_path, GOOD.replace("tt.return loc(#loc1)", "tt.return loc(#loc20)") + more).stages
    with pytest.raises(TritonExtError, match="a location that was inlined more than 50 times"):
        described(tmp_path, GOOD.replace("tt.return loc(#loc1)", "tt.return loc(#loc3999)") + more)
