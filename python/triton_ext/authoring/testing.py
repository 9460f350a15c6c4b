# SPDX-License-Identifier: Apache-2.0
"""``triton-ext test``, and the lit configuration that every source tree shares.

The tests of an extension lie in its directory ``test``: lit tests (``*.mlir``, ``*.ttir``, ``*.ttgir``, ``*.ll``) and
Python tests (``test_*.py``).
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import click

from ..errors import ExtensionNotFoundError, TritonExtError
from ..loading.bundles import HIDDEN_BUNDLE
from ..loading.host import find_triton
from ..support import resources
from ..support.scratch import scratch_dir
from .build import build_tree, check_tools, default_build_dir
from .build import tool as find_program
from .project import Project, find_project

LIT_SUFFIXES = (".mlir", ".ttir", ".ttgir", ".ll")
_DRIVER = "libTritonExtOpt.so"


def configure_lit(config: Any, root: Path) -> None:
    """Sets up lit for a source tree; its ``lit.cfg.py`` calls this.

    Tests find the tools of this environment, the FileCheck that ships with Triton, and the tree's libraries.

    Args:
        config: the configuration that lit passes to ``lit.cfg.py``.
        root: the source tree.
    """
    import lit.formats

    config.name = root.name
    config.test_format = lit.formats.ShTest(execute_external=False)
    config.suffixes = list(LIT_SUFFIXES)
    config.excludes = ["build", "dist", ".venv", "fixtures", "Inputs"]
    config.test_source_root = str(root)
    config.test_exec_root = str(root / "build" / "lit")
    path = [str(Path(sys.executable).parent), str(find_triton().root), os.environ.get("PATH", "")]
    config.environment["PATH"] = os.pathsep.join(path)
    project = find_project(root) or Project(root, None)
    for name, value in _environment(project).items():
        if name in ("HOME", HIDDEN_BUNDLE, "TRITON_EXT_LIBRARY_DIR", "TRITON_EXT_PATH", "XDG_CACHE_HOME"):
            config.environment[name] = value


def run_tests(project: Project, names: tuple[str, ...] = ()) -> None:
    """Builds and tests extensions of `project`, and prints one line with the numbers.

    Raises:
        ExtensionNotFoundError: there is no extension of one of the `names`.
        BuildError: an extension does not build.
        TritonExtError: a test failed, or there are no tests.
    """
    started = time.monotonic()
    known = project.extensions()
    if unknown := [name for name in names if name not in known]:
        raise ExtensionNotFoundError(
            f"no extension '{unknown[0]}' in {project.root}; there is: {', '.join(known) or 'none'}",
            fix=f"triton-ext new pass {unknown[0]}",
        )
    targets = (*names, *(inner for inner, d in known.items() if any(known[name] in d.parents for name in names)))
    if names and not (resources.library_dir() / _DRIVER).is_file() and not project.package:
        targets = (*targets, "opt")  # the lit tests need the driver, which a fresh checkout does not have
    directories = [known[name] for name in names or known]
    lit_tests = [d for d in directories if any(f.suffix in LIT_SUFFIXES for f in (d / "test").rglob("*"))]
    python_tests = [file for d in directories for file in sorted((d / "test").rglob("test_*.py"))]
    check_tools("cmake", "ninja", *(["lit"] if lit_tests else ()), *(["pytest"] if python_tests else ()))
    build_tree(project.root, default_build_dir(project.root), targets)
    lit = _run("lit", ["-sv"], "--xunit-xml-output", lit_tests, project)
    python = _run("pytest", ["-q"], "--junitxml", python_tests, project)
    what = ", ".join(names) or f"{len(known)} extension{'s' * (len(known) != 1)}"
    summary = f"{what}: lit: {_counted(lit)}; Python: {_counted(python)}; {time.monotonic() - started:.1f} s"
    total = lit + python
    if total["failed"]:
        raise TritonExtError(summary)
    if not total["passed"]:
        raise TritonExtError(f"{summary}: nothing was tested", fix="add test/NAME.mlir or test/test_NAME.py")
    click.secho(summary, fg="green")


def _run(program: str, flags: list[str], report_flag: str, tests: list[Path], project: Project) -> Counter[str]:
    """Runs `tests` with `program`, and returns the numbers of passed, failed and skipped tests in its JUnit report.

    Raises:
        BuildError: `program` is missing.
        TritonExtError: it ended without a report.
    """
    if not tests:
        return Counter()
    with scratch_dir("triton-ext-test-") as scratch:
        report = scratch / "report.xml"
        command = [find_program(program), *flags, f"{report_flag}={report}", *map(str, tests)]
        done = subprocess.run(command, cwd=project.root, env=_environment(project), check=False)
        try:
            suites = list(ElementTree.parse(report).iter("testsuite"))
        except (OSError, ElementTree.ParseError):
            raise TritonExtError(f"{program} ended with {done.returncode} and no report") from None
    counts: Counter[str] = Counter()
    for suite in suites:
        failed = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
        skipped = int(suite.get("skipped", 0))
        counts += Counter(failed=failed, skipped=skipped, passed=int(suite.get("tests", 0)) - failed - skipped)
    if done.returncode and not counts["failed"]:
        counts["failed"] = 1  # e.g. interrupted, or an error outside of any test
    return counts


def _environment(project: Project) -> dict[str, str]:
    """Returns an environment in which the project's libraries are found and Triton 3.9 does not warn."""
    environment = {"TRITON_DEFAULT_FP_FUSION": "1", **os.environ}
    if project.package:
        others = os.environ.get("TRITON_EXT_PATH", "")
        environment["TRITON_EXT_PATH"] = os.pathsep.join(filter(None, [str(project.libraries), others]))
        environment[HIDDEN_BUNDLE] = project.package
    return environment


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{counts[kind]} {kind}" for kind in ("passed", "failed", "skipped") if counts[kind]) or "none"
