# SPDX-License-Identifier: Apache-2.0
"""``triton-ext-opt`` and `opt`: run passes of the installed Triton and of extensions.

The driver itself is libTritonExtOpt.so (``infra/opt``). This module loads libtriton without importing Triton, which is
faster, and finds and checks the extensions that the command line names.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import os
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import BuildError, ExtensionNotFoundError, PipelineError, TritonExtError
from .loading.library_bytes import LibraryBytes, in_memory, read_bytes
from .loading.named_passes import names, names_in, names_in_input
from .support.resources import PLUGIN_VARIABLES
from .support.shown import shown

if TYPE_CHECKING:
    from .loading.discovery import Extension

_PREFIX = "triton-ext-"
_HELP = ("help", "h")


class _Plugin(ctypes.Structure):
    """The structure ``TritonExtOptPlugin`` in ``infra/opt/Plugins.h``."""

    _fields_ = tuple((name, ctypes.c_char_p) for name in ("path", "content", "argument", "alias"))


_Receiver = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_char), ctypes.c_size_t)


def opt(module: object, pipeline: str, *, name: str = "<module>") -> str:
    """Runs a pipeline of built-in and extension passes on a module, in this process.

    Args:
        module: the text of a module, or a Triton ``ir.module``.
        pipeline: MLIR's textual form, e.g. ``"convert-triton-to-tritongpu{target=cuda:80 num-warps=4},canonicalize"``,
            with or without ``builtin.module(...)`` around it; see ``triton-ext passes``.
        name: the name of the module in diagnostics.

    Returns:
        The text of the resulting module.

    Raises:
        PipelineError: the module does not parse, a pass or an option is unknown, or a pass failed; the message is the
            diagnostics.
        TritonExtError: an extension that the pipeline names is broken.
    """
    parts = ("the module", "its name", "the pipeline")
    text, name_bytes, pipeline_bytes = map(_in_utf8, parts, (str(module), name, pipeline))
    library = opt_library()
    texts: list[str] = []
    receive = _Receiver(lambda text, size: texts.append(ctypes.string_at(text, size).decode(errors="replace")))
    names = names_in(pipeline)
    with _registering:
        for name_, extension in _extensions((n for n in names if n not in _registered), library):
            argument = extension.manifest.argument if extension.manifest else None
            _registered[name_] = (argument or name_, extension.path, register(extension.path, argument, name_))
        for path in _of_named_dialects(pipeline):
            register(path)
    for argument, path, digest in (_registered[n] for n in names if n in _registered):
        if read_bytes(path).digest != digest:
            raise PipelineError(
                f"{path} was built again after this process had loaded it; MLIR keeps the first pass '{argument}'",
                fix="restart Python, or run triton-ext-opt",
            )
    if library.tritonExtOptRun(text, len(text), name_bytes, pipeline_bytes, receive, receive):
        raise PipelineError(texts[0].strip() or "the pipeline failed")
    return texts[1]


def _in_utf8(what: str, text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        odd = shown(text[error.start])
        raise PipelineError(f"{what} has the character {odd} at {error.start}, which UTF-8 cannot encode") from None


#: The extension passes that this process has registered: argument, library, and digest of that library.
_registered: dict[str, tuple[str, Path, str]] = {}
_registering = threading.RLock()


def register(path: Path, argument: str | None = None, alias: str | None = None) -> str:
    """Registers the dialects of the library `path`, and its pass as `argument` and as `alias`; returns its digest.

    Raises:
        TritonExtError: it does not load.
    """
    from .loading.loader import verified_bytes

    problems: list[str] = []
    receive = _Receiver(lambda text, size: problems.append(ctypes.string_at(text, size).decode(errors="replace")))
    itself = verified_bytes(path)[0]
    # From memory, as the loader does it, so that a dialect exists once in the process.
    needed = [_plugin(read_bytes(dialect), None, None) for dialect in _with_needed(path)[:-1]]
    with _registering:
        for plugin in (*needed, _plugin(itself, argument, alias)):
            if opt_library().tritonExtOptLoad(ctypes.byref(plugin), receive) or any(problems):
                raise TritonExtError(problems[-1])
    return itself.digest


def _with_needed(path: Path) -> list[Path]:
    """Returns the libraries of dialects that `path` needs, each after those that it needs itself, and then `path`."""
    from .loading.libraries import needed_by, shared_libraries

    found = [p for needed in shared_libraries(path, needed_by(path)) for p in _with_needed(needed)]
    return list(dict.fromkeys([*found, path]))


def main(arguments: list[str] | None = None, *, program: str = "triton-ext-opt") -> None:
    """Runs the driver and exits; an error is printed as one line on standard error, with exit code 1.

    Args:
        arguments: the command line without the program; by default that of the process.
        program: the name of the program in messages.
    """
    try:
        sys.exit(_run([program, *(sys.argv[1:] if arguments is None else arguments)]))
    except TritonExtError as error:
        sys.exit(f"{program}: error: {error}")


def _run(arguments: list[str]) -> int:
    """Runs the command line and returns the exit code."""
    library = opt_library()
    if "--llvm" in arguments or "-llvm" in arguments:
        from .llvm_driver import run

        return run([a for a in arguments[1:] if a not in ("--llvm", "-llvm")])
    plugins = [*_named_libraries(arguments), *_plugins([*names(arguments), *names_in_input(arguments)], library)]
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
def opt_library() -> ctypes.CDLL:
    """Loads libtriton, the infrastructure of extensions and the driver; returns the driver.

    Raises:
        TritonExtError: Triton is not installed.
        BuildError: the driver is not built, or does not fit the installed Triton.
    """
    from .loading.libraries import load_infra
    from .support import resources

    # Only the library, because importing the package takes four times as long.
    spec = importlib.util.find_spec("triton")
    if spec is None or spec.origin is None:
        raise TritonExtError("Triton is not installed in this Python", fix="pip install triton==3.9.0")
    directory = resources.library_dir()
    try:
        ctypes.CDLL(str(Path(spec.origin).parent / "_C" / "libtriton.so"))
        load_infra()
        return ctypes.CDLL(str(directory / "libTritonExtOpt.so"))
    except OSError as error:
        raise BuildError(f"the driver does not load: {error}", fix="triton-ext build") from None


def _named_libraries(arguments: list[str]) -> list[_Plugin]:
    """Returns the libraries that ``--load-extension``, Triton's variables and attributes in options name.

    Raises:
        TritonExtError: a library cannot be used.
    """
    # In --load-extension a text without "/" is the name of an extension; Triton's variables have paths.
    paths = [Path(p).absolute() for v in PLUGIN_VARIABLES for p in os.environ.get(v, "").split(os.pathsep) if p]
    for argument, following in zip(arguments[1:], [*arguments[2:], ""], strict=False):
        name, equals, value = argument.lstrip("-").partition("=")
        if argument.startswith("-") and name == "load-extension" and (item := value if equals else following):
            from .loading.discovery import find_library

            paths.append(Path(item).absolute() if "/" in item else find_library(item))
    paths += _of_named_dialects(" ".join(argument for argument in arguments if argument.startswith("-")))
    plugins: list[_Plugin] = []
    for path in dict.fromkeys(paths):
        from .loading.loader import verified_bytes

        itself, plugin = verified_bytes(path)
        its_pass = plugin.manifest.argument if plugin.manifest else None
        plugins += (_plugin(read_bytes(needed), None, None) for needed in _with_needed(path)[:-1])
        plugins.append(_plugin(itself, its_pass, its_pass and its_pass.removeprefix(_PREFIX)))
    return plugins


def _of_named_dialects(options: str) -> list[Path]:
    """Returns the libraries of the dialects that attributes in options of passes name."""
    if "#" not in options:
        return []
    from .loading import named_dialects

    return [extension.path for extension in map(named_dialects.find, named_dialects.names([options])) if extension]


def _plugins(names: Iterable[str], library: ctypes.CDLL) -> list[_Plugin]:
    """Returns the extensions with those of the passes `names` that are not built in.

    Raises:
        TritonExtError: such an extension is broken.
    """
    plugins: list[_Plugin] = []
    for name, extension in _extensions(names, library):
        if extension.manifest:
            from .loading.loader import verified_bytes

            itself = verified_bytes(extension.path)[0]
            plugins += (_plugin(read_bytes(needed), None, None) for needed in _with_needed(extension.path)[:-1])
            plugins.append(_plugin(itself, extension.manifest.argument, name))
    return plugins


def _extensions(names: Iterable[str], library: ctypes.CDLL) -> list[tuple[str, Extension]]:
    """Returns those of the passes `names` that extensions have, each with its extension.

    Raises:
        TritonExtError: such an extension is broken.
    """
    # Finding extensions takes longer than most runs, so it is done only if a pass is not built in.
    unknown = [n for n in dict.fromkeys(names) if not library.tritonExtOptKnows(n.encode())]
    if not unknown:
        return []
    from .loading.discovery import extensions

    by_name = {e.name.replace("_", "-"): e for e in extensions() if e.problem or (e.manifest and e.kind == "pass")}
    found = []
    for name in unknown:
        extension = by_name.get(name.removeprefix(_PREFIX).replace("_", "-"))
        if extension is None and name.startswith("h") and name not in _HELP:
            # LLVM would take it for -h with a value, print the help and exit without an error.
            raise ExtensionNotFoundError(f"Unknown command line argument '-{name}'", fix="triton-ext-opt --help")
        if extension is None:
            continue  # the driver reports it, with similar names
        if extension.problem:
            raise ExtensionNotFoundError(f"extension '{extension.name}' is broken: {extension.problem}")
        found.append((name, extension))
    return found


def _plugin(library: LibraryBytes, argument: str | None, alias: str | None) -> _Plugin:
    """Returns the structure for a library; an alias that equals the argument is left out."""
    texts = (text.encode() if text else None for text in (argument, alias if alias != argument else None))
    return _Plugin(os.fsencode(library.path), in_memory(library).encode(), *texts)


def _extension_help() -> str:
    """Returns the part of ``--help`` about extensions, from their manifests, without loading a library."""
    from .loading.discovery import extensions

    lines = []
    for extension in extensions():
        manifest = extension.manifest
        if extension.problem:
            lines.append(f"    {extension.name}: broken: {extension.problem}")
        elif manifest and manifest.kind == "pass":
            short = manifest.argument.removeprefix(_PREFIX)
            lines.append(f"    --{manifest.argument}, --{short}".ljust(64) + f" -   {manifest.summary}")
            for option in manifest.options:
                text = f"      --{option.name}=<{option.type}>".ljust(64)
                lines.append(f"{text} -   {option.description} (default: {option.default or 'none'})")
    return "\n".join(lines or ["    none found"]) + "\n"


if __name__ == "__main__":
    main()
