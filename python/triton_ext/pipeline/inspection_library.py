# SPDX-License-Identifier: Apache-2.0
"""Loads libTritonExtInspect.so (``infra/inspect``), whose functions `inspection` and `crash_reports` call."""

from __future__ import annotations

import ctypes
import functools
import os
import shlex
import sys
import threading
from typing import Any

from ..errors import BuildError, TritonExtError
from ..loading.library_bytes import in_memory, in_words, read_bytes
from ..patches import plugin_module
from ..support import resources


def isolated_command() -> str:
    """Returns a shell command that runs this program again, with compilations in a child process."""
    words = shlex.join([sys.executable, *sys.orig_argv[1:]])
    # The handler of a crash has a buffer of some thousand bytes for the command.
    return "TRITON_EXT_ISOLATE=1 " + (words if len(words.encode()) < 5000 else "and the command that was used")


_loading = threading.Lock()


@functools.cache
def load() -> tuple[ctypes.CDLL, Any, Any, Any]:
    """Returns the library, and three of its functions that take a pass manager and a list of texts.

    The functions attach an inspection, mark passes, and listen to the diagnostics of the context.

    Raises:
        BuildError: the library does not load.
    """
    path = resources.library_dir() / "libTritonExtInspect.so"
    try:
        copy = in_memory(read_bytes(path))  # not the file, which a build may replace
        with _loading:
            library = ctypes.CDLL(copy, mode=os.RTLD_NOW)
            plugin_module.bind(copy)
            add, mark, listen = (plugin_module.take(f"triton_ext_{name}") for name in ("inspect", "mark", "listen"))
    except (OSError, RuntimeError, KeyError, TritonExtError) as error:
        raise BuildError(f"the inspection of passes does not load: {in_words(error)}", fix="triton-ext build") from None
    library.tritonExtInspectOpen.restype = ctypes.c_uint64
    library.tritonExtCrashBegin.argtypes = (ctypes.c_char_p, ctypes.c_char_p)
    library.tritonExtCrashPass.argtypes = (ctypes.c_int, ctypes.c_char_p)
    library.tritonExtCrashPublish.argtypes = (ctypes.c_int,)
    library.tritonExtCrashIsolated.argtypes = (ctypes.c_char_p,)
    library.tritonExtCrashIsolated(isolated_command().encode(errors="replace"))
    library.tritonExtCheckLLVMIR.argtypes = (ctypes.c_char_p, ctypes.c_size_t)
    library.tritonExtCheckLLVMIR.restype = ctypes.c_char_p
    library.tritonExtInspectClose.argtypes = (ctypes.c_uint64,)
    library.tritonExtInspectCount.restype = ctypes.c_size_t
    library.tritonExtInspectRead.argtypes = (ctypes.c_uint64,)
    library.tritonExtInspectRead.restype = ctypes.c_char_p
    return library, add, mark, listen
