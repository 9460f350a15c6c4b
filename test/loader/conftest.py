# SPDX-License-Identifier: Apache-2.0
"""Makes small plugins, good and bad, and gives each test a fresh loader."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

import support
from support import forked_python
from support.fixture_types import MakePlugin, RunPython
from triton_ext import sdk
from triton_ext.loading import discovery, verification
from triton_ext.loading.manifest import FORMAT
from triton_ext.loading.verification import Plugin
from triton_ext.support import resources

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the cache directory of these tests, for the answers of probes and copies of libraries."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def installed_sdk() -> sdk.Sdk | None:
    """Returns the SDK in the user's own cache, or None."""
    return sdk.find()


@pytest.fixture(autouse=True)
def fresh_loader(installed_sdk: sdk.Sdk | None, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Starts each test with nothing loaded by hand, nothing in the environment, and the cache of these tests."""
    monkeypatch.setattr(discovery, "by_hand", {})
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    for variable in ("TRITON_EXT_PATH", *resources.PLUGIN_VARIABLES):
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture(scope="session")
def rename() -> Plugin:
    """Returns the built-in extension, which no bad plugin may break."""
    return verification.verify(resources.library_dir() / "libtriton_ext_rename.so")


@pytest.fixture(scope="session")
def make_plugin(tmp_path_factory: pytest.TempPathFactory) -> MakePlugin:
    """``make_plugin(MACRO=value, ...)`` compiles plugin.c, or another `source`, and returns the library."""
    compiler = next(filter(None, map(shutil.which, ("clang-19", "clang"))), "clang")

    def make(
        path: Path | None = None,
        *,
        compiler: str = compiler,
        source: Path = HERE / "plugin.c",
        flags: tuple[str, ...] = (),
        **macros: str,
    ) -> Path:
        path = path or tmp_path_factory.mktemp("plugin") / "plugin.so"
        defines = [f"-D{name}={value}" for name, value in macros.items()]
        command = [compiler, "-shared", "-fPIC", "-fvisibility=hidden", *defines, str(source), "-o", str(path), *flags]
        subprocess.run(command, check=True)
        return path

    return make


@pytest.fixture(scope="session")
def note(rename: Plugin) -> Callable[..., str]:
    """``note(field=value)`` returns the C string of rename's manifest with these fields changed."""
    assert rename.manifest is not None
    manifest = rename.manifest

    def make(**fields: Any) -> str:
        known = {name: value for name, value in fields.items() if name in asdict(manifest)}
        text = {"format": FORMAT, **asdict(replace(manifest, **known)), **fields}
        return json.dumps(json.dumps(text))

    return make


@pytest.fixture
def run_python(tmp_path: Path) -> RunPython:
    """Runs code or a module in a fresh Python, in an empty directory."""

    def run(*command: str, cwd: Path = tmp_path, **environment: str) -> subprocess.CompletedProcess[str]:
        if "PYTHONPATH" in environment:
            environment["PYTHONPATH"] = support.path(environment["PYTHONPATH"])
        command = (sys.executable, *(command if command[0] == "-m" else ("-c", *command)))
        return forked_python.run(command, cwd=cwd, env={**os.environ, **environment}, timeout=60)

    return run
