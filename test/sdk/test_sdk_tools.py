# SPDX-License-Identifier: Apache-2.0
"""``triton-ext sdk install --with mlir-opt``, from a server of tiny packages: whole or not at all."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from support.sdk.tool import LIBRARY, SNAPSHOT, add_tool, packages
from support.sdk.world import World, closed_port, deb_bytes
from triton_ext.sdk import tools


def refused(world: World) -> str:
    """Checks that the installation fails with one line and leaves nothing of the tool; returns the line."""
    code, _, err = world.run("install", "--with", "mlir-opt")
    assert code == 1, err
    assert err.splitlines()[-1].startswith("triton-ext: error: ")
    assert world.leftovers() == [world.target(SNAPSHOT).name]
    assert tools.find_tool("mlir-opt") is None
    return err.splitlines()[-1]


@pytest.mark.slow
def test_it_runs_on_its_own_c_library(world: World) -> None:
    add_tool(world)
    code, _, err = world.run("install", "--with", "mlir-opt")
    assert code == 0, err
    program = tools.find_tool("mlir-opt")
    assert program == world.target("mlir-opt") / "bin" / "mlir-opt"
    assert f"mlir-opt in {program}" in err
    runtime = program.parent.parent / "runtime"
    kept = sorted(path.name for path in runtime.iterdir())
    assert kept == ["ld-linux-x86-64.so.2", "libMLIR.so.24.0", "libedit.so.2", "libz.so.1", "mlir-opt"]
    said = subprocess.run([program, "-cse", "a b"], capture_output=True, text=True, check=True).stdout
    shown = program.parent / ".." / "runtime"
    assert said == f"--library-path {shown} {shown}/mlir-opt -cse a b\n"
    assert list((world.cache / "downloads").iterdir()) == []

    world.server.log.clear()
    assert world.run("install", "--with", "mlir-opt")[0] == 0
    assert world.server.log == []
    assert world.run("install", "--with", "mlir-opt", "--force")[0] == 0
    assert world.server.asked("mlir-tools-24_1.deb") == [None]


@pytest.mark.slow
def test_another_version_is_installed_anew(world: World) -> None:
    add_tool(world)
    world.run("install", "--with", "mlir-opt")
    manifest = world.infra / "sdk" / "sources.toml"
    manifest.write_text(
        manifest.read_text().replace('llvm_version = "24.0.0"\nllvm_commits', 'llvm_version = "24.0.1"\nllvm_commits')
    )
    assert tools.find_tool("mlir-opt") is None
    assert world.run("install", "--with", "mlir-opt")[0] == 0
    assert tools.find_tool("mlir-opt") is not None


@pytest.mark.parametrize("umask", [0o000, 0o002])
def test_what_a_loose_umask_leaves_is_found(umask: int, world: World) -> None:
    add_tool(world)
    before = os.umask(umask)
    try:
        assert world.run("install", "--with", "mlir-opt")[0] == 0
    finally:
        os.umask(before)
    assert tools.find_tool("mlir-opt") is not None
    assert [path for path in world.target("mlir-opt").rglob("*") if path.stat().st_mode & 0o022] == []


EXCHANGED = {
    "script": lambda root: (root / "bin" / "mlir-opt").write_text("#!/bin/sh\necho evil\n"),
    "library": lambda root: (root / "runtime" / "libMLIR.so.24.0").write_text("evil"),
    "cut": lambda root: os.truncate(root / "runtime" / "mlir-opt", 1),
    "company": lambda root: (root / "runtime" / "libm.so.6").write_text("evil"),
    "gone": lambda root: (root / "runtime" / "libz.so.1").unlink(),
    "unrecorded": lambda root: (root / "tool.json").write_text(
        json.dumps({k: v for k, v in json.loads((root / "tool.json").read_text()).items() if k != "programs"})
    ),
    "another shape": lambda root: (root / "tool.json").write_text("[]"),
}


@pytest.mark.parametrize("how", EXCHANGED)
def test_a_program_that_was_exchanged_does_not_run(how: str, world: World) -> None:
    add_tool(world)
    world.run("install", "--with", "mlir-opt")
    root = world.target("mlir-opt")

    def content() -> dict[str, bytes]:
        return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}

    good = content()
    EXCHANGED[how](root)
    assert content() != good
    assert tools.find_tool("mlir-opt") is None
    code, _, err = world.run("install", "--with", "mlir-opt")
    assert code == 0, err
    assert (f"the program in {root} is made anew: " in err) == (how not in ("unrecorded", "another shape"))
    assert content() == good
    assert tools.find_tool("mlir-opt") is not None


def test_no_network(world: World) -> None:
    add_tool(world)
    world.monkeypatch.setenv("TRITON_EXT_DEBIAN_MIRROR", closed_port())
    message = refused(world)
    assert "cannot download " in message
    assert "mlir-tools-24_1.deb" in message
    assert "(fix: check network and proxy, or set TRITON_EXT_DEBIAN_MIRROR to a Debian mirror)" in message


def test_package_that_is_gone(world: World) -> None:
    add_tool(world)
    (world.server.root / "pool" / "libmlir-24_1.deb").unlink()
    assert "libmlir-24_1.deb does not exist" in refused(world)


def test_wrong_hash(world: World) -> None:
    add_tool(world, wrong="libmlir-24")
    message = refused(world)
    assert "libmlir-24_1.deb" in message
    assert "0" * 64 in message


@pytest.mark.parametrize("damage", ["shorter", "other bytes"])
def test_damaged_download(world: World, damage: str) -> None:
    """The mirror does not serve the file that the manifest names."""
    add_tool(world)
    file = world.server.root / "pool" / "libmlir-24_1.deb"
    data = file.read_bytes()
    file.write_bytes(data[:-100] if damage == "shorter" else data[:-100] + bytes(100))
    assert "libmlir-24_1.deb" in refused(world)
    file.write_bytes(data)
    assert world.run("install", "--with", "mlir-opt")[0] == 0


@pytest.mark.parametrize("missing", ["mlir-opt", "libMLIR.so.24.0"])
def test_packages_without_what_is_needed(world: World, missing: str) -> None:
    debs = packages(program="bin/mlir-reduce" if missing == "mlir-opt" else "bin/mlir-opt")
    if missing != "mlir-opt":
        debs["libmlir-24"] = deb_bytes({f"{LIBRARY}libMLIR.so.25.0": "libMLIR"})
    add_tool(world, debs)
    assert f"the packages of mlir-opt have no '{missing}'" in refused(world)


def test_program_that_does_not_run(world: World) -> None:
    add_tool(world, loader="#!/bin/sh\nexit 127\n")
    assert "mlir-opt does not run on this machine" in refused(world)


def test_other_llvm(world: World) -> None:
    add_tool(world, commit="1" * 40)
    assert "mlir-opt was not checked against LLVM b010a18d (fix: upgrade triton-ext)" in refused(world)
    assert not world.server.asked("mlir-tools-24_1.deb")


def test_unknown_tool(world: World) -> None:
    add_tool(world)
    code, _, err = world.run("install", "--with", "mlir-optt")
    assert code == 1
    assert "the SDK has no part 'mlir-optt', there is: mlir-opt" in err


def wait_for_part(part: Path) -> None:
    end = time.monotonic() + 20
    while not (part.exists() and part.stat().st_size):
        assert time.monotonic() < end, "timed out"
        time.sleep(0.01)


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_interrupted_download_is_resumed(world: World, how: signal.Signals) -> None:
    add_tool(world, packages(padding=1 << 20))
    world.server.delay = 0.05
    process = world.start("install", "--with", "mlir-opt")
    part = world.cache / "downloads" / world.target("mlir-opt").name / "libmlir-24_1.deb.part"
    wait_for_part(part)
    process.send_signal(how)
    _, err = process.communicate(timeout=60)
    assert process.returncode == (130 if how == signal.SIGINT else -how), err
    assert tools.find_tool("mlir-opt") is None
    size = part.stat().st_size
    world.server.delay = 0.0
    world.server.log.clear()
    code, _, err = world.run("install", "--with", "mlir-opt")
    assert code == 0, err
    assert world.server.asked("libmlir-24_1.deb") == [f"bytes={size}-"]
    assert world.leftovers() == sorted([world.target(SNAPSHOT).name, world.target("mlir-opt").name])
