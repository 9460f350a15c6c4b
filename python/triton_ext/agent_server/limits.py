# SPDX-License-Identifier: Apache-2.0
"""The limits of one action: time, memory and output."""

from __future__ import annotations

from dataclasses import dataclass

#: Bytes of one request. The rest of a longer line is dropped, so that the line is not JSON and gets no answer.
REQUEST_BYTES = 4 << 20
#: Bytes that are kept of the beginning, and as many of the end, of what an action prints.
PRINTED_BYTES = 2000
#: Bytes of one line of an answer; the rest of a longer line is left out.
LINE_CHARACTERS = 2000


@dataclass(frozen=True)
class Limits:
    """The limits of one action: time, memory and output.

    Attributes:
        seconds: wall time, after which its process is killed with all that it has started.
        memory: bytes of data of each process.
        output: characters of the answer.
        file: bytes of each file that it writes.
    """

    seconds: float = 60.0
    memory: int = 16 << 30
    output: int = 20_000
    file: int = 1 << 30

    @property
    def answer_bytes(self) -> int:
        """The bytes that the server reads of an answer: more than any action within the limits writes."""
        return 16 * self.output + (1 << 20)
