# SPDX-License-Identifier: Apache-2.0
"""Fixtures for every test: a cache of its own, so that no test sees another test's kernels or the user's; the wheel; a
third-party pass that is really rebuilt.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock

os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")  # otherwise Triton 3.9 warns at every compilation
# `support.SITE`, for this process's xdist workers and for every process that a test starts.
SITE = str(Path(__file__).parent / "test" / "support" / "site")
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [SITE, os.environ.get("PYTHONPATH")]))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts files with slow tests first: if one started last, a run on several cores would wait for it."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


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


@pytest.fixture(autouse=True)
def kernel_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Sets an empty directory for compiled kernels."""
    cache = tmp_path / "kernels"
    monkeypatch.setenv("TRITON_CACHE_DIR", str(cache))
    return cache


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``make wheel``: one file for every Python, made once however many processes test, outside of the checkout's
    ``dist/``. ``TRITON_EXT_TEST_WHEEL_DIR`` names a directory with one that is there already.
    """
    if given := os.environ.get("TRITON_EXT_TEST_WHEEL_DIR"):
        (wheel,) = Path(__file__).parent.joinpath(given).glob("*.whl")
        return wheel
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent  # each worker has a directory of its own in that of the whole run
    directory = shared / "wheel"
    with FileLock(shared / "wheel.lock"):
        if not (built := [*directory.glob("*.whl")]):
            partial = shared / "wheel.part"
            command = ["make", "wheel", f"DIST={partial}"]
            subprocess.run(command, cwd=Path(__file__).parent, check=True, capture_output=True)
            partial.replace(directory)
            built = [*directory.glob("*.whl")]
    (wheel,) = built
    return wheel


@pytest.fixture(scope="session")
def stamps(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two builds of the pass `stamp`, which append ``_v1`` and ``_v2`` to the names of public functions."""
    from triton_ext.authoring import build

    built = {}
    for version in ("v1", "v2"):
        source = tmp_path_factory.mktemp(version) / "stamp"
        shutil.copytree(Path(__file__).parent / "test" / "pipeline" / "stamp", source)
        code = (source / "Stamp.cpp").read_text()
        (source / "Stamp.cpp").write_text(code.replace('VERSION "_v1"', f'VERSION "_{version}"'))
        build.build_tree(source, source / "build")
        built[version] = source / "build" / "libtriton_ext_stamp.so"
    return built


@pytest.fixture
def install_stamp(stamps: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """``install_stamp("v2")`` puts that build where ``TRITON_EXT_PATH`` points, as a rebuild does."""
    library = tmp_path / "libtriton_ext_stamp.so"
    monkeypatch.setenv("TRITON_EXT_PATH", str(library))

    def install(version: str) -> None:
        shutil.copy(stamps[version], library.with_suffix(".part"))
        library.with_suffix(".part").replace(library)

    return install
