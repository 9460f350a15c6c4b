# SPDX-License-Identifier: Apache-2.0
"""What the cost model of `loop_split` decides for each row of a measured table, and what that costs or gains.

Compiles the kernels of ``gpu/loop_split_kernels.py`` for an H100, which needs no GPU, with the default of the pass.
Looks up the time of what the pass did in ``results/gpu-loop-split.json``, which was measured before the cost model was
made. Then leaves one kernel out at a time: chooses the limits of the cost model by the other kernels alone, and says
what they cost on the kernel left out. Exits with 1 if the default is more than 1 % slower in any row.

    python benchmarks/loop_split_rule.py
"""

from __future__ import annotations

import functools
import itertools
import json
import os
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
sys.path.insert(0, str(HERE / "gpu"))

import loop_split_kernels as kernels  # noqa: E402
import triton  # noqa: E402
from triton._C.libtriton import ir  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler import make_backend  # noqa: E402

import triton_ext as tx  # noqa: E402

#: The limits to choose from; the first is the most cautious one. (max-registers, max-refills)
LIMITS = tuple(itertools.product((96, 128, 160, 192, 224), (0, 1, 2)))
DEFAULT = (160, 1)
SPLIT, GUARDED, UNSPLIT = "split", "guarded", "unsplit"


def source_of(row: dict[str, Any]) -> Any:
    """Returns the kernel of a row, specialized as Triton does it for the arguments of the benchmark."""
    meta = {name: value for name, value in row["config"].items() if not name.startswith("num_")} | {"FORM": "one"}
    size = [int(n) for n in row["shape"].split(",")[0].split("x")]
    if "attention" in row["family"]:
        kernel = kernels.causal if "causal" in row["family"] else kernels.sliding
        aligned = ["q", "k", "v", "o", "N", "window"]
        meta["D"] = size[3]
    elif "matmul" in row["family"]:
        kernel, aligned = kernels.matmul, ["a", "b", "c", "M", "N", "stride"]
        meta["UNIT"] = 8 if size[2] % 8 == 0 else 1
    else:
        kernel, aligned = kernels.softmax, ["x", "y", "stride"]
    types = {"scale": "fp32"} | dict.fromkeys(["q", "k", "v", "o", "a", "b", "c", "x", "y"], "*fp16")
    signature = {n: "constexpr" if n in meta else types.get(n, "i32") for n in kernel.arg_names}
    known = {(i,): [["tt.divisibility", 16]] for i, n in enumerate(kernel.arg_names) if n in aligned}
    return triton.compiler.ASTSource(kernel, signature, meta, known)


@functools.cache
def _ttir(text: str) -> str:
    """Returns the module of a row, which is given as JSON, as it comes to the pass."""
    row = json.loads(text)
    target = GPUTarget("cuda", 90, 32)
    backend = make_backend(target)
    options = backend.parse_options({name: row["config"][name] for name in ("num_warps", "num_stages")})
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    functions, modules = backend.get_codegen_implementation(options), backend.get_module_map()
    module = source_of(row).make_ir(target, options, functions, modules, context)
    return str(backend.make_ttir(module, {}, options, target.arch))


@functools.cache
def _decided(text: str, warps: int, registers: int, refills: int) -> str:
    limits = f"max-registers={registers} max-refills={refills}"
    module = tx.opt(text, f"triton-ext-loop-split{{num-warps={warps} threads-per-warp=32 {limits}}}")
    if "triton_ext.split" not in module:
        return UNSPLIT
    return GUARDED if module.count("scf.for") == text.count("scf.for") else SPLIT


def decided(row: dict[str, Any], limits: tuple[int, int]) -> str:
    """Returns the column that holds the time of what the pass does with these limits."""
    text = _ttir(json.dumps({name: row[name] for name in ("family", "shape", "config")}))
    return _decided(text, row["config"]["num_warps"], *limits)


def change(row: dict[str, Any], column: str) -> float:
    """Returns by how many percent a column is slower than the kernel without the pass."""
    return float((row["ms"][column] / row["ms"][UNSPLIT] - 1) * 100)


def best_limits(rows: list[dict[str, Any]]) -> tuple[int, int]:
    """Returns the limits with which no row is more than 1 % slower, if there are any, and with the least mean time.

    Of limits that do the same, the most cautious ones.
    """

    def cost(limits: tuple[int, int]) -> tuple[float, float]:
        changes = [change(row, decided(row, limits)) for row in rows]
        return max(0.0, max(changes) - 1), sum(changes) / len(changes)

    return min(LIMITS, key=cost)


def main() -> None:
    data = json.loads((HERE / "results" / "gpu-loop-split.json").read_text())
    rows = data["rows"]
    where = data["environment"]
    print(
        f"choices of the cost model, times of {where['date']} on {where['device']}; % of the kernel without the pass\n"
    )
    print(f"{'kernel':25} {'shape':22} {'tile,warps,stages':18} choice     choice  always    best")
    changes: dict[str, list[tuple[float, float, float]]] = {}
    for row in rows:
        column = decided(row, DEFAULT)
        values = change(row, column), change(row, SPLIT)
        columns = [name for name in (UNSPLIT, SPLIT, GUARDED) if name in row["ms"]]
        best = min(change(row, name) for name in columns)
        changes.setdefault(row["family"], []).append((*values, best))
        sizes = "x".join(str(n) for name, n in row["config"].items() if not name.startswith("num_"))
        config = f"{sizes},{row['config']['num_warps']},{row['config']['num_stages']}"
        numbers = f"{values[0]:+7.1f} {values[1]:+7.1f} {best:+7.1f}"
        print(f"{row['family']:25} {row['shape']:22} {config:18} {column:9} {numbers}")
    print("\nslowest row and mean, of the choice, of splitting always, of the best of the columns")
    for family, values in {**changes, "all": [v for one in changes.values() for v in one]}.items():
        text = "  ".join(f"{max(n):+5.1f} {sum(n) / len(n):+6.2f}" for n in zip(*values, strict=True))
        print(f"{family:25} {text}")
    print("\none kernel left out: limits that the others choose, and the slowest row and mean of the one left out")
    for family in changes:
        limits = best_limits([row for row in rows if row["family"] != family])
        left = [change(row, decided(row, limits)) for row in rows if row["family"] == family]
        name = f"max-registers={limits[0]} max-refills={limits[1]}"
        print(f"{family:25} {name:32} {max(left):+5.1f} {sum(left) / len(left):+6.2f}")
    if any(value > 1 for one in changes.values() for value, *_ in one):
        sys.exit("the default is more than 1 % slower in a row")


if __name__ == "__main__":
    main()
