# SPDX-License-Identifier: Apache-2.0
"""On a GPU: loops with conditions as they are, split by `loop_split`, split by hand, and with a tuned pipeline.

Needs PyTorch with CUDA. Attention (causal, sliding window), matrix products and softmax with ragged tails; each over
four shapes and several configurations, medians as of `do_bench`, in turns. Results are checked against PyTorch.
Writes ``gpu-loop-split.json`` and, with Matplotlib, ``gpu-loop-split.svg``; ``--show FILE`` makes table and plot of
such a file, without a GPU. Exits with 1 if a result is wrong.

    python benchmarks/gpu/loop_split.py --out benchmarks/results
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

NAME = "gpu-loop-split"
RATIOS = (("split", "by hand"), ("no-wrap", "by hand"), ("split", "unsplit"), ("default", "unsplit"))


@dataclass
class Form:
    """A way to compute a case: a form of the kernel, with a pipeline."""

    form: str
    pipeline: str = "plain"


@dataclass
class Case:
    """A kernel and a shape.

    Attributes:
        arguments: all but the constexprs, in order.
        meta: constexprs that are the same for all configurations.
        configs: constexprs, warps and stages to try.
        grid: from the constexprs.
        forms: what is compared; those of `COMMON` are always there.
        output: the tensor that is written.
        expected: what of it should be what, and the tolerance.
        torch: what PyTorch has for it.
    """

    family: str
    shape: str
    kernel: Any
    arguments: tuple[Any, ...]
    meta: dict[str, Any]
    configs: list[dict[str, int]]
    grid: Callable[[dict[str, Any]], tuple[int, ...]]
    forms: dict[str, Form]
    output: Any
    expected: Callable[[], Iterator[tuple[Any, Any]]]
    tolerance: float
    torch: Callable[[], object]
    key: list[str] = field(default_factory=lambda: ["N"])


def pipelines() -> dict[str, Any]:
    """Returns the pipelines over which the tuned kernel is tuned."""
    import triton_ext as tx

    def split(**options: Any) -> Any:
        return tx.passes.ttir.loop_split(cost_model=False, **options)

    return {
        "plain": tx.Pipeline(),
        "default": tx.Pipeline().at_end("ttir", tx.passes.ttir.loop_split()),
        "split": tx.Pipeline().at_end("ttir", split()),
        "split once": tx.Pipeline().at_end("ttir", split(max_splits=1)),
        "split, no-wrap": tx.Pipeline().at_end("ttir", split(no_wrap=True)),
        "split, min-trips=8": tx.Pipeline().at_end("ttir", split(min_trips=8)),
        "guard": tx.Pipeline().at_end("ttir", split(guard=True)),
    }


def configs(names: tuple[str, ...], *rows: tuple[int, ...]) -> list[dict[str, int]]:
    return [dict(zip((*names, "num_warps", "num_stages"), row, strict=True)) for row in rows]


#: The forms and pipelines that are compared in every case. Each kernel has further ones.
COMMON = {
    "unsplit": Form("one"),
    "split": Form("one", "split"),
    "by hand": Form("two"),
    "default": Form("one", "default"),
}
TILES = configs(("BM", "BN"), (64, 64, 4, 3), (128, 64, 8, 3), (128, 64, 4, 3), (128, 128, 8, 3))


def _attention_tensors(batch: int, heads: int, n: int, d: int) -> tuple[Any, ...]:
    import torch

    torch.manual_seed(0)
    q, k, v = (torch.randn(batch, heads, n, d, device="cuda", dtype=torch.float16) for _ in range(3))
    return q, k, v, torch.empty_like(q)


def causal_case(batch: int, heads: int, n: int, d: int) -> Case:
    """Returns causal attention over `n` rows, with `d` features in each head."""
    import loop_split_kernels as kernels
    import torch.nn.functional as F  # noqa: N812

    q, k, v, o = _attention_tensors(batch, heads, n, d)

    def whole() -> Any:
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)

    return Case(
        "causal attention",
        f"{batch}x{heads}x{n}x{d}",
        kernels.causal,
        (q, k, v, o, d**-0.5 * math.log2(math.e), n),
        {"D": d},
        TILES,
        lambda meta: (n // meta["BM"], batch * heads),
        COMMON
        | {
            "no-wrap": Form("one", "split, no-wrap"),
            "epilogue": Form("epilogue"),
            "prologue": Form("prologue"),
        },
        o,
        lambda: iter([(o, whole())]),
        2e-2,
        whole,
    )


def sliding_case(batch: int, heads: int, n: int, d: int, window: int) -> Case:
    """Returns attention of each of `n` rows to the `window` rows up to it."""
    import loop_split_kernels as kernels
    import torch
    import torch.nn.functional as F  # noqa: N812

    q, k, v, o = _attention_tensors(batch, heads, n, d)
    i = torch.arange(n, device="cuda")
    mask = (i[None, :] <= i[:, None]) & (i[None, :] > i[:, None] - window)

    def one_head(head: int) -> Any:
        at = slice(head, head + 1)
        return F.scaled_dot_product_attention(q[-1:, at], k[-1:, at], v[-1:, at], attn_mask=mask)[0, 0]

    return Case(
        "sliding-window attention",
        f"{batch}x{heads}x{n}x{d}, {window}",
        kernels.sliding,
        (q, k, v, o, d**-0.5 * math.log2(math.e), n, window),
        {"D": d},
        TILES,
        lambda meta: (n // meta["BM"], batch * heads),
        COMMON
        | {
            "by hand": Form("three"),
            "no-wrap": Form("one", "split, no-wrap"),
            "guarded": Form("one", "guard"),
            "branch": Form("branch"),
            "min-trips": Form("one", "split, min-trips=8"),
        },
        o,
        lambda: iter([(o[-1, head], one_head(head)) for head in (0, heads - 1)]),
        2e-2,
        lambda: F.scaled_dot_product_attention(q, k, v, attn_mask=mask),
        key=["N", "window"],
    )


def attention_cases() -> Iterator[Case]:
    for shape in ((4, 32, 2048, 64), (4, 32, 4096, 128), (1, 32, 16384, 64), (1, 32, 16384, 128)):
        yield causal_case(*shape)
    for size in ((1, 32, 16384, 64, 4096), (2, 32, 8192, 64, 1024), (2, 32, 8192, 128, 1024), (2, 32, 8192, 128, 512)):
        yield sliding_case(*size)


def matmul_case(m: int, n: int, k: int, stride: int | None = None) -> Case:
    """Returns C = A @ B; the rows of A are `stride` elements apart, or the next multiple of 16 of `k`."""
    import loop_split_kernels as kernels
    import torch

    torch.manual_seed(0)
    stride, unit = stride or (k + 15) // 16 * 16, next(unit for unit in (8, 4, 2, 1) if k % unit == 0)
    a = torch.randn(m, stride, device="cuda", dtype=torch.float16)[:, :k]
    b = torch.randn(k, n, device="cuda", dtype=torch.float16) / k**0.5
    c = torch.empty(m, n, device="cuda", dtype=torch.float16)
    return Case(
        "matmul, ragged K",
        f"{m}x{n}x{k}",
        kernels.matmul,
        (a, b, c, m, n, k // unit, stride),
        {"UNIT": unit},
        configs(
            ("BM", "BN", "BK"), (128, 128, 32, 4, 4), (128, 128, 64, 8, 3), (128, 256, 64, 8, 3), (64, 128, 64, 4, 4)
        ),
        lambda meta: (-(-m // meta["BM"]) * -(-n // meta["BN"]),),
        COMMON | {"min-trips": Form("one", "split, min-trips=8")},
        c,
        lambda: iter([(c, a @ b)]),
        2e-2,
        lambda: torch.matmul(a, b, out=c),
        key=["M", "N", "K"],
    )


def matmul_cases() -> Iterator[Case]:
    for m, n, k in ((4096, 4096, 4088), (8192, 8192, 4088), (4096, 4096, 1000), (4096, 4096, 4093)):
        yield matmul_case(m, n, k)


def softmax_case(rows: int, n: int) -> Case:
    """Returns a softmax of each of `rows` rows of `n` elements."""
    import loop_split_kernels as kernels
    import torch

    torch.manual_seed(0)
    stride = (n + 15) // 16 * 16
    x = torch.randn(rows, stride, device="cuda", dtype=torch.float16)[:, :n]
    y = torch.empty(rows, stride, device="cuda", dtype=torch.float16)[:, :n]
    return Case(
        "softmax, ragged rows",
        f"{rows}x{n}",
        kernels.softmax,
        (x, y, n, stride),
        {},
        configs(("BLOCK",), (1024, 4, 3), (2048, 4, 3), (4096, 8, 3)),
        lambda _: (rows,),
        COMMON,
        y,
        lambda: iter([(y, torch.softmax(x, 1))]),
        1e-4,
        lambda: torch.softmax(x, 1),
        key=["n"],
    )


def softmax_cases() -> Iterator[Case]:
    for rows, n in ((16384, 8190), (8192, 16380), (4096, 32765), (2048, 65531)):
        yield softmax_case(rows, n)


FAMILIES = {"attention": attention_cases, "matmul": matmul_cases, "softmax": softmax_cases}


def in_turns(functions: dict[str, Callable[[], object]], budget: float) -> dict[str, float]:
    """Median milliseconds of each, launched one after the other in random order for about `budget` milliseconds.

    Each launch is measured as `do_bench` does it, after the L2 cache was overwritten. Whole runs of `do_bench`, one
    after the other, would not do: an H100 that needs as much power as it may have sets its clocks by what ran the
    moment before, which makes more of a difference than what is to be compared.
    """
    import torch
    from triton.testing import do_bench

    once = sum(do_bench(function, warmup=5, rep=5, return_mode="median") for function in functions.values())
    rounds = max(15, min(300, int(budget / once)))
    flushed = torch.empty(64 << 20, dtype=torch.int32, device="cuda")
    events: dict[str, list[Any]] = {name: [] for name in functions}
    random, order = Random(0), list(functions)
    for n in range(rounds + 3):
        random.shuffle(order)
        for name in order:
            pair = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
            flushed.zero_()
            pair[0].record()
            functions[name]()
            pair[1].record()
            events[name] += [pair] if n >= 3 else []
    torch.cuda.synchronize()
    return {name: statistics.median(start.elapsed_time(end) for start, end in pairs) for name, pairs in events.items()}


def is_right(case: Case) -> bool:
    import torch

    return all(
        torch.allclose(actual.float(), expected.float(), rtol=case.tolerance, atol=case.tolerance)
        for actual, expected in case.expected()
    )


def launcher(case: Case, form: Form, config: dict[str, int]) -> Callable[[], Any]:
    """Launches a case, and returns the compiled kernel."""
    import triton_ext as tx

    pipeline = pipelines()[form.pipeline]
    kernel = tx.use(pipeline)(case.kernel) if pipeline.edits else case.kernel
    meta = {**case.meta, **config, "FORM": form.form}
    grid = case.grid(meta)
    return lambda: kernel[grid](*case.arguments, **meta)


def compile_all(case: Case) -> None:
    """Compiles all kernels on all cores, into the cache."""

    def one(form: Form, config: dict[str, int]) -> None:
        pipeline = pipelines()[form.pipeline]
        with pipeline if pipeline.edits else nullcontext():
            case.kernel.warmup(*case.arguments, **case.meta, **config, FORM=form.form, grid=(1,))

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for future in [pool.submit(one, form, config) for config in case.configs for form in case.forms.values()]:
            future.exception()  # the launch reports it again


def measure(case: Case, budget: float) -> Iterator[dict[str, Any]]:
    """Measures a row for each configuration."""
    compile_all(case)
    for config in case.configs:
        row: dict[str, Any] = {
            "family": case.family,
            "shape": case.shape,
            "config": config,
            "ms": {},
            "registers": {},
            "spills": {},
            "code": {},
            "failed": {},
        }
        ready = {}
        for name, form in case.forms.items():
            case.output.fill_(float("nan"))
            launch = launcher(case, form, config)
            try:
                kernel = launch()
            except Exception as error:
                row["failed"][name] = f"{type(error).__name__}: {error}"[:300]
                continue
            if not is_right(case):
                row["failed"][name] = "WRONG"
                continue
            row["registers"][name], row["spills"][name] = kernel.n_regs, kernel.n_spills
            row["code"][name] = hashlib.sha256(kernel.asm["cubin"]).hexdigest()[:12]
            ready[name] = launch
        row["ms"] = in_turns(ready, budget)
        yield row


def tune(case: Case, rows: list[dict[str, Any]], budget: float) -> dict[str, Any]:
    """Measures again, in turns, the best configuration of each way and the choice of `tx.autotune`."""
    import triton
    from triton.testing import do_bench

    import triton_ext as tx

    def best(name: str) -> dict[str, int]:
        return min((row for row in rows if name in row["ms"]), key=lambda row: row["ms"][name])["config"]

    plain = [
        triton.Config({k: v for k, v in c.items() if not k.startswith("num_")}, c["num_warps"], c["num_stages"])
        for c in case.configs
    ]
    began = time.perf_counter()
    tuned = tx.autotune(plain, case.key, pipelines=pipelines(), progress=False)(case.kernel)

    def launch() -> Any:
        return tuned[case.grid](*case.arguments, **case.meta, FORM="one")

    case.output.fill_(float("nan"))
    launch()
    seconds = time.perf_counter() - began
    right = is_right(case)
    report = tuned.tuning_report
    functions: dict[str, Callable[[], object]] = {
        "unsplit": launcher(case, case.forms["unsplit"], best("unsplit")),
        "tuned": launch,
        "by hand": launcher(case, case.forms["by hand"], best("by hand")),
        "unsplit again": launcher(case, case.forms["unsplit"], best("unsplit")),
    }
    chosen = tuned.best_config
    return {
        "family": case.family,
        "shape": case.shape,
        "right": right,
        "ms": in_turns(functions, budget) | {"torch": do_bench(case.torch, return_mode="median")},
        "unsplit": best("unsplit"),
        "by hand": best("by hand"),
        "tuned": {**chosen.kwargs, "num_warps": chosen.num_warps, "num_stages": chosen.num_stages},
        "pipeline": chosen.pipeline,
        "seconds": seconds,
        "report": report.as_dict(),
    }


def environment() -> dict[str, str]:
    import torch
    import triton

    import triton_ext as tx

    query = ["nvidia-smi", "--query-gpu=driver_version,clocks.max.sm", "--format=csv,noheader"]
    smi = subprocess.run(query, capture_output=True, text=True, check=False)
    return {
        "device": torch.cuda.get_device_name(),
        "driver": smi.stdout.strip(),
        "triton": triton.__version__,
        "torch": torch.__version__,
        "triton-ext": getattr(tx, "__version__", ""),
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
    }


def short(config: dict[str, int]) -> str:
    sizes = [str(value) for key, value in config.items() if not key.startswith("num_")]
    return "x".join(sizes) + f",{config['num_warps']},{config['num_stages']}"


def percent(new: float, old: float) -> str:
    return f"{(new / old - 1) * 100:+.1f}%"


def text(data: dict[str, Any]) -> str:
    """Returns the tables."""
    where = data["environment"]
    lines = [
        f"benchmarks/gpu/loop_split.py, one run on {where['device']} (driver {where['driver']}), Triton "
        f"{where['triton']}, PyTorch {where['torch']}, {where['date']}",
        "ms: medians, launched in turns. regs/spills of one thread, spills as Triton counts them. -: did not run.",
    ]
    others = ("default", "no-wrap", "guarded", "branch", "min-trips", "epilogue", "prologue")
    families = dict.fromkeys(row["family"] for row in data["rows"])
    for family in families:
        rows = [row for row in data["rows"] if row["family"] == family]
        extra = tuple(n for n in others if any(n in row["ms"] for row in rows))
        names = ("unsplit", "split", "by hand", *extra)
        head = f"{'shape':22} {'tile,warps,stages':18}" + "".join(f" {name + ' ms':>11}" for name in names)
        ratios = [(one, other) for one, other in RATIOS if one in names]
        titles = "".join(f" {f'{one}:{other}':>15}" for one, other in ratios)
        lines += ["", f"== {family}", head + titles + "  regs/spills"]
        for row in rows:
            ms = row["ms"]
            line = f"{row['shape']:22} {short(row['config']):18}"
            line += "".join(f" {ms[name]:11.4f}" if name in ms else f" {'-':>11}" for name in names)
            for one, other in ratios:
                line += f" {percent(ms[one], ms[other]) if one in ms and other in ms else '-':>15}"
            used = [f"{row['registers'][n]}/{row['spills'][n]}" if n in ms else "-" for n in names]
            lines.append(line + "  " + " ".join(used))
        failed = {(n, reason) for row in rows for n, reason in row["failed"].items()}
        lines += [f"  {name}: {reason}" for name, reason in sorted(failed)]
    lines += ["", "== best of all configurations, measured again in turns; noise: the unsplit kernel against itself"]
    names = ("unsplit", "tuned", "by hand", "torch")
    head = f"{'kernel':25} {'shape':22}" + "".join(f" {name + ' ms':>11}" for name in names)
    lines.append(head + "  tuned:unsplit   noise  chosen")
    for row in data["tuned"]:
        ms = row["ms"]
        line = f"{row['family']:25} {row['shape']:22}" + "".join(f" {ms[name]:11.4f}" for name in names)
        line += f" {percent(ms['tuned'], ms['unsplit']):>14} {percent(ms['unsplit again'], ms['unsplit']):>7}"
        lines.append(line + f"  {row['pipeline']} {short(row['tuned'])} (unsplit: {short(row['unsplit'])})")
    return "\n".join(lines) + "\n"


def plot(data: dict[str, Any], path: Path) -> None:
    """Plots the time of each way relative to the unsplit kernel of the same configuration, and below, to the best
    unsplit one.
    """
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = NAME
    from matplotlib import pyplot

    families = list(dict.fromkeys(row["family"] for row in data["rows"]))
    figure, axes = pyplot.subplots(2, len(families), figsize=(4.6 * len(families), 7.5), squeeze=False, sharey="row")
    for family, (above, below) in zip(families, axes.T, strict=True):
        rows = [row for row in data["rows"] if row["family"] == family]
        for name, mark in (
            ("split", "o"),
            ("default", "*"),
            ("by hand", "x"),
            ("no-wrap", "D"),
            ("guarded", "s"),
            ("epilogue", "v"),
            ("prologue", "^"),
            ("min-trips", "+"),
        ):
            points = [(i, r["ms"][name] / r["ms"]["unsplit"]) for i, r in enumerate(rows) if name in r["ms"]]
            if points:
                above.plot(*zip(*points, strict=True), mark, label=name, fillstyle="none")
        above.axhline(1, color="black", linewidth=0.8)
        above.set_title(family)
        above.set_xticks(
            range(len(rows)), [f"{r['shape']} {short(r['config'])}" for r in rows], rotation=90, fontsize=6
        )
        above.legend(fontsize=7)
        best = [row for row in data["tuned"] if row["family"] == family]
        for offset, name in ((-0.25, "tuned"), (0, "by hand"), (0.25, "torch")):
            heights = [row["ms"][name] / row["ms"]["unsplit"] for row in best]
            below.bar([i + offset for i in range(len(best))], heights, 0.25, label=name)
        below.axhline(1, color="black", linewidth=0.8)
        below.set_ylim(0, 1.6)
        below.set_xticks(range(len(best)), [row["shape"] for row in best], rotation=20, fontsize=7)
        below.legend(fontsize=7)
    axes[0][0].set_ylabel("time / unsplit, same configuration")
    axes[1][0].set_ylabel("time / unsplit, best configuration")
    where = data["environment"]
    figure.suptitle(f"loop_split on {where['device']}, Triton {where['triton']} (lower is faster)")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def show(data: dict[str, Any], folder: Path) -> None:
    """Measures, and writes table and plot."""
    table = text(data)
    print(table)
    (folder / f"{NAME}.txt").write_text(table)
    try:
        plot(data, folder / f"{NAME}.svg")
    except ImportError:
        print("no Matplotlib, no plot", file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path(__file__).parent.parent / "results")
    parser.add_argument("--only", choices=FAMILIES, nargs="*", default=list(FAMILIES))
    parser.add_argument("--budget", type=float, default=1000, help="milliseconds for the kernels of a row")
    parser.add_argument("--show", type=Path, help="the JSON of an earlier run")
    arguments = parser.parse_args()
    if arguments.show:
        show(json.loads(arguments.show.read_text()), arguments.out)
        return
    data: dict[str, Any] = {"environment": environment(), "rows": [], "tuned": []}
    for family in arguments.only:
        for case in FAMILIES[family]():
            began = time.perf_counter()
            rows = list(measure(case, arguments.budget))
            data["rows"] += rows
            data["tuned"].append(tune(case, rows, 2 * arguments.budget))
            (arguments.out / f"{NAME}.json").write_text(json.dumps(data, indent=1) + "\n")
            print(f"{case.family} {case.shape}: {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
    show(data, arguments.out)
    wrong = [row for row in data["rows"] if "WRONG" in row["failed"].values()]
    wrong += [row for row in data["tuned"] if not row["right"]]
    if wrong:
        sys.exit(f"WRONG: {wrong}")


if __name__ == "__main__":
    main()
