# SPDX-License-Identifier: Apache-2.0
"""Memory of shadows on a GPU: made at any time, used by several streams, and freed when none of them needs it."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable, Iterator
from typing import Any

#: The capture mode of CUDA and HIP in which a thread may also call functions that a stream cannot capture.
_RELAXED = 2

#: What a CUDA graph has the address of. The graph can be replayed whenever, so it lives as long as the process.
_captured: list[OnDevice] = []
_sides: dict[str, Any] = {}


class OnDevice:
    """A tensor for a shadow.

    It is made in a stream of its own, which captures nothing and waits for nobody. So the caching allocator gives the
    memory to another shadow only when each stream that `used_in` names has done what it had to do when this one was
    dropped; and a stream sees the tensor as it was made.
    """

    def __init__(self, device: str, make: Callable[[], Any], *, in_graph: bool = False) -> None:
        """Makes the tensor.

        Args:
            device: as `_buffer.current_device` returns it.
            make: returns it; its operations are those of torch's current stream.
            in_graph: whether each replay of the CUDA graph that is captured makes it. It is then in the graph's memory.
        """
        import torch

        self._device = device
        self._event: Any = None
        self._streams: set[int] = set()
        with torch._C._DisableTorchDispatch():  # the block follows what torch allocates
            if in_graph:
                self.tensor = make()
                return
            with relaxed(), torch.cuda.stream(_side(device)):
                self.tensor = make()
                self._event = torch.cuda.Event()
                self._event.record()

    def used_in(self, stream: int) -> Any:
        """Returns the tensor for what comes next in a stream."""
        if self._event is None:
            return self.tensor
        if is_capturing():
            self._keep()
            return self.tensor
        if stream in self._streams:
            return self.tensor
        import torch

        used = stream_of(self._device, stream)
        used.wait_event(self._event)
        with torch._C._DisableTorchDispatch():
            self.tensor.record_stream(used)
        self._streams.add(stream)
        return self.tensor

    def _keep(self) -> None:
        """Keeps the tensor for a graph, which may be replayed in any stream."""
        if not any(one is self for one in _captured):
            with relaxed():
                self._event.synchronize()
            _captured.append(self)


def _side(device: str) -> Any:
    import torch

    if device not in _sides:
        _sides[device] = torch.cuda.Stream(device=device)
    return _sides[device]


@contextlib.contextmanager
def relaxed() -> Iterator[None]:
    """A block in which the thread may load kernels, allocate memory and wait while it captures a stream.

    CUDA refuses that in a thread that captures, unless the thread asks for it: it is no work of the stream, so the
    graph stays as it is.
    """
    if not is_capturing():
        yield
        return
    import torch

    library, name = ("libamdhip64.so", "hip") if torch.version.hip else ("libcuda.so.1", "cu")
    exchange = getattr(ctypes.CDLL(library), f"{name}ThreadExchangeStreamCaptureMode")
    mode = ctypes.c_int(_RELAXED)
    exchange(ctypes.byref(mode))
    try:
        yield
    finally:
        exchange(ctypes.byref(mode))


def is_capturing() -> bool:
    """Whether torch's current stream is captured in a CUDA graph."""
    import torch

    return bool(torch.cuda.is_current_stream_capturing())


def stream_of(device: str, stream: int) -> Any:
    """Returns torch's stream with this handle."""
    import torch

    used = torch.cuda.current_stream(device)
    return used if used.cuda_stream == stream else torch.cuda.ExternalStream(stream, device=device)


def on(device: str, stream: int) -> Any:
    """Returns a context in which torch uses a stream of a device; for the CPU, one that does nothing."""
    import torch

    return contextlib.nullcontext() if device == "cpu" else torch.cuda.stream(stream_of(device, stream))
