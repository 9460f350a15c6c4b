# SPDX-License-Identifier: Apache-2.0
"""A pass declares dialects: they are linked, loaded before the pass, registered, and exist once in the process."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from support import forked_python
from triton_ext.authoring import build

HERE = Path(__file__).parent
COUNTED = "module attributes {t.maps = 1 : i32, t.views = 1 : i32} {"
MODULE = """
tt.func public @f(%p: !llvm.ptr, %o: tensor<4xf32>) -> memref<4xf32> {
  %v = aux.view %p to offset: [0], sizes: [4], strides: [1] : !llvm.ptr to memref<4xf32>
  %1 = linalg.map { arith.addf } ins(%o, %o : tensor<4xf32>, tensor<4xf32>) outs(%o : tensor<4xf32>)
  tt.return %v : memref<4xf32>
}
"""
PROGRAM = """
import sys, triton_ext as tx
from triton._C.libtriton import ir
from triton_ext.loading.loader import load_library
extension = tx.load(sys.argv[1])
context = ir.context()
ir.load_dialects(context)
module = ir.parse_mlir_module(sys.argv[2], context)
manager = ir.pass_manager(context)
load_library(extension).add["uses_linalg"](manager, [])
manager.run(module, "test")
print(module.str_nodebug().splitlines()[0])
print(tx.opt(module.str_nodebug(), "uses-linalg").splitlines()[0])
# By inode, since files in memory that hold the same library have one name.
maps = [line.split() for line in open("/proc/self/maps")]
names = ("libTritonExtMLIR.so", "libtriton_ext_aux.so")
print(*(len({line[4] for line in maps if any(name in word for word in line[5:])}) for name in names))
"""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = tmp_path_factory.mktemp("uses") / "uses_linalg"
    shutil.copytree(HERE / "uses_linalg", source)
    build.build_tree(source, source / "build")
    return source / "build" / "libtriton_ext_uses_linalg.so"


def run(library: Path, *command: str) -> str:
    environment = {**os.environ, "TRITON_EXT_PATH": str(library)}
    done = forked_python.run([sys.executable, *command], env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_in_the_driver(library: Path, tmp_path: Path) -> None:
    (tmp_path / "in.mlir").write_text(MODULE)
    command = ("-m", "triton_ext.driver", str(tmp_path / "in.mlir"), "-uses-linalg")
    assert run(library, *command).startswith(COUNTED)


def test_once_in_a_process_of_triton_and_the_driver(library: Path, tmp_path: Path) -> None:
    (tmp_path / "in.mlir").write_text(MODULE)
    out = run(library, "-c", PROGRAM, str(library), str(tmp_path / "in.mlir"))
    assert out.splitlines() == [COUNTED, COUNTED, "1 1"]


def test_without_a_dialect_the_pass_is_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "uses_linalg"
    shutil.copytree(HERE / "uses_linalg", source)
    cmake = source / "CMakeLists.txt"
    cmake.write_text(cmake.read_text().replace("linalg aux", "linalg auks"))
    build.build_tree(source, source / "build")
    assert "left out: uses_linalg: needs the dialect 'auks', which is neither one of" in capsys.readouterr().err
    with pytest.raises(build.BuildError, match="uses_linalg needs the dialect 'auks'"):
        build.build_tree(source, source / "build", ("uses_linalg",))
