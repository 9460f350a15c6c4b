# SPDX-License-Identifier: Apache-2.0
"""``triton-ext compile-cpu``."""

from __future__ import annotations

import os
from pathlib import Path

import click

from triton_ext.cli.kernel_options import backend_options
from triton_ext.errors import TritonExtError


@click.command("compile-cpu")
@click.argument("kernels", metavar="FILE.py:KERNEL...", nargs=-1, required=True)
@click.option(
    "-s",
    "--signature",
    "signatures",
    multiple=True,
    required=True,
    help='Type or value of each argument, e.g. "*fp32:16, i32, 64"; ":16" means divisible by 16. Once for each kernel.',
)
@click.option("-o", "--output", required=True, type=click.Path(), help="The shared library to write.")
@click.option("--header", type=click.Path(), help="The C header to write; default: the library's name with .h.")
@click.option(
    "--arch",
    "archs",
    multiple=True,
    metavar="CPU",
    help="LLVM's name of a CPU, e.g. x86-64-v3, 'haswell;-fma' or native. The library has code for each, and chooses "
    "when it runs; default: x86-64, x86-64-v3 and x86-64-v4.",
)
@click.option(
    "--name", "names", multiple=True, help="The name of the C function; default: KERNEL. Once for each kernel."
)
@click.option(
    "--option", "more", multiple=True, metavar="NAME=VALUE", help="An option of the backend, e.g. debug=true."
)
def command(  # noqa: PLR0917 - one for each option
    kernels: tuple[str, ...],
    signatures: tuple[str, ...],
    output: str,
    header: str | None,
    archs: tuple[str, ...],
    names: tuple[str, ...],
    more: tuple[str, ...],
) -> None:
    """Compile KERNEL to a library and a C header that need neither Python nor Triton.

    \b
    triton-ext compile-cpu kernels.py:add -s "*fp32:16, *fp32:16, i32, 64" -o libadd.so --header add.h
    """  # noqa: D301 - click reads a backspace
    for what, given in (("--signature", signatures), ("--name", names or kernels)):
        if len(given) != len(kernels):
            raise TritonExtError(f"{len(kernels)} kernels and {len(given)} times {what}", fix="one for each, in order")
    # The default of Triton 3.9, which warns if the variable is not set.
    os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
    from triton_ext.backends.cpu import _ahead_of_time  # type: ignore[import-untyped]

    wanted = [
        _ahead_of_time.Kernel(*one) for one in zip(kernels, signatures, names or ("",) * len(kernels), strict=True)
    ]
    paths = Path(output), Path(header) if header is not None else Path(output).with_suffix(".h")
    cpus = archs or _ahead_of_time.CPUS
    _ahead_of_time.compile_library(wanted, *paths, cpus, backend_options(None, None, more))
    click.echo(f"wrote {paths[0]} and {paths[1]}: {len(kernels)} functions, for {', '.join(dict.fromkeys(cpus))}")
