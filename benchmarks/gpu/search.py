# SPDX-License-Identifier: Apache-2.0
"""On a GPU: what searches find for six kernels, against the best of the configurations that their authors declare.

Needs PyTorch with CUDA and Optuna. ``--seconds`` is for everything: the searches run at the same time as processes,
spread over the GPUs, and measure in turns; then `triton-ext search verify` checks the winners, and a program uses one.
``--only`` chooses kernels by a part of their name, ``--at-once`` says how many are searched at a time. ``--out`` is a
directory for the histories (``search.json``, written as the searches go on), the winners (``kernels.search.json``) and
the page of the search whose pipeline gains most (``search.html``). ``--target cpu`` runs the small launches on the CPU,
which shows that the script works and no figure of interest. Exits with 1 if a winner is slower than the best declared
configuration, or a search or a check fails.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
#: Kernels, as `search_kernels` has them; it is not imported here, because this process has no need of the GPU.
KERNELS = ("causal", "sliding", "matmul", "softmax", "layer_norm_backward", "scan")
#: Seconds for a check of one winner, for the use of one, and for starting what checks.
_CHECK, _USE, _BEGIN = 9, 18, 10
#: Seconds beyond those given after which everything is killed.
_LATE = 20
_COLUMNS = (
    "kernel",
    "gain",
    "declared ms",
    "found ms",
    "trials",
    "per minute",
    "on the device",
    "wrong",
    "failed",
    "pruned",
)


#: The fields of trials that the history in ``search.json`` leaves out: hashes, and fields that follow from others.
_LEFT_OUT = ("launch", "objectives", "binary")


@dataclass
class Search:
    """The process that searches for one kernel.

    Attributes:
        kernel: the name of its function.
        directory: where it keeps its study.
        process: the process; None before it is started.
        is_late: whether it was killed because its time was over.
    """

    kernel: str
    directory: Path
    process: subprocess.Popen[bytes] | None = None
    is_late: bool = False

    def start(self, winners: Path, until: float, workers: int | None, environment: dict[str, str]) -> None:
        """Starts it."""
        command = ["search", self.kernel, str(winners), "--directory", str(self.directory)]
        command += ["--between", str(time.monotonic()), str(until)]
        command += [] if workers is None else ["--workers", str(workers)]
        with (self.directory / f"{self.kernel}.txt").open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, str(HERE / "search_one.py"), *command],
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environment,
            )

    @property
    def has_ended(self) -> bool:
        """Whether it was started and has ended."""
        return self.process is not None and self.process.poll() is not None

    def kill(self) -> None:
        """Kills it, if it runs; its workers end with it."""
        if self.process is not None and not self.has_ended:
            self.is_late = True
            self.process.kill()
            self.process.wait()

    def line(self, history: list[dict[str, Any]]) -> dict[str, Any]:
        """Returns what it has written about its result; without a result, how it ended and the best trial so far."""
        with contextlib.suppress(OSError, ValueError):
            return dict(json.loads((self.directory / f"{self.kernel}.json").read_text()))
        code = self.process.returncode if self.process is not None else None
        how = "under way" if code is None else "its time is over" if self.is_late else f"exit code {code}"
        timed = [trial for trial in history if trial["status"] == "ok" and "milliseconds" in trial]
        best = min(timed, key=lambda trial: trial["milliseconds"], default={})
        return {"kernel": self.kernel, "title": self.kernel, "problem": how, "best": best}

    def history(self) -> list[dict[str, Any]]:
        """Returns the trials of its study so far, without empty fields."""
        from triton_ext.searching.history import trials_of
        from triton_ext.searching.optimiser import load_study

        file = self.directory / f"{self.kernel}.db"
        if not file.is_file():
            return []
        with contextlib.suppress(Exception):  # the study is being made
            return [_compact(vars(trial)) for trial in trials_of(load_study(file))]
        return []


def _compact(trial: dict[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in trial.items() if value not in (None, "", (), {}) and name not in _LEFT_OUT}
    kept |= {name: round(kept[name], 5) for name in ("few", "milliseconds", "versus", "seconds") if name in kept}
    kept["figures"] = {n: v for n, v in trial["figures"].items() if n in ("registers", "spills", "shared", "code_size")}
    return kept | {"reason": trial["reason"][:300]}


def main() -> None:
    """Searches, checks and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--only", default="")
    parser.add_argument("--at-once", type=int, default=len(KERNELS))
    parser.add_argument("--target", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--out", type=Path, default=Path())
    given = parser.parse_args()
    started = time.monotonic()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by SIGTERM"))  # so that results are written
    given.out.mkdir(parents=True, exist_ok=True)
    winners = given.out.resolve() / "kernels.search.json"
    winners.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        searches = [Search(kernel, Path(scratch)) for kernel in KERNELS if given.only in kernel]
        last = started + given.seconds
        searched_until = last - _USE - _BEGIN - _CHECK * len(searches)
        lines = _search_all(searches, given, winners, searched_until)
        _print_table(lines)
        good = all("problem" not in line and (line["gain"] or 0) >= 1 for line in lines)
        found = [
            (bool(line["pipeline"]), line["gain"] or 0, search)
            for line, search in zip(lines, searches, strict=True)
            if "gain" in line
        ]
        if found:  # rather a winner with a pipeline than one without
            best = max(found, key=lambda one: one[:2])[2]
            with _page(best, given):
                good &= _check(winners, best.kernel, given.target, last + _LATE)
    winners.with_name(f".{winners.name}.lock").unlink(missing_ok=True)
    print(f"\nin {time.monotonic() - started:.0f} s", flush=True)
    sys.exit(not good)


def _environment(target: str, gpu: str | None) -> dict[str, str]:
    """Returns the variables of a process."""
    paths = [str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])]
    found = {**os.environ, "BENCHMARK_TARGET": target, "PYTHONPATH": os.pathsep.join(paths)}
    return found if gpu is None else {**found, "CUDA_VISIBLE_DEVICES": gpu}


def _gpus(target: str) -> list[str | None]:
    """Returns the visible GPUs as ``CUDA_VISIBLE_DEVICES`` takes them."""
    if target == "cpu":
        return [None]
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible:
        return list(visible.split(","))
    try:
        listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"nvidia-smi does not list the GPUs, so the first one is used: {error}", flush=True)
        return [None]
    print(listed, end="", flush=True)
    return [str(number) for number in range(sum(line.startswith("GPU ") for line in listed.splitlines()))]


def _search_all(searches: list[Search], given: argparse.Namespace, winners: Path, until: float) -> list[dict[str, Any]]:
    """Runs the searches until all have ended or their time is over; prints what each said, in order."""
    gpus, cores = _gpus(given.target), len(os.sched_getaffinity(0))
    at_once = max(1, min(given.at_once, len(searches)))
    each = (until - time.monotonic()) / -(-len(searches) // at_once)
    workers = None if given.target == "cpu" else max(1, (cores - 2 * len(gpus)) // at_once)
    print(
        f"{len(searches)} searches in {each:.0f} s each, {at_once} at a time, {len(gpus)} device(s), {cores} cores, "
        f"{workers or 0} processes compile for each",
        flush=True,
    )
    waiting, printed, written = list(enumerate(searches)), 0, 0.0
    try:
        while not all(search.has_ended for search in searches):
            while waiting and sum(s.process is not None and not s.has_ended for s in searches) < at_once:
                number, search = waiting.pop(0)
                environment = _environment(given.target, gpus[number % len(gpus)])
                search.start(winners, min(until, time.monotonic() + each), workers, environment)
            if time.monotonic() > until:
                break
            if time.monotonic() > written + 30:
                _write(searches, given.out)
                written = time.monotonic()
            while printed < len(searches) and searches[printed].has_ended:
                _print_output(searches[printed])
                printed += 1
            time.sleep(0.2)
    finally:
        for search in searches:
            search.kill()
        for search in searches[printed:]:
            _print_output(search)
        lines = _write(searches, given.out)
    return lines


def _print_output(search: Search) -> None:
    with contextlib.suppress(OSError):
        text = (search.directory / f"{search.kernel}.txt").read_text(errors="replace")
        print(f"\n== {search.kernel}\n{text[-20000:]}", flush=True)


def _write(searches: list[Search], out: Path) -> list[dict[str, Any]]:
    """Writes the results and histories so far, complete or not at all; returns them."""
    content = []
    for search in searches:
        history = search.history()
        content.append({**search.line(history), "history": history})
    new = out / "search.json.new"
    new.write_text(json.dumps(content, separators=(",", ":")))
    os.replace(new, out / "search.json")
    return content


def _print_table(lines: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(*_COLUMNS)
    for line in lines:
        if "problem" in line:
            best = line["best"].get("milliseconds")
            table.add_row(line["title"], line["problem"], "", "" if best is None else f"{best:.4f}?")
            continue
        table.add_row(
            line["title"],
            f"{line['gain'] or 0:.3f}x",
            f"{line['declared_ms'] or 0:.4f}",
            f"{line['found_ms'] or 0:.4f}",
            str(line["trials"]),
            f"{line['per_minute']:.0f}",
            f"{line['on_device']:.1%}",
            *(str(line[name]) for name in ("wrong", "failed", "pruned")),
        )
    Console(width=150).print(table)
    sys.stdout.flush()


@contextlib.contextmanager
def _page(search: Search, given: argparse.Namespace) -> Iterator[None]:
    """Has the page of a search made during the block, which takes a processor only."""
    page = ["search", "report", str(search.directory / f"{search.kernel}.db"), "--html", str(given.out / "search.html")]
    process = subprocess.Popen([sys.executable, "-m", "triton_ext", *page], env=_environment(given.target, None))
    try:
        yield
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        print("the page took too long", flush=True)
    finally:
        process.kill()


def _check(winners: Path, kernel: str, target: str, until: float) -> bool:
    """Has the winners checked, and that of `kernel` used, one after the other; returns whether all is right."""
    verify = ["-m", "triton_ext", "search", "verify", str(winners)]
    use = [str(HERE / "search_one.py"), "use", kernel, str(winners)]
    good = True
    for title, command in (("triton-ext search verify", verify), ("@tx.use in a new process", use)):
        print(f"\n== {title}", flush=True)
        left = max(1.0, until - time.monotonic() - (_USE if command is verify else 0))
        try:
            done = subprocess.run([sys.executable, *command], env=_environment(target, None), timeout=left, check=False)
            good &= done.returncode == 0
        except subprocess.TimeoutExpired:
            print(f"not finished after {left:.0f} s", flush=True)
            good = False
    return good


if __name__ == "__main__":
    main()
