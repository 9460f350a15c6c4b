# SPDX-License-Identifier: Apache-2.0
"""`CPULauncher`: makes the function of the runtime that launches a kernel on the threads of this machine."""

from __future__ import annotations

import ctypes
import functools
import math
import os
import sys
import warnings
from collections.abc import Callable, Collection
from typing import Any

from triton.backends.driver import decompose_descriptor, expand_signature, wrap_handle_tensordesc_impl

from . import _faults, _library

#: The launcher's letter for each type of an argument (see runtime/Arguments.h).
KINDS = {
    "i1": "b",
    "u1": "b",
    "fp32": "f",
    "f32": "f",
    "fp64": "d",
    "fp16": "h",
    "bf16": "e",
    "constexpr": "c",
    **{f"{sign}{bits}": "i" for sign in "iu" for bits in (8, 16, 32, 64)},
}


def _kinds(signature: Any) -> str:
    """Returns the launcher's letters for a signature (see runtime/Arguments.h)."""
    if isinstance(signature, tuple):
        return "(" + "".join(map(_kinds, signature)) + ")"
    return "p" if signature.startswith("*") else KINDS[signature]


def _mark_read_only(kinds: str, stored: Collection[int]) -> str:
    """Returns `kinds` with ``r`` in place of ``p`` for each pointer whose slot is not in `stored`."""
    marked, slot = "", 0
    for kind in kinds:
        marked += "r" if kind == "p" and slot not in stored else kind
        slot += kind not in "c()"
    return marked


#: The largest number of threads that the launcher accepts.
_MOST = 2**31 - 1


@functools.cache
def _wanted_threads(value: str) -> int:
    """Returns the number of threads in `value` of TRITON_EXT_CPU_THREADS; 0, with a warning, if it is not a number."""
    digits = value.strip().lstrip("0")
    if digits.isascii() and digits.isdecimal():
        return int(digits) if len(digits) < len(str(_MOST)) else _MOST
    warnings.warn(
        f"TRITON_EXT_CPU_THREADS is '{value[:40]}', expected a number of threads: launches use as many as torch does, "
        f"or as there are processors (fix: TRITON_EXT_CPU_THREADS={len(os.sched_getaffinity(0))})",
        RuntimeWarning,
        stacklevel=2,
    )
    return 0


def _threads_setting(option: Any) -> tuple[int, Callable[[], int] | None]:
    """Returns the number of threads that `option` or the environment asks for, and None.

    If neither asks for a number, returns 0 and torch's function that each launch asks; without torch, 0 and None.

    Raises:
        ValueError: `option` is not a number of threads.
    """
    if not isinstance(option, int) or option < 0:
        raise ValueError(f"num_threads is {option!r}, expected a number of threads, or 0 for the usual one")
    value = os.environ.get("TRITON_EXT_CPU_THREADS")
    if threads := option or (_wanted_threads(value) if value else 0):
        return min(threads, _MOST), None
    torch = sys.modules.get("torch")
    return 0, getattr(torch, "get_num_threads", None)


#: After this many seconds without progress, a launch whose programs may wait for each other is reported.
_SPIN_SECONDS = 10.0


@functools.cache
def _spin_seconds(value: str) -> float:
    """Returns the seconds in `value` of TRITON_EXT_CPU_SPIN_SECONDS; the usual ones, with a warning, if it has none."""
    if not value.strip():
        return _SPIN_SECONDS
    try:
        seconds = float(value)
    except ValueError:
        seconds = -1.0
    if 0 <= seconds < math.inf:
        return seconds
    warnings.warn(
        f"TRITON_EXT_CPU_SPIN_SECONDS is '{value[:40]}', expected a number of seconds, or 0 for no report (fix: "
        f"TRITON_EXT_CPU_SPIN_SECONDS={_SPIN_SECONDS:g})",
        RuntimeWarning,
        stacklevel=2,
    )
    return _SPIN_SECONDS


def _described(src: Any, name: str) -> str:
    """Returns how a crash report names the kernel `name`: with the place of its source, if that is known."""
    function = getattr(src, "fn", None)
    file, line = getattr(function, "file_name", None), getattr(function, "def_file_line_number", None)
    return f"'{name}' ({file}:{line})" if file and line else f"'{name}'"


def _with_profile_scratch(launch: Callable[..., None], size: int, alignment: int) -> Callable[..., None]:
    """Returns `launch` for a kernel that gets memory outside of its signature.

    Args:
        launch: takes the memory as its last argument.
        size: bytes for each program.
        alignment: the alignment of the memory, in bytes.
    """
    from triton.runtime import _allocation, driver  # which import the drivers

    def launch_with_memory(x: int, y: int, z: int, stream: int, *args: Any) -> None:
        allocator: Any = _allocation._profile_allocator
        if not _allocation.has_profile_allocator():
            allocator = driver.active.allocate_default_profile_scratch
        memory = allocator(x * y * z * size, alignment, stream)
        launch(x, y, z, stream, *args, memory.data_ptr())  # `memory` lives until the launch has ended

    return launch_with_memory


class Zeros:
    """Aligned memory that is zero."""

    def __init__(self, size: int, alignment: int) -> None:
        self._memory = ctypes.create_string_buffer(size + alignment)
        self._address = -(-ctypes.addressof(self._memory) // alignment) * alignment

    def data_ptr(self) -> int:
        """Returns the address."""
        return self._address


class CPULauncher:
    """Launches one kernel; Triton makes a launcher for each compiled kernel."""

    def __new__(cls, src: Any, metadata: Any) -> Any:
        """Returns the launcher: a function of the runtime, so that no Python frame lies in between."""
        signature = dict(enumerate(src.signature.values()))
        kinds, arguments = "", []
        for argument, kind in src.signature.items():
            expanded = expand_signature([kind], None, "nvTmaDesc")  # a descriptor becomes several arguments
            kinds += "".join(map(_kinds, expanded))
            arguments += [str(argument)] * len(expanded)
        stored = getattr(metadata, "stored_slots", None)
        if stored is not None:
            kinds = _mark_read_only(kinds, stored)
        if metadata.profile_scratch_size:
            kinds += "p"
            arguments.append("(profile scratch)")
        threads, ask = _threads_setting(metadata.num_threads)
        launch = _library.runtime().triton_ext_cpu_launcher(
            _described(src, metadata.name).encode(errors="replace"),
            kinds.encode(),
            ",".join(arguments).encode(errors="replace"),
            metadata.scratch,
            getattr(metadata, "together", 1),
            threads,
            _spin_seconds(os.environ.get("TRITON_EXT_CPU_SPIN_SECONDS", ""))
            if getattr(metadata, "waits", False)
            else 0.0,
            ask,
            _faults.place_of,
        )
        if metadata.profile_scratch_size:
            launch = _with_profile_scratch(launch, metadata.profile_scratch_size, metadata.profile_scratch_align)

        def make_descriptor(arg: Any, metadata: Any, _: Any) -> list[Any]:
            return list(decompose_descriptor(arg))

        flat = wrap_handle_tensordesc_impl(None, signature, [], make_descriptor)
        if flat is None:  # no descriptors among the arguments
            return launch

        def with_descriptors(*args: Any) -> None:
            wrap_handle_tensordesc_impl(lambda *inner: launch(*inner[:-1], *inner[-1]), signature, [], make_descriptor)(
                *args[:9], args[9:]
            )

        return with_descriptors
