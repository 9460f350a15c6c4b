# SPDX-License-Identifier: Apache-2.0
"""Runs every attack of this directory's attack_*.py files and prints a table: `make attack`.

Each attack is bounded and stays on this machine: servers listen on the loopback interface. Exits with status 1 if one
got through. The same seed and scale try the same things.
"""

from __future__ import annotations

import argparse
import importlib
import random
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from rich.console import Console  # noqa: E402
from rich.table import Table  # noqa: E402

from attack import Attack, Outcome  # noqa: E402


def areas() -> dict[str, list[Attack]]:
    """The attacks of each file `attack_AREA.py`."""
    names = sorted(path.stem for path in HERE.glob("attack_*.py"))
    return {name.removeprefix("attack_"): importlib.import_module(name).ATTACKS for name in names}


def attempt(attack: Attack, seed: int, scale: int) -> Outcome:
    """The attack's outcome. An exception that it lets out is an attempt that got through."""
    try:
        return attack.run(random.Random(f"{seed} {attack.name}"), scale)
    except Exception as error:
        return Outcome(1, 1, f"{type(error).__name__}: {error}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="make attack", description=__doc__)
    parser.add_argument("areas", nargs="*", metavar="AREA", help="only these areas")
    parser.add_argument("--seed", type=int, default=0, help="of the random numbers (default: 0)")
    parser.add_argument("--scale", type=int, default=20, help="how many times as much as pytest tries (default: 20)")
    arguments = parser.parse_args()
    found = areas()
    if unknown := sorted(set(arguments.areas) - set(found)):
        parser.error(f"no area {', '.join(unknown)}; there are {', '.join(found)}")

    out = Console(width=None if sys.stdout.isatty() else 140)
    table = Table(title=f"seed {arguments.seed}, scale {arguments.scale}", title_justify="left")
    for heading in ("area", "attack"):
        table.add_column(heading)
    for heading in ("tried", "got through", "seconds"):
        table.add_column(heading, justify="right")
    table.add_column("note")
    through = 0
    for area in arguments.areas or found:
        for attack in found[area]:
            print(f"{area}: {attack.name} ...", file=sys.stderr, flush=True)
            start = time.perf_counter()
            outcome = attempt(attack, arguments.seed, arguments.scale)
            through += outcome.got_through
            style = "bold red" if outcome.got_through else None
            figures = f"{outcome.tried:,}", str(outcome.got_through), f"{time.perf_counter() - start:.1f}"
            table.add_row(area, attack.name, *figures, outcome.note, style=style)
    out.print(table)
    return 1 if through else 0


if __name__ == "__main__":
    raise SystemExit(main())
