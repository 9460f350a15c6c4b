# SPDX-License-Identifier: Apache-2.0
"""A trace as files, and the page as a file: each is written whole or not at all, and no other file is lost."""

from __future__ import annotations

import os
import re
from pathlib import Path
from time import process_time

import pytest

from support.trace.compilations import HOSTILE, compilation, large_module
from triton_ext.compilation.records import Compilation
from triton_ext.errors import TritonExtError
from triton_ext.pipeline.records import PassRecord, StageRecord
from triton_ext.tracing.files import write_files
from triton_ext.tracing.page import page, write_page


def tree(directory: Path) -> dict[str, bytes]:
    return {str(p.relative_to(directory)): p.read_bytes() for p in sorted(directory.rglob("*")) if p.is_file()}


@pytest.mark.slow
def test_files_of_the_matmul(matmul: Compilation, tmp_path: Path) -> None:
    written = write_files(matmul, tmp_path / "trace")
    files = tree(tmp_path / "trace")
    assert {str(path.relative_to(tmp_path / "trace")) for path in written} == set(files)
    assert written[0] == tmp_path / "trace" / "index.txt"
    assert {
        "00-source.py",
        "sources/standard.py",
        "ttir.mlir",
        "ttgir.mlir",
        "llir.ll",
        "matmul.ptx",
        "matmul.cubin",
    } < set(files)
    assert {"ttir/00-source.mlir", "ttgir/00-source.mlir", "llir/00-source.mlir"} < set(files)
    assert "def matmul" in files["00-source.py"].decode()
    for stage in matmul.stages:
        for position, record in enumerate(stage.passes, 1):
            name = f"{stage.name}/{position:02}-{record.name}.{'ll' if stage.name == 'llvm' else 'mlir'}"
            assert (name in files) is record.changed, name
    outputs = {stage.name: stage.output for stage in matmul.stages}
    assert files["matmul.cubin"] == outputs["cubin"]
    assert files["ttgir.mlir"].decode() == outputs["ttgir"]
    assert b"loc(" not in files["ttir/00-source.mlir"]
    assert matmul.sass is None or files["matmul.sass"].decode() == matmul.sass


@pytest.mark.slow
def test_index(matmul: Compilation, tmp_path: Path) -> None:
    write_files(matmul, tmp_path / "trace")
    index = (tmp_path / "trace" / "index.txt").read_text()
    assert index.startswith("triton-ext trace: matmul for cuda:90, Triton 3.9.0\nedits: ")
    assert re.search(r"^ 1  \*  common\.inliner +[\d.]+ +-\d+  ttir/01-common\.inliner\.mlir$", index, re.MULTILINE)
    assert re.search(r"^ 7  -  ttir\.loop_unroll .*\(", index, re.MULTILINE)  # dropped, with its edit
    assert re.search(r"ttgpuir\.pipeline \{num_stages=2 .*ttgir/\d\d-ttgpuir\.pipeline\.mlir$", index, re.MULTILINE)
    for name in tree(tmp_path / "trace"):
        assert f"  {name}\n" in index or name == "index.txt"


def test_modules_without_locations_are_modules(matmul: Compilation, tmp_path: Path) -> None:
    from triton_ext import opt

    write_files(matmul, tmp_path / "trace")
    for name in ("ttir/00-source.mlir", "ttir/01-common.inliner.mlir", "llir/00-source.mlir"):
        assert "@matmul" in opt((tmp_path / "trace" / name).read_text(), "canonicalize")


@pytest.mark.slow
def test_an_earlier_trace_is_replaced(matmul: Compilation, matmul_amd: Compilation, tmp_path: Path) -> None:
    directory = tmp_path / "trace"
    write_files(matmul, directory)
    write_files(matmul_amd, directory)
    assert (directory / "matmul.amdgcn").exists()
    assert (directory / "matmul.hsaco").exists()
    assert not (directory / "matmul.ptx").exists()
    assert os.listdir(tmp_path) == ["trace"]


@pytest.mark.parametrize("foreign", ["notes.txt", "ttir/notes.txt", "empty/", "link"])
def test_what_is_not_ours_stays(matmul: Compilation, tmp_path: Path, foreign: str) -> None:
    directory = tmp_path / "trace"
    write_files(matmul, directory)
    if foreign.endswith("/"):
        (directory / foreign).mkdir()
    elif foreign == "link":
        (directory / foreign).symlink_to("index.txt")
    else:
        (directory / foreign).write_text("mine")
    before = tree(directory)
    with pytest.raises(TritonExtError, match=rf"trace contains {foreign.rstrip('/')}, which is not part of a trace"):
        write_files(matmul, directory)
    assert tree(directory) == before


def test_other_directories_are_refused(matmul: Compilation, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    write_files(matmul, home)  # empty
    for name in ("index.txt", "main.c"):
        other = tmp_path / name.replace(".", "-")
        other.mkdir()
        (other / name).write_text("mine\nfiles\n   1  main.c\n")
        with pytest.raises(TritonExtError, match=re.escape(name)):
            write_files(matmul, other)
        assert os.listdir(other) == [name]
    (tmp_path / "file").write_text("mine")
    with pytest.raises(TritonExtError, match="is not a directory"):
        write_files(matmul, tmp_path / "file")


def test_a_directory_through_a_link(matmul: Compilation, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    written = write_files(matmul, tmp_path / "link")
    assert written[0] == tmp_path / "real" / "index.txt"
    assert (tmp_path / "link").is_symlink()


@pytest.mark.slow
def test_nothing_is_left_of_a_failure(matmul: Compilation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory, html = tmp_path / "trace", tmp_path / "trace.html"
    write_files(matmul, directory)
    write_page(matmul, html)
    before = tree(tmp_path)
    real = Path.write_bytes

    def full(path: Path, data: bytes) -> int:
        real(path, data[: len(data) // 2])
        raise OSError(28, "No space left on device", str(path))

    def no_room(descriptor: int, mode: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    monkeypatch.setattr(os, "fchmod", no_room)
    with pytest.raises(OSError, match="No space left"):
        write_files(matmul, directory)
    with pytest.raises(OSError, match="No space left"):
        write_page(matmul, html)
    assert tree(tmp_path) == before


def test_names_are_safe_and_apart(tmp_path: Path) -> None:
    module = large_module(10)
    record = PassRecord("python.<lambda>../../x y", 1, (), "", "after(x)", True, 0, 1, 1, True, (), module)
    stage = StageRecord("../up", 0.1, (record, record), module, "some\ntext")
    what = compilation(stage, kernel="a/../b", sources=(("/x/m.py", "1"), ("/y/m.py", "2")))
    write_files(what, tmp_path / "t")
    assert set(tree(tmp_path / "t")) == {
        "index.txt", "sources/m.py", "sources/m-2.py", "_up/00-source.mlir", "_up.txt",
        "_up/01-python._lambda_.._.._x_y.mlir", "_up/02-python._lambda_.._.._x_y.mlir",
    }  # fmt: skip
    assert os.listdir(tmp_path) == ["t"]
    write_files(what, tmp_path / "t")


def test_without_ir(tmp_path: Path) -> None:
    """A record of `describe` has no IR, but both views still work."""
    record = PassRecord("ttir.combine", 1, (), "triton-combine", None, True, 0.1, 3, 2, True)
    what = compilation(StageRecord("ttir", 0.1, (record,)))
    assert [path.name for path in write_files(what, tmp_path / "t")] == ["index.txt"]
    assert len(page(what)) > 1000


@pytest.mark.slow
def test_the_page_is_small_and_made_fast(matmul: Compilation, large: Compilation, tmp_path: Path) -> None:
    for what, most in ((matmul, 500_000), (large, 600_000)):
        start = process_time()
        write_page(what, tmp_path / "t.html")
        assert process_time() - start < 5  # 0.3 s on an idle machine
        assert (tmp_path / "t.html").stat().st_size < most
    assert os.listdir(tmp_path) == ["t.html"]


@pytest.mark.slow
def test_the_page_needs_nothing_else(matmul: Compilation) -> None:
    text = page(matmul)
    assert not re.findall(r"""(?:src|href)\s*=\s*["'](?!data:)|@import|url\(|https?://""", text)
    assert "default-src 'none'" in text
    assert "{{" not in text
    assert page(matmul) == text


def test_text_does_not_become_html(tmp_path: Path) -> None:
    module = f'module {{\n  x.y {{a = "{HOSTILE}"}} loc("k.py":1:1)\n}} loc(unknown)'
    record = PassRecord(HOSTILE, 1, ((HOSTILE, HOSTILE),), HOSTILE, HOSTILE, True, 0, 1, 1, True, (HOSTILE,), module)
    what = compilation(
        StageRecord(HOSTILE, 0.1, (record,), module, HOSTILE), kernel=HOSTILE, target=HOSTILE, pipeline=HOSTILE,
        file="k.py", sources=(("k.py", HOSTILE),), sass=HOSTILE,
    )  # fmt: skip
    text = page(what)
    assert text.count("</script>") == page(compilation()).count("</script>") == 2
    assert "<img" not in text
    write_page(what, tmp_path / "t.html")
    write_files(what, tmp_path / "t")
