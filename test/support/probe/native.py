# SPDX-License-Identifier: Apache-2.0
"""The backend that runs kernels on this machine's processor, and the memory of sessions there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from triton_ext import backends, probe


def native_backend() -> str:
    """Returns the backend's name; skips the test without one, because the directory of any backend may be deleted."""
    found = (name for name, backend in backends.declared().items() if backend.target.endswith(":native"))
    return next(found, "") or pytest.skip("this checkout has no backend for the machine's processor")


def guarded_memories(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Returns a list that gets the memory of each session that begins, and the number of the buffer's words in it.

    Behind the buffer are words that no probe may change, see `check_guards`.
    """
    memories: list[Any] = []
    real = probe._buffer.memory

    def guarded(words: int, device: str, first: dict[int, int]) -> Any:
        content = np.full(words + 64, 0x5A5A5A5A, np.int64)
        content[:words] = real(words, device, first)
        memories.append((content, words))
        return content

    monkeypatch.setattr(probe._buffer, "memory", guarded)
    return memories


def check_guards(memories: list[Any]) -> None:
    """Checks that there are memories, and that no probe has written behind their buffers."""
    assert memories
    for content, words in memories:
        assert (content[words:] == 0x5A5A5A5A).all()
