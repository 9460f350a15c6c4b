# SPDX-License-Identifier: Apache-2.0
"""A client of the server that writes and reads lines, so that it can also write what no client would."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from support import environment


class Lines:
    """A server process and its two pipes.

    Args:
        root: the directory that agents may name.
        options: more options of the command.
        variables: more of the environment.
    """

    def __init__(self, root: Path, *options: str, **variables: str) -> None:
        command = [sys.executable, "-P", "-m", "triton_ext", "mcp", "--root", str(root), *options]
        self.process = subprocess.Popen(
            command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(**variables)
        )
        self._answers: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._number = 0
        threading.Thread(target=self._read, daemon=True).start()
        client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        self.hello = self.request("initialize", client)
        self.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._answers.put(json.loads(line))
        self._answers.put(None)

    def write(self, text: str | bytes) -> None:
        """Writes one line."""
        assert self.process.stdin is not None
        self.process.stdin.write((text.encode() if isinstance(text, str) else text) + b"\n")
        self.process.stdin.flush()

    def request(self, method: str, params: object, timeout: float = 120) -> dict[str, Any]:
        """Sends a request, and returns its answer: an object with ``result`` or ``error``."""
        self._number += 1
        self.write(json.dumps({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}))
        return self.answer(self._number, timeout)

    def answer(self, number: int, timeout: float = 120) -> dict[str, Any]:
        """Returns the answer to the request `number`; answers to others are dropped."""
        until = time.monotonic() + timeout
        while True:
            found = self._answers.get(timeout=max(0.01, until - time.monotonic()))
            assert found is not None, "the server has ended"
            if found.get("id") == number:
                return found

    def call(self, tool: str, **arguments: object) -> tuple[str, str, dict[str, Any]]:
        """Calls a tool, and returns status, text and figures."""
        result = self.request("tools/call", {"name": tool, "arguments": arguments})["result"]
        (content,) = result["content"]
        figures = result.get("structuredContent", {})
        return figures.get("status", "not called"), content["text"], figures

    def close(self) -> int:
        """Ends standard input, and returns the exit status of the server."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(20)
