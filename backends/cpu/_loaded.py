# SPDX-License-Identifier: Apache-2.0
"""Loads the shared library of a compiled kernel into the process, and unloads it."""

from __future__ import annotations

import ctypes
import hashlib
import itertools
import os
from pathlib import Path
from typing import Any

from triton_ext.errors import TritonExtError
from triton_ext.loading.library_bytes import LibraryBytes, in_memory
from triton_ext.support.scratch import scratch_dir
from triton_ext.support.storage import private_dir, write_whole

_counter = itertools.count()


def _kept() -> str:
    """Returns the directory that keeps libraries after the process ends, for profilers; empty if none is set."""
    return os.environ.get("TRITON_EXT_CPU_KERNELS", "")


_dlclose = ctypes.CDLL(None).dlclose
_dlclose.argtypes = [ctypes.c_void_p]


class Module:
    """A loaded library. It is not an int, because the driver of a GPU would mistake an int for one of its handles."""

    def __init__(self, path: str) -> None:
        self._library: ctypes.CDLL | None = None
        self._library = ctypes.CDLL(path, mode=os.RTLD_NOW)

    def address(self, symbol: str) -> int:
        """Returns the address of a function."""
        address = ctypes.cast(getattr(self._library, symbol), ctypes.c_void_p).value
        assert address is not None
        return address

    def close(self, dlclose: Any = _dlclose) -> None:
        """Unloads the library; a second call does nothing. Uses no globals, which may be gone at process exit."""
        if self._library is None:
            return
        dlclose(self._library._handle)
        self._library = None

    __del__ = close


class Function(int):
    """The address of a function in a library; the library stays loaded as long as the address is in use.

    When two threads launch a new kernel at once, both load it, and the second thread's handle replaces the first one in
    the kernel. Without this class, the first library would be unloaded while the first thread runs it.
    """

    module: Module
    #: The bytes of the library. Triton's kernel has a reference to them as well.
    library: bytes
    name: str


def load(name: str, kernel: bytes) -> Module:
    """Loads the library `kernel`. Removes its file at once, so that no file remains however the process ends."""
    file = f"{name[:100]}-{os.getpid()}-{next(_counter)}.so"
    if kept := _kept():
        try:
            path = private_dir(Path(kept).absolute()) / file
            write_whole(path, kernel, mode=0o600)
        except OSError as error:
            raise TritonExtError(
                f"the kernel {name} cannot be kept in {kept}: {error.strerror or error}",
                fix="TRITON_EXT_CPU_KERNELS=/another/directory, or unset it",
            ) from None
        return Module(str(path))
    try:
        with scratch_dir("triton-ext-cpu-") as scratch:
            (scratch / file).write_bytes(kernel)
            return Module(str(scratch / file))
    except (OSError, TritonExtError):  # there is no room for files, or the file system forbids execution
        return Module(in_memory(LibraryBytes(Path(file), kernel, hashlib.sha256(kernel).hexdigest())))
