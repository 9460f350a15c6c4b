# SPDX-License-Identifier: Apache-2.0
"""On a GPU: an agent's session against `triton-ext mcp`, from start to finish, by a script; prints the transcript.

Needs PyTorch with CUDA and the package `mcp`; Optuna for the history. The session looks for passes, reads what one
does, tries it on attention with a window, makes mistakes, checks and measures, and measures against the best trial of a
search that ran before (``--seconds``; 0: without it). ``--target cpu`` runs the small launches on the CPU. Exits with 1
if an answer does not have the status that is expected.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters, stdio_client

HERE = Path(__file__).parent
SLIDING = {
    "kernel": "loop_split_kernels.py:sliding",
    "inputs": "search_kernels.py:sliding_inputs",
    "grid": "search_kernels.py:by_blocks",
    "options": {"BM": 128, "BN": 64, "num_warps": 4, "num_stages": 3},
}
INCUMBENT = {"against_options": SLIDING["options"]}
SPLIT = "ttir: after(common.inliner, loop_split{guard=true})"
#: The tool, its arguments, the status that is expected, and how many lines of the answer are printed.
SESSION: list[tuple[str, dict[str, Any], str, int]] = [
    ("list_kernels", {}, "ok", 40),
    ("list_passes", {"origin": "extensions", "search": "loops"}, "ok", 20),
    ("describe_pass", {"name": "loop_split"}, "ok", 40),
    ("describe_pipeline", SLIDING, "ok", 30),
    ("compile_kernel", {**SLIDING, "pipeline": "ttir: after(common.inliner, loop_spilt)"}, "pipeline error", 12),
    ("compile_kernel", {**SLIDING, "pipeline": SPLIT}, "ok", 40),
    ("diff_ir", {**SLIDING, "what": "ttir", "pipeline": SPLIT, "context": 0}, "ok", 30),
    ("read_ir", {**SLIDING, "what": "ttir", "pipeline": SPLIT, "pattern": "scf.for", "context": 0}, "ok", 12),
    ("check_kernel", {**SLIDING, "pipeline": SPLIT, "tolerance": [2e-2, 2e-2]}, "ok", 12),
    ("measure_kernel", {**SLIDING, **INCUMBENT, "pipeline": SPLIT}, "ok", 12),
    ("check_kernel", {**SLIDING, "kernel": "../../setup.py:sliding"}, "refused", 4),
]
HISTORY: list[tuple[str, dict[str, Any], str, int]] = [
    ("search_history", {}, "ok", 40),
    ("measure_kernel", {**SLIDING, "pipeline": SPLIT, "against_study": ""}, "ok", 12),
]


def main() -> None:
    """Searches, and has the session."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=30.0, help="budget of the search before the session")
    parser.add_argument("--target", choices=("cuda", "cpu"), default="cuda")
    given = parser.parse_args()
    environment = {
        **os.environ,
        "BENCHMARK_TARGET": given.target,
        "PYTHONPATH": os.pathsep.join([str(HERE), *sys.path]),
    }
    if given.target == "cpu":
        environment["TRITON_DEFAULT_BACKEND"] = "cpu"
    with tempfile.TemporaryDirectory() as scratch:
        storage = Path(scratch, "study.db")
        if given.seconds:
            command = [
                sys.executable,
                str(HERE / "search_one.py"),
                "search",
                "sliding",
                str(Path(scratch, "found.json")),
            ]
            command += ["--seconds", str(given.seconds), "--directory", scratch]
            subprocess.run(command, env=environment, check=True)
            Path(scratch, "sliding.db").rename(storage)
        sys.exit(anyio.run(_session, environment, storage if given.seconds else None))


async def _session(environment: dict[str, str], storage: Path | None) -> int:
    """Calls the tools; returns how many answers have another status than expected."""
    command = ["-m", "triton_ext", "mcp", "--root", str(HERE), "--time-limit", "120s"]
    command += ["--storage", str(storage)] if storage is not None else []
    server = StdioServerParameters(command=sys.executable, args=command, env=environment)
    wrong, started = 0, time.perf_counter()
    async with Client(stdio_client(server), mode="legacy") as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        print(f"{client.server_info.name} has the tools {', '.join(tools)}")
        for tool, arguments, expected, most in SESSION + (HISTORY if storage is not None else []):
            if "against_study" in arguments:
                from triton_ext.searching import report

                arguments = {**arguments, "against_study": report(storage).name}  # noqa: PLW2901
            began = time.perf_counter()
            result = await client.call_tool(tool, arguments)
            lines = "".join(part.text for part in result.content).splitlines()
            print(f"\n== {tool} {arguments}, {time.perf_counter() - began:.1f} s", *lines[:most], sep="\n", flush=True)
            if len(lines) > most:
                print(f"... {len(lines) - most} more lines")
            if lines[0] != f"status: {expected}":
                print(f"!! expected {expected}", flush=True)
                wrong += 1
    print(f"\n{wrong} answers with another status than expected, {time.perf_counter() - started:.0f} s")
    return min(wrong, 1)


if __name__ == "__main__":
    main()
