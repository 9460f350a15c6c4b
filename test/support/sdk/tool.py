# SPDX-License-Identifier: Apache-2.0
"""Packages of a tiny mlir-opt, which ``triton-ext sdk install --with mlir-opt`` takes from a `World`."""

from __future__ import annotations

from support.sdk.world import World, deb_bytes, llvm_debs, runtime_debs
from triton_ext.loading.host import find_triton

#: Prints its arguments.
ECHO = '#!/bin/sh\necho "$@"\n'
#: The source of the SDK that fits the tool.
SNAPSHOT = "debian-24-snapshot"
#: Where Debian has libraries.
LIBRARY = "usr/lib/x86_64-linux-gnu/"


def packages(program: str = "bin/mlir-opt", padding: int = 0) -> dict[str, bytes]:
    return {
        "mlir-tools-24": deb_bytes({f"usr/lib/llvm-24/{program}": "the program\n"}),
        "libmlir-24": deb_bytes({f"{LIBRARY}libMLIR.so.24.0": "libMLIR\n"}, padding=padding),
    }


def add_tool(
    world: World, debs: dict[str, bytes] | None = None, *, wrong: str = "", commit: str = "", loader: str = ECHO
) -> None:
    """Puts the tool into the manifest; its packages and the C library are served."""
    world.manifest(llvm_debs(), runtime_debs(loader))
    text = f"""
[[tool]]
id = "mlir-opt"
arch = "x86_64"
llvm_version = "24.0.0"
llvm_commits = ["{commit or find_triton().llvm_commit}"]
download_mb = 1
program_package = "mlir-tools-24"
suite = "sid"
libraries = ["libMLIR.so.24.0", "libedit.so.2"]
"""
    edit = {"libedit2": deb_bytes({f"{LIBRARY}libedit.so.2": "libedit\n"})}
    for kind, found in (("package", debs or packages()), ("library_package", edit)):
        for name, data in found.items():
            sha256 = world.server.add(f"pool/{name}_1.deb", data)
            text += f'[[tool.{kind}]]\nname = "{name}"\npath = "pool/{name}_1.deb"\n'
            text += f'sha256 = "{"0" * 64 if name == wrong else sha256}"\nsize = {len(data)}\n'
    with (world.infra / "sdk" / "sources.toml").open("a") as manifest:
        manifest.write(text)
    world.run("install", "--source", SNAPSHOT)
