# SPDX-License-Identifier: Apache-2.0
"""Builds the ABI self-test, or parts of it, correctly and incorrectly."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from support import ROOT
from support.fixture_types import BuildSelfTest
from triton_ext import sdk
from triton_ext.loading import host
from triton_ext.loading.singletons import write_stub
from triton_ext.support import resources
from triton_ext.support.clang import names_of

SOURCES = ROOT / "infra" / "sdk" / "selftest"


@pytest.fixture(scope="session")
def installed_sdk() -> sdk.Sdk:
    found = sdk.find()
    if found is None:
        pytest.skip("no SDK is installed")
    return found


@pytest.fixture(scope="session")
def clang() -> str:
    found = filter(None, map(shutil.which, names_of("clang++")))
    return next(found, None) or pytest.skip("no clang++ is installed")


@pytest.fixture
def library() -> Path:
    """Returns the self-test that was built with this installation."""
    path = resources.library_dir() / "libTritonExtAbiSelfTest.so"
    return path if path.is_file() else pytest.skip(f"{path} is not built")


@pytest.fixture
def build(installed_sdk: sdk.Sdk, clang: str, tmp_path: Path) -> BuildSelfTest:
    """``build("OpsCore", compiler=..., flags=[...], include_dirs=[...])`` builds these parts and their common part.

    It builds like a project that does not use ``TritonExt::Triton``; with ``singletons=True`` it uses the same options.
    """
    triton = host.find_triton()
    # ccache finds what an earlier run compiled: it gets paths relative to the directory in which the compiler runs,
    # also those of an SDK in another temporary directory of this process.
    launcher = [found] if (found := shutil.which("ccache")) else []
    environment = {**os.environ, "CCACHE_BASEDIR": str(tmp_path.parent)}

    # The system's linker takes half a second of processor time, and lld less than a tenth.
    lld = next(filter(None, map(shutil.which, names_of("ld.lld"))), None)

    def build_parts(
        *parts: str,
        compiler: str = clang,
        flags: tuple[str, ...] = (),
        include_dirs: tuple[Path, ...] | None = None,
        singletons: bool = False,
    ) -> Path:
        dirs = installed_sdk.include_dirs if include_dirs is None else include_dirs
        common = [*launcher, compiler, "-std=c++20", "-O0", "-w", "-fPIC", "-fno-rtti", "-fno-exceptions"]
        common += ["-fvisibility=default", "-fvisibility-inlines-hidden"] if singletons else ["-fvisibility=hidden"]
        includes = [f"-isystem{directory}" for directory in (*dirs, triton.include_dir)]
        objects = []
        if singletons:
            write_stub(tmp_path / "stub.o", [triton.library], compiler)
            objects.append(str(tmp_path / "stub.o"))
        for part in ("SelfTest", *parts):
            objects.append(str(tmp_path / f"{part}.o"))
            command = [*common, *flags, *includes, "-c", str(SOURCES / f"{part}.cpp"), "-o", objects[-1]]
            subprocess.run(command, check=True, cwd=tmp_path, env=environment)
        path = tmp_path / "selftest.so"
        link = [f"-L{triton.library.parent}", f"-l:{triton.library.name}", "-o", str(path)]
        if lld and compiler == clang:
            link.append(f"--ld-path={lld}")
        subprocess.run([compiler, "-shared", *objects, *link], check=True)
        return path

    return build_parts
