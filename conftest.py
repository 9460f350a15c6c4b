# SPDX-License-Identifier: Apache-2.0
"""Fixtures for every test: a cache of its own, so that no test sees another test's kernels or the user's; the wheel; a
third-party pass that is really rebuilt.
"""

from __future__ import annotations

import faulthandler
import gc
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from filelock import FileLock

if TYPE_CHECKING:
    from support.fixture_types import MakeOnce

ROOT = Path(__file__).parent

pytest_plugins = ["support.fixtures"]

os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")  # otherwise Triton 3.9 warns at every compilation
# NumPy's library of matrix products starts a thread for each other processor. Each waits busily for work at first, half
# of the processor time of importing NumPy.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# `support.SITE`, for this process's xdist workers and for every process that a test starts.
SITE = str(ROOT / "test" / "support" / "site")
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [SITE, os.environ.get("PYTHONPATH")]))

#: The environment with which pytest has started, before a test or a fixture changes it.
STARTED = dict(os.environ)

# Some tests crash a forked child on purpose. pytest's traceback of it would look like a failure in the log.
os.register_at_fork(after_in_child=faulthandler.disable)

# By default, Python looks for garbage after each 700 new objects. This takes a seventh of the processor time of
# collecting the tests, and a quarter of that of tests that keep many objects, such as those of integer claims.
gc.set_threshold(100_000, 20, 100)

#: Temporary files go into memory if there is room for this many bytes, several times what a run takes. An environment
#: with Triton, 1 GB, is removed at the end of the module that makes it.
ROOM = 8 << 30


def make_temporary_root() -> Path | None:
    """Makes a directory in memory for temporary files; returns None if that has no room or forbids execution.

    Triton's cache makes and removes a directory for each file that it writes. On a disk, this can take longer than the
    compilation: 3 ms for each directory on a virtual machine with ext4. What a run leaves, because a test failed or the
    run was killed, stays until the next run.
    """
    memory = Path("/dev/shm")
    try:
        found = os.statvfs(memory)
        available = re.search(r"MemAvailable: *(\d+) kB", Path("/proc/meminfo").read_text())
    except OSError:
        return None
    permits = not found.f_flag & os.ST_NOEXEC and os.access(memory, os.W_OK | os.X_OK)
    room = min(found.f_bavail * found.f_frsize, int(available[1]) << 10 if available else 0)
    if not permits or room < ROOM:
        return None
    for old in memory.glob("triton-ext-tests-*"):
        if not Path("/proc", old.name.rpartition("-")[2]).exists():  # its process has ended
            shutil.rmtree(old, ignore_errors=True)
    root = memory / f"triton-ext-tests-{os.getpid()}"
    root.mkdir(mode=0o700, exist_ok=True)
    (root / "tmp").mkdir(exist_ok=True)
    return root


# Xdist's workers, and pytest in a process of a test, inherit the variables. The paths of Unix sockets, which
# multiprocessing makes in TMPDIR, are short: 107 bytes at most.
if not {"TMPDIR", "PYTEST_DEBUG_TEMPROOT"}.intersection(os.environ) and (temporary_root := make_temporary_root()):
    os.environ["PYTEST_DEBUG_TEMPROOT"] = str(temporary_root)  # where pytest makes what `tmp_path` is in
    os.environ["TMPDIR"] = tempfile.tempdir = str(temporary_root / "tmp")


@pytest.hookimpl(tryfirst=True)  # before ``-m "not slow"`` is applied
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what is in no sample as slow, and puts files with slow tests first: if one started last, a run on several
    cores would wait for it.
    """
    from support import samples

    samples.mark_slow(items)
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


def pytest_collection_finish() -> None:
    """Takes what was imported out of garbage collections, which would look at torch and all tests again and again: 7 %
    of the time of tests that compile kernels.
    """
    gc.freeze()


def pytest_unconfigure() -> None:
    """Undoes `pytest_collection_finish`, so that the process ends as usual."""
    gc.unfreeze()


#: The reason of a skipped test begins so if the machine does not permit the test; no installation helps then.
NOT_PERMITTED = "not permitted here: "


def skipped_reports(config: pytest.Config) -> list[tuple[str, str]]:
    """Returns place and reason of each skipped test or module; with xdist, only the main process knows them."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    found = []
    for report in reporter.stats.get("skipped", []) if reporter else []:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        found.append((report.nodeid, reason.removeprefix("Skipped: ")))
    return found


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fails the run in CI if a test was skipped, because CI has to install what tests need; a missing permission is
    allowed.
    """
    passed = session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
    missing = [place for place, reason in skipped_reports(session.config) if not reason.startswith(NOT_PERMITTED)]
    if os.environ.get("CI") and passed and missing:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Prints the number of skipped tests, and for each reason the tests that gave it."""
    by_reason: dict[str, list[str]] = {}
    for place, reason in skipped_reports(config):
        by_reason.setdefault(reason, []).append(place)
    number = sum(map(len, by_reason.values()))
    terminalreporter.write_line(
        f"skipped tests: {number}" + (", an error in CI unless not permitted" if number else "")
    )
    for reason, places in by_reason.items():
        terminalreporter.write_line(f"  {len(places)} because: {reason}")
        for place in places:
            terminalreporter.write_line(f"    {place}")


def _keeps_kernels(item: pytest.Item) -> bool:
    if not item.get_closest_marker("keeps_kernels"):
        return False
    from support import kept

    return kept.keeps_kernels(item, STARTED)


@pytest.fixture(autouse=True)
def kernel_cache(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Sets a directory for compiled kernels: an empty one, or the one that `support.kept` keeps for the test."""
    if _keeps_kernels(request.node):
        from support import kept

        caches = kept.kernels_of(request.node, STARTED)
    else:
        caches = iter([tmp_path / "kernels"])
    for cache in caches:
        monkeypatch.setenv("TRITON_CACHE_DIR", str(cache))
        yield cache


@pytest.fixture(scope="session")
def make_once(tmp_path_factory: pytest.TempPathFactory) -> MakeOnce:
    """``make_once("report", fill)`` returns a directory that `fill` has filled, once however many processes test."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent  # each worker has a directory of its own in that of the whole run

    def make(name: str, fill: Callable[[Path], object]) -> Path:
        directory, done = shared / name, shared / f"{name}.done"
        with FileLock(shared / f"{name}.lock"):
            if not done.exists():
                shutil.rmtree(directory, ignore_errors=True)  # in another process, `fill` has failed
                directory.mkdir()
                fill(directory)
                done.touch()
        return directory

    return make


@pytest.fixture(scope="session")
def wheel(make_once: MakeOnce) -> Path:
    """``make wheel``: one file for every Python, outside of the checkout's ``dist/``. It is compiled with the options
    of the checkout, so ccache has most of it. ``TRITON_EXT_TEST_WHEEL_DIR`` names a directory with a wheel to test
    instead, such as one that is compiled as it is published.
    """
    from support import kept_wheel

    def fill(directory: Path) -> None:
        subprocess.run(["make", "wheel", f"DIST={directory}", "QUICK=1"], cwd=ROOT, check=True, capture_output=True)

    def make(directory: Path) -> None:
        kept_wheel.make(fill, directory)

    given = os.environ.get("TRITON_EXT_TEST_WHEEL_DIR")
    (wheel,) = (ROOT / given if given else make_once("wheel", make)).glob("*.whl")
    return wheel


@pytest.fixture(scope="session")
def stamps(make_once: MakeOnce) -> dict[str, Path]:
    """Two builds of the pass `stamp`, which append ``_v1`` and ``_v2`` to the names of public functions."""
    from support import kept_build

    def fill(directory: Path) -> None:
        for version in ("v1", "v2"):
            source = directory / version / "stamp"
            shutil.copytree(ROOT / "test" / "pipeline" / "stamp", source)
            code = (source / "Stamp.cpp").read_text()
            (source / "Stamp.cpp").write_text(code.replace('VERSION "_v1"', f'VERSION "_{version}"'))
            kept_build.build_tree(source, source / "build")

    directory = make_once("stamps", fill)
    return {name: directory / name / "stamp" / "build" / "libtriton_ext_stamp.so" for name in ("v1", "v2")}


@pytest.fixture
def install_stamp(stamps: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """``install_stamp("v2")`` puts that build where ``TRITON_EXT_PATH`` points, as a rebuild does."""
    library = tmp_path / "libtriton_ext_stamp.so"
    monkeypatch.setenv("TRITON_EXT_PATH", str(library))

    def install(version: str) -> None:
        shutil.copy(stamps[version], library.with_suffix(".part"))
        library.with_suffix(".part").replace(library)

    return install
