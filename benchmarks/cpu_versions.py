# SPDX-License-Identifier: Apache-2.0
"""The CPU backend of two checkouts, in turns on the same cores: did a change make kernels or their compilation slower?

    .venv/bin/python benchmarks/cpu_versions.py OLD NEW

Each checkout is built and has its own ``.venv``. The rows are those of ``benchmarks/cpu.py``, and the compilations those
of ``backends/cpu/test/test_tutorials.py``, both as the checkout has them. A time is the shortest of all rounds. Noise is
how far apart the rounds of one checkout are, the greater of the two: the median of its rounds over the shortest.
"""

from __future__ import annotations

import argparse
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

#: Prints the times of the rows of benchmarks/cpu.py in ms, with all threads and with one, as JSON.
ROWS = """
import json, sys
sys.path.insert(0, sys.argv[1] + "/benchmarks")
import cpu, torch
threads, found = int(sys.argv[2]), {}
torch.set_num_threads(threads)
for case in cpu.cases(False):
    for count in (threads, 1):
        torch.set_num_threads(count)
        found[f"{case.name}, {count} threads" if count > 1 else f"{case.name}, 1 thread"] = [
            1e3 * min(cpu.seconds(case.ours, 0.2, 5) for _ in range(3))
        ]
    torch.set_num_threads(threads)
whole, launcher = cpu.launch_microseconds()
found["launch of an empty kernel"], found["the launcher's part of it"] = [whole / 1e3], [launcher / 1e3]
print(json.dumps(found))
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


def run(program: str, checkout: Path, on: list[int]) -> dict[str, list[float]]:
    """Returns what `program` prints when it runs on the checkout, on the processors `on`."""
    with tempfile.TemporaryDirectory() as scratch:
        done = subprocess.run(
            [checkout / ".venv" / "bin" / "python", "-c", program, str(checkout), str(len(on))],
            env={
                **os.environ,
                "OMP_NUM_THREADS": str(len(on)),
                "TRITON_CACHE_DIR": scratch,
                "TRITON_DEFAULT_BACKEND": "cpu",
                "TRITON_DEFAULT_FP_FUSION": "1",
            },
            cwd=checkout,
            preexec_fn=lambda: os.sched_setaffinity(0, on),
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise SystemExit(f"{checkout}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def add(rounds: list[Times], found: list[dict[str, list[float]]]) -> None:
    for times, new in zip(rounds, found, strict=True):
        for name, values in new.items():
            times[name].append(values)


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
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    checkouts = [path.resolve() for path in arguments.checkouts]
    rows: list[Times] = [defaultdict(list), defaultdict(list)]
    compiled: list[Times] = [defaultdict(list), defaultdict(list)]
    places = cores()
    console = Console(width=110)
    for k in range(arguments.rounds):
        order = (0, 1) if k % 2 == 0 else (1, 0)
        found = {which: run(ROWS, checkouts[which], places[: arguments.threads]) for which in order}
        add(rows, [found[0], found[1]])
    console.print(show(f"Kernels, the shortest of {arguments.rounds} rounds", *rows))
    with ThreadPoolExecutor(2) as pool:  # at the same time, on one core each, which they swap
        for k in range(arguments.rounds):
            swapped = places[:2] if k % 2 == 0 else places[1::-1]
            add(compiled, list(pool.map(run, [COMPILATIONS] * 2, checkouts, [[core] for core in swapped])))
    for of in ("kernel", "stage"):
        count = sum(len(rounds[0]) for name, rounds in compiled[1].items() if name.endswith(": so"))
        title = f"{count} compilations of the tutorials, by {of}"
        console.print(show(title, *(compilations(times, of) for times in compiled)))


if __name__ == "__main__":
    main()
