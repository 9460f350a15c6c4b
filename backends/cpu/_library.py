# SPDX-License-Identifier: Apache-2.0
"""The libraries of this backend: the compiler (a plugin of Triton), the runtime, and passes of other extensions."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triton._C.libtriton import ir

from triton_ext.errors import TritonExtError
from triton_ext.loading.libraries import load_infra
from triton_ext.loading.library_bytes import in_memory, read_bytes
from triton_ext.patches import plugin_module
from triton_ext.support.once import once
from triton_ext.support.resources import library_dir

if TYPE_CHECKING:  # every process that imports Triton imports this module; few need the loader
    from triton_ext.loading.loader import LoadedLibrary

#: The extensions whose passes the stages run, in addition to the passes of `Compiler`.
EXTENSIONS = ("convert_ptx_to_arith", "expand_dot_scaled", "scalarize_induction", "structure_returns")

#: For each pass, the options that the stages set and their types, in the order of the arguments of ``add_<pass>``.
OPTIONS = {
    "expand_dot_scaled": {"narrow": "bool"},
    "fuse_multiply_add": {"lowered": "bool"},
    "lower_tiles": {
        "vector-bytes": "int", "has-fma": "bool", "dot-units": "int", "quiet": "bool",
        "most-for-two-views": "int", "most-for-replication": "int", "most-shared-bytes": "int",
    },
}  # fmt: skip

#: The last three of these, which pipelines tune (docs/targets.md).
LIMITS = (6, 8, 2 << 20)


#: What multiplies narrow elements, by the features that it needs; the values are those of the option ``dot-units``.
DOT_UNITS = {
    "+avx2": 1,
    "+avx512bw": 2,
    "+avxvnni": 4,
    "+avx512vnni,+avx512vl": 8,
    "+avx512bf16,+avx512vl": 16,
    "+amx-int8": 32,
    "+amx-bf16": 64,
    "+amx-fp16": 128,
    "+avx512fp16,+avx512vl": 256,
}

#: Those that multiply bf16.
BF16_UNITS = DOT_UNITS["+avx512bf16,+avx512vl"] | DOT_UNITS["+amx-bf16"]


def compiler_path() -> Path:
    """Returns the path of ``libtriton_ext_cpu.so``."""
    return library_dir() / "libtriton_ext_cpu.so"


def runtime_path() -> Path:
    """Returns the path of ``libTritonExtCpuRuntime.so``."""
    return library_dir() / "libTritonExtCpuRuntime.so"


def standalone_path() -> Path:
    """Returns the path of ``libTritonExtCpuStandalone.a``, the runtime of libraries that need no Python."""
    return library_dir() / "libTritonExtCpuStandalone.a"


def is_built() -> bool:
    """Returns whether all libraries exist."""
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
        load_infra()
        self._library = ctypes.CDLL(copy, mode=os.RTLD_NOW)
        self._library.triton_ext_cpu_initialize()
        plugin_module.bind(copy)
        #: The functions that add its passes to a pass manager, by name without ``add_``.
        self.passes: dict[str, Callable[[Any, list[str]], None]] = {
            name.removeprefix("cpu_"): plugin_module.take(name) for name in plugin_module.names_bound("cpu_")
        }

    def last_error(self) -> str:
        """Returns the errors that the last pass of this thread has reported."""
        self._library.triton_ext_cpu_last_error.restype = ctypes.c_char_p
        text: bytes = self._library.triton_ext_cpu_last_error()
        return text.decode()

    def host(self) -> tuple[str, str]:
        """Returns the name and the features of this machine's CPU, as LLVM spells them."""
        self._library.triton_ext_cpu_host.restype = ctypes.c_char_p
        cpu, _, features = self._library.triton_ext_cpu_host().decode().partition(";")
        return cpu, features

    def has(self, cpu: str, features: str, wanted: str) -> bool:
        """Returns whether a CPU has all `wanted` features, such as ``"+avx2,+fma"``. All names are LLVM's."""
        return bool(self._library.triton_ext_cpu_has(cpu.encode(), features.encode(), wanted.encode()))

    def dot_units(self, cpu: str, features: str) -> int:
        """Returns what a CPU has for products of narrow elements, as the option ``dot-units`` of ``lower_tiles``."""
        return sum(bit for wanted, bit in DOT_UNITS.items() if self.has(cpu, features, wanted))

    def clear(self, module: Any) -> None:
        """Erases the contents of a module to free them, which Triton's bindings never do.

        It uses a pass manager of its own, so the pipeline of the stage does not change.
        """
        manager = ir.pass_manager(module.context)
        self.passes["clear_module"](manager, [])
        manager.run(module, "clear_module")

    def assemble(self, text: str, cpu: str, features: str, obj: Path) -> None:
        """Assembles `text` to the object file `obj`.

        Raises:
            RuntimeError: `text` is not assembly for that CPU; the message names the line.
        """
        arguments = (text.encode(), cpu.encode(), features.encode(), os.fsencode(obj))
        self._run("assembling", self._library.triton_ext_cpu_assemble, *arguments)

    def link(self, library: Path, *inputs: str | Path) -> None:
        """Links the shared library `library`.

        Args:
            library: the file to write.
            inputs: object files, archives and libraries, and options of the linker.

        Raises:
            RuntimeError: the linker failed; the message is the linker's.
        """
        arguments = [os.fsencode(argument) for argument in (*inputs, "-o", library)]
        array = (ctypes.c_char_p * len(arguments))(*arguments)
        self._run("linking", self._library.triton_ext_cpu_link, array, ctypes.c_size_t(len(arguments)))

    def requirements(self, cpu: str, features: str) -> int:
        """Returns the features that a processor must have for the code for a CPU, as bits (runtime/Features.h).

        Raises:
            RuntimeError: a library cannot find out whether a processor has a feature; the message is its name.
        """
        message, bits = ctypes.create_string_buffer(256), ctypes.c_uint64()
        arguments = (cpu.encode(), features.encode(), ctypes.byref(bits), message, ctypes.c_size_t(len(message)))
        if self._library.triton_ext_cpu_requirements(*arguments):
            raise RuntimeError(message.value.decode())
        return bits.value

    @staticmethod
    def _run(what: str, function: Callable[..., int], *arguments: Any) -> None:
        """Calls `function`, which returns 0 on success, or 1 and fills in a message."""
        message = ctypes.create_string_buffer(4096)
        if function(*arguments, message, ctypes.c_size_t(len(message))):
            raise RuntimeError(f"{what} a kernel failed: {message.value.decode(errors='replace').strip()}")


def extension_path(name: str) -> Path:
    """Returns the path of the library of an extension in `EXTENSIONS`."""
    return library_dir() / f"libtriton_ext_{name}.so"


def extension_passes() -> dict[str, LoadedLibrary]:
    """Returns the libraries of `EXTENSIONS` by name, in their current version on disk.

    Raises:
        TritonExtError: a library is not built.
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


@once
def compiler() -> Compiler:
    """Returns the compiler; the first call loads it.

    Raises:
        TritonExtError: the compiler is not built.
    """
    if not compiler_path().is_file():
        raise TritonExtError(f"{compiler_path()} is missing", fix="triton-ext build cpu")
    return Compiler(compiler_path())


@once
def runtime() -> ctypes.PyDLL:
    """Returns the runtime. Kernels are linked against its functions and those of libm when they are loaded.

    Raises:
        TritonExtError: the runtime is not built.
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
        ctypes.c_int64,
        ctypes.c_int,
        ctypes.c_double,
        ctypes.py_object,
        ctypes.py_object,
    ]
    library.triton_ext_cpu_limit.argtypes = [ctypes.c_double]
    library.triton_ext_cpu_limit.restype = None
    library.triton_ext_cpu_request_tiles.restype = None
    library.triton_ext_cpu_request_tiles()
    return library
