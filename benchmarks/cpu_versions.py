# SPDX-License-Identifier: Apache-2.0
"""The CPU backend of two checkouts, in turns on the same cores: did a change make kernels or their compilation slower?

    .venv/bin/python benchmarks/cpu_versions.py OLD NEW

Each checkout is built and has its own ``.venv``. The rows are those of ``benchmarks/cpu.py`` whose tiles are fixed. The
compilations are those of ``backends/cpu/test/test_tutorials.py``. Both are as the checkout has them. A time is the
shortest of all turns. Noise is how much more the median of the turns takes, of the checkout for which this is more.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import tempfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

#: Prints the names of the rows of benchmarks/cpu.py as JSON. For each number of a row and number of threads that it
#: reads, prints the shortest time in ms of about a tenth of a second of runs.
ROWS = """
import json, sys
sys.path.insert(0, sys.argv[1] + "/benchmarks")
import cpu, torch
of_all = hasattr(cpu, "ROWS")  # else a checkout whose rows have no groups
cases = list(cpu.cases([*cpu.cpu_rows.ROWS, "wrapped"])) if of_all else cpu.cases(False)
print(json.dumps([case.name for case in cases]), flush=True)
for line in sys.stdin:
    row, threads = map(int, line.split())
    torch.set_num_threads(threads)
    print(1e3 * cpu.seconds(cases[row].ours, 0.1, 3), flush=True)
"""

#: Prints the times of all compilations of the tutorials in ms, in order, by kernel and stages, as JSON.
COMPILATIONS = """
import json, sys
from collections import defaultdict
import pytest
from triton import knobs
found = defaultdict(list)
def listen(*, src, times, cache_hit, **rest):
    if not cache_hit:
        stages = {"ttir": times.ir_initialization, **{name: 0 for name, _ in times.lowering_stages}}
        for name, spent in times.lowering_stages:
            stages[name] += spent
        for name, spent in stages.items():
            found[f"{src.name}: {name}"].append(spent / 1e3)
class Listen:
    def pytest_collection_finish(self, session):
        knobs.compilation.listener = listen
file = sys.argv[1] + "/backends/cpu/test/test_tutorials.py"
code = pytest.main(["-q", "-n0", "-p", "no:cacheprovider", "--rootdir", sys.argv[1], file], plugins=[Listen()])
if code:
    sys.exit(f"pytest ended with {code}")
print(json.dumps(found))
"""

Times = dict[str, list[list[float]]]


def cores() -> list[int]:
    """Returns one processor for each physical core."""
    first: dict[str, int] = {}
    for cpu in sorted(os.sched_getaffinity(0)):
        siblings = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        first.setdefault(siblings.read_text() if siblings.exists() else str(cpu), cpu)
    return list(first.values())


def start(program: str, checkout: Path, on: list[int], scratch: str) -> subprocess.Popen[str]:
    """Starts `program` on the checkout, on the processors `on`, with Triton's cache in `scratch`."""
    return subprocess.Popen(
        ["taskset", "-c", ",".join(map(str, on)), checkout / ".venv" / "bin" / "python", "-c", program, str(checkout)],
        env={
            **os.environ,
            "OMP_NUM_THREADS": str(len(on)),
            "TRITON_CACHE_DIR": scratch,
            "TRITON_DEFAULT_BACKEND": "cpu",
            "TRITON_DEFAULT_FP_FUSION": "1",
        },
        cwd=checkout,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def run(program: str, checkout: Path, on: list[int]) -> dict[str, list[float]]:
    """Returns what `program` prints last."""
    with tempfile.TemporaryDirectory() as scratch, start(program, checkout, on, scratch) as child:
        text, _ = child.communicate()
    if child.returncode:
        raise SystemExit(f"{checkout}: {text[-2000:]}")
    return dict(json.loads(text.splitlines()[-1]))


def kernels(checkouts: list[Path], on: list[int], turns: int) -> list[Times]:
    """Returns the times of the rows: a process for each checkout, which measure in turns and sleep in between."""
    times: list[Times] = [defaultdict(list), defaultdict(list)]
    with tempfile.TemporaryDirectory() as old, tempfile.TemporaryDirectory() as new:
        children = [start(ROWS, path, on, scratch) for path, scratch in zip(checkouts, (old, new), strict=True)]

        def answer(child: subprocess.Popen[str]) -> str:
            assert child.stdout is not None
            return child.stdout.readline()

        names = [json.loads(answer(child)) for child in children][1]
        for row, threads in itertools.product(range(len(names)), (len(on), 1)):
            for which in (0, 1) * turns:
                child = children[which]
                assert child.stdin is not None
                print(row, threads, file=child.stdin, flush=True)
                name = f"{names[row]}, {threads} thread{'s' * (threads > 1)}"
                times[which][name].append([float(answer(child))])
        for child in children:
            child.communicate()
    return times


def shortest(rounds: list[list[float]]) -> float:
    """Returns the sum of the shortest times of each measurement."""
    return sum(min(column) for column in zip(*rounds, strict=True))


def noise(rounds: list[list[float]]) -> float:
    """Returns how much more than the shortest time the median takes."""
    return sum(median(column) for column in zip(*rounds, strict=True)) / shortest(rounds) - 1


def show(title: str, old: Times, new: Times) -> Table:
    table = Table("", title=title, title_justify="left")
    for column in ("old ms", "new ms", "new / old", "noise"):
        table.add_column(column, justify="right")
    for name, before in old.items():
        after = new[name]
        first, second = shortest(before), shortest(after)
        apart = max(noise(before), noise(after))
        table.add_row(name, f"{first:.4g}", f"{second:.4g}", f"{second / first:.3f}", f"{apart:.1%}")
    return table


def compilations(times: Times, of: str) -> Times:
    """Returns the times by kernel (`of` is 0) or by stage (1), and those of everything."""
    joined: dict[str, list[list[float]]] = {}
    for name, rounds in times.items():
        for key in (name.split(": ")[int(of == "stage")], "all"):
            known = joined.setdefault(key, [[] for _ in rounds])
            for have, more in zip(known, rounds, strict=True):
                have.extend(more)
    return joined


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkouts", nargs=2, type=Path, metavar="CHECKOUT", help="the old one and the new one")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--turns", type=int, default=20, help="of each row")
    parser.add_argument("--rounds", type=int, default=5, help="of all compilations")
    arguments = parser.parse_args()
    checkouts = [path.resolve() for path in arguments.checkouts]
    console, places = Console(width=110), cores()
    rows = kernels(checkouts, places[: arguments.threads], arguments.turns)
    console.print(show(f"Kernels, {arguments.turns} turns", *rows))
    compiled: list[Times] = [defaultdict(list), defaultdict(list)]
    with ThreadPoolExecutor(2) as pool:  # at the same time, on one core each, which they swap
        for k in range(arguments.rounds):
            swapped = places[:2] if k % 2 == 0 else places[1::-1]
            found = pool.map(run, [COMPILATIONS] * 2, checkouts, [[core] for core in swapped])
            for times, new in zip(compiled, found, strict=True):
                for name, values in new.items():
                    times[name].append(values)
    for of in ("kernel", "stage") if arguments.rounds else ():
        count = sum(len(rounds[0]) for name, rounds in compiled[1].items() if name.endswith(": so"))
        title = f"{count} compilations of the tutorials, by {of}"
        console.print(show(title, *(compilations(times, of) for times in compiled)))


if __name__ == "__main__":
    main()
