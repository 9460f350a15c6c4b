# SPDX-License-Identifier: Apache-2.0
"""Asks a foreign plugin for its description, in a separate process, because its entry point may crash.

``python -m triton_ext.loading.describe_plugin LIBRARY FD READY BESIDE...`` writes JSON to the file descriptor FD, apart
from what the plugin prints. Before it runs code of the plugin, whose time is limited, it writes a byte to READY. The
structures below are those of ``PluginInfo`` in ``triton/Tools/PluginUtils.h``, API version 2.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import sys

API_VERSION = 2
_MOST_ENTRIES = 10_000


class _PassInfo(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("version", ctypes.c_char_p),
        ("add", ctypes.c_void_p),
        ("register", ctypes.c_void_p),
    ]


class _DialectInfo(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("version", ctypes.c_char_p), ("register", ctypes.c_void_p)]


class _OpInfo(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("add", ctypes.c_void_p)]


class _PluginInfo(ctypes.Structure):
    _fields_ = [
        ("api_version", ctypes.c_uint32),
        ("name", ctypes.c_char_p),
        ("version", ctypes.c_char_p),
        ("passes", ctypes.POINTER(_PassInfo)),
        ("num_passes", ctypes.c_size_t),
        ("dialects", ctypes.POINTER(_DialectInfo)),
        ("num_dialects", ctypes.c_size_t),
        ("ops", ctypes.POINTER(_OpInfo)),
        ("num_ops", ctypes.c_size_t),
        ("triton_version", ctypes.c_char_p),
    ]


def describe(path: str, ready: int, beside: list[str]) -> dict[str, object]:
    """Loads a plugin, calls its entry point and checks the result.

    Args:
        path: the library. It is in memory and has no directory, so the loader finds nothing beside it.
        ready: file descriptor that gets a byte before the plugin is loaded.
        beside: the libraries in the plugin's directory that it is linked to, which are loaded first.

    Returns:
        ``{"problem": reason}``, or name, version and the names of passes, dialects and ops.
    """
    import triton._C.libtriton  # the plugin's DT_NEEDED resolves to this copy
    from triton import __version__ as triton_version

    del triton._C.libtriton
    os.write(ready, b"1")
    try:
        for library in beside:
            ctypes.CDLL(library)
        entry = ctypes.CDLL(path).tritonGetPluginInfo
    except (OSError, AttributeError) as error:
        return {"problem": f"does not load: {error}"}
    entry.restype = ctypes.POINTER(_PluginInfo)
    pointer = entry()
    if not pointer:
        return {"problem": "its entry point returned null"}
    info = pointer.contents
    if info.api_version != API_VERSION:
        return {"problem": f"it has plugin API version {info.api_version}, Triton wants {API_VERSION}"}
    if info.triton_version is None:
        return {"problem": "it does not say which Triton version it was built for"}
    if info.triton_version.decode() != triton_version:
        return {"problem": f"it was built for Triton {info.triton_version.decode()}, found {triton_version}"}
    if info.name is None or info.version is None:
        return {"problem": "it has no plugin name or version"}

    found: dict[str, object] = {"name": info.name.decode(), "version": info.version.decode()}
    for kind in ("passes", "dialects", "ops"):
        count, array = getattr(info, f"num_{kind}"), getattr(info, kind)
        if count and not array:
            return {"problem": f"it announces {count} {kind} and gives none (null)"}
        if count > _MOST_ENTRIES:
            return {"problem": f"it announces {count} {kind}, which cannot be"}
        entries = [array[i] for i in range(count)]
        callback = "register" if kind == "dialects" else "add"
        if any(e.name is None or not getattr(e, callback) for e in entries):
            return {"problem": f"one of its {kind} has no name or no callback (null)"}
        names = [e.name.decode() for e in entries]
        if len(set(names)) != len(names):
            return {"problem": f"two of its {kind} have the same name, among: {', '.join(names)}"}
        found[kind] = names
    return found


def main() -> None:
    """Describes the library that the command line names; a failure is described as a problem."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        found = describe(sys.argv[1], int(sys.argv[3]), sys.argv[4:])
    except UnicodeDecodeError:
        found = {"problem": "one of its names is not UTF-8"}
    except Exception as error:
        found = {"problem": f"asking for its description failed: {error!r}"}
    os.write(int(sys.argv[2]), json.dumps(found).encode())


if __name__ == "__main__":
    main()
