# SPDX-License-Identifier: Apache-2.0
"""Every shell and Python block in the documentation runs, in order, in a copy of the checkout."""

from __future__ import annotations

import html
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support import ROOT, pages
from support import checkout as checkout_copy
from triton_ext.authoring import reference

# These commands run this test; .ci/run runs them on a clean checkout.
BY_CI = {"make demo", "make test"}
PARTS_OF_THESE = {"make build", "make check", "make linalg", "make lint"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> checkout_copy.Place:
    return checkout_copy.Place(tmp_path_factory.mktemp("docs") / "triton-ext")


@pytest.fixture
def checkout(place: checkout_copy.Place) -> Path:
    """Makes a copy of the checkout with the same environment and the built libraries."""
    return place.copy()


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in pages.PAGES if page != pages.INSTALL], ids=lambda page: page.name)
def test_blocks(page: Path, checkout: Path) -> None:
    environment = checkout_copy.environment(checkout)
    pages.run_blocks(page, checkout, sys.executable, environment, leave_out=BY_CI | PARTS_OF_THESE)


def test_ci_runs_the_commands_that_the_blocks_leave_out() -> None:
    script, makefile = (ROOT / ".ci" / "run").read_text(), (ROOT / "Makefile").read_text()
    assert all(f"\n{command}\n" in script for command in BY_CI)
    assert re.search(r"^test: linalg build selftest lint", makefile, re.MULTILINE)
    assert re.search(r"^check: linalg build selftest lint", makefile, re.MULTILINE)


def test_the_readme_fits_on_two_screens() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) < 80


def test_every_picture_is_on_a_page() -> None:
    shown = {
        (page.parent / link).resolve()
        for page in pages.PAGES
        for link in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", page.read_text())
    }
    there = {picture for picture in (ROOT / "docs" / "images").iterdir() if picture.suffix != ".py"}
    assert there
    assert there == shown


def test_the_picture_of_a_report_has_the_text_of_its_page() -> None:
    drawing = (ROOT / "docs" / "images" / "sanitizer.svg").read_text()
    shown = "\n".join(re.findall(r"<text [^>]*>([^<]*)</text>", drawing))
    (report,) = re.findall(
        r"```text\n(error\[lanes\].*?)exit status 1\n```", (ROOT / "docs/sanitizer.md").read_text(), re.DOTALL
    )
    text = "".join(html.unescape(shown).split())
    for line in report.splitlines():
        assert "".join(line.split()) in text, line


def test_the_reference_pages_are_up_to_date() -> None:
    pages = {
        "passes.md": reference.passes_page(),
        "python.md": reference.python_page(),
        "patches.md": reference.patches_page(),
    }
    for name, text in pages.items():
        assert (ROOT / "docs" / "reference" / name).read_text() == text, "run make docs"


@pytest.mark.slow
def test_nothing_names_a_registry_or_this_machine() -> None:
    files = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    hosts = re.compile(r"https?://[a-z0-9.-]*(debian|py" + "pi|python" + "hosted|npm" + r"js)|/wo" + "rk/|/ro" + "ot/")
    found = [n for n in files if (ROOT / n).is_file() and hosts.search((ROOT / n).read_text(errors="replace"))]
    assert found == []
