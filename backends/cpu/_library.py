# SPDX-License-Identifier: Apache-2.0
"""The libraries of this backend: the compiler, which is a plugin of Triton; the runtime; passes of extensions."""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triton._C.libtriton import ir

from triton_ext.errors import TritonExtError
from triton_ext.loading.library_bytes import in_memory, read_bytes
from triton_ext.patches import plugin_module
from triton_ext.support.resources import library_dir

if TYPE_CHECKING:  # everybody who imports Triton imports this; few want more of it
    from triton_ext.loading.loader import LoadedLibrary

#: The extensions whose passes the stages run, beside those of `Compiler`.
EXTENSIONS = ("scalarize_induction", "structure_returns")


def compiler_path() -> Path:
    """``libtriton_ext_cpu.so``."""
    return library_dir() / "libtriton_ext_cpu.so"


def runtime_path() -> Path:
    """``libTritonExtCpuRuntime.so``."""
    return library_dir() / "libTritonExtCpuRuntime.so"


def is_built() -> bool:
    """Whether all libraries are there."""
    return all(path.is_file() for path in (compiler_path(), runtime_path(), *map(extension_path, EXTENSIONS)))


class Compiler:
    """The compiler library in this process.

    Attributes:
        digest: SHA-256 of its bytes.
    """

    def __init__(self, path: Path) -> None:
        content = read_bytes(path)
        self.digest = content.digest
        copy = in_memory(content)
        self._library = ctypes.CDLL(copy, mode=os.RTLD_NOW)
        self._library.triton_ext_cpu_initialize()
        plugin_module.bind(copy)
        #: The functions that add its passes to a pass manager, by name without ``add_``.
        self.passes: dict[str, Callable[[Any, list[str]], None]] = {
            name.removeprefix("cpu_"): plugin_module.take(name) for name in plugin_module.names_bound("cpu_")
        }

    def last_error(self) -> str:
        """What this thread's last pass has reported."""
        self._library.triton_ext_cpu_last_error.restype = ctypes.c_char_p
        text: bytes = self._library.triton_ext_cpu_last_error()
        return text.decode()

    def host(self) -> tuple[str, str]:
        """Name and features of this machine's CPU, as LLVM spells them."""
        self._library.triton_ext_cpu_host.restype = ctypes.c_char_p
        cpu, _, features = self._library.triton_ext_cpu_host().decode().partition(";")
        return cpu, features

    def has(self, cpu: str, features: str, wanted: str) -> bool:
        """Whether a CPU has all of a list of features, ``"+avx2,+fma"``, as LLVM spells names and features."""
        return bool(self._library.triton_ext_cpu_has(cpu.encode(), features.encode(), wanted.encode()))

    def clear(self, module: Any) -> None:
        """Erases all that a module holds, which Triton's bindings never do. The stage's pipeline is not changed."""
        manager = ir.pass_manager(module.context)
        self.passes["clear_module"](manager, [])
        manager.run(module, "clear_module")

    def assemble(self, text: str, cpu: str, features: str, obj: Path) -> None:
        """Assembles `text` to the object file `obj`.

        Raises:
            RuntimeError: it is not assembly for that CPU; the message says where.
        """
        arguments = (text.encode(), cpu.encode(), features.encode(), os.fsencode(obj))
        self._run("assembling", self._library.triton_ext_cpu_assemble, *arguments)

    def link(self, obj: Path, library: Path) -> None:
        """Links the object file `obj` to the shared library `library`.

        Raises:
            RuntimeError: the linker refused; the message is its own.
        """
        self._run("linking", self._library.triton_ext_cpu_link, os.fsencode(obj), os.fsencode(library))

    @staticmethod
    def _run(what: str, function: Callable[..., int], *arguments: bytes) -> None:
        """Calls `function`, which returns 0, or 1 and a message."""
        message = ctypes.create_string_buffer(4096)
        if function(*arguments, message, ctypes.c_size_t(len(message))):
            raise RuntimeError(f"{what} a kernel failed: {message.value.decode(errors='replace').strip()}")


def extension_path(name: str) -> Path:
    """The library of an extension whose pass the stages run."""
    return library_dir() / f"libtriton_ext_{name}.so"


def extension_passes() -> dict[str, LoadedLibrary]:
    """The libraries of `EXTENSIONS`, by name, as they are now.

    Raises:
        TritonExtError: one is not built.
    """
    from triton_ext.loading.discovery import Extension
    from triton_ext.loading.loader import load_library

    loaded = {}
    for name in EXTENSIONS:
        path = extension_path(name)
        if not path.is_file():
            raise TritonExtError(f"{path} is missing", fix="triton-ext build cpu")
        loaded[name] = load_library(Extension(name, "pass", "ttir", "", path, "built in", None, None))
    return loaded


@functools.cache
def compiler() -> Compiler:
    """The compiler, loaded when it is first needed.

    Raises:
        TritonExtError: it is not built.
    """
    if not compiler_path().is_file():
        raise TritonExtError(f"{compiler_path()} is missing", fix="triton-ext build cpu")
    return Compiler(compiler_path())


@functools.cache
def runtime() -> ctypes.PyDLL:
    """The runtime; its functions, and those of libm, are what kernels find.

    Raises:
        TritonExtError: it is not built.
    """
    path = runtime_path()
    if not path.is_file():
        raise TritonExtError(f"{path} is missing", fix="triton-ext build cpu")
    ctypes.CDLL("libm.so.6", mode=ctypes.RTLD_GLOBAL)
    library = ctypes.PyDLL(in_memory(read_bytes(path)), mode=os.RTLD_NOW | os.RTLD_GLOBAL)
    library.triton_ext_cpu_launcher.restype = ctypes.py_object
    library.triton_ext_cpu_launcher.argtypes = [
        ctypes.c_char_p,
        ctypes.c_char_p,
        ctypes.c_char_p,
        ctypes.c_size_t,
        ctypes.c_int,
        ctypes.py_object,
    ]
    library.triton_ext_cpu_limit.argtypes = [ctypes.c_double]
    library.triton_ext_cpu_limit.restype = None
    return library
