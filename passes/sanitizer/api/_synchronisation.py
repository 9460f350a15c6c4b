# SPDX-License-Identifier: Apache-2.0
"""Raises the errors of kernels in the functions of torch that wait for a device.

These are ``torch.cuda.synchronize``, ``torch.cuda.Stream.synchronize`` and ``torch.cuda.Event.synchronize``. They are
wrapped only while somebody follows. ``Tensor.cpu`` and ``Tensor.item`` wait, too, but in C++, where nothing can be
wrapped; so a block also looks when it ends.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable
from typing import Any

_NAME = "synchronize"
_followers: list[Callable[[], None]] = []
_originals: list[tuple[Any, Any]] = []
_lock = threading.RLock()


def follow(follower: Callable[[], None]) -> None:
    """Has `follower` called after each wait for a device. Imports torch only if the program has."""
    with _lock:
        _followers.append(follower)
        torch = sys.modules.get("torch")
        if _originals or torch is None:
            return
        for owner in (torch.cuda, torch.cuda.Stream, torch.cuda.Event):
            _originals.append((owner, vars(owner).get(_NAME)))
            setattr(owner, _NAME, _wrapped(getattr(owner, _NAME)))


def forget(follower: Callable[[], None]) -> None:
    """Takes back one `follow`; the last one restores the functions."""
    with _lock:
        _followers.remove(follower)
        if _followers:
            return
        for owner, original in _originals:
            if original is None:  # it was inherited
                delattr(owner, _NAME)
            else:
                setattr(owner, _NAME, original)
        _originals.clear()


def _wrapped(wait: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(wait)
    def wait_and_look(*args: Any, **kwargs: Any) -> Any:
        result = wait(*args, **kwargs)
        if not _is_looking.now:
            _is_looking.now = True
            try:
                for follower in tuple(_followers):
                    follower()
            finally:
                _is_looking.now = False
        return result

    return wait_and_look


class _Looking(threading.local):
    """Whether the thread is in a follower, which waits itself."""

    now = False


_is_looking = _Looking()
