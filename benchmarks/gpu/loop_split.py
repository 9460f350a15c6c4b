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
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from random import Random
from typing import Any

from loop_split_report import NAME, show
from loop_split_shapes import FAMILIES, Case, Form, pipelines


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
