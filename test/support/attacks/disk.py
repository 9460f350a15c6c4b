# SPDX-License-Identifier: Apache-2.0
"""Attacks on files on disk: planted links, a cache that others can write, cached files of any shape, and a library that
is exchanged between the check and the load."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from support.attacks.attack import Attack, Outcome
from triton_ext import sdk
from triton_ext.errors import TritonExtError
from triton_ext.loading import index, libraries
from triton_ext.support import json_shape, resources, storage
from triton_ext.tuning import store
from triton_ext.tuning.report import Report, Row

NOBODY = 65534
HERE = Path(__file__).resolve().parent


@contextmanager
def scratch() -> Iterator[Path]:
    """Makes a directory that every user can enter, and makes an empty directory in it the cache."""
    before = os.environ.get("XDG_CACHE_HOME")
    with tempfile.TemporaryDirectory(prefix="triton-ext-attack-") as directory:
        os.chmod(directory, 0o755)
        os.environ["XDG_CACHE_HOME"] = f"{directory}/cache"
        forget()
        try:
            yield Path(directory)
        finally:
            os.environ.pop("XDG_CACHE_HOME")
            if before is not None:
                os.environ["XDG_CACHE_HOME"] = before
            forget()


def forget() -> None:
    """As in a process that has just started."""
    index._files.clear()
    index._answers.clear()
    index._read = None


def as_user(user: int, call: Callable[[], bool]) -> bool:
    """Returns what `call` returns in a child that runs as `user`; an exception counts as False."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
            code = 0 if call() else 1
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def other_user(rng: random.Random, scale: int) -> Outcome:
    """A second user tries to write into the cache, or has made it first."""
    if os.geteuid() != 0:
        return Outcome(0, 0, "needs root, to be two users")
    through = tried = 0
    for number in range(20 * scale):
        with scratch() as directory:
            tried += 2
            os.umask(umask := rng.choice((0o000, 0o002, 0o022, 0o077)))
            try:
                assert storage.write_cache_file(storage.needed_cache_dir("") / f"d{number}" / "file", b"mine")
            finally:
                os.umask(0o022)
            cache = directory / "cache" / "triton-ext"
            victims = [cache, cache / f"d{number}", cache / f"d{number}" / "file"]

            def spoil(victims: list[Path] = victims) -> bool:
                return any(os.access(path, os.W_OK) or os.access(path, os.R_OK) for path in victims)

            through += as_user(NOBODY, spoil)
            # The cache exists already, in one of the ways in which it does not belong to the user alone.
            shutil.rmtree(directory / "cache")
            cache.mkdir(parents=True)
            (cache / "index").write_bytes(b"planted")
            wrong = rng.choice(("owner", "group", "others", "link"))
            if wrong == "owner":
                os.chown(cache, NOBODY, NOBODY)
            elif wrong == "link":
                cache.rename(directory / "real")
                cache.symlink_to(directory / "real")
                os.lchown(cache, NOBODY, NOBODY)
            else:
                cache.chmod(0o770 if wrong == "group" else 0o707)
            del umask
            for use in (
                lambda: index.recall("any", "thing", object),
                lambda cache=cache: storage.write_cache_file(cache / "file", b""),
                lambda cache=cache: sdk.Sdk.load(cache / "sdk" / "x"),
            ):
                try:
                    use()
                    through += 1
                except TritonExtError as error:
                    through += "XDG_CACHE_HOME" not in str(error) and "chmod" not in str(error)
    return Outcome(tried, through, "each cache is looked at in four ways")


def planted_links(rng: random.Random, scale: int) -> Outcome:
    """Links under every temporary name that can be guessed, and under the file's own name, lead to a file of the
    victim."""
    from triton_ext.compilation.records import Compilation
    from triton_ext.tracing.files import write_files
    from triton_ext.tracing.page import write_page

    through = tried = 0
    empty = Compilation("k", "cuda:90", "3.9.0", "", 0.0, ())
    for _ in range(10 * scale):
        with scratch() as directory:
            victim = directory / "victim"
            victim.write_text("precious")
            place = directory / "place"
            place.mkdir()
            for name in ("page.html", "files", "file"):
                for pid in {os.getpid(), *(os.getpid() + rng.randrange(-50, 50) for _ in range(20))}:
                    for suffix in ("", ".old", ".new", ".tmp", ".part"):
                        (place / f".{name}.{pid}{suffix}").symlink_to(victim)
            (place / "page.html").symlink_to(victim)
            (place / "file").symlink_to(victim)
            before = len(list(place.iterdir()))
            write_page(empty, place / "page.html")
            write_files(empty, place / "files")
            storage.write_whole(place / "file", b"new")
            tried += 3
            through += victim.read_text() != "precious" or len(list(place.iterdir())) != before + 1
    return Outcome(tried, through)


def any_json(rng: random.Random, depth: int = 3) -> Any:
    """Returns an arbitrary JSON value."""
    kind = rng.randrange(10 if depth else 7)
    if kind in {7, 8}:
        return [any_json(rng, depth - 1) for _ in range(rng.randrange(4))]
    if kind == 9:
        return {rng.choice(("files", "answers", "name", "", "x")): any_json(rng, depth - 1) for _ in range(3)}
    return (None, True, rng.randrange(-9, 9), 10**30, rng.random(), "", rng.choice(("a", "\0", "\ud800", "/")))[kind]


def changed(rng: random.Random, value: Any) -> Any:
    """Returns `value` with one part of it replaced, left out or doubled."""
    if isinstance(value, dict) and value and rng.random() < 0.8:
        key = rng.choice(sorted(value))
        if rng.random() < 0.2:
            return {k: v for k, v in value.items() if k != key}
        return {**value, key: changed(rng, value[key])}
    if isinstance(value, list) and value and rng.random() < 0.8:
        at = rng.randrange(len(value))
        return [*value[:at], changed(rng, value[at]), *value[at + rng.randrange(2) :]]
    return any_json(rng)


def _cached_files(directory: Path) -> dict[str, tuple[Any, Callable[[Any], object]]]:
    """Returns for each kind of cached file the content of a good one, and a function that writes and reads one."""
    library = resources.library_dir() / "libtriton_ext_rename.so"

    def read_index(value: Any) -> None:
        content = json.dumps(value).encode()
        storage.write_cache_file(storage.needed_cache_dir("") / "index", index._digest(content) + b"\n" + content)
        forget()
        from triton_ext.loading.verification import verify

        verify(library)
        libraries.needed_by(library)

    def read_sdk(value: Any) -> None:
        path = storage.needed_cache_dir("") / "sdk" / "3.9.0-x"
        storage.write_cache_file(path / "sdk.json", json.dumps(value).encode())
        if found := sdk.Sdk.load(path):
            assert found.problem is not None, "it has no programs, so something is wrong with it"

    def read_report(value: Any) -> None:
        report = value if isinstance(value, dict) else {}
        try:
            text = json.dumps({"sha256": store._checksum(report), "report": value})
        except ValueError:
            return
        found = json_shape.parsed(text, {"sha256": str, "report": store._REPORT})
        if found is not None and (read := Report.from_dict(found["report"])).problem is None:
            str(read)

    identity = [1, 2, 3, 4, 5]
    answer = {"note": None, "digest": "0" * 64, "name": "n", "version": "1", "passes": ["p"], "dialects": [], "ops": []}
    names = {str(library): index._identity(str(library)), "/nowhere": None, "/other": identity}
    good_index = {
        "files": names,
        "answers": {
            f"plugin {library}": {"answer": answer, "files": [str(library)]},
            f"needed {library}": {"answer": ["libc.so.6"], "files": [str(library)]},
        },
    }
    good_sdk = {
        **dict.fromkeys(("source", "origin", "triton", "llvm_commit", "llvm_version", "headers_commit"), "x"),
        "revision": sdk.REVISION, "rank": 1, "abi_breaking_checks": True, "guarded_ops": ["a"], "packages": {"a": "b"},
        "programs": {"bin/mlir-tblgen": "0" * 64}, "runtime": False, "size": 5, "unverified": ["a"],
    }  # fmt: skip
    row = Row("BLOCK: 1", "p", "ok", (1.0, 1.0, 1.0), 0.5)
    report = Report("k", "()", "cpu", "", (row, row), 0, 0, 1.0)
    good_report = json.loads(json.dumps(report.as_dict()))
    return {"index": (good_index, read_index), "sdk.json": (good_sdk, read_sdk), "report": (good_report, read_report)}


def wrong_shapes(rng: random.Random, scale: int) -> Outcome:
    """Cached files have arbitrary JSON with the right checksum: each must be a miss, and not an error."""
    through = tried = 0
    notes: list[str] = []
    with scratch() as directory:
        for kind, (good, read) in _cached_files(directory).items():
            for _ in range(100 * scale):
                tried += 1
                value = changed(rng, good) if rng.random() < 0.9 else any_json(rng)
                try:
                    read(value)
                except Exception as error:
                    through += 1
                    notes.append(f"{kind}: {type(error).__name__}: {error}: {value}")
    return Outcome(tried, through, notes[0] if notes else "")


EVIL = """
#include <stdlib.h>
__attribute__((constructor)) static void run(void) { system("echo evil >> $EVIL"); }
"""
LOAD = """
import sys
from pathlib import Path
import triton
from triton_ext.loading import discovery, loader
from triton_ext.errors import TritonExtError
loaded = 0
for _ in range(int(sys.argv[2])):
    loader._load.cache_clear()
    loader._loaded.clear()
    try:
        loader.load_library(discovery._examine(Path(sys.argv[1]), "attack"))
        loaded += 1
    except TritonExtError:
        pass
print(loaded)
"""


def hijack(rng: random.Random, scale: int) -> Outcome:
    """A library, and every copy of it in the cache, is exchanged repeatedly while it is loaded."""
    compiler = next(filter(None, map(shutil.which, ("clang-19", "clang", "gcc"))), None)
    if compiler is None:
        return Outcome(0, 0, "needs a C compiler")
    tries = 25 * scale
    with scratch() as directory:
        (directory / "evil.c").write_text(EVIL)
        evil = directory / "evil.so"
        subprocess.run([compiler, "-shared", "-fPIC", directory / "evil.c", "-o", evil], check=True)
        place = directory / "place"
        place.mkdir()
        good = resources.library_dir() / "libtriton_ext_rename.so"
        library = place / good.name
        shutil.copy(good, library)
        environment = {**os.environ, "EVIL": str(directory / "marks")}
        done = threading.Event()

        def exchange() -> None:
            number = 0
            while not done.is_set():
                copies = [library, *(directory / "cache").rglob("*.so")]
                for source in (evil, good):
                    for target in copies:
                        number += 1
                        new = directory / f"new{number % 7}"
                        shutil.copy(source, new)
                        new.replace(target)
                    done.wait(rng.random() / 500)

        thread = threading.Thread(target=exchange)
        thread.start()
        try:
            command = [sys.executable, "-c", LOAD, str(library), str(tries)]
            loaded = subprocess.run(
                command, env=environment, check=True, timeout=600, stdout=subprocess.PIPE, text=True
            ).stdout.strip()
        finally:
            done.set()
            thread.join()
        marks = directory / "marks"
        through = len(marks.read_text().splitlines()) if marks.exists() else 0
        return Outcome(tries, through, f"{loaded} times the good one was loaded")


def exchanged_programs(rng: random.Random, scale: int) -> Outcome:
    """mlir-tblgen, or a library that it needs, is another file, a link, writable, or beside an additional file."""
    through = tried = 0
    for _ in range(10 * scale):
        with scratch():
            root = storage.private_dir(storage.needed_cache_dir("") / "sdk" / "x")
            for name in ("bin/mlir-tblgen", "runtime/libc.so.6"):
                storage.write_cache_file(root / name, name.encode())
            fields: dict[str, Any] = dict.fromkeys(
                ("source", "origin", "triton", "llvm_commit", "llvm_version", "headers_commit"), "x"
            )
            made = sdk.Sdk(
                path=root, rank=0, abi_breaking_checks=True, guarded_ops=(), packages={}, runtime=True, size=1,
                programs={n: index.sha256_of(root / n) for n in sdk.program_files(root)}, **fields,
            )  # fmt: skip
            assert made.problem is None, made.problem
            tried += 1
            victim = root / rng.choice(sorted(made.programs))
            how = rng.choice(("other", "in place", "link", "mode", "more", "gone", "directory", "owner"))
            if how == "other":
                storage.write_whole(victim, b"evil", mode=0o700)
            elif how == "in place":
                victim.write_bytes(victim.read_bytes()[::-1])
            elif how == "link":
                victim.rename(root / "moved")
                victim.symlink_to(root / "moved")
            elif how == "mode":
                victim.chmod(0o666)
            elif how == "more":
                (root / "runtime" / "glibc-hwcaps").mkdir()
                (root / "runtime" / "glibc-hwcaps" / "libc.so.6").write_bytes(b"evil")
            elif how == "directory":
                victim.parent.chmod(0o777)
                victim.parent.joinpath("planted").write_bytes(b"")
            elif how == "owner" and os.geteuid() == 0:
                os.chown(victim, NOBODY, NOBODY)
            else:
                victim.unlink()
            through += made.problem is None
    return Outcome(tried, through)


ATTACKS = [
    Attack("a second user and the cache", other_user),
    Attack("links under guessed names", planted_links),
    Attack("cached JSON of any shape", wrong_shapes),
    Attack("a library exchanged while it is loaded", hijack),
    Attack("programs of the SDK exchanged", exchanged_programs),
]
