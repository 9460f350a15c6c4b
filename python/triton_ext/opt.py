# SPDX-License-Identifier: Apache-2.0
"""``triton-ext-opt``: runs extension passes on a file, for lit tests and for looking at what a pass does.

Takes the passes in the order in which they are named, prints the module that results, and nothing if one fails.
"""

from __future__ import annotations

import argparse
import re
import shlex
import sys
import tempfile
from pathlib import Path
from typing import Any

from .errors import PipelineError, TritonExtError
from .loader import Extension, extensions, load_library

_SEPARATOR = re.compile(r"^// -----.*\n", re.MULTILINE)
_PREFIX = "triton-ext-"


def opt(arguments: list[str]) -> None:
    """Runs the command line `arguments`."""
    # argparse, because click reads -triton-ext-rename as a cluster of one-letter options.
    parser = argparse.ArgumentParser(
        "triton-ext-opt",
        usage='%(prog)s FILE [-triton-ext-NAME[="option=value ..."]]... [-split-input-file] [-o OUTPUT]',
        description=__doc__,
        allow_abbrev=False,
    )
    parser.add_argument("file", help="the module, or - for standard input")
    parser.add_argument("-split-input-file", "--split-input-file", action="store_true", help="treat // ----- as an end")
    parser.add_argument("-o", dest="output", type=Path, help="write there instead of to standard output")
    known, rest = parser.parse_known_args(arguments)
    passes = [_pass(argument) for argument in rest]
    text = sys.stdin.read() if known.file == "-" else _read(known.file)
    parts = _parts(text) if known.split_input_file else [text]
    printed = "// -----\n\n".join(_run(part, known.file, passes) for part in parts)
    if known.output is None:
        sys.stdout.write(printed)
    else:
        partial = known.output.with_name(f".{known.output.name}.part")
        partial.write_text(printed)
        partial.replace(known.output)


def main() -> None:
    """Entry point of the console script: diagnostics and one line per error on standard error, exit code 1."""
    try:
        opt(sys.argv[1:])
    except TritonExtError as error:
        sys.exit(f"triton-ext-opt: error: {error}")


def _pass(argument: str) -> tuple[Extension, list[str]]:
    """The extension and the options that ``-triton-ext-name="a=1 b=2"`` stands for."""
    name, _, options = argument.lstrip("-").partition("=")
    wanted = name.removeprefix(_PREFIX).replace("-", "_")
    usable = {e.name: e for e in extensions() if e.kind == "pass" and not e.problem}
    if wanted not in usable or not name.startswith(_PREFIX):
        there = ", ".join(f"-{_PREFIX}{n.replace('_', '-')}" for n in usable)
        raise PipelineError(f"unknown argument '{argument}'; passes: {there or 'none'}", fix="triton-ext list")
    return usable[wanted], shlex.split(options)


def _read(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError as error:
        raise TritonExtError(f"{path}: {error.strerror}") from None


def _parts(text: str) -> list[str]:
    """The parts between ``// -----`` lines, each with the blank lines before it that keep its line numbers."""
    parts, begin = [], 0
    for separator in [*_SEPARATOR.finditer(text), None]:
        end = separator.start() if separator else len(text)
        parts.append("\n" * text.count("\n", 0, begin) + text[begin:end])
        begin = separator.end() if separator else end
    return parts


def _run(text: str, name: str, passes: list[tuple[Extension, list[str]]]) -> str:
    from triton._C.libtriton import ir

    context = ir.context()
    ir.load_dialects(context)
    module = _parse(ir, text, name, context)
    for extension, options in passes:
        manager = ir.pass_manager(context)
        try:
            load_library(extension).add[extension.name](manager, options)
            manager.run(module, extension.name)
        except ValueError as error:
            raise PipelineError(str(error)) from None
        except RuntimeError as error:
            raise TritonExtError(f"{name}: pass '{extension.name}' failed: {error}") from None
    return str(module.str_nodebug())


def _parse(ir: Any, text: str, name: str, context: Any) -> Any:
    """Parses `text`; diagnostics name it as the file `name`."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, Path(name).name)
        path.write_text(text)
        try:
            return ir.parse_mlir_module(str(path), context)
        except RuntimeError as error:
            raise TritonExtError(f"{name} does not parse: {error}") from None
