# SPDX-License-Identifier: Apache-2.0
"""On a GPU: what the sanitizer costs, beside compute-sanitizer where it is installed and works.

Needs PyTorch with CUDA. For each kernel of sanitizer_kernels.py and each set of checks: the slowdown, as the median of
the rounds' ratios to the kernel without checks, run in turns, and the ratio of the times to compile. Results have to be
right, and equal bit for bit with and without checks; nothing may be found. Exits with 1 otherwise. Writes sanitizer.txt
and sanitizer.json to the directory that the environment variable OUT names. ``--cpu`` measures the same kernels
on this machine's processor: the median of the later half of a round's launches. Names of kernels as arguments choose
some; ``--sets=cheap,bounds`` chooses columns. ``--compile`` measures only how long kernels compile: the least of nine.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

ON_CPU = "--cpu" in sys.argv
if ON_CPU:
    os.environ["TRITON_DEFAULT_BACKEND"] = "cpu"
os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")

import torch  # noqa: E402
import triton  # noqa: E402
from sanitizer_kernels import Case, cases  # noqa: E402

import triton_ext as tx  # noqa: E402

OUT = Path(os.environ.get("OUT", "."))
DEVICE = "cpu" if ON_CPU else "cuda"
ROUNDS, TIMES, COMPILATIONS = (9, 5, 3) if ON_CPU else (15, 4, 1)
#: How long launches of a set of checks are measured in a round on the CPU.
SECONDS_ON_CPU = 0.05
#: The sets of checks, by the title of their column.
SETS: dict[str, dict[str, Any]] = {
    "cheap": {"checks": "bounds,lanes,overflow,hints"},
    "dynamic": {"checks": "bounds,lanes,hints", "static": False},  # without the static part
    "dyn bounds": {"checks": "bounds", "static": False},
    "dyn lanes": {"checks": "lanes", "static": False},
    "each lane": {"checks": "bounds,lanes,hints", "corners": False},
    **{check: {"checks": check} for check in ("bounds", "lanes", "hints", "arith", "uninit", "race")},
    "unwritten": {"checks": "uninit"},  # each launch writes to new memory of torch.empty
    "uninit all": {"checks": "uninit", "static": False},  # the same, and the kernel looks at each lane of it
    "race all": {"checks": "race", "static": False},  # all tensors that a kernel writes have shadows
}
for option in sys.argv[1:]:
    if option.startswith("--sets="):
        SETS = {title: SETS[title] for title in option.partition("=")[2].split(",")}
#: The sets whose launches write to new memory, beside the launches without checks that do.
ON_NEW_MEMORY = ("none new", "unwritten", "uninit all")
#: What the time of a set of checks is compared with. On a CPU, new memory costs page faults, whatever is checked; on a
#: GPU, PyTorch keeps it.
BASES = {title: "none new" if ON_CPU and title in ON_NEW_MEMORY else "none" for title in SETS}
TOOLS = ("memcheck", "initcheck")
lines: list[str] = []
failures: list[str] = []


def say(text: str = "") -> None:
    """Prints a line, and keeps it for the file."""
    print(text, flush=True)
    lines.append(text)
    (OUT / "sanitizer.txt").write_text("\n".join(lines) + "\n")


def launch(case: Case, *, on_new_memory: bool) -> None:
    """Runs the kernel once."""
    new = {name: torch.empty_like(case.arguments[name]) for name in case.outputs if on_new_memory}
    replace(case, arguments={**case.arguments, **new}).launch()


def milliseconds(case: Case, *, on_new_memory: bool) -> float:
    """Returns how long one launch takes."""
    if ON_CPU:
        times: list[float] = []
        while len(times) < TIMES or sum(times) < SECONDS_ON_CPU:
            started = time.perf_counter()
            launch(case, on_new_memory=on_new_memory)
            times.append(time.perf_counter() - started)
        # After a compilation or the begin of a block, the tensors come back to the cache in 10 to 15 launches.
        return statistics.median(times[len(times) // 2 :]) * 1e3
    cycles = 2_000_000  # about a millisecond
    while True:
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda._sleep(cycles)
        start.record()
        for _ in range(TIMES):
            launch(case, on_new_memory=on_new_memory)
        end.record()
        is_queued = not start.query()  # all launches, before the first one ran: no time of the host counts
        end.synchronize()
        if is_queued or cycles > 100_000_000:  # a launch that waits for the GPU can never be queued behind another one
            return float(start.elapsed_time(end)) / TIMES
        cycles *= 2


@contextlib.contextmanager
def checked(options: dict[str, Any] | None, found: list[str]) -> Iterator[None]:
    """Runs the block with these options of `tx.sanitize`, and adds what is found."""
    if options is None:
        yield
        return
    with tx.sanitize(**options) as report:
        yield
    found.extend(f"{one.check} in line {one.line}: {one.message}" for one in report.findings)


def slowdowns(case: Case, sets: dict[str, dict[str, Any] | None]) -> tuple[dict[str, list[float]], list[str]]:
    """Returns the milliseconds of a launch with each set of checks, for each round, and what was found."""
    times: dict[str, list[float]] = {title: [] for title in sets}
    found: list[str] = []
    for turn in range(ROUNDS + 1):
        titles = [*sets]
        for title in titles[turn % len(titles) :] + titles[: turn % len(titles)]:
            with checked(sets[title], found):
                on_new_memory = title in ON_NEW_MEMORY
                launch(case, on_new_memory=on_new_memory)  # compiles, and makes the launch slot
                spent = milliseconds(case, on_new_memory=on_new_memory)
            if turn:
                times[title].append(spent)
    return times, found


def compile_times(case: Case, sets: dict[str, dict[str, Any] | None], rounds: int) -> dict[str, list[float]]:
    """Returns the milliseconds of processor time that a compilation takes with each set of checks."""
    times: dict[str, list[float]] = {title: [] for title in sets}
    triton.knobs.compilation.always_compile = True
    try:
        for _ in range(rounds):
            for title, options in sets.items():
                case.kernel.device_caches.clear()
                with checked(options, []):
                    started = time.process_time()
                    case.kernel.warmup(**case.arguments, **case.options, grid=case.grid)
                    times[title].append((time.process_time() - started) * 1e3)
    finally:
        triton.knobs.compilation.always_compile = False
    return times


def outputs(case: Case) -> list[torch.Tensor]:
    """Returns copies of what the kernel writes."""
    return [case.arguments[name].clone() for name in case.outputs]


def check_results(case: Case, sets: dict[str, dict[str, Any] | None]) -> None:
    """Compares the results with what PyTorch says, and bit for bit with those of the checked kernels."""
    case.launch()
    plain = outputs(case)
    if not case.check():
        failures.append(f"{case.name}: wrong result without checks")
    for title, options in sets.items():
        for name in case.outputs:
            case.arguments[name].zero_()
        with checked(options, []):
            case.launch()
        for one, other in zip(plain, outputs(case), strict=True):
            if not torch.equal(one, other):
                failures.append(f"{case.name}, {title}: not the same bits")


def geometric_mean(numbers: list[float]) -> float:
    """Returns their geometric mean."""
    return statistics.geometric_mean(numbers) if numbers else float("nan")


def under_tool(tool: str, names: list[str]) -> dict[str, float]:
    """Returns the milliseconds of a launch of each kernel in a process under compute-sanitizer; none if it fails."""
    program = shutil.which("compute-sanitizer")
    if program is None:
        return {}
    command = [program, "--tool", tool, "--print-limit", "1", sys.executable, __file__, "--times", *names]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=45)
    except subprocess.TimeoutExpired as late:
        say(f"compute-sanitizer {tool}: stopped after {late.timeout} s")
        printed = late.stdout or b""
        text = printed.decode() if isinstance(printed, bytes) else printed
    else:
        text = done.stdout
        if done.returncode:
            say(f"compute-sanitizer {tool}: status {done.returncode}: {text.strip()[-300:]}")
    rows = [line.split("\t") for line in text.splitlines() if line.startswith("time\t")]
    return {name: float(spent) for _, name, spent in rows}


def print_times(chosen: list[str]) -> None:
    """Prints the time of one launch of each kernel: what a process under compute-sanitizer does."""
    for case in cases(DEVICE):
        if not chosen or case.name in chosen:
            case.launch()
            torch.cuda.synchronize()
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            case.launch()
            end.record()
            end.synchronize()
            print(f"time\t{case.name}\t{start.elapsed_time(end)}", flush=True)


def print_compile_times(
    chosen: list[Case], sets: dict[str, dict[str, Any] | None], rows: dict[str, dict[str, object]], rounds: int
) -> None:
    """Prints how long kernels compile: the median of a few rounds, the least of many."""
    middle = statistics.median if rounds == COMPILATIONS else min
    say(f"{'compile time':20} {'ms':>9} " + " ".join(f"{title:>9}" for title in SETS))
    for case in chosen:
        compiled = compile_times(case, sets, rounds)
        plain = middle(compiled["none"])
        factors = {title: middle(compiled[title]) / plain for title in SETS}
        say(f"{case.name:20} {plain:9.1f} " + " ".join(f"{factor:9.3f}" for factor in factors.values()))
        rows.setdefault(case.name, {}).update({"compile ms": plain, "compile": factors})
        (OUT / "sanitizer.json").write_text(json.dumps(rows, indent=1))


def main(chosen: list[str]) -> int:
    """Prints the tables; returns the exit status."""
    where = f"{torch.get_num_threads()} threads" if ON_CPU else torch.cuda.get_device_name()
    say(f"{where}, Triton {triton.__version__}, PyTorch {torch.__version__}")
    sets: dict[str, dict[str, Any] | None] = dict.fromkeys(("none", *BASES.values())) | SETS
    if "--compile" in sys.argv:
        print_compile_times([case for case in cases(DEVICE) if not chosen or case.name in chosen], sets, {}, 9)
        return 0
    first = next(iter(SETS))
    say(f"{'slowdown':20} {'ms':>9} " + " ".join(f"{title:>9}" for title in SETS) + f" {'quartiles of ' + first:>20}")
    rows: dict[str, dict[str, object]] = {}
    for case in cases(DEVICE):
        if chosen and case.name not in chosen:
            continue
        check_results(case, sets)
        times, found = slowdowns(case, sets)
        failures.extend(f"{case.name}: {one}" for one in dict.fromkeys(found))
        each = {title: [a / b for a, b in zip(times[title], times[BASES[title]], strict=True)] for title in SETS}
        ratios = {title: statistics.median(values) for title, values in each.items()}
        low, _, high = statistics.quantiles(each[first], n=4)
        alone = statistics.median(times["none"])
        say(
            f"{case.name:20} {alone:9.4f} "
            + " ".join(f"{ratio:9.3f}" for ratio in ratios.values())
            + f" {low:10.3f} to {high:.3f}"
        )
        rows[case.name] = {"ms": alone, "slowdown": ratios}
    means = [geometric_mean([row["slowdown"][title] for row in rows.values()]) for title in SETS]  # type: ignore[index]
    say(f"{'geometric mean':30} " + " ".join(f"{mean:9.3f}" for mean in means))
    (OUT / "sanitizer.json").write_text(json.dumps(rows, indent=1))
    if not ON_CPU:
        for tool in TOOLS:
            spent = under_tool(tool, [*rows])
            for name, milliseconds_ in spent.items():
                say(f"compute-sanitizer {tool:10} {name:20} {milliseconds_ / rows[name]['ms']:9.1f} times slower")  # type: ignore[operator]
    print_compile_times([case for case in cases(DEVICE) if case.name in rows], sets, rows, COMPILATIONS)
    for failure in failures:
        say(f"FAIL {failure}")
    return bool(failures)


if __name__ == "__main__":
    names = [name for name in sys.argv[1:] if not name.startswith("--")]
    if "--times" in sys.argv:
        print_times(names)
    else:
        sys.exit(main(names))
