# SPDX-License-Identifier: Apache-2.0
"""The wheel's manylinux tag follows from its libraries."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from types import ModuleType
from zipfile import ZipFile

import pytest
from wheel.wheelfile import WheelFile

from support import ROOT
from triton_ext.loading.host import find_triton
from triton_ext.support import resources

SCRIPT = ROOT / "infra" / "wheel_tag.py"


@pytest.fixture(scope="module")
def wheel_tag() -> ModuleType:
    spec = importlib.util.spec_from_file_location("wheel_tag", SCRIPT)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("versions", "policy"),
    [
        ([], "manylinux_2_17"),
        (["GLIBC_2.2.5", "GLIBC_2.17", "GLIBCXX_3.4.19", "CXXABI_1.3.7"], "manylinux_2_17"),
        (["GLIBC_2.4", "GLIBCXX_3.4.20"], "manylinux_2_27"),  # of a newer compiler
        (["GLIBC_2.28", "GCC_3.0"], "manylinux_2_28"),
        (["GLIBC_2.28", "CXXABI_1.3.12"], "manylinux_2_31"),
        (["GLIBC_2.34", "GLIBC_2.2.5"], "manylinux_2_34"),
        (["GLIBC_2.34", "GLIBCXX_3.4.30"], "manylinux_2_35"),
    ],
)
def test_the_oldest_that_has_all(versions: list[str], policy: str, wheel_tag: ModuleType) -> None:
    assert wheel_tag.oldest_policy(versions) == policy


def test_newer_than_all(wheel_tag: ModuleType) -> None:
    with pytest.raises(ValueError, match=r"no known manylinux has GLIBC_2\.99"):
        wheel_tag.oldest_policy(["GLIBC_2.99", "GLIBC_2.2.5"])


def test_triton_has_the_tag_that_its_library_allows(wheel_tag: ModuleType) -> None:
    """The tool agrees with the tag of Triton's own wheel, which auditwheel has checked."""
    policy = wheel_tag.oldest_policy(wheel_tag.needed_versions(find_triton().library))
    assert f"{policy}_x86_64" in (metadata.distribution("triton").read_text("WHEEL") or "")


@pytest.fixture
def small_wheel(tmp_path: Path) -> Path:
    """Makes a wheel with one of our libraries."""
    wheel = tmp_path / "small-1.0-py3-none-linux_x86_64.whl"
    with WheelFile(wheel, "w") as archive:
        archive.write(resources.library_dir() / "libTritonExtOpt.so", "small/libTritonExtOpt.so")
        archive.writestr("small-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: small\nVersion: 1.0\n")
        tags = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: false\nTag: py3-none-linux_x86_64\n"
        archive.writestr("small-1.0.dist-info/WHEEL", tags)
    return wheel


@pytest.mark.slow
def test_a_wheel_is_renamed(small_wheel: Path, wheel_tag: ModuleType) -> None:
    subprocess.run([sys.executable, SCRIPT, small_wheel.parent], check=True)
    (renamed,) = small_wheel.parent.iterdir()
    policy = wheel_tag.oldest_policy(wheel_tag.needed_versions(resources.library_dir() / "libTritonExtOpt.so"))
    assert renamed.name == f"small-1.0-py3-none-{policy}_x86_64.whl"
    assert f"Tag: py3-none-{policy}_x86_64\n" in ZipFile(renamed).read("small-1.0.dist-info/WHEEL").decode()


def test_a_wheel_that_needs_more_is_refused(small_wheel: Path) -> None:
    command = [sys.executable, SCRIPT, small_wheel.parent, "--at-most", "manylinux_2_17"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert re.search(r"^small/libTritonExtOpt\.so: .*GLIBCXX_3\.4\.", done.stderr, re.MULTILINE)
    assert ", expected manylinux_2_17 (fix: build it on a system with that C library)\n" in done.stderr
    assert [path.name for path in small_wheel.parent.iterdir()] == [small_wheel.name]


@pytest.mark.slow
def test_the_wheel_has_the_tag_that_its_libraries_allow(wheel: Path, wheel_tag: ModuleType) -> None:
    needs = wheel_tag.needs(wheel)
    assert len(needs) > 10
    assert wheel.name.endswith(f"-py3-none-{wheel_tag.oldest_policy(set().union(*needs.values()))}_x86_64.whl")
