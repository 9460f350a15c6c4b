# SPDX-License-Identifier: Apache-2.0
"""No kernel ever gets the binary of another pipeline, or of another build of a library.

`rename` tells pipelines apart by their options, `stamp` tells the builds of one library apart: each leaves its mark in
the kernel's name, and so in the binary. One process keeps kernels in memory, several share the disk.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
import triton
from triton.backends.compiler import GPUTarget
from triton.runtime.jit import MockTensor

import triton_ext as tx
from support.pipeline.kernels import softmax, source, squares

CUDA90 = GPUTarget("cuda", 90, 32)
Install = Callable[[str], None]


def pipelines() -> dict[str, tuple[tx.Pipeline, Callable[[str, str], str]]]:
    """Returns pipelines, each with the name that it gives to a kernel under the installed build of `stamp`."""
    one, two = (tx.passes.ttir.rename(old="softmax", new=new) for new in ("one", "two"))
    stamp = tx.passes.ttir.stamp()
    renamed = {"softmax": "one"}
    return {
        "none": (tx.Pipeline(), lambda name, build: name),
        "one": (tx.Pipeline().at_end("ttir", one), lambda name, build: renamed.get(name, name)),
        "two": (tx.Pipeline().at_end("ttir", two), lambda name, build: "two" if name == "softmax" else name),
        "stamp": (tx.Pipeline().at_end("ttir", stamp), lambda name, build: f"{name}_{build}"),
        "one stamp": (
            tx.Pipeline().at_end("ttir", one, stamp),
            lambda name, build: f"{renamed.get(name, name)}_{build}",
        ),
        "stamp one": (tx.Pipeline().at_end("ttir", stamp, one), lambda name, build: f"{name}_{build}"),
    }


@pytest.mark.slow
def test_random_walk_over_pipelines_builds_and_kernels(install_stamp: Install) -> None:
    """With a disk cache and one process, every visit gets its own binary, the first time and again."""
    choice = random.Random(7)
    install_stamp("v1")
    build, binaries = "v1", {}
    walk = [(kernel, name) for kernel in (softmax, squares) for name in pipelines()] * 4
    choice.shuffle(walk)
    for step, (kernel, name) in enumerate(walk):
        if step % 9 == 8:
            build = choice.choice(["v1", "v2"])
            install_stamp(build)
        pipeline, expected = pipelines()[name]
        with pipeline:
            compiled = triton.compile(source(kernel), target=CUDA90)
        want = expected(kernel.__name__, build)
        assert compiled.metadata.name == want, f"step {step}: {kernel.__name__} with '{name}', stamp {build}"
        assert want.encode() in compiled.kernel
        assert binaries.setdefault(want, compiled.kernel) == compiled.kernel


@pytest.mark.slow
def test_in_memory(install_stamp: Install, no_gpu: None) -> None:
    """``kernel[grid]`` keeps its kernels in a dictionary of the process."""
    x = MockTensor(triton.language.float32)
    seen: dict[str, int] = {}
    for build, name in itertools.product(("v1", "v2", "v1"), ("none", "one", "stamp", "none", "stamp")):
        install_stamp(build)
        pipeline, expected = pipelines()[name]
        with pipeline:
            compiled = softmax.warmup(x, x, 1000, 256, grid=(1,))
        want = expected("softmax", build)
        assert compiled.metadata.name == want
        assert seen.setdefault(want, id(compiled)) == id(compiled)  # the kernel comes from memory


PROGRAM = """
import json, sys
import triton, triton_ext as tx
from support.pipeline.kernels import softmax, source
from triton.backends.compiler import GPUTarget
names = []
for edit in json.loads(sys.argv[1]):
    p = tx.Pipeline()
    if edit == "stamp":
        p = p.at_end("ttir", tx.passes.ttir.stamp())
    elif edit:
        p = p.at_end("ttir", tx.passes.ttir.rename(old="softmax", new=edit))
    hits = []
    triton.knobs.compilation.listener = lambda *, cache_hit, **_: hits.append(cache_hit)
    with p:
        names.append([triton.compile(source(softmax), target=GPUTarget("cuda", 90, 32)).metadata.name, *hits])
print(json.dumps(names))
"""


@pytest.mark.slow
def test_processes_that_share_a_disk_cache(install_stamp: Install, run_python: Callable[..., str]) -> None:
    def run(*edits: str | None) -> list[list[object]]:
        return json.loads(run_python(PROGRAM, json.dumps(edits)))

    install_stamp("v1")
    assert run(None, "a", "stamp") == [["softmax", False], ["a", False], ["softmax_v1", False]]
    # The second process finds each kernel that it asks for, and no other.
    assert run("stamp", "b", "a", None) == [["softmax_v1", True], ["b", False], ["a", True], ["softmax", True]]
    install_stamp("v2")
    assert run("stamp", "a", None) == [["softmax_v2", False], ["a", True], ["softmax", True]]
    install_stamp("v1")
    assert run("stamp") == [["softmax_v1", True]]


def test_the_key_is_computed_on_entry_and_only_read_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    """A launch asks the hook for the key each time, so the hook must not touch a file."""
    with tx.Pipeline().at_end("ttir", tx.passes.ttir.rename()):
        hook = triton.knobs.runtime.add_stages_inspection_hook
        assert hook is not None
        first = hook()
        monkeypatch.setattr(Path, "open", lambda *_: pytest.fail("a launch opened a file"))
        monkeypatch.setattr(Path, "stat", lambda *_: pytest.fail("a launch looked at a file"))
        assert hook() == first


SETTINGS = {"level": 5}


def leveller(seen: list[int]) -> Callable[[object], None]:
    """Returns a pass that appends to `seen` the level with which it runs. The level is in `SETTINGS`, which is changed
    in place."""

    class Levels:
        def __init__(self) -> None:
            self.settings = SETTINGS

        def __call__(self, module: object) -> None:
            note(self.settings["level"])

    def note(level: int) -> None:
        seen.append(level)

    note.cache_key = "it only notes"  # type: ignore[attr-defined]
    return Levels()


def launched(kernel: triton.JITFunction[..., None]) -> object:
    x = MockTensor(triton.language.float32)
    return kernel.warmup(x, x, 1000, 256, grid=(1,))


@pytest.fixture
def level(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Changes in place the level that the passes of `leveller` read; it is 5 before and after each test."""
    monkeypatch.setitem(SETTINGS, "level", 5)
    return lambda value: monkeypatch.setitem(SETTINGS, "level", value)


@pytest.mark.slow
@pytest.mark.parametrize("one_object", [True, False])
@pytest.mark.parametrize("same_block", [True, False])
def test_what_is_compiled_after_a_change_in_place_is_not_found_later(
    one_object: bool, same_block: bool, level: Callable[[int], None], no_gpu: None, kernel_cache: Path
) -> None:
    """A launch uses the key in memory until the change takes effect."""
    seen: list[int] = []
    function = leveller(seen)
    pipelines = [tx.Pipeline().at_end("ttir", function)] * 3
    if not one_object:
        pipelines = [tx.Pipeline().at_end("ttir", function) for _ in pipelines]
    kernel = triton.jit(softmax.fn)
    with pipelines[0]:
        if same_block:
            launched(squares)
            seen.clear()
        level(6)
        changed = launched(kernel)
        assert seen == [6]
        assert launched(kernel) is changed  # until the block ends
        level(5)
    with pipelines[1]:
        own = launched(kernel)
        assert seen == [6, 5]
        assert launched(kernel) is own is not changed
    with pipelines[2]:
        assert launched(kernel) is own


@pytest.mark.slow
@pytest.mark.parametrize("how", ["block", "install", "use"])
def test_a_change_in_place_is_seen_when_the_pipeline_is_entered(
    how: str, level: Callable[[int], None], no_gpu: None, kernel_cache: Path
) -> None:
    """A launch does not look into the objects to which a pass refers, as docs/pipelines.md says."""
    seen: list[int] = []
    pipeline = tx.Pipeline().at_end("ttir", leveller(seen))
    kernel = triton.jit(softmax.fn)
    used = tx.use(pipeline)(kernel) if how == "use" else kernel
    with contextlib.ExitStack() as scopes:
        if how == "block":
            scopes.enter_context(pipeline)
        elif how == "install":
            scopes.callback(pipeline.install().uninstall)
        first = launched(used)
        level(7)
        assert launched(used) is first
        with pipeline:
            pass
        if how == "block":
            scopes.close()
            scopes.enter_context(pipeline)
        assert launched(used) is not first
    assert seen == [5, 7]
