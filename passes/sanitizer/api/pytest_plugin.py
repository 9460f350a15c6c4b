# SPDX-License-Identifier: Apache-2.0
"""``pytest --triton-sanitize``: a test fails if one of the kernels that it or its fixtures run is found wrong."""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options."""
    group = parser.getgroup("triton-ext")
    group.addoption(
        "--triton-sanitize", action="store_true", help="check the Triton kernels of each test; a finding fails the test"
    )
    group.addoption(
        "--triton-sanitize-checks",
        default="bounds,lanes,overflow,hints",
        metavar="CHECKS",
        help="the checks, with commas between them, or all; default: %(default)s",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Refuses checks that there are not."""
    if config.getoption("--triton-sanitize"):
        from triton_ext.sanitize._names import checked_names

        from triton_ext.errors import TritonExtError

        try:
            checked_names(config.getoption("--triton-sanitize-checks"))
        except TritonExtError as error:
            raise pytest.UsageError(str(error)) from None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: Any) -> Generator[None, Any, Any]:
    """Runs the fixtures of a test with checks."""
    return (yield from _checked(item, "setup"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: Any) -> Generator[None, Any, Any]:
    """Runs a test with checks."""
    return (yield from _checked(item, "call"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: Any) -> Generator[None, Any, Any]:
    """Runs the parts of fixtures that come behind a test with checks."""
    return (yield from _checked(item, "teardown"))


def _checked(item: Any, when: str) -> Generator[None, Any, Any]:
    if not item.config.getoption("--triton-sanitize") or os.environ.get("TRITON_INTERPRET") == "1":
        return (yield)
    import triton_ext as tx

    with tx.sanitize(item.config.getoption("--triton-sanitize-checks")) as report:  # type: ignore[operator]
        try:
            result = yield
        except BaseException:
            # The test has failed on its own, and what its kernels did may be the reason.
            if report.findings:
                item.add_report_section(when, "triton-sanitize", report.text())
            raise
    if report.findings:
        pytest.fail(report.text(), pytrace=False)
    return result
