# SPDX-License-Identifier: Apache-2.0
"""``sdk install --from DIR --with PART`` takes objects out of the static libraries of DIR, a full LLVM install.

The libraries are real archives of compiled objects, and the linked result is loaded; only their contents are small.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from support.sdk.world import World, llvm_files, write_tree
from triton_ext.loading.host import find_triton
from triton_ext.sdk.parts import compiler

#: By static library: the files whose objects are in it. Objects that do not belong to the part would not link.
SOURCES = {
    "MLIRLinalgDialect": {
        "Dialect/Linalg/IR/LinalgOps.cpp": 'int interfaces(); extern "C" __attribute__((visibility("default"))) '
        "int linalg() { return 40 + interfaces(); }",
        "Dialect/Linalg/IR/AVeryLongNameOfInterfaces.cpp": "int interfaces() { return 2; }",
        "Dialect/Linalg/IR/Unwanted.cpp": "int libtritonHasThat(); int unwanted() { return libtritonHasThat(); }",
    },
    "MLIRTensorDialect": {
        # Two files of one name, in different libraries.
        "Dialect/Tensor/IR/LinalgOps.cpp": 'extern "C" __attribute__((visibility("default"))) int tensor() '
        "{ return 7; }",
    },
}
OWN = """
#include <mlir/IR/BuiltinOps.h>
extern "C" __attribute__((visibility("default"))) const char *fields() { return TRITON_EXT_MANIFEST_FIELDS; }
"""


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Writes the directory ``lib`` of such an install."""
    root = tmp_path_factory.mktemp("libraries")
    for name, files in SOURCES.items():
        objects = []
        for file, text in files.items():
            source = root / name / Path(file).name
            source.parent.mkdir(exist_ok=True)
            source.write_text(text)
            objects.append(source.with_suffix(".cpp.o"))
            subprocess.run([compiler(), "-fPIC", "-c", source, "-o", objects[-1]], check=True)
        subprocess.run(["ar", "rcs", root / f"lib{name}.a", *objects], check=True)
    return root


def install_at(world: World, libraries: Path, *, commit: str = "", flag: int = 1, drop: str = "") -> Path:
    """Makes a full LLVM install, and a manifest whose part ``linalg`` needs some of its objects."""
    files = llvm_files(commit=commit or find_triton().llvm_commit)
    header = "include/llvm/Config/abi-breaking.h"
    files[header] = f"#define LLVM_ENABLE_ABI_BREAKING_CHECKS {flag}\n"
    root = write_tree(world.tmp / "llvm", files)
    for archive in libraries.glob("*.a"):
        if archive.stem != f"lib{drop}":
            shutil.copy(archive, root / "lib")
    wanted = {name: [f for f in names if "Unwanted" not in f] for name, names in SOURCES.items()}
    if drop == "member":
        wanted["MLIRTensorDialect"].append("Dialect/Tensor/IR/Gone.cpp")
    lists = "".join(f"{name} = {names}\n" for name, names in wanted.items())
    with (world.infra / "sdk" / "sources.toml").open("a") as manifest:
        manifest.write(f"""
[[part]]
id = "linalg"
library = "libTritonExtMLIR.so"
dialects = ["linalg", "tensor"]
own = "mlir/Dialects.cpp"
llvm_commits = ["{find_triton().llvm_commit}"]
download_mb = 1
root = "mlir/lib"
private = []
headers = []
[part.package]
name = "llvm-toolchain-23"
path = "pool/llvm.orig.tar.xz"
sha256 = "{"0" * 64}"
size = 1
[part.files]
{lists}""")
    (world.infra / "mlir").mkdir()
    (world.infra / "mlir" / "Dialects.cpp").write_text(OWN)
    for module in ("parts", "build_part"):
        world.monkeypatch.setattr(f"triton_ext.sdk.{module}.infra_dir", lambda: world.infra)
    return root


@pytest.mark.slow
def test_only_the_objects_of_the_part_are_taken(world: World, libraries: Path) -> None:
    root = install_at(world, libraries)
    code, _, err = world.run("install", "--from", str(root), "--with", "linalg")
    assert code == 0, err
    assert f"taking the part linalg from {root / 'lib'}" in err
    assert world.server.log == []
    built = world.target("user").with_name(f"{world.target('user').name}.linalg") / "libTritonExtMLIR.so"
    library = ctypes.CDLL(str(built))
    assert (library.linalg(), library.tensor()) == (42, 7)
    assert not hasattr(library, "_Z8unwantedv")
    library.fields.restype = ctypes.c_char_p
    assert f'"llvm_commit": "{find_triton().llvm_commit}"'.encode() in library.fields()
    _, out, _ = world.run("info")
    assert f"linalg, tensor in {built} (from {root})" in out
    # The second time there is nothing to do.
    stamp = built.stat().st_mtime_ns
    assert world.run("install", "--from", str(root), "--with", "linalg")[0] == 0
    assert built.stat().st_mtime_ns == stamp


def part_of(world: World) -> Path:
    return world.target("user").with_name(f"{world.target('user').name}.linalg")


@pytest.mark.slow
@pytest.mark.parametrize("umask", [0o000, 0o002])
def test_what_a_loose_umask_leaves_is_found(umask: int, world: World, libraries: Path) -> None:
    root = install_at(world, libraries)
    before = os.umask(umask)
    try:
        assert world.run("install", "--from", str(root), "--with", "linalg")[0] == 0
    finally:
        os.umask(before)
    assert "linalg, tensor in " in world.run("info")[1]
    assert [path for path in part_of(world).rglob("*") if path.stat().st_mode & 0o022] == []


EXCHANGED = {
    "other": lambda library: library.write_bytes(b"evil"),
    "one bit": lambda library: library.write_bytes(library.read_bytes()[:-1] + b"\x01"),
    "company": lambda library: library.with_name("libstdc++.so.6").write_text("evil"),
    "writable": lambda library: library.chmod(0o777),
    "gone": lambda library: library.unlink(),
    "unrecorded": lambda library: library.with_name("part.json").write_text(
        json.dumps({k: v for k, v in json.loads(library.with_name("part.json").read_text()).items() if k != "programs"})
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("how", EXCHANGED)
def test_a_library_that_was_exchanged_is_not_loaded(how: str, world: World, libraries: Path) -> None:
    """A part with another file is not used: it counts as missing, and is made anew."""
    root = install_at(world, libraries)
    assert world.run("install", "--from", str(root), "--with", "linalg")[0] == 0
    assert "linalg" in json.loads(world.run("info", "--json")[1])["parts"]
    built = part_of(world) / "libTritonExtMLIR.so"
    EXCHANGED[how](built)
    assert json.loads(world.run("info", "--json")[1])["parts"] == {}
    code, _, err = world.run("install", "--from", str(root), "--with", "linalg")
    assert code == 0, err
    assert (f"the part in {part_of(world)} is made anew: " in err) == (how != "unrecorded")
    assert ctypes.CDLL(str(built)).linalg() == 42
    assert sorted(path.name for path in part_of(world).iterdir()) == ["libTritonExtMLIR.so", "part.json"]
    assert "linalg" in json.loads(world.run("info", "--json")[1])["parts"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("drop", "says"),
    [
        ("MLIRTensorDialect", "libMLIRTensorDialect.a is missing"),
        ("member", "libMLIRTensorDialect.a has no Gone.cpp.o"),
    ],
)
def test_an_install_that_lacks_something(world: World, libraries: Path, drop: str, says: str) -> None:
    root = install_at(world, libraries, drop=drop)
    code, _, err = world.run("install", "--from", str(root), "--with", "linalg")
    assert code == 1
    assert says in err.splitlines()[-1]
    assert world.leftovers() == [world.target("user").name]


@pytest.mark.slow
@pytest.mark.parametrize(("commit", "flag"), [("1" * 40, 1), ("", 0)])
def test_another_llvm_is_not_taken_from(world: World, libraries: Path, commit: str, flag: int) -> None:
    """Its objects must not be loaded into libtriton's process, so the part needs the sources."""
    root = install_at(world, libraries, commit=commit, flag=flag)
    code, _, err = world.run("install", "--from", str(root), "--with", "linalg")
    assert code == 1
    assert "llvm.orig.tar.xz" in err.splitlines()[-1]
    assert world.server.asked("llvm.orig.tar.xz")
    assert world.leftovers() == [world.target("user").name]
