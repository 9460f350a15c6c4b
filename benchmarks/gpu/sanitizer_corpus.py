# SPDX-License-Identifier: Apache-2.0
"""On a GPU: the kernels of test/sanitizer/corpus, under the sanitizer and under compute-sanitizer's tools.

Needs PyTorch with CUDA. Prints for each check and each tool how many planted bugs were found and missed, and how many
twins gave a false alarm; writes corpus.txt and corpus.json to the directory that the environment variable OUT names.
memcheck runs twice: as a program would, and with every tensor in an allocation of its own, which is its best case.
gsan is Triton's own detector of races, which ends the process at the first one; it runs each kernel of the corpus for
at most 20 seconds, and all of them for at most seven minutes.
Exits with 1 if the sanitizer misses a bug, names another line or tensor, or raises a false alarm. ``--cpu`` runs only
the sanitizer, on this machine's processor. A name of a check as argument chooses its kernels. ``--ours`` runs only the
sanitizer, ``--tools`` only compute-sanitizer and gsan, ``--gsan`` only gsan.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

ON_CPU = "--cpu" in sys.argv
if ON_CPU:
    os.environ["TRITON_DEFAULT_BACKEND"] = "cpu"
os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
sys.path[:0] = [str(Path(__file__).resolve().parents[2] / "test"), str(Path(__file__).resolve().parent)]

import sanitizer_gsan  # noqa: E402
import torch  # noqa: E402
import triton  # noqa: E402

from support.sanitizer import judge  # noqa: E402
from support.sanitizer.cases import Case, Tensors, corpus  # noqa: E402

OUT = Path(os.environ.get("OUT", "."))
DEVICE = "cpu" if ON_CPU else "cuda"
#: The tools, their options, and what is in the environment.
TOOLS: dict[str, tuple[list[str], dict[str, str]]] = {
    "memcheck": (["--tool", "memcheck", "--destroy-on-device-error", "kernel"], {}),
    "memcheck, own allocations": (
        ["--tool", "memcheck", "--destroy-on-device-error", "kernel", "--padding", "4096"],
        {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"},
    ),
    "initcheck": (["--tool", "initcheck"], {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}),
}
_SECONDS = 35
#: gsan runs each kernel on its own, at most this long in all.
_GSAN_SECONDS = 420
_GSAN_PROCESSES = 12


def launched(case: Case, bug: bool) -> None:
    """Runs the kernel with the bug, or its twin."""
    tensors = Tensors(DEVICE, bug)
    case.kernel[case.grid](**case.given(tensors))
    if not ON_CPU:
        torch.cuda.synchronize()


def ours(cases: dict[str, Case]) -> dict[str, tuple[str, str]]:
    """Returns for each case what the sanitizer says of the bug, and of the twin."""
    result = {}
    for name, case in cases.items():
        said = []
        for bug in (True, False):
            try:
                # What is out of bounds is suppressed, so that it harms nobody.
                checks = "all" if not bug else "bounds" if case.check == "view" else case.check
                found = judge.findings(case, Tensors(DEVICE, bug), checks, action="suppress")
                alarms = ", ".join(sorted({f"{one.check} in line {one.line}" for one in found}))
                said.append((judge.differences(case, found) or "found") if bug else alarms)
            except Exception as error:  # the row says so
                said.append(f"{type(error).__name__}: {str(error)[:120]}")
        result[name] = (said[0], said[1])
    return result


def under_tool(tool: str, cases: dict[str, Case]) -> dict[str, tuple[str, str]]:
    """Returns for each case whether the tool's process found the bug, and whether it reports the twin."""
    program = shutil.which("compute-sanitizer")
    if program is None:
        return {}
    options, variables = TOOLS[tool]
    said: dict[str, list[str]] = {name: [] for name in cases}
    functions = {case.within.__name__: name for name, case in cases.items() if case.within is not None}
    for what in ("bug", "twin"):
        log = OUT / f"{tool.replace(', ', '-').replace(' ', '-')}-{what}.log"
        command = [program, *options, "--print-limit", "100000", "--log-file", str(log), sys.executable, __file__]
        environment = {**os.environ, **variables}
        try:
            done = subprocess.run(
                [*command, f"--launch={what}", *cases], env=environment, capture_output=True, text=True, check=False,
                timeout=_SECONDS,
            )  # fmt: skip
            printed = done.stdout
        except subprocess.TimeoutExpired as late:
            printed = late.stdout.decode() if isinstance(late.stdout, bytes) else str(late.stdout or "")
        reported = set(re.findall(r"\w+", log.read_text())) if log.exists() else set()
        reported |= {functions[one] for one in reported & functions.keys()}
        ran = {line.split("\t")[1] for line in printed.splitlines() if line.startswith("ran\t")}
        for name in cases:
            said[name].append("found" if name in reported else "missed" if name in ran else "did not run")
    return {name: (one, "false alarm" if other == "found" else "") for name, (one, other) in said.items()}


def under_gsan(cases: dict[str, Case]) -> dict[str, tuple[str, str]]:
    """Returns the same for gsan, which ends a process at its first finding."""
    names = [name for name, case in cases.items() if case.launched]
    tool = [sys.executable, "-m", "triton.tools.gsan", __file__, "--first"]
    commands = {
        what: lambda left, what=what: [*tool, f"--launch={what}", *left]  # type: ignore[misc]
        for what in ("bug", "twin")
    }
    said = sanitizer_gsan.run_all(commands, names, OUT, processes=_GSAN_PROCESSES, seconds=_GSAN_SECONDS)
    return {
        name: (said["bug"].get(name, "did not run"), "false alarm" if said["twin"].get(name) == "found" else "")
        for name in cases
    }


def launch_all(what: str, cases: dict[str, Case], only_first: bool) -> None:
    """Runs the cases: what a process under a tool does. A kernel that the tool ends is the last one if `only_first`."""
    for name, case in cases.items():
        if case.launched:
            try:
                launched(case, what == "bug")
            except Exception as error:  # the tool has ended the kernel
                print(f"ended\t{name}\t{str(error)[:80]!r}", flush=True)
                if only_first:
                    return
            print(f"ran\t{name}", flush=True)


def main(cases: dict[str, Case]) -> int:
    """Prints the table; returns the exit status."""
    only = {"--ours", "--tools", "--gsan"}.intersection(sys.argv)
    results = {"triton-ext": ours(cases)} if only <= {"--ours"} else {}
    if not ON_CPU and only <= {"--tools"}:
        results |= {tool: rows for tool in TOOLS if (rows := under_tool(tool, cases))}
    if not ON_CPU and only <= {"--tools", "--gsan"}:
        results["gsan"] = under_gsan(cases)
    where = "the processor" if ON_CPU else torch.cuda.get_device_name()
    lines = [f"{where}, PyTorch {torch.__version__}: {len(cases)} kernels with a bug each, and their twins"]
    counts = Counter(case.check for case in cases.values())
    for tool, rows in results.items():
        lines.append(f"{tool}:")
        for check, number in counts.items():
            of_check = [rows[name] for name, case in cases.items() if case.check == check]
            found = sum(bug == "found" for bug, _ in of_check)
            ran = sum(bug in ("found", "missed") for bug, _ in of_check)
            alarms = sum(bool(twin) for _, twin in of_check)
            lines.append(
                f"  {check:10} found {found:3} of {number:3}, missed {ran - found:3}, not run {number - ran:3},"
                f" false alarms {alarms:3}"
            )
    wrong = {name: row for name, row in results.get("triton-ext", {}).items() if row != ("found", "")}
    lines += [f"  {name}: {bug}{'; twin: ' + twin if twin else ''}" for name, (bug, twin) in wrong.items()]
    print("\n".join(lines), flush=True)
    (OUT / "corpus.txt").write_text("\n".join(lines) + "\n")
    (OUT / "corpus.json").write_text(json.dumps(results, indent=1))
    return bool(wrong)


if __name__ == "__main__":
    if not ON_CPU:  # where Triton puts the descriptors that kernels make
        triton.set_allocator(lambda size, _alignment, _stream: torch.empty(size, dtype=torch.int8, device=DEVICE))
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    every = {name: case for name, case in corpus().items() if not words or name in words or case.check in words}
    launching = [word.partition("=")[2] for word in sys.argv if word.startswith("--launch=")]
    if launching:
        launch_all(launching[0], every, "--first" in sys.argv)
    else:
        sys.exit(main(every))
