# SPDX-License-Identifier: Apache-2.0
"""Gives a wheel the manylinux tag that its libraries allow.

    python infra/wheel_tag.py DIRECTORY [--at-most manylinux_2_28]

The tag says the oldest C library on which the wheel can be installed. It follows from the versions of the symbols that
the libraries take from the C and C++ libraries, so it depends on the system on which the wheel was built. (auditwheel
would also copy libtriton.so into the wheel, but the wheel uses that of the Triton that it depends on.)
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

from elftools.elf.elffile import ELFFile

# For each version of glibc, the newest versions of the symbols of the compiler's libraries: auditwheel's
# manylinux-policy.json, x86-64.
POLICIES = {
    "manylinux_2_17": {"GLIBC": (2, 17), "GLIBCXX": (3, 4, 19), "CXXABI": (1, 3, 7), "GCC": (4, 8, 0)},
    "manylinux_2_27": {"GLIBC": (2, 27), "GLIBCXX": (3, 4, 24), "CXXABI": (1, 3, 11), "GCC": (7, 0, 0)},
    "manylinux_2_28": {"GLIBC": (2, 28), "GLIBCXX": (3, 4, 24), "CXXABI": (1, 3, 11), "GCC": (7, 0, 0)},
    "manylinux_2_31": {"GLIBC": (2, 31), "GLIBCXX": (3, 4, 28), "CXXABI": (1, 3, 12), "GCC": (7, 0, 0)},
    "manylinux_2_34": {"GLIBC": (2, 34), "GLIBCXX": (3, 4, 29), "CXXABI": (1, 3, 13), "GCC": (7, 0, 0)},
    "manylinux_2_35": {"GLIBC": (2, 35), "GLIBCXX": (3, 4, 30), "CXXABI": (1, 3, 13), "GCC": (12, 0, 0)},
    "manylinux_2_39": {"GLIBC": (2, 39), "GLIBCXX": (3, 4, 33), "CXXABI": (1, 3, 15), "GCC": (14, 0, 0)},
}
Needs = dict[str, set[str]]


def needed_versions(library: Path) -> set[str]:
    """Versions of symbols that the library takes from others, such as ``GLIBC_2.34``."""
    with library.open("rb") as file:
        section = ELFFile(file).get_section_by_name(".gnu.version_r")
        versions = section.iter_versions() if section else []
        return {version.name for _, all_of_one in versions for version in all_of_one}


def _number(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)))


def beyond(policy: str, versions: Iterable[str]) -> list[str]:
    """Returns the versions that a system of this policy may lack, the newest last."""
    limits = POLICIES[policy]
    numbers = {version: _number(version) for version in versions}
    return sorted((v for v, number in numbers.items() if number > limits[v.partition("_")[0]]), key=numbers.__getitem__)


def oldest_policy(versions: Iterable[str]) -> str:
    """The oldest policy that allows all of `versions`.

    Raises:
        ValueError: none does.
    """
    needed = set(versions)
    for policy in POLICIES:
        if not beyond(policy, needed):
            return policy
    raise ValueError(f"no known manylinux has {beyond('manylinux_2_39', needed)[-1]}")


def needs(wheel: Path) -> Needs:
    """For each library in `wheel`, the versions of symbols that it takes from others."""
    with TemporaryDirectory() as directory, ZipFile(wheel) as archive:
        libraries = [name for name in archive.namelist() if name.endswith(".so")]
        return {name: needed_versions(Path(archive.extract(name, directory))) for name in libraries}


def main() -> None:
    """Renames the wheel in a directory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--at-most", choices=POLICIES, help="fail if a library needs more")
    args = parser.parse_args()
    (wheel,) = args.directory.glob("*.whl")
    needed = needs(wheel)
    policy = oldest_policy(set().union(*needed.values()))
    limit = args.at_most
    if limit and [*POLICIES].index(policy) > [*POLICIES].index(limit):
        for library, versions in needed.items():
            if newer := beyond(limit, versions):
                print(f"{library}: {', '.join(newer)}", file=sys.stderr)
        sys.exit(
            f"error: {wheel.name} needs {policy}, expected {limit} (fix: build it on a system with that C library)"
        )
    tag = [sys.executable, "-m", "wheel", "tags", "--remove", "--platform-tag", f"{policy}_x86_64", wheel]
    subprocess.run(tag, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
