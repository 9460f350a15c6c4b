# SPDX-License-Identifier: Apache-2.0
"""Standard input, of which one line cannot fill the server's memory."""

from __future__ import annotations

import fcntl
import io
import os
import sys

from .limits import REQUEST_BYTES


class BoundedLines(io.RawIOBase):
    """Passes on the bytes of a file, but only a limited number of each line.

    Args:
        descriptor: the file.
        most: the bytes of a line that are passed on.
    """

    def __init__(self, descriptor: int, most: int) -> None:
        self._descriptor = descriptor
        self._most = most
        self._length = 0  # of the line so far

    def readable(self) -> bool:
        """Returns True."""
        return True

    def read1(self, size: int = -1, /) -> bytes:
        """Returns at least one byte, or none at the end of the file."""
        while True:
            data = os.read(self._descriptor, 1 << 16 if size < 0 else max(size, 1))
            kept = self._kept(data)
            if kept or not data:
                return kept

    read = read1

    def _kept(self, data: bytes) -> bytes:
        parts = data.split(b"\n")
        kept = []
        for i, part in enumerate(parts):
            if i > 0:
                self._length = 0
            kept.append(part[: max(0, self._most - self._length)])
            self._length += len(part)
        return b"\n".join(kept)


def bound_standard_input() -> None:
    """Replaces `sys.stdin` by one with bounded lines, and descriptor 0 by nothing, so that no child reads requests."""
    private = fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, 3)
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.close(nowhere)
    sys.stdin = io.TextIOWrapper(BoundedLines(private, REQUEST_BYTES), encoding="utf-8", errors="replace")
