# SPDX-License-Identifier: Apache-2.0
"""``triton-ext-opt --llvm``: runs passes of LLVM, and LLVM passes of extensions, on files with LLVM IR.

The runner is libTritonExtLLVM.so (``infra/llvm``). Like the driver for MLIR, this loads libtriton without Triton.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from .errors import PipelineError
from .pipeline import llvm_library
from .pipeline.llvm_library import Setting, receiver_into


def opt(text: str, passes: str, setting: Setting | None = None, *, name: str = "<module>") -> tuple[str, str]:
    """Runs a textual pipeline on a module. libtriton has to be loaded.

    Args:
        text: the module.
        passes: the pipeline, e.g. ``default<O2>`` or ``function(instcombine,my-pass<level=2>)``.
        setting: the target machine and the like; `entries` are added to it.
        name: the name of the module in diagnostics.

    Returns:
        The text of the resulting module, and the remarks.

    Raises:
        PipelineError: the module does not parse or verify, a pass is unknown, or a pass failed.
    """
    import dataclasses

    library = llvm_library.load()
    chosen = dataclasses.replace(setting or Setting(), entries=_entries(passes))
    output: list[str] = []
    remarks: list[str] = []
    problems: list[str] = []
    encoded = text.encode()
    failed = library.tritonExtLLVMOpt(
        encoded,
        len(encoded),
        name.encode(),
        passes.encode(),
        ctypes.byref(chosen.structure()),
        *map(receiver_into, (output, remarks, problems)),
    )
    if failed:
        raise PipelineError(problems[0])
    return output[0], "".join(remarks)


def _entries(passes: str) -> tuple[int, ...]:
    """Returns the entry points of the libraries whose passes a pipeline names."""
    from .loading.library_bytes import in_memory
    from .loading.loader import verified_bytes
    from .pipeline.llvm_passes import named_extensions

    entries = []
    for extension in named_extensions(passes):
        library = ctypes.CDLL(in_memory(verified_bytes(extension.path)[0]), mode=os.RTLD_NOW)
        entries.append(ctypes.cast(library.llvmGetPassPluginInfo, ctypes.c_void_p).value or 0)
    return tuple(entries)


def run(arguments: list[str]) -> int:
    """Runs the command line after ``--llvm`` and returns the exit code.

    Raises:
        PipelineError: the module does not parse or verify, a pass is unknown, or a pass failed.
    """
    parser = argparse.ArgumentParser(prog="triton-ext-opt --llvm", allow_abbrev=False, description=__doc__)
    parser.add_argument("file", nargs="?", default="-", help="LLVM IR; - for standard input")
    parser.add_argument("-passes", "--passes", default="", help="a textual pipeline, e.g. 'function(instcombine,gvn)'")
    parser.add_argument("-print-passes", "--print-passes", action="store_true", help="list the passes that there are")
    parser.add_argument("-mcpu", "--mcpu", default="", help="optimise for this processor of the module's triple")
    parser.add_argument("-mattr", "--mattr", default="", help="its features, e.g. +avx2,-fma")
    parser.add_argument("-o", dest="output", default="-", help="write the result to this file")
    parser.add_argument("-S", action="store_true", help="accepted for scripts; the result is always text")
    args = parser.parse_args(arguments)
    if args.print_passes:
        _print_passes()
        return 0
    if args.mattr and not args.mcpu:
        parser.error("-mattr needs -mcpu, the processor whose features these are")
    with _named(args.file):
        text = sys.stdin.read() if args.file == "-" else Path(args.file).read_text()
    setting = Setting(processor=args.mcpu, features=args.mattr)
    result, remarks = opt(text, args.passes, setting, name=args.file)
    sys.stderr.write(remarks)
    with _named(args.output):
        if args.output == "-":
            sys.stdout.write(result)
        else:
            Path(args.output).write_text(result)
    return 0


@contextlib.contextmanager
def _named(file: str) -> Iterator[None]:
    """Turns an error of the operating system, or a text that is not UTF-8, into one that names the file."""
    try:
        yield
    except UnicodeDecodeError:
        raise PipelineError(f"{file}: not a text; LLVM's bitcode has to go through llvm-dis first") from None
    except OSError as error:
        raise PipelineError(f"{file}: {error.strerror}") from None


def _print_passes() -> None:
    """Prints LLVM's list of its passes, and those of extensions."""
    from .loading.discovery import extensions

    names: list[str] = []
    llvm_library.load().tritonExtLLVMPassNames(receiver_into(names))
    sys.stdout.write(names[0])
    print("Passes of extensions:")
    for extension in extensions():
        if extension.stage == "llvm" and extension.manifest:
            options = ";".join(f"{o.name}=<{o.type}>" for o in extension.manifest.options)
            short = extension.manifest.argument.removeprefix("triton-ext-")
            print(f"  {short}" + (f"<{options}>" if options else ""))
