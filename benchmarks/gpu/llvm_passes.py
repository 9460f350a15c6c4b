# SPDX-License-Identifier: Apache-2.0
"""On a GPU: kernels with other LLVM passes than Triton's, against the kernels as they are.

Needs PyTorch with CUDA. For each kernel of sanitizer_kernels.py and each pipeline of the stage ``llvm``: whether the
PTX is another one, whether the results are equal bit by bit to those without it, and how many times faster the
kernel is, as the median of rounds in which all pipelines take turns. Exits with 1 if a result is wrong.
"""

from __future__ import annotations

import statistics
import sys
from typing import Any

import torch
import triton
from sanitizer_kernels import Case, cases

import triton_ext as tx

ROUNDS, TIMES = 21, 20
NONE = "as it is"
OPTIMIZE = "llvm.optimize_module"
PIPELINES = {
    NONE: tx.Pipeline(),
    "default<O2>": tx.Pipeline().replace(OPTIMIZE, tx.builtin.llvm("default<O2>")),
    "default<O1>": tx.Pipeline().replace(OPTIMIZE, tx.builtin.llvm("default<O1>")),
    "gvn, twice": tx.Pipeline().after(OPTIMIZE, tx.builtin.llvm("function(instcombine,gvn,instcombine,gvn)")),
    "no slp": tx.Pipeline().set(OPTIMIZE, disable_slp_vectorizer=True),
    "sink, late": tx.Pipeline().after("llvm.scalar_optimizer_late", tx.builtin.llvm("sink")),
    "stream_stores": tx.Pipeline().at_end("llvm", tx.passes.llvm.stream_stores()),
}


def run(case: Case, pipeline: tx.Pipeline) -> tuple[dict[str, torch.Tensor], bool]:
    """Runs a kernel with a pipeline, and returns copies of its results, and whether they are right."""
    with pipeline:
        case.launch()
    torch.cuda.synchronize()
    return {name: case.arguments[name].clone() for name in case.outputs}, case.check()


def ptx(case: Case, pipeline: tx.Pipeline) -> str:
    """Returns the PTX of a kernel."""
    with pipeline:
        compiled: Any = case.kernel.warmup(grid=case.grid, **case.arguments, **case.options)
    text: str = compiled.asm["ptx"]
    return text


def recorded(case: Case, pipeline: tx.Pipeline) -> torch.cuda.CUDAGraph:
    """Returns a CUDA graph of `TIMES` launches, so that the time of a launch is not that of the host."""
    graph = torch.cuda.CUDAGraph()
    with pipeline, torch.cuda.graph(graph):
        for _ in range(TIMES):
            case.launch()
    return graph


def milliseconds(graph: torch.cuda.CUDAGraph) -> float:
    """Returns the time of a launch on the GPU."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    graph.replay()
    end.record()
    end.synchronize()
    return float(begin.elapsed_time(end)) / TIMES


def main() -> None:
    """Prints a table, and the number of wrong results."""
    print(f"{torch.cuda.get_device_name()}, Triton {triton.__version__}, PyTorch {torch.__version__}")
    print(f"{'times faster':<20}{'ms':>8}" + "".join(f"{name:>16}" for name in PIPELINES if name != NONE))
    compared = wrong = 0
    for case in cases("cuda"):
        wanted, _ = run(case, PIPELINES[NONE])
        text = ptx(case, PIPELINES[NONE])
        marks = {}
        for name, pipeline in PIPELINES.items():
            found, is_right = run(case, pipeline)
            same_bits = all(torch.equal(found[output], wanted[output]) for output in wanted)
            compared += 1
            wrong += not is_right
            marks[name] = "=" if ptx(case, pipeline) == text else " " if same_bits else "~"
            if not is_right:
                print(f"{case.name} with {name}: wrong results")
        ratios: dict[str, list[float]] = {name: [] for name in PIPELINES}
        base = []
        graphs = [(name, recorded(case, pipeline)) for name, pipeline in PIPELINES.items()]
        for number in range(ROUNDS):
            turn = number % len(graphs)  # what comes first in a round differs: it may meet a slower clock
            times = {name: milliseconds(graph) for name, graph in graphs[turn:] + graphs[:turn]}
            base.append(times[NONE])
            for name, one in times.items():
                ratios[name].append(times[NONE] / one)
        row = "".join(f"{statistics.median(ratios[n]):>15.3f}{marks[n]}" for n in PIPELINES if n != NONE)
        print(f"{case.name:<20}{statistics.median(base):>8.4f}{row}", flush=True)
    print("'=': the same PTX, '~': other bits within the tolerance of the kernel's test")
    print(f"{compared} results, {wrong} wrong")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
