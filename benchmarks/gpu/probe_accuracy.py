# SPDX-License-Identifier: Apache-2.0
"""What regions say about a launch, as measured and without their cost, and how long it takes; a part of probe.py."""

from __future__ import annotations

import functools
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from probe_kernels import repeat
from probe_variants import FORMS, form

from triton_ext import probe

LAUNCHES, SESSIONS = 4, 5


def spans(regions: Any) -> list[float]:
    """Returns for each launch the milliseconds from its first begin to its last end."""
    regions = np.sort(regions, order="start")
    ends = np.maximum.accumulate(regions["end"])
    gaps = regions["start"][1:] - ends[:-1]  # between launches no region is open
    cuts = np.sort(np.argsort(gaps)[len(gaps) - LAUNCHES + 1 :]) + 1
    parts = np.split(np.arange(len(regions)), cuts)
    return [float(regions["end"][part].max() - regions["start"][part].min()) * 1e-6 for part in parts]


def launch_several(launch: Callable[[], None], kernel: str, *, on_cpu: bool) -> list[float]:
    """Launches a kernel and returns the milliseconds of each launch by CUPTI's records; nothing on the CPU."""
    if on_cpu:
        for _ in range(LAUNCHES):
            launch()
        return []
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profiler:
        for _ in range(LAUNCHES):
            launch()
        torch.cuda.synchronize()
    ranges = sorted(
        (one.time_range.start, one.time_range.elapsed_us()) for one in profiler.events() if one.name == kernel
    )
    if len(ranges) != LAUNCHES:
        raise RuntimeError(f"{len(ranges)} records of {LAUNCHES} launches of {kernel}")
    return [microseconds / 1e3 for _, microseconds in ranges]


def percent(value: float, base: float) -> str:
    return f"{100 * (value / base - 1):+7.2f} %"


def accuracy(say: Callable[[str], None], cases: dict[str, Any], in_turns: Callable[..., Any], *, on_cpu: bool) -> None:
    """Prints for each kernel, place and form of a region: slowdown, and the errors as measured and without the cost.

    Args:
        say: prints a line.
        cases: for each kernel a function that takes what to observe, and whether in each turn, and makes its launch.
        in_turns: measures launches in turns, in a session.
        on_cpu: whether kernels run on this machine's processor, where all forms are one.
    """
    say("(b) regions: slowdown of the launch; error of the time from the first begin to the last end of a launch:")
    say("    against the time of the same launch by CUPTI; against that of the kernel without probes, as measured and")
    say("    without the measured cost of regions")
    nothing = 0.0
    if not on_cpu:
        out = torch.empty(16, device="cuda")
        idle = functools.partial(repeat[(1,)], out, 0, 16, "none")
        idle()  # compiles
        nothing = statistics.median(launch_several(idle, "repeat", on_cpu=on_cpu))
        say(f"    A program that does nothing takes {nothing * 1e3:.2f} us by CUPTI, which is in each launch and in no")
        say("    region: 'without it' is against the launch's time without that.")
    costs: dict[str, None] = {}
    for title, make in cases.items():
        for each_turn in (False, True):
            forms = list(FORMS) if each_turn and not on_cpu and title in {"matmul", "attention"} else ["as it is"]
            for name in forms:
                launch, alone = make("region", each_turn), make("none", each_turn)
                measured, replayed, own, net = [], [], [], []
                with form(name):
                    with probe.session(capacity=2**27) as s:
                        times = in_turns({"none": alone, name: launch}, s, times=LAUNCHES, rounds=15)
                    sessions, known = [], []
                    for _ in range(0 if name == "neither clocks nor records" else SESSIONS):
                        with probe.session(capacity=2**26) as s:
                            known.append(launch_several(launch, title.partition(",")[0], on_cpu=on_cpu))
                        sessions.append(s)
                # Outside of the block, because what regions cost is measured by kernels of the usual form.
                for s, times_of_launches in zip(sessions, known, strict=True):
                    each = spans(s.regions(compensate=False))
                    pairs = list(zip(each, times_of_launches, strict=not on_cpu))
                    own += [found / wanted for found, wanted in pairs]
                    net += [found / (wanted - nothing) for found, wanted in pairs]
                    measured += each
                    replayed += spans(s.regions(compensate=True))
                costs |= dict.fromkeys(
                    line for line in s.summary(compensate=True).split("\n") if "cycles inside" in line
                )
                base = statistics.median(times["none"])
                ratio = statistics.median(a / b for a, b in zip(times[name], times["none"], strict=True))
                where = f"{'each turn' if each_turn else 'each program':<12} {name if len(forms) > 1 else '':<32}"
                errors = [percent(statistics.median(one), 1) if one else "" for one in (own, net)]
                errors += [percent(statistics.median(one), base) if one else "" for one in (measured, replayed)]
                lost = f"  lost {sum(s.lost().values())}" if s.lost() else ""
                say(
                    f"  {title:<30} {where} {base:9.4f} ms  slowdown {percent(ratio, 1)}"
                    f"  of its launch {errors[0]:>9}, without it {errors[1]:>9}"
                    f"  of one without probes {errors[2]:>9}, without cost {errors[3]:>9}{lost}"
                )
    for line in costs:
        say(f"  {line}")
