# SPDX-License-Identifier: Apache-2.0
"""On a GPU: the default of `loop_split`, whose cost model decides, beside the kernel without the pass, the pass without
the cost model, and with its masks in a branch.

Needs PyTorch with CUDA. Measures the cases of `loop_split.py`, whose results the cost model was made from, and others:
short ones, and masks of other kinds. From these come the limits for constant numbers of iterations, and the rule that
unaligned rows stay as they are. Medians, launched in turns. Writes ``gpu-loop-split-default.json`` and ``.txt``;
``--show FILE`` makes the table of such a file, without a GPU. Exits with 1 if a result is wrong.

    python benchmarks/gpu/loop_split_default.py --out benchmarks/results
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import loop_split_shapes as shapes
from loop_split_report import percent, short
from loop_split_shapes import Case, Form

import loop_split as known

NAME = "gpu-loop-split-default"
COLUMNS = ("unsplit", "split", "guarded", "default")
FURTHER = "further cases"


def further_cases() -> Iterator[tuple[Case, str]]:
    """Yields cases that `loop_split.py` does not have, each with what is new about it."""
    import loop_split_kernels as kernels

    for shape in ((64, 32, 256, 64), (16, 32, 512, 128)):
        yield shapes.causal_case(*shape), "short"
    for shape in ((4, 32, 2048, 64), (4, 32, 4096, 128)):
        yield _masked(shapes.causal_case(*shape)), "no branch"
    for d, window in ((64, 64), (64, 256), (128, 128), (128, 256)):
        case = shapes.sliding_case(2, 32, 8192, d, window)
        yield case, "short"
        yield replace(case, kernel=kernels.sliding_fixed), "short, a constant"
    for k in (125, 253):
        case = shapes.matmul_case(4096, 4096, k)
        yield case, "short"
        yield replace(case, kernel=kernels.matmul_fixed), "short, a constant"
    yield shapes.matmul_case(4096, 4096, 4092), "K a multiple of 4"
    yield shapes.matmul_case(4096, 4096, 4093, stride=4093), "unaligned rows"
    yield shapes.softmax_case(16384, 8208), "a multiple of 16"


def _masked(case: Case) -> Case:
    """Returns causal attention with the mask in every iteration, instead of in a branch."""
    pipelines = {"unsplit": "plain", "split": "split", "guarded": "guard", "default": "default"}
    return replace(case, forms={name: Form("masked", pipeline) for name, pipeline in pipelines.items()})


def cases(families: list[str]) -> Iterator[tuple[Case, str]]:
    """Yields the cases, each with what is new about it."""
    for family in families:
        if family == "further":
            yield from further_cases()
        else:
            yield from ((case, "") for case in shapes.FAMILIES[family]())


def choice(row: dict[str, Any]) -> str:
    """Returns the column whose machine code the default has; empty if it has its own."""
    code = row["code"]
    same = [name for name in COLUMNS[:-1] if name in code and code[name] == code["default"]]
    return same[0] if same else ""


def text(data: dict[str, Any]) -> str:
    """Returns the table."""
    where = data["environment"]
    lines = [
        f"benchmarks/gpu/loop_split_default.py, one run on {where['device']} (driver {where['driver']}), Triton "
        f"{where['triton']}, PyTorch {where['torch']}, {where['date']}",
        "ms: medians, launched in turns. regs/spills of one thread. is: the column with the same machine code.",
        "split: loop_split(cost_model=False), guarded: the same with guard=True, default: loop_split().",
    ]
    groups = dict.fromkeys((row["family"], row["new"]) for row in data["rows"])
    for family, new in groups:
        rows = [row for row in data["rows"] if (row["family"], row["new"]) == (family, new)]
        lines += ["", f"== {family}" + (f", {FURTHER}: {new}" if new else "")]
        head = "".join(f" {name + ' ms':>11}" for name in COLUMNS)
        lines.append(f"{'shape':22} {'tile,warps,stages':18}{head}   split default  is        regs/spills")
        for row in rows:
            ms = row["ms"]
            line = f"{row['shape']:22} {short(row['config']):18}"
            line += "".join(f" {ms[name]:11.4f}" if name in ms else f" {'-':>11}" for name in COLUMNS)
            for name in ("split", "default"):
                line += f" {percent(ms[name], ms['unsplit']) if name in ms else '-':>7}"
            used = [f"{row['registers'][n]}/{row['spills'][n]}" if n in ms else "-" for n in COLUMNS]
            lines.append(f"{line}  {choice(row):8}  " + " ".join(used))
            lines += [f"  {name}: {reason}" for name, reason in row["failed"].items()]
    lines += ["", "== slowest and mean, relative to unsplit"]
    for title, rows in (
        ("the cases of loop_split.py", [row for row in data["rows"] if not row["new"]]),
        (FURTHER, [row for row in data["rows"] if row["new"]]),
    ):
        for name in ("split", "default"):
            ratios = [row["ms"][name] / row["ms"]["unsplit"] for row in rows if name in row["ms"]]
            if ratios:
                worst, mean = (percent(ratio, 1) for ratio in (max(ratios), sum(ratios) / len(ratios)))
                slower = sum(ratio > 1.01 for ratio in ratios)
                lines.append(
                    f"{title}: {name} at most {worst}, mean {mean}, more than 1 % slower in {slower} of {len(ratios)}"
                )
    return "\n".join(lines) + "\n"


def main() -> None:
    families = [*shapes.FAMILIES, "further"]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path(__file__).parent.parent / "results")
    parser.add_argument("--only", choices=families, nargs="*", default=families)
    parser.add_argument("--budget", type=float, default=1000, help="milliseconds for the kernels of a row")
    parser.add_argument("--show", type=Path, help="the JSON of an earlier run")
    arguments = parser.parse_args()
    if arguments.show:
        table = text(json.loads(arguments.show.read_text()))
        print(table)
        (arguments.out / f"{NAME}.txt").write_text(table)
        return
    data: dict[str, Any] = {"environment": known.environment(), "rows": []}
    for case, new in cases(arguments.only):
        began = time.perf_counter()
        case.forms = {name: case.forms[name] for name in COLUMNS if name in case.forms}
        data["rows"] += ({**row, "new": new} for row in known.measure(case, arguments.budget))
        (arguments.out / f"{NAME}.json").write_text(json.dumps(data, indent=1) + "\n")
        print(f"{case.family} {case.shape}: {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
    table = text(data)
    print(table)
    (arguments.out / f"{NAME}.txt").write_text(table)
    wrong = [row for row in data["rows"] if "WRONG" in row["failed"].values()]
    if wrong:
        sys.exit(f"WRONG: {wrong}")


if __name__ == "__main__":
    main()
