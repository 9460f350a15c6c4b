# SPDX-License-Identifier: Apache-2.0
"""The checks of ``triton-ext doctor`` about headers: Triton's own, and the SDK's against libtriton's LLVM."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .. import sdk
from ..errors import TritonExtError
from ..loading import host
from .checks import Row, row_of, short

_ABI_FLAG = re.compile(r"^#define LLVM_ENABLE_ABI_BREAKING_CHECKS (\d)", re.MULTILINE)


def headers() -> Row:
    """Checks that Triton's headers are there, and that libtriton's LLVM is known."""
    return Row("Triton's headers", "ok", "in the wheel", str(short(host.find_triton().include_dir)))


def sdk_installed() -> Row:
    """Checks that the SDK is installed."""
    found = _sdk()
    missing = [path for path in (*found.include_dirs, found.mlir_tblgen) if not path.exists()]
    if missing:
        raise TritonExtError(f"{missing[0]} is missing", fix=f"{sdk.INSTALL_COMMAND} --force")
    return Row("SDK", "ok", "installed", f"{short(found.path)} ({found.size / 1e6:.0f} MB)")


def sdk_downloads() -> Iterator[Row]:
    """Checks that a hash or a signature has verified the downloads of the SDK and of the programs beside it."""
    from ..sdk.source_file import load_source_list
    from ..sdk.tools import find_tool, find_unverified

    name, wanted = "SDK's downloads", "verified"
    found, source_list = _sdk(), load_source_list()
    if found.unverified is None:  # made before this was recorded
        pinned = {package.sha256 for package in source_list.packages}
        unknown = [file for file, sha256 in found.packages.items() if sha256 not in pinned]
        unverified = {"": [f"{file}: whether it was verified was not recorded then" for file in unknown]}
    else:
        unverified = {"": list(found.unverified)}
    for tool in source_list.tools:
        if find_tool(tool.id):
            unverified[f" --with {tool.id}"] = list(find_unverified(tool.id))
    for part, lines in unverified.items():
        for line in lines:
            yield Row(name, "warn", wanted, f"not verified: {line}", f"{sdk.INSTALL_COMMAND}{part} --force")
    if not any(unverified.values()):
        yield Row(name, "ok", wanted, f"files: {len(found.packages)}")


def llvm_commit() -> Row:
    """Compares the LLVM of the headers with the LLVM of libtriton."""
    wanted, found = host.find_triton().llvm_commit, _sdk()
    exact = bool(found.headers_commit) and wanted.startswith(found.headers_commit or "")
    guarded = f", guarded: {', '.join(found.guarded_ops)}" if found.guarded_ops else ""
    how = f"{found.headers} from {found.source}, {'exact' if exact else 'near'}{guarded}"
    return Row("LLVM", "ok", wanted[:12], how)


def abi_flag() -> Row:
    """Compares the flag that decides the layout of LLVM's containers: in libtriton, and in the overlay header."""
    wanted = host.find_triton().abi_breaking_checks
    header = _sdk().include_dirs[0] / "llvm" / "Config" / "abi-breaking.h"
    match = _ABI_FLAG.search(header.read_text())
    found = match[1] if match else "nothing"
    return row_of("ABI checks", found == str(int(wanted)), f"{wanted:d}", found, f"{sdk.INSTALL_COMMAND} --force")


def _sdk() -> sdk.Sdk:
    found = sdk.find()
    if found is None:
        raise TritonExtError("not installed for this Triton", fix=sdk.INSTALL_COMMAND)
    return found
