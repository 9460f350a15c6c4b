# SPDX-License-Identifier: Apache-2.0
"""Builds the ABI self-test, or parts of it, rightly and wrongly."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from triton_ext import sdk
from triton_ext.authoring.doctor import CLANG_VERSIONS
from triton_ext.loading import host
from triton_ext.loading.singletons import write_stub
from triton_ext.support import resources

SOURCES = Path(__file__).parents[2] / "infra" / "sdk" / "selftest"
Build = Callable[..., Path]


@pytest.fixture(scope="session")
def installed_sdk() -> sdk.Sdk:
    found = sdk.find()
    if found is None:
        pytest.skip("no SDK is installed")
    return found


@pytest.fixture(scope="session")
def clang() -> str:
    found = filter(None, map(shutil.which, [f"clang++-{version}" for version in CLANG_VERSIONS] + ["clang++"]))
    return next(found, None) or pytest.skip("no clang++ is installed")


@pytest.fixture
def library() -> Path:
    """The self-test that was built with this installation."""
    path = resources.library_dir() / "libTritonExtAbiSelfTest.so"
    return path if path.is_file() else pytest.skip(f"{path} is not built")


@pytest.fixture
def build(installed_sdk: sdk.Sdk, clang: str, tmp_path: Path) -> Build:
    """``build("OpsCore", compiler=..., flags=[...], include_dirs=[...])`` builds those parts and what all need.

    As a project does that knows nothing of ``TritonExt::Triton``; with ``singletons=True``, with its options.
    """
    triton = host.find_triton()

    def build_parts(
        *parts: str,
        compiler: str = clang,
        flags: tuple[str, ...] = (),
        include_dirs: tuple[Path, ...] | None = None,
        singletons: bool = False,
    ) -> Path:
        dirs = installed_sdk.include_dirs if include_dirs is None else include_dirs
        common = [compiler, "-std=c++20", "-O0", "-w", "-fPIC", "-fno-rtti", "-fno-exceptions"]
        common += ["-fvisibility=default", "-fvisibility-inlines-hidden"] if singletons else ["-fvisibility=hidden"]
        includes = [f"-isystem{directory}" for directory in (*dirs, triton.include_dir)]
        objects = []
        if singletons:
            write_stub(tmp_path / "stub.o", [triton.library], compiler)
            objects.append(str(tmp_path / "stub.o"))
        for part in ("SelfTest", *parts):
            objects.append(str(tmp_path / f"{part}.o"))
            command = [*common, *flags, *includes, "-c", str(SOURCES / f"{part}.cpp"), "-o", objects[-1]]
            subprocess.run(command, check=True)
        path = tmp_path / "selftest.so"
        link = [f"-L{triton.library.parent}", f"-l:{triton.library.name}", "-o", str(path)]
        subprocess.run([compiler, "-shared", *objects, *link], check=True)
        return path

    return build_parts
