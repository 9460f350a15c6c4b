# SPDX-License-Identifier: Apache-2.0
"""Compilations to look at, real and made up, and a Chromium to look at them with."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
import relu

import triton_ext as tx
from triton_ext.compilation.records import Compilation
from triton_ext.pipeline.records import PassRecord, StageRecord
from triton_ext.tracing import trace
from triton_ext.tracing.page import write_page

BROWSERS = ("chromium", "chromium-headless-shell", "google-chrome")
SIGNATURE = "*fp16:16, *fp16:16, *fp32:16, i32:16, 64"
HOSTILE = '</script><img src=x onerror="globalThis.broken=1"><!-- & \' " <b>bold</b> {{data}} \\ \u2028 é'


@pytest.fixture(scope="session")
def matmul(tmp_path_factory: pytest.TempPathFactory) -> Compilation:
    """The matrix product for an H100, with one pass dropped and one changed."""
    edits = tx.Pipeline().skip("ttir.loop_unroll").set("ttgpuir.pipeline", num_stages=2)
    return _trace(tmp_path_factory, "cuda:90", edits)


@pytest.fixture(scope="session")
def matmul_amd(tmp_path_factory: pytest.TempPathFactory) -> Compilation:
    """The same for an MI300, as it is."""
    return _trace(tmp_path_factory, "hip:gfx942", None)


def _trace(tmp_path_factory: pytest.TempPathFactory, target: str, edits: tx.Pipeline | None) -> Compilation:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRITON_CACHE_DIR", str(tmp_path_factory.mktemp("kernels")))
        return trace(relu.matmul, target=target, signature=SIGNATURE, pipeline=edits)


def large_module(lines: int, *, without: Callable[[int], bool] = lambda number: False, width: str = "i32") -> str:
    """A module of that many lines, less those `without`; what is left out renumbers everything after it."""
    body: list[str] = []
    previous = "%x"
    for number in range(lines - 5):
        if without(number):
            continue
        name = f"%{len(body)}"
        kind = ("addi", "muli", "xori", "andi")[number % 7 % 4]
        line = f"    {name} = arith.{kind} {previous}, %c{number % 11}_i32 {{a = {number} : i64}} : {width}"
        body.append(f"{line} loc(#loc{number % 40})")
        previous = name
    head = ["module {", '  tt.func public @large(%x: i32 loc("x"("/k/large.py":1:1))) {']
    aliases = [f'#loc{i or ""} = loc("/k/large.py":{i + 2}:5)' for i in range(40)]
    return "\n".join([*head, *body, "    tt.return", "  } loc(#loc)", "} loc(#loc)", *aliases, ""])


def passes(*modules: str, name: str = "ttir.step") -> StageRecord:
    """A stage in which passes make each of `modules` of the one before."""
    records = tuple(
        PassRecord(name, i, (("n", str(i)),), f"step{{n={i}}}", None, True, i / 1000, 10, 9, True, (), module)
        for i, module in enumerate(modules[1:], 1)
    )
    return StageRecord("ttir", 0.1, records, modules[0], modules[-1])


def compilation(*stages: StageRecord, **facts: Any) -> Compilation:
    """A compilation of `stages` about which nothing else is interesting."""
    return Compilation(
        **{"kernel": "k", "target": "cuda:90", "triton": "3.9.0", "pipeline": "", "seconds": 0.5} | facts, stages=stages
    )


@pytest.fixture(scope="session")
def large() -> Compilation:
    """Modules of 5,000 lines; the passes take out a few, many and none of them."""
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


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium without a screen."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        message = "no Chromium (fix: apt-get install --no-install-recommends chromium)"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield chromium
        chromium.close()


def wait(page: Any, condition: str) -> None:
    """Waits until a JavaScript expression holds; Playwright's own function needs what the page forbids, eval."""
    end = monotonic() + 20
    while not page.evaluate(condition):
        assert monotonic() < end, condition
        page.wait_for_timeout(20)


@pytest.fixture
def open_page(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
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
