# SPDX-License-Identifier: Apache-2.0
"""Compilations to look at, real and made up, and their pages in a Chromium."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import triton_ext as tx
from support.browser import browser, wait  # noqa: F401 - a fixture
from support.trace import relu
from support.trace.compilations import SIGNATURE, compilation, large_module, passes
from triton_ext.compilation.records import Compilation
from triton_ext.tracing import trace
from triton_ext.tracing.page import write_page


@pytest.fixture(scope="session")
def matmul(tmp_path_factory: pytest.TempPathFactory) -> Compilation:
    """Returns the trace of the matrix product for an H100, with one pass dropped and one changed."""
    edits = tx.Pipeline().skip("ttir.loop_unroll").set("ttgpuir.pipeline", num_stages=2)
    return _trace(tmp_path_factory, "cuda:90", edits)


@pytest.fixture(scope="session")
def matmul_amd(tmp_path_factory: pytest.TempPathFactory) -> Compilation:
    """Returns the trace of the matrix product for an MI300, without edits."""
    return _trace(tmp_path_factory, "hip:gfx942", None)


def _trace(tmp_path_factory: pytest.TempPathFactory, target: str, edits: tx.Pipeline | None) -> Compilation:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRITON_CACHE_DIR", str(tmp_path_factory.mktemp("kernels")))
        return trace(relu.matmul, target=target, signature=SIGNATURE, pipeline=edits)


@pytest.fixture(scope="session")
def large() -> Compilation:
    """Returns a compilation with modules of 5,000 lines; its passes remove a few, many and no lines."""
    source = "\n".join(f"line_{i} = {i}" for i in range(1, 60))
    return compilation(
        passes(
            large_module(5000),
            large_module(5000, without=lambda n: n % 500 == 250),
            large_module(5000, without=lambda n: n % 500 == 250 or n % 10 == 3),
            large_module(5000, without=lambda n: n % 500 == 250 or n % 10 == 3, width="i64"),
        ),
        file="/k/large.py",
        sources=(("/k/large.py", source),),
    )


@pytest.fixture
def open_page(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:  # noqa: F811
    """Writes the page of a compilation and opens it, as a file and without network; it must log nothing."""
    contexts = []
    messages: list[str] = []

    def show(
        compilation: Compilation, hash: str = "", *, scheme: str = "light", size: tuple[int, int] = (1440, 900)
    ) -> Any:
        path = tmp_path / "trace.html"
        write_page(compilation, path)
        context = browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            color_scheme=scheme,
            offline=True,
            permissions=["clipboard-read", "clipboard-write"],
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("console", lambda message: messages.append(message.text))
        page.on("pageerror", lambda error: messages.append(f"{error}\n{error.stack}"))
        page.on("request", lambda request: request.url.startswith("file:") or messages.append(request.url))
        page.goto(path.as_uri() + hash)
        wait(page, "globalThis.page !== undefined")
        return page

    yield show
    for context in contexts:
        context.close()
    assert messages == []
