# SPDX-License-Identifier: Apache-2.0
"""For any sequence of pipelines, kernels, scopes, processes and rebuilt libraries, a kernel from the cache equals the
kernel that a compiler without a cache makes, and no pipeline is compiled twice.

In each example, two processes share a disk cache and take turns, over pipelines that are variations of each other. Two
further processes give the expected results: they compile everything anew, each with one build of the rebuilt library.
"""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import triton
import triton.language as tl
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.runtime.jit import MockTensor

import support
import triton_ext as tx
from support.pipeline.kernels import softmax, source, squares

HERE = Path(__file__).parent
Spec = dict[str, Any]


class Worker:
    """A process that runs ``cache_worker``."""

    def __init__(self, **environment: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, HERE / "cache_worker.py"],
            env=support.environment(**environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, job: Spec) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()

    def answer(self) -> Spec:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, f"the worker ended with {self.process.wait()}"
        return dict(json.loads(line))

    def end(self) -> None:
        self.process.communicate()


# "KERNEL" stands for the name of the kernel.
EXTENSIONS = [
    {"kind": "extension", "name": "rename", "options": {"old": "KERNEL", "new": "one"}},
    {"kind": "extension", "name": "rename", "options": {"old": "KERNEL", "new": "four"}},
    {"kind": "extension", "name": "rename", "options": {"old": "one", "new": "two"}},
    {"kind": "extension", "name": "stamp"},
]
BUILTINS = [{"kind": "builtin", "name": name} for name in ("common.cse", "common.canonicalizer")]
PYTHON = [
    {"kind": "python", "how": how, "count": count}
    for how in ("closure", "closure", "default", "partial", "object", "global", "settings")
    for count in (64, 128)
]
#: Verbs and anchors of edits that place passes, by stage.
PLACES = {
    "ttir": [
        ("at_start", "ttir"), ("at_end", "ttir"), ("before", "ttir.loop_unroll"), ("after", "ttir:common.cse#last"),
        ("after", "ttir:common.canonicalizer"), ("before", "ttir:cse#2"),
    ],
    "ttgir": [
        ("at_start", "ttgir"), ("at_end", "ttgir"), ("replace", "ttgpuir.reorder_instructions"),
        ("before", "ttgir:common.canonicalizer#1"), ("after", "combine_tensor_select_*#1"),
    ],
}  # fmt: skip
SKIPPED = ("ttgpuir.coalesce", "ttgpuir.remove_layout_conversions", "ttir:common.cse", "ttir.no_such")
WALKS = 30
ROUTES = ("launch", "compile")
SCOPES = [("install",), ("with",), ("use",), ("install", "with"), ("with", "with"), ("with", "use"), ("use", "use")]


def some_passes(choice: random.Random, stage: str) -> list[Spec]:
    kinds = [EXTENSIONS, PYTHON] if stage == "ttir" else [BUILTINS, PYTHON]
    return [choice.choice(choice.choice(kinds)) for _ in range(choice.choice([1, 1, 2]))]


def some_edit(choice: random.Random) -> Spec:
    match choice.choice(["ttir"] * 3 + ["ttgir"] * 2 + ["skip", "set", "stage"]):
        case "skip":
            missing = choice.choice(["error", "warn", "ignore"])
            return {"verb": "skip", "where": choice.choice(SKIPPED), "on_missing": missing}
        case "set":
            where = choice.choice(["ttir.convert_to_ttgpuir", "convert_to_*#1"])
            return {"verb": "set", "where": where, "arguments": {"num_warps": choice.choice([1, 2, 8])}}
        case "stage":
            return {"verb": "stage", "where": "ptx", "number": choice.randrange(4)}
        case stage:
            verb, where = choice.choice(PLACES[stage])
            return {"verb": verb, "where": where, "stage": stage, "passes": some_passes(choice, stage)}


def some_pipeline(choice: random.Random) -> list[Spec]:
    """Draws one to three edits, mostly two that differ only in their passes."""
    edits = {place(one): one for one in (some_edit(choice) for _ in range(choice.choice([1, 2])))}
    twin = choice.choice(list(edits.values()))
    if "passes" in twin:
        twin = {**twin, "passes": some_passes(choice, twin["stage"])}
        edits[place(twin)] = twin
    return list(edits.values())


def place(one: Spec) -> str:
    """At one place, `Pipeline` accepts one edit that changes a pass, and any number of edits that add passes."""
    return json.dumps(one) if one["verb"] in ("before", "after", "at_start", "at_end") else one["where"]


def changed(choice: random.Random, edits: list[Spec]) -> list[Spec]:
    """Returns a pipeline that is easily confused with `edits`: it differs in one thing."""
    result = [dict(one) for one in edits]
    one = choice.choice(result)
    if len(result) > 1 and choice.random() < 0.15:
        result.remove(one)
    elif one["verb"] == "stage":
        one["number"] += 1
    elif one["verb"] == "set":
        one["arguments"] = {"num_warps": 4 if one["arguments"]["num_warps"] == 1 else 1}
    elif one["verb"] == "skip":
        one["on_missing"] = "ignore" if one["on_missing"] == "error" else "error"
    else:
        one["passes"] = changed_passes(choice, one["passes"])
    return result


def changed_passes(choice: random.Random, passes: list[Spec]) -> list[Spec]:
    if len(passes) > 1 and choice.random() < 0.5:
        return passes[::-1]
    which = choice.randrange(len(passes))
    old = passes[which]
    if old["kind"] == "python":
        new = {**old, "count": 192 - old["count"]}
    elif old["name"] == "rename":
        new = {**old, "options": {**old["options"], "new": "three"}}
    else:
        new = choice.choice(EXTENSIONS if old["kind"] == "extension" else BUILTINS)
    return [*passes[:which], new, *passes[which + 1 :]]


def some_walk(choice: random.Random) -> list[Spec]:
    """Draws steps: each is a job, the process that runs it, and the build of `stamp` that is installed."""
    modes = choice.choice(SCOPES)
    pipelines = [some_pipeline(choice) for _ in modes]
    layer = choice.randrange(len(modes))

    def with_layer(edits: list[Spec]) -> list[tuple[str, list[Spec]]]:
        return list(zip(modes, [*pipelines[:layer], edits, *pipelines[layer + 1 :]], strict=True))

    plain, turned = with_layer(pipelines[layer]), with_layer(pipelines[layer][::-1])
    others = [with_layer(changed(choice, pipelines[layer])) for _ in range(3)]
    others.append(choice.choice([[], list(zip(modes, pipelines[::-1], strict=True)), [("with", pipelines[0])]]))
    scopes = [plain, plain, plain, turned, turned, *others]
    choice.shuffle(scopes)
    kernel = choice.choice(["softmax", "squares", "product"])
    return [some_step(choice, kernel, scope) for scope in scopes]


def some_step(choice: random.Random, kernel: str, scope: list[tuple[str, list[Spec]]]) -> Spec:
    used = any(mode == "use" for mode, _ in scope)
    spellings = ["built", "sum"] + ["text"] * (not any(_is_function(e) for _, edits in scope for e in edits))
    spelling = choice.choice(spellings)
    return {
        "worker": choice.randrange(2),
        "build": choice.choice(["v1", "v2"]),
        "kernel": kernel,
        "route": "launch" if used else choice.choice(ROUTES),
        "registers": choice.choice([64, 128]),
        # The content of a dictionary is read when a pipeline is entered, which a kernel under @tx.use does once.
        "fresh": (used and "settings" in json.dumps(scope)) or choice.random() < 0.5,
        "layers": [{"mode": mode, "edits": edits, "spelling": spelling} for mode, edits in scope],
    }


def _is_function(one: Spec) -> bool:
    return one["verb"] == "stage" or any(p["kind"] == "python" for p in one.get("passes", ()))


def meaning(step: Spec) -> Spec:
    """Returns the key of the expected result of `step`: everything in the step that may affect the result."""
    passes = [p for layer in step["layers"] for e in layer["edits"] for p in e.get("passes", ())]
    return {
        "kernel": step["kernel"],
        "layers": [layer["edits"] for layer in step["layers"]],
        "build": step["build"] if any(p.get("name") == "stamp" for p in passes) else "v1",
        "registers": step["registers"] if any(p.get("how") in ("global", "settings") for p in passes) else 32,
    }


@pytest.fixture(scope="module")
def references(stamps: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Worker]]:
    """Starts the processes without a cache, by the build of `stamp` that they use."""
    workers = {
        build: Worker(TRITON_ALWAYS_COMPILE="1", TRITON_EXT_PATH=str(library)) for build, library in stamps.items()
    }
    yield workers
    for worker in workers.values():
        worker.end()


@pytest.fixture
def workers(install_stamp: Callable[[str], None]) -> Iterator[list[Worker]]:
    """Starts the two processes that share a cache, and that find `stamp` where it is installed."""
    install_stamp("v1")
    both = [Worker(), Worker()]
    yield both
    for worker in both:
        worker.end()


@pytest.mark.slow
def test_every_binary_is_that_of_a_compiler_without_cache(
    install_stamp: Callable[[str], None], references: dict[str, Worker], workers: list[Worker], tmp_path: Path
) -> None:
    expected: dict[str, Spec] = {}
    for seed in range(WALKS):
        steps = some_walk(random.Random(seed))
        asked = []
        for step in steps:  # they work while this process walks on
            what = meaning(step)
            if json.dumps(what) not in expected:
                asked.append((json.dumps(what), references[what["build"]]))
                expected[asked[-1][0]] = {}
                layers = [{"mode": "with", "edits": edits, "spelling": "built"} for edits in what["layers"]]
                job = {
                    **what,
                    "layers": layers,
                    "route": "compile",
                    "fresh": True,
                    "cache": str(tmp_path / what["build"]),
                }
                asked[-1][1].ask(job)
        answers = []
        for step in steps:
            install_stamp(step["build"])
            worker = workers[step["worker"]]
            worker.ask({**step, "cache": str(tmp_path / f"cache{seed}")})
            answers.append(worker.answer())
        for what_text, worker in asked:
            expected[what_text] = worker.answer()
        known: dict[str, set[int]] = {}
        for number, (step, got) in enumerate(zip(steps, answers, strict=True)):
            what_text = json.dumps(meaning(step))
            where = f"walk {seed}, step {number} of {json.dumps(steps[: number + 1], indent=1)}"
            assert got["outcome"] == expected[what_text]["outcome"], where
            if got["outcome"] == "error":
                continue
            same = json.dumps([what_text, step["route"], [layer["mode"] for layer in step["layers"]]])
            seen = known.setdefault(same, set())
            used = any(
                layer["mode"] == "use" for layer in step["layers"]
            )  # such a kernel keeps its own kernels in memory
            if step["worker"] in seen and step["route"] == "launch" and not used:
                assert got["origin"] == "memory", where
            elif seen:
                assert got["origin"] != "compiled", where
            seen.add(step["worker"])


@pytest.mark.slow
def test_a_pass_that_keeps_notes_runs_once(no_gpu: None) -> None:
    """A change that a pass itself makes when it runs does not make it run again at the next launch."""
    notes: list[str] = []
    pointer = MockTensor(tl.float32)
    with tx.Pipeline().at_end("ttir", lambda module: notes.append(str(module))):
        for kernel in (softmax, squares, softmax, squares):
            kernel.warmup(pointer, pointer, 1000, 256, grid=(1,))
    assert len(notes) == 2


@pytest.mark.slow
def test_what_changed_in_place_is_not_found_under_the_key_of_what_it_was() -> None:
    registers = [64]

    def limit(module: Any) -> None:
        module.set_attr("ttg.maxnreg", ir.builder(module.context).get_int32_attr(registers[0]))

    def compiled(change: int) -> str:
        registers[0] = 64
        with tx.Pipeline().at_end("ttir", limit):
            registers[0] = change
            ptx = triton.compile(source(softmax), target=GPUTarget("cuda", 90, 32)).asm["ptx"]
        return re.findall(r"\.maxnreg (\d+)", ptx)[0]

    assert [compiled(128), compiled(64), compiled(128)] == ["128", "64", "128"]
