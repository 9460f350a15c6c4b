# SPDX-License-Identifier: Apache-2.0
"""The precompiled header beside an SDK: made once for each set of flags, and again if it is damaged; a build goes on
without it where it cannot be made. The SDK here has two small headers; clang is the real one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from triton_ext.sdk import Sdk
from triton_ext.sdk.precompiled import MOST, Header, find_headers, precompiled
from triton_ext.support import clang

COMPILER = next(Path(found) for name in clang.names_of("clang++") if (found := shutil.which(name)))
FLAGS = ("-O2", "-std=c++20")
HEADERS = ("two.h", "one.h")
#: Prints what `precompiled` returns for the SDK in the first argument.
CALL = f"""
import sys
from pathlib import Path
from triton_ext.sdk import Sdk
from triton_ext.sdk.precompiled import precompiled
print(precompiled(Sdk.load(Path(sys.argv[1])), Path({str(COMPILER)!r}), {FLAGS!r}, {HEADERS!r}))
"""


@pytest.fixture
def sdk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sdk:
    """Returns an SDK in a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    path = tmp_path / "triton-ext" / "sdk" / "3.9.0-00000000-tiny"
    for directory in (path / "include", path / "overlay" / "include"):
        directory.mkdir(parents=True, mode=0o700)
    (path / "include" / "one.h").write_text("#pragma once\nstruct One {};\n#ifdef NDEBUG\nstruct Quick {};\n#endif\n")
    (path / "overlay" / "include" / "two.h").write_text('#pragma once\n#include "one.h"\nstruct Two : One {};\n')
    found = Sdk(path, "tiny", 1, "", "3.9.0", "0" * 40, "24", None, True, (), {}, {}, False, 0)
    found.save(path)
    return found


def make(sdk: Sdk, *more: str) -> Path | None:
    return precompiled(sdk, COMPILER, (*FLAGS, *more), HEADERS)


def compiles(header: Path, code: str, *flags: str) -> bool:
    """Whether `code`, which includes nothing, compiles with the header."""
    command = [COMPILER, *FLAGS, *flags, "-include-pch", header, "-fsyntax-only", "-x", "c++", "-"]
    return subprocess.run(command, input=code, text=True, capture_output=True, check=False).returncode == 0


def identity(path: Path) -> tuple[int, int]:
    return path.stat().st_ino, path.stat().st_mtime_ns


@pytest.mark.slow
def test_it_is_made_once(sdk: Sdk) -> None:
    header = make(sdk)
    assert header is not None
    assert compiles(header, "Two two;")
    assert not compiles(header, "Three three;")
    before = identity(header)
    assert make(sdk) == header
    assert identity(header) == before
    assert [found.file for found in find_headers(sdk)] == [header]
    assert sorted(path.name for path in sdk.path.parent.iterdir()) == sorted(
        (sdk.path.name, header.parent.name, f"{sdk.path.name}.headers.lock")
    )
    assert header.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.slow
def test_processes_that_start_together_make_one(sdk: Sdk) -> None:
    """Clang is replaced by a script that writes down each call."""
    log = sdk.path.parent / "log"
    script = sdk.path.parent / "clang"
    script.write_text(
        f'#!/bin/sh\ncase "$*" in *c++-header*) echo made >>{log}; sleep 0.3;; esac\nexec {COMPILER} "$@"\n'
    )
    script.chmod(0o755)
    made: list[Path | None] = []
    threads = [threading.Thread(target=lambda: made.append(precompiled(sdk, script, FLAGS, HEADERS))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(made)) == 1
    assert None not in made
    assert log.read_text() == "made\n"


@pytest.mark.slow
def test_other_flags_have_another(sdk: Sdk) -> None:
    plain, quick = make(sdk), make(sdk, "-DNDEBUG")
    assert plain is not None
    assert quick is not None
    assert plain != quick
    assert not compiles(plain, "Quick q;")
    assert compiles(quick, "Quick q;", "-DNDEBUG")
    assert not compiles(plain, "Two two;", "-fno-rtti")  # clang refuses a header that was made with other flags
    assert make(sdk, "-no-such-flag") is None
    assert {found.file for found in find_headers(sdk)} == {plain, quick}


@pytest.mark.slow
def test_another_sdk_in_its_place_has_another(sdk: Sdk) -> None:
    before = make(sdk)
    assert before is not None
    (sdk.path / "include" / "one.h").write_text("#pragma once\nstruct One {}; struct Three {};\n")
    sdk.save(sdk.path)
    after = make(sdk)
    assert after is not None
    assert compiles(after, "Three three;")
    assert not before.exists()  # it is of no use any more


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["cut", "other bytes", "emptied", "gone", "another file", "no description", "link"])
def test_a_damaged_one_is_made_again(damage: str, sdk: Sdk) -> None:
    header = make(sdk)
    assert header is not None
    good, time_ = header.read_bytes(), header.stat().st_mtime_ns
    if damage in ("cut", "other bytes", "emptied"):
        middle = len(good) // 2
        header.write_bytes(
            {"cut": good[:middle], "emptied": b"", "other bytes": good[:middle] + b"?" + good[middle + 1 :]}[damage]
        )
        os.utime(header, ns=(time_, time_))
    elif damage == "gone":
        header.unlink()
    elif damage == "another file":
        (header.parent / "more").touch()
    elif damage == "no description":
        (header.parent / "header.json").write_text('{"sdk": 1}')
    else:
        header.rename(header.parent.parent / "elsewhere")
        header.symlink_to(header.parent.parent / "elsewhere")
    assert find_headers(sdk) == []
    assert make(sdk) == header
    assert compiles(header, "Two two;")
    assert sorted(path.name for path in header.parent.iterdir()) == ["header.json", "mlir.pch", "mlir.pch.sum"]
    assert not header.is_symlink()


@pytest.mark.slow
def test_what_others_can_write_is_not_used(sdk: Sdk) -> None:
    header = make(sdk)
    assert header is not None
    header.chmod(0o666)
    assert find_headers(sdk) == []
    assert make(sdk) == header
    assert header.stat().st_mode & 0o022 == 0
    header.parent.chmod(0o777)
    assert make(sdk) is None
    header.parent.chmod(0o700)
    sdk.path.parent.chmod(0o777)
    assert make(sdk) is None


def run_without(limit: list[str], sdk: Sdk) -> str:
    """Returns what a process prints under `limit`, which takes a permission from it."""
    done = subprocess.run([*limit, sys.executable, "-c", CALL, sdk.path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.strip()


# The root user, too, cannot write everywhere then.
POWERLESS = ["setpriv", "--inh-caps=-all", "--bounding-set=-all"] if os.geteuid() == 0 else []


@pytest.mark.slow
def test_a_cache_that_cannot_be_written(sdk: Sdk) -> None:
    """What is there is used; what is missing is not made, and nothing is reported."""
    root = sdk.path.parent
    root.chmod(0o500)
    try:
        assert run_without(POWERLESS, sdk) == "None"
        root.chmod(0o700)
        header = make(sdk)
        root.chmod(0o500)
        assert run_without(POWERLESS, sdk) == str(header)
    finally:
        root.chmod(0o700)


@pytest.mark.slow
def test_a_write_that_fails(sdk: Sdk) -> None:
    """No file may be larger than a block, so clang cannot write the header; nothing is left behind."""
    assert run_without(["sh", "-c", 'ulimit -f 1; exec "$@"', "sh"], sdk) == "None"
    assert sorted(path.name for path in sdk.path.parent.iterdir()) == [sdk.path.name, f"{sdk.path.name}.headers.lock"]
    assert make(sdk) is not None


@pytest.mark.slow
def test_those_that_were_used_last_are_kept(sdk: Sdk) -> None:
    made = []
    for number in range(MOST):
        made.append(make(sdk, f"-DNUMBER={number}"))
        time.sleep(0.01)
    assert make(sdk, "-DNUMBER=0") == made[0]  # used again, so the second is now the oldest
    last = make(sdk, "-DNUMBER=last")
    assert {found.file for found in find_headers(sdk)} == {made[0], *made[2:], last}
    assert Header.load(Path(str(made[1])).parent) is None
