# SPDX-License-Identifier: Apache-2.0
"""Installing, finding and describing an SDK, from a server of tiny packages."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.sdk.world import OPS, ROOT, World, llvm_debs, llvm_files, runtime_debs, tar_bytes, write_tree
from triton_ext import sdk as sdk_module
from triton_ext.loading.host import find_triton
from triton_ext.support import storage

SNAPSHOT = "debian-24-snapshot"
BROKEN_TOOL = "#!/bin/sh\nexit 127\n"


def wait_for(condition: object, seconds: float = 20.0) -> None:
    assert callable(condition)
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "timed out"
        time.sleep(0.01)


def test_default_install_goes_on_to_the_next_packages(world: World) -> None:
    world.manifest(llvm_debs(), gone="llvm-dev")
    code, _, err = world.run("install")
    assert code == 1
    assert f"debian-24-snapshot cannot be used ({world.server.url}/pool/llvm-dev_1.deb does not exist" in err
    assert f"debian-23: {world.server.url}/pool/llvm-dev_1.deb does not exist" in err.splitlines()[-1]


def test_default_install_is_found(world: World) -> None:
    code, _, err = world.run("install")
    assert code == 0, err
    target = world.target(SNAPSHOT)
    assert world.leftovers() == [target.name]
    assert list((world.cache / "downloads").iterdir()) == []
    found = sdk_module.find()
    assert found is not None
    assert found.path == target
    assert world.run("path") == (0, f"{target}\n", "")


def test_only_what_is_needed_is_kept(world: World) -> None:
    world.run("install")
    root = world.target(SNAPSHOT)
    kept = {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}
    assert kept == {
        "bin/mlir-tblgen",
        "include/llvm-c/Types.h",
        "include/llvm/Config/abi-breaking.h",
        "include/llvm/Config/llvm-config.h",
        "include/llvm/Support/VCSRevision.h",
        "include/mlir/Dialect/LLVMIR/LLVMOps.h.inc",
        "include/mlir/Dialect/SPIRV/IR/SPIRVEnums.h",
        "include/mlir/IR/BuiltinOps.h",
        "overlay/include/llvm/Config/abi-breaking.h",
        "sdk.json",
    }


@pytest.mark.parametrize("flag", [True, False])
def test_overlay_has_the_flag_of_libtriton(world: World, flag: bool) -> None:
    from dataclasses import replace

    triton = replace(find_triton(), abi_breaking_checks=flag)
    world.monkeypatch.setattr("triton_ext.sdk.install_sdk.find_triton", lambda: triton)
    found = sdk_module.install(source=SNAPSHOT)
    text = (found.include_dirs[0] / "llvm" / "Config" / "abi-breaking.h").read_text()
    assert text == f"#define LLVM_ENABLE_ABI_BREAKING_CHECKS {int(flag)}\n"
    assert found.include_dirs[1] == found.path / "include"
    # This SDK fits only a libtriton with that flag.
    assert (sdk_module.find() is not None) == (flag == find_triton().abi_breaking_checks)


def test_info_json_is_what_cmake_reads(world: World) -> None:
    world.run("install")
    code, out, _ = world.run("info", "--json")
    assert code == 0
    info, triton, target = json.loads(out), find_triton(), world.target(SNAPSHOT)
    assert info["path"] == str(target)
    assert info["source"] == SNAPSHOT
    assert info["llvm_commit"] == triton.llvm_commit
    assert info["headers"] == "LLVM 24.0.0 (2faa90a208a1)"
    assert info["mlir_tblgen"] == f"{target}/bin/mlir-tblgen"
    assert info["include_dirs"] == [f"{target}/overlay/include", f"{target}/include"]
    assert info["abi_breaking_checks"] is triton.abi_breaking_checks
    assert info["guarded_ops"] == []
    assert info["triton"] == {
        "version": triton.version,
        "root": str(triton.root),
        "library": str(triton.library),
        "include_dir": str(triton.include_dir),
        "llvm_commit": triton.llvm_commit,
    }


def test_info_for_people(world: World) -> None:
    world.run("install")
    code, out, _ = world.run("info")
    assert code == 0
    assert out.splitlines()[0] == f"path         {world.target(SNAPSHOT)}"
    assert "LLVM 24.0.0 (2faa90a208a1)" in out


def test_second_install_does_nothing_and_force_does_it_again(world: World) -> None:
    world.run("install")
    world.server.log.clear()
    stamp = (world.target(SNAPSHOT) / "sdk.json").stat().st_mtime_ns
    assert world.run("install")[0] == 0
    assert world.server.log == []
    assert world.run("install", "--force")[0] == 0
    assert (world.target(SNAPSHOT) / "sdk.json").stat().st_mtime_ns != stamp
    assert world.leftovers() == [world.target(SNAPSHOT).name]


def test_best_source_is_found_and_strangers_are_not(world: World) -> None:
    world.run("install", "--source", "debian-23")
    assert world.run("path")[1] == f"{world.target('debian-23')}\n"
    world.run("install", "--source", SNAPSHOT)
    assert world.run("path")[1] == f"{world.target(SNAPSHOT)}\n"
    data = json.loads((world.target(SNAPSHOT) / "sdk.json").read_text())
    (world.target(SNAPSHOT) / "sdk.json").write_text(json.dumps(data | {"llvm_commit": "0" * 40}))
    assert world.run("path")[1] == f"{world.target('debian-23')}\n"
    (world.target("debian-23") / "sdk.json").write_text("{")
    assert world.run("path")[0] == 1


@pytest.mark.slow
def test_find_imports_neither_requests_nor_debian(world: World) -> None:
    code = "import sys, triton_ext.sdk; triton_ext.sdk.find(); print({'requests', 'debian', 'rich'} & {*sys.modules})"
    env = os.environ | {"PYTHONPATH": str(ROOT / "python")}
    result = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert result.stdout == "set()\n"


def test_old_c_library_gets_a_runtime(world: World) -> None:
    world.manifest(llvm_debs(tool=BROKEN_TOOL), runtime_debs())
    code, _, err = world.run("install")
    assert code == 0, err
    assert "mlir-tblgen needs a newer C library" in err
    root = world.target(SNAPSHOT)
    assert sorted(path.name for path in (root / "runtime").iterdir()) == [
        "ld-linux-x86-64.so.2",
        "libz.so.1",
        "mlir-tblgen",
    ]
    assert (root / "runtime" / "libz.so.1").read_text() == "libz"
    info = json.loads(world.run("info", "--json")[1])
    assert info["runtime"] is True
    assert "libc6_1.deb" in info["packages"]


def test_wrapper_works_from_anywhere(world: World) -> None:
    echo = '#!/bin/sh\necho "$@"\n'
    world.manifest(llvm_debs(tool=BROKEN_TOOL), runtime_debs(echo))
    world.run("install")
    moved = world.target(SNAPSHOT).rename(world.tmp / "moved it")
    link = world.tmp / "link"
    link.symlink_to(moved / "bin" / "mlir-tblgen")
    output = subprocess.run([link, "-gen-op-decls", "a b"], capture_output=True, text=True, check=True).stdout
    runtime = f"{moved}/bin/../runtime"
    assert output == f"--library-path {runtime} {runtime}/mlir-tblgen -gen-op-decls a b\n"


def test_tool_that_never_runs_is_an_error(world: World) -> None:
    world.manifest(llvm_debs(tool=BROKEN_TOOL), runtime_debs(BROKEN_TOOL))
    assert "with a newer C library either" in world.fails("install", "--source", SNAPSHOT)


@pytest.mark.parametrize("op", OPS)
def test_op_with_another_layout_is_guarded(world: World, op: str) -> None:
    world.manifest(llvm_debs(without=op))
    world.run("install")
    assert json.loads(world.run("info", "--json")[1])["guarded_ops"] == [f"LLVM::{op}"]
    header = (world.target(SNAPSHOT) / "include" / "mlir" / "Dialect" / "LLVMIR" / "LLVMOps.h.inc").read_text()
    assert f"LLVM::{op} has another property layout in libtriton than in LLVM 24.0.0" in header
    # Both adaptor constructors, the inline accessor, the alias and getProperties(), and nothing else.
    assert header.count("unavailable") == 5


@pytest.mark.slow
def test_two_installs_at_once(world: World) -> None:
    world.manifest(llvm_debs(padding=1 << 20))
    world.server.delay = 0.05  # three seconds in all
    first = world.start("install", "--source", SNAPSHOT)
    wait_for(lambda: world.server.asked("llvm-dev_1.deb"))
    second = world.start("install", "--source", SNAPSHOT)
    outputs = [process.communicate(timeout=60)[1] for process in (first, second)]
    assert (first.returncode, second.returncode) == (0, 0), outputs
    assert "another process is installing this SDK" in outputs[1]
    assert len(world.server.asked("llvm-dev_1.deb")) == 1
    assert world.leftovers() == [world.target(SNAPSHOT).name]


@pytest.mark.slow
def test_interrupted_download_leaves_nothing_and_is_resumed(world: World) -> None:
    world.manifest(llvm_debs(padding=1 << 20))
    world.server.delay = 0.05
    process = world.start("install", "--source", SNAPSHOT)
    part = world.cache / "downloads" / world.target(SNAPSHOT).name / "llvm-dev_1.deb.part"
    wait_for(lambda: part.exists() and part.stat().st_size > 0)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert err.splitlines()[-1] == "interrupted"
    assert world.leftovers() == []
    size = part.stat().st_size
    assert 0 < size < (1 << 20)
    assert world.run("path")[0] == 1

    world.server.delay = 0.0
    world.server.log.clear()
    code, _, err = world.run("install", "--source", SNAPSHOT)
    assert code == 0, err
    assert world.server.asked("llvm-dev_1.deb") == [f"bytes={size}-"]
    assert "resuming llvm-dev_1.deb" in err
    # Complete downloads are not requested again.
    assert world.server.asked("libmlir-dev_1.deb") == []
    assert not part.parent.exists()


@pytest.mark.slow
def test_killed_install_is_cleaned_up_by_the_next(world: World) -> None:
    world.manifest(llvm_debs(padding=1 << 20))
    world.server.delay = 0.05
    process = world.start("install", "--source", SNAPSHOT)
    wait_for(lambda: world.leftovers() and world.server.asked("llvm-dev_1.deb"))
    process.kill()
    process.communicate(timeout=60)
    assert world.leftovers() == [f".{world.target(SNAPSHOT).name}.new"]
    assert world.run("path")[0] == 1
    world.server.delay = 0.0
    assert world.run("install", "--source", SNAPSHOT)[0] == 0
    assert world.leftovers() == [world.target(SNAPSHOT).name]


@pytest.mark.parametrize("kind", ["directory", "tar.xz", "tar.gz", "zip"])
def test_user_named_install(world: World, kind: str) -> None:
    import zipfile

    files = llvm_files(commit=find_triton().llvm_commit)
    named = world.tmp / f"llvm.{kind}"
    if kind == "directory":
        write_tree(named, files)
    elif kind == "zip":
        with zipfile.ZipFile(named, "w") as file:
            for name, text in files.items():
                file.writestr(f"llvm-24/{name}", text)
    else:
        named.write_bytes(tar_bytes(files, kind.removeprefix("tar."), "llvm-24/"))
    code, _, err = world.run("install", "--from", str(named))
    assert code == 0, err
    assert world.server.log == []
    info = json.loads(world.run("info", "--json")[1])
    assert (info["source"], info["headers_commit"]) == ("user", find_triton().llvm_commit)
    # The same directory again needs no installation; a changed one does.
    stamp = (world.target("user") / "sdk.json").stat().st_mtime_ns
    world.run("install", "--from", str(named))
    assert (world.target("user") / "sdk.json").stat().st_mtime_ns == stamp
    os.utime(named, (1, 1))
    world.run("install", "--from", str(named))
    assert (world.target("user") / "sdk.json").stat().st_mtime_ns != stamp


def test_environment_names_an_install(world: World) -> None:
    world.monkeypatch.setenv("TRITON_EXT_LLVM_DIR", str(write_tree(world.tmp / "llvm", llvm_files(commit="1" * 40))))
    code, _, err = world.run("install")
    assert code == 0, err
    assert "these headers are of LLVM 11111111, libtriton of b010a18d" in err
    assert json.loads(world.run("info", "--json")[1])["source"] == "user"
    # An SDK from another directory does not replace the named one.
    world.monkeypatch.setenv("TRITON_EXT_LLVM_DIR", str(world.tmp))
    assert world.run("path")[0] == 1


def test_debian_layout_with_links_between_directories(world: World) -> None:
    root = write_tree(world.tmp / "usr" / "lib" / "llvm-24", llvm_files())
    (root / "include" / "llvm").rename(world.tmp / "usr" / "llvm")
    (root / "include" / "llvm").symlink_to(world.tmp / "usr" / "llvm")
    code, _, err = world.run("install", "--from", str(root))
    assert code == 0, err
    assert (world.target("user") / "include" / "llvm" / "Config" / "llvm-config.h").is_file()


def test_install_without_the_c_api_gets_stand_ins(world: World) -> None:
    files = {name: text for name, text in llvm_files().items() if not name.startswith("include/llvm-c")}
    code, _, err = world.run("install", "--from", str(write_tree(world.tmp / "llvm", files)))
    assert code == 0, err
    assert "include/llvm-c" in err
    names = {path.name for path in (world.target("user") / "include" / "llvm-c").iterdir()}
    assert names == {"DataTypes.h", "Error.h", "Types.h"}


def test_linked_header_and_tool_are_copied(world: World) -> None:
    files = llvm_files()
    files["include/llvm/Config/real.h"] = files.pop("include/llvm/Config/llvm-config.h")
    archive = world.tmp / "llvm.tar.xz"
    archive.write_bytes(tar_bytes(files, "xz", "llvm/", {"include/llvm/Config/llvm-config.h": "real.h"}))
    code, _, err = world.run("install", "--from", str(archive))
    assert code == 0, err
    header = world.target("user") / "include" / "llvm" / "Config" / "llvm-config.h"
    assert header.is_file()
    assert not header.is_symlink()


EXCHANGED = {
    "other": lambda tool: tool.write_text("#!/bin/sh\necho evil\n"),
    "writable": lambda tool: tool.chmod(0o777),
    "link": lambda tool: (tool.rename(tool.parent.parent / "moved"), tool.symlink_to(tool.parent.parent / "moved")),
    "company": lambda tool: (tool.parent / "libc.so.6").write_text("evil"),
    "gone": lambda tool: tool.unlink(),
}


@pytest.mark.parametrize("how", EXCHANGED)
def test_a_program_that_was_exchanged_does_not_run(how: str, world: World) -> None:
    """The SDK is checked before each build: one with such a file counts as missing, and is made anew."""
    assert world.run("install")[0] == 0
    tool = world.target(SNAPSHOT) / "bin" / "mlir-tblgen"
    good = tool.read_bytes()
    assert world.run("path")[0] == 0
    EXCHANGED[how](tool)
    code, _, err = world.run("path")
    assert (code, "no SDK is installed" in err) == (1, True), err
    code, _, err = world.run("install")
    assert code == 0, err
    assert "is made anew: " in err
    assert (tool.read_bytes(), tool.is_symlink()) == (good, False)
    assert world.run("path")[0] == 0


@pytest.mark.parametrize("where", ["", "sdk", SNAPSHOT])
def test_a_directory_that_others_can_write(where: str, world: World) -> None:
    assert world.run("install")[0] == 0
    path = {"": world.cache, "sdk": world.cache / "sdk"}.get(where, world.target(SNAPSHOT))
    path.chmod(0o777)
    for command in ("path", "install"):
        code, _, err = world.run(command)
        assert code == 1
        assert f"can write the directory {path}" in err
        assert "chmod -R go-w" in err


def test_it_is_made_for_the_user_alone(world: World) -> None:
    before = os.umask(0)
    try:
        assert world.run("install")[0] == 0
    finally:
        os.umask(before)
    assert {path: path.stat().st_mode & 0o777 for path in (world.cache, world.target(SNAPSHOT))} == {
        world.cache: 0o700,
        world.target(SNAPSHOT): 0o700,
    }


@pytest.mark.parametrize("value", [[], {}, None, 1, {"revision": 3}, {"revision": 3, "programs": [1]}, "x"])
def test_a_description_of_another_shape_is_none(value: object, world: World) -> None:
    world.run("install")
    (world.target(SNAPSHOT) / "sdk.json").write_text(json.dumps(value))
    assert sdk_module.find() is None


@pytest.mark.parametrize("umask", [0o000, 0o002])
def test_what_a_loose_umask_leaves_is_found(umask: int, world: World) -> None:
    """Several distributions have the default umask 002, with which the group can write files."""
    before = os.umask(umask)
    try:
        assert world.run("install")[0] == 0
    finally:
        os.umask(before)
    code, out, err = world.run("path")
    assert (code, out.strip()) == (0, str(world.target(SNAPSHOT))), err
    made = [world.target(SNAPSHOT), *world.target(SNAPSHOT).rglob("*")]
    assert [path for path in made if path.lstat().st_mode & 0o022] == []
    asked = len(world.server.log)
    assert world.run("install")[0] == 0
    assert len(world.server.log) == asked


def test_it_is_on_the_disk_before_it_has_its_name(world: World) -> None:
    """After a power loss the target is complete or absent only if its content was written to disk before the rename."""
    seen: list[tuple[str, list[str]]] = []
    real = storage.flush

    def flush(directory: Path) -> None:
        seen.append((directory.name, world.leftovers()))
        real(directory)

    for module in ("support.storage", "sdk.install_steps"):
        world.monkeypatch.setattr(f"triton_ext.{module}.flush", flush)
    assert world.run("install")[0] == 0
    name = world.target(SNAPSHOT).name
    assert seen == [(f".{name}.new", [f".{name}.new"]), ("sdk", [name])]
