# SPDX-License-Identifier: Apache-2.0
"""``triton-ext sdk``: installs the SDK, and shows where it is and what it was made from."""

from __future__ import annotations

import json
import time

import click

from ..errors import BuildError
from ..loading.host import find_triton
from ..sdk import INSTALL_COMMAND, Sdk, find, install
from ..sdk.parts import find_parts
from ..sdk.precompiled import find_headers
from ..sdk.source_file import load_source_list


@click.group()
def sdk() -> None:
    """MLIR headers and mlir-tblgen that match the installed Triton."""


@sdk.command("install")
@click.option("--from", "from_", metavar="DIR|ARCHIVE", help="Use this LLVM install as the only source.")
@click.option("--source", metavar="ID", help="Try only this source of infra/sdk/sources.toml.")
@click.option(
    "--with",
    "parts",
    multiple=True,
    metavar="PART",
    help="Also install this part of MLIR (linalg) or this program (mlir-opt); may be repeated.",
)
@click.option("--force", is_flag=True, help="Install again, even if it is installed already.")
@click.option(
    "--unverified",
    is_flag=True,
    help="Also install downloads that no hash or signature verifies; doctor then lists them.",
)
def install_command(
    from_: str | None, source: str | None, parts: tuple[str, ...], force: bool, unverified: bool
) -> None:
    """Install the SDK into the user's cache, unless it is there."""
    start = time.monotonic()
    # With a part, --force is about the part alone, because other builds go on using the SDK.
    found = install(from_, source=source, force=force and not parts, unverified=unverified)
    tools = {tool.id for tool in load_source_list().tools}
    for id_ in parts:
        if id_ in tools:
            from ..sdk.tools import install_tool

            click.echo(f"{id_} in {install_tool(id_, force=force, unverified=unverified)}", err=True)
            continue
        from ..sdk.build_part import install_part

        part = install_part(id_, found, force, None)
        click.echo(f"part {part.id} ({part.size / 1e6:.1f} MB) in {part.path}", err=True)
    click.echo(f"SDK {found.source} ({found.headers}, {found.size / 1e6:.0f} MB) in {found.path}", err=True)
    click.echo(f"ready after {time.monotonic() - start:.1f} s", err=True)


@sdk.command("path")
def path_command() -> None:
    """Print the directory of the installed SDK."""
    click.echo(_installed().path)


@sdk.command("info")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, as CMake reads it.")
def info_command(as_json: bool) -> None:
    """Show what the installed SDK was made from and which Triton it is for."""
    found = _installed()
    data = _describe(found)
    if as_json:
        click.echo(json.dumps(data, indent=2))
        return
    rows = {
        "path": found.path,
        "source": found.source + (f" ({found.origin_path})" if found.origin else ""),
        "headers": found.headers,
        "for": f"Triton {found.triton}, LLVM {found.llvm_commit}",
        "ABI checks": "on" if found.abi_breaking_checks else "off",
        "guarded ops": ", ".join(found.guarded_ops) or "none",
        "mlir-tblgen": f"{found.mlir_tblgen}" + (" (on its own C library)" if found.runtime else ""),
        "size": f"{found.size / 1e6:.0f} MB",
    }
    for part in find_parts(found):
        rows[f"part {part.id}"] = f"{', '.join(part.dialects)} in {part.library_path} (from {part.origin})"
    for name, value in rows.items():
        click.echo(f"{name:<12} {value}")
    for header in find_headers(found):
        click.echo(f"{'precompiled':<12} {header.file} ({header.size / 1e6:.0f} MB, {header.compiler})")
    for line in found.unverified or ():
        click.echo(f"{'unverified':<12} {line}")
    for name, sha256 in found.packages.items():
        click.echo(f"{'package':<12} {name}\n{'':<12}   sha256 {sha256}")


def _installed() -> Sdk:
    found = find()
    if found is None:
        raise BuildError("no SDK is installed for this Triton", fix=INSTALL_COMMAND)
    return found


def _describe(found: Sdk) -> dict[str, object]:
    """Returns the SDK and the Triton that it is for as a JSON object."""
    triton = find_triton()
    return {
        "path": str(found.path),
        "source": found.source,
        "llvm_commit": found.llvm_commit,
        "llvm_version": found.llvm_version,
        "headers": found.headers,
        "headers_commit": found.headers_commit,
        "mlir_tblgen": str(found.mlir_tblgen),
        "include_dirs": [str(path) for path in found.include_dirs],
        "abi_breaking_checks": found.abi_breaking_checks,
        "guarded_ops": list(found.guarded_ops),
        "packages": found.packages,
        "unverified": None if found.unverified is None else list(found.unverified),
        "runtime": found.runtime,
        "size": found.size,
        "parts": {
            part.id: {"library": str(part.library_path), "dialects": list(part.dialects)} for part in find_parts(found)
        },
        "triton": {
            "version": triton.version,
            "root": str(triton.root),
            "library": str(triton.library),
            "include_dir": str(triton.include_dir),
            "llvm_commit": triton.llvm_commit,
        },
    }
