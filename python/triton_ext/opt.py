# SPDX-License-Identifier: Apache-2.0
"""``triton-ext-opt`` and `opt`: run passes of the installed Triton and of extensions on a module.

The driver itself is libTritonExtOpt.so (``infra/opt``). Here, libtriton is put into the process without importing
Triton, and the extensions that the command line names are found and checked; the others are not even looked at.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import os
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import BuildError, ExtensionNotFoundError, PipelineError, TritonExtError

if TYPE_CHECKING:
    from .loader import Extension

_PREFIX = "triton-ext-"
_PLUGIN_VARIABLES = ("TRITON_PASS_PLUGIN_PATH", "TRITON_PLUGIN_PATHS")
_PIPELINE_OPTIONS = ("pass-pipeline", "p")
_HELP = ("help", "h")


class _Plugin(ctypes.Structure):
    """``TritonExtOptPlugin`` in ``infra/opt/Plugins.h``."""

    _fields_ = (("path", ctypes.c_char_p), ("argument", ctypes.c_char_p), ("alias", ctypes.c_char_p))


_Receiver = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_char), ctypes.c_size_t)


def opt(module: object, pipeline: str, *, name: str = "<module>") -> str:
    """Runs a pipeline of built-in and extension passes on a module, in this process.

    Args:
        module: the text of a module, or a Triton ``ir.module``.
        pipeline: MLIR's textual form, e.g. ``"convert-triton-to-tritongpu{target=cuda:80 num-warps=4},canonicalize"``,
            with or without ``builtin.module(...)`` around it; see ``triton-ext passes``.
        name: what diagnostics call the module.

    Returns:
        The text of the module that results.

    Raises:
        PipelineError: the module does not parse, a pass or an option is unknown, or a pass failed; the message is the
            diagnostics.
        TritonExtError: an extension that the pipeline names is broken.
    """
    library = _library()
    texts: list[str] = []
    receive = _Receiver(lambda text, size: texts.append(ctypes.string_at(text, size).decode(errors="replace")))
    for plugin in _plugins(_names_in(pipeline), library, private=True):
        if library.tritonExtOptLoad(ctypes.byref(plugin), receive):
            raise TritonExtError(texts[-1])
    texts.clear()
    text = str(module).encode()
    failed = library.tritonExtOptRun(text, len(text), name.encode(), pipeline.encode(), receive, receive)
    if failed:
        raise PipelineError(texts[0].strip() or "the pipeline failed")
    return texts[1]


def main(arguments: list[str] | None = None) -> None:
    """Entry point of the console script: diagnostics and one line per error on standard error, exit code 1."""
    try:
        sys.exit(_run(sys.argv if arguments is None else ["triton-ext-opt", *arguments]))
    except TritonExtError as error:
        sys.exit(f"triton-ext-opt: error: {error}")


def _run(arguments: list[str]) -> int:
    """Runs the command line and returns the exit code."""
    library = _library()
    plugins = [*_named_libraries(arguments), *_plugins(_names(arguments), library)]
    wants_help = any(a.startswith("-") and a.lstrip("-") in _HELP for a in arguments)
    code: int = library.tritonExtOptMain(
        len(arguments),
        (ctypes.c_char_p * (len(arguments) + 1))(*map(os.fsencode, arguments)),
        (_Plugin * len(plugins))(*plugins),
        ctypes.c_size_t(len(plugins)),
        _extension_help().encode() if wants_help else b"",
    )
    return code


@functools.cache
def _library() -> ctypes.CDLL:
    """The driver, with libtriton and the infrastructure of extensions loaded.

    Raises:
        TritonExtError: Triton is not installed.
        BuildError: the driver is not built, or does not fit the installed Triton.
    """
    from . import _resources

    # The library alone: importing the package costs four times as much.
    spec = importlib.util.find_spec("triton")
    if spec is None or spec.origin is None:
        raise TritonExtError("Triton is not installed in this Python", fix="pip install triton==3.9.0")
    directory = _resources.library_dir()
    try:
        ctypes.CDLL(str(Path(spec.origin).parent / "_C" / "libtriton.so"))
        if (infra := directory / "libTritonExtPassInfra.so").is_file():
            ctypes.CDLL(str(infra), mode=ctypes.RTLD_GLOBAL)
        return ctypes.CDLL(str(directory / "libTritonExtOpt.so"))
    except OSError as error:
        raise BuildError(f"the driver does not load: {error}", fix="triton-ext build") from None


def _names(arguments: list[str]) -> Iterator[str]:
    """The names in a command line that may be those of passes."""
    for argument, following in zip(arguments[1:], [*arguments[2:], ""], strict=True):
        if argument.startswith("-"):
            name, equals, value = argument.lstrip("-").partition("=")
            if name in _PIPELINE_OPTIONS:
                yield from _names_in(value if equals else following)
            elif name.startswith("mlir-print-ir-"):
                yield from value.split(",")
            elif name:
                yield name


def _names_in(pipeline: str) -> list[str]:
    """The names in a textual pipeline that may be those of passes."""
    while pipeline != (pipeline := re.sub(r"\{[^{}]*\}", "", pipeline)):
        pass  # options may hold a pipeline, in braces
    return re.findall(r"[\w.-]+", pipeline)


def _named_libraries(arguments: list[str]) -> list[_Plugin]:
    """The libraries that are to be loaded whether or not a pass of theirs is named.

    Raises:
        TritonExtError: one of them cannot be used.
    """
    paths = [p for v in _PLUGIN_VARIABLES for p in os.environ.get(v, "").split(os.pathsep) if p]
    for argument, following in zip(arguments, [*arguments[1:], ""], strict=True):
        name, equals, value = argument.lstrip("-").partition("=")
        if argument.startswith("-") and name == "load-extension":
            paths.append(value if equals else following)
    if not paths:
        return []
    from .verify import verify

    plugins = []
    for path in map(Path, dict.fromkeys(paths)):
        manifest = verify(path).manifest
        argument = manifest.argument if manifest else None
        plugins.append(_plugin(path, argument, argument.removeprefix(_PREFIX) if argument else None))
    return plugins


def _plugins(names: Iterable[str], library: ctypes.CDLL, *, private: bool = False) -> list[_Plugin]:
    """The extensions that bring those of the passes `names` which are not built in.

    Args:
        names: passes, options and what else looks like one.
        library: the driver.
        private: load copies that stay what they are when a library is built again.

    Raises:
        TritonExtError: such an extension is broken.
    """
    unknown = [n for n in dict.fromkeys(names) if not library.tritonExtOptKnows(n.encode())]
    if not unknown:
        return []
    from .loader import extensions

    found: dict[str, Extension] = {}
    for extension in extensions():
        name = extension.name.replace("_", "-")
        if extension.manifest or not extension.plugin:
            found.setdefault(name, extension)
    plugins = []
    for name in unknown:
        extension = found.get(name.removeprefix(_PREFIX).replace("_", "-"))
        if extension is None:
            continue  # the driver says so, with what comes close
        if extension.problem or not extension.manifest:
            raise ExtensionNotFoundError(f"extension '{extension.name}' is broken: {extension.problem}")
        argument = extension.manifest.argument
        path = _private_copy(extension.path) if private else extension.path
        plugins.append(_plugin(path, argument, name if name != argument else None))
    return plugins


def _plugin(path: Path, argument: str | None, alias: str | None) -> _Plugin:
    return _Plugin(os.fsencode(path), argument and argument.encode(), alias and alias.encode())
