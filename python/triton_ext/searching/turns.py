# SPDX-License-Identifier: Apache-2.0
"""Turns on a device: of the processes that check and measure on it, one does so at a time.

Searches of several processes, in one study or in several, may share a device. Two kernels that run at once take longer,
so a time would say what the other process did. The lock is the system's: it is free again when its process ends, also
by ``kill -9``.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout
from triton.runtime.driver import driver

from ..errors import TritonExtError
from ..support.storage import private_dir

#: Seconds after which a process goes ahead without its turn. No holder measures so long: it is stopped, or hangs.
PATIENCE = 600.0
#: Seconds between two looks at a lock.
_LOOK = 0.005
#: Where the locks are: the same for all processes of a user, whatever their directory for temporary files is.
_ROOTS = ("/tmp", "/dev/shm")


@contextlib.contextmanager
def turn(device: str | None = None) -> Iterator[None]:
    """Waits until no other process uses a device, and keeps the others waiting during the block.

    The process that waits longest is next: it holds a second lock, without which nobody may ask for the first one. So a
    process that measures many candidates cannot take every turn. Where no lock can be kept, the block runs without one.

    Args:
        device: its name; default: `device_in_use`.
    """
    with contextlib.ExitStack() as held:
        with contextlib.suppress(OSError, TritonExtError):
            _enter(held, _directory(), re.sub(r"[^\w.:-]", "-", device or device_in_use()))
        yield


def turn_to_compile() -> contextlib.AbstractContextManager[None]:
    """Returns `turn` for a target whose compiler and kernels share a processor; otherwise a block without effect."""
    shared = not runs_beside_the_compiler(driver.active.get_current_target().backend)
    return turn() if shared else contextlib.nullcontext()


def device_in_use() -> str:
    """Returns a name for the device of this thread that is the same in all processes of this machine.

    A GPU has another number in a process with ``CUDA_VISIBLE_DEVICES``, so its UUID is the name if PyTorch knows it.
    """
    try:
        backend = str(driver.active.get_current_target().backend)
    except RuntimeError:
        return "interpreter"
    if not runs_beside_the_compiler(backend):
        return backend
    number = driver.active.get_current_device()
    visible = os.environ.get("CUDA_VISIBLE_DEVICES" if backend == "cuda" else "HIP_VISIBLE_DEVICES", "")
    name = dict(enumerate(visible.split(","))).get(number, "") or str(number)
    with contextlib.suppress(AttributeError, ImportError, RuntimeError):
        name = str(driver.active.get_device_interface().get_device_properties(number).uuid)
    return f"{backend}-{name}"


def runs_beside_the_compiler(backend: str) -> bool:
    """Whether kernels of a backend run on a device of their own; otherwise a compilation disturbs a measurement."""
    return backend in ("cuda", "hip")


def _directory() -> Path:
    for root in map(Path, _ROOTS):
        if os.access(root, os.W_OK | os.X_OK):
            return private_dir(root / f"triton-ext-turns-{os.geteuid()}")
    raise TritonExtError(f"none of {', '.join(_ROOTS)} can be written")


def _enter(held: contextlib.ExitStack, directory: Path, name: str) -> None:
    """Takes the lock of a device, until `held` ends."""
    until = time.monotonic() + PATIENCE
    own, following = (FileLock(directory / f"{name}.{part}", mode=0o600) for part in ("turn", "next"))
    held.callback(own.release)
    with contextlib.suppress(Timeout, OSError):
        following.acquire(PATIENCE, _LOOK)
        try:
            own.acquire(max(0.0, until - time.monotonic()), _LOOK)
        finally:
            following.release()
