# SPDX-License-Identifier: Apache-2.0
"""Runs every attack of the modules of `support.attacks` and prints a table: `make attack`.

Each attack is bounded and stays on this machine: servers listen on the loopback interface. Exits with status 1 if one
got through. Runs with the same seed and scale make the same attempts.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import random
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from rich.console import Console
from rich.table import Table

from support import attacks
from support.attacks.attack import Attack, Outcome


def areas() -> dict[str, list[Attack]]:
    """Returns the attacks of each module of `support.attacks`."""
    names = sorted(module.name for module in pkgutil.iter_modules(attacks.__path__) if module.name != "attack")
    return {name: importlib.import_module(f"support.attacks.{name}").ATTACKS for name in names}


def attempt(attack: Attack, seed: int, scale: int) -> Outcome:
    """Returns the attack's outcome. An exception that the attack raises counts as an attempt that got through."""
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
