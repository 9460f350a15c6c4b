# SPDX-License-Identifier: Apache-2.0
"""Triton's one hook slot, which a user may use as without triton-ext."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
import triton
from triton import knobs
from triton.backends.compiler import GPUTarget
from triton.runtime.jit import MockTensor

import triton_ext as tx
from support.pipeline.kernels import softmax, source
from support.pipeline.seen import mark

CUDA90 = GPUTarget("cuda", 90, 32)
RENAME = tx.Pipeline().at_end("ttir", tx.passes.ttir.rename(old="softmax", new="ours"))
OUTER = tx.Pipeline().at_end("ttir", tx.passes.ttir.rename(old="ours", new="outer"))


def slot() -> Any:
    return knobs.runtime.add_stages_inspection_hook


def put(hook: Any) -> None:
    knobs.runtime.add_stages_inspection_hook = hook


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    assert slot() is None
    yield
    put(None)
    assert slot() is None


def compiled(**options: Any) -> Any:
    return triton.compile(source(softmax), target=CUDA90, **options)


class Hook:
    """A hook as Triton documents it: wraps the first stage and says which it is.

    Args:
        name: its key.
        log: gets the name at each compilation, and at each run of the stage with a dash before it.
        previous: the hook before it, which it calls first.
    """

    def __init__(self, name: str, log: list[str], previous: Any = None) -> None:
        self.name = name
        self.log = log
        self.previous = previous

    def __call__(
        self, backend: Any = None, stages: Any = None, options: Any = None, language: Any = None, capability: Any = None
    ) -> tuple[str, str]:
        before = (
            self.previous(*(() if stages is None else (backend, stages, options, language, capability)))
            if (self.previous)
            else ("", "")
        )
        if stages is not None:
            self.log.append(self.name)
            inner = stages["ttir"]
            stages["ttir"] = lambda module, metadata: (self.log.append(f"-{self.name}"), inner(module, metadata))[1]
        return before[0] + self.name, before[1] + self.name


@pytest.mark.slow
def test_set_before() -> None:
    log: list[str] = []
    put(hook := Hook("A", log))
    alone = compiled()
    with RENAME:
        both = compiled()
        assert compiled().hash == both.hash
    assert slot() is hook
    assert (alone.metadata.name, both.metadata.name) == ("softmax", "ours")
    assert log == ["A", "-A"] * 2
    assert len({alone.hash, both.hash}) == 2


@pytest.mark.slow
def test_set_inside() -> None:
    log: list[str] = []
    with RENAME:
        put(hook := Hook("A", log))
        assert compiled().metadata.name == "ours"
        put(None)
        without = compiled()
        put(hook)
    assert slot() is hook
    assert compiled().metadata.name == "softmax"
    assert without.metadata.name == "ours"
    assert log == ["A", "-A"] * 2


@pytest.mark.slow
def test_set_after_an_installation() -> None:
    log: list[str] = []
    RENAME.install()
    try:
        put(Hook("A", log))
        assert compiled().metadata.name == "ours"
    finally:
        RENAME.uninstall()
    assert compiled().metadata.name == "softmax"
    assert log == ["A", "-A"] * 2


@pytest.mark.slow
def test_its_key_counts() -> None:
    hashes = []
    for name in ("A", "B", "A"):
        put(Hook(name, []))
        with RENAME:
            hashes.append(compiled().hash)
        put(None)
    assert hashes[0] == hashes[2] != hashes[1]


@pytest.mark.slow
def test_saved_and_put_back() -> None:
    """A library may use the slot for a while, at any depth, and then restore what it found."""
    log: list[str] = []
    hooks = [None, Hook("A", log), Hook("B", log)]
    for outermost in (None, Hook("O", log)):
        put(outermost)
        with RENAME:
            saved = []
            for hook in hooks:
                saved.append(slot())
                put(hook)
            for before in reversed(saved):
                put(before)
            log.clear()
            assert compiled(options={"num_warps": 8 if outermost else 4}).metadata.name == "ours"
            assert log == (["O", "-O"] if outermost else [])
        assert slot() is outermost


def test_saved_inside_and_put_back_outside() -> None:
    with RENAME:
        saved = slot()
    put(Hook("A", []))
    put(saved)
    assert slot() is None


def test_scope_of_knobs() -> None:
    put(hook := Hook("A", []))
    with RENAME, knobs.runtime.scope():
        put(Hook("B", []))
    assert slot() is hook


@pytest.mark.slow
@pytest.mark.parametrize("where", ["before", "inside"])
def test_chained(where: str) -> None:
    """A hook calls the previous one; each of the two acts once, and so does the pipeline."""
    log: list[str] = []
    put(Hook("A", log))
    if where == "before":
        put(Hook("B", log, slot()))
    with RENAME:
        if where == "inside":
            put(Hook("B", log, slot()))
        assert compiled().metadata.name == "ours"
        assert log == ["A", "B", "-B", "-A"]
        with OUTER:
            log.clear()
            assert compiled().metadata.name == "ours"  # the inner pipeline runs first, when there is no such name yet
            assert log == ["A", "B", "-B", "-A"]
    log.clear()
    assert compiled().metadata.name == "softmax"
    assert log == ["A", "B", "-B", "-A"]


@pytest.mark.slow
def test_chained_to_nothing() -> None:
    log: list[str] = []
    with RENAME:
        put(Hook("B", log, slot()))
        inside = compiled()
    assert (inside.metadata.name, log) == ("ours", ["B", "-B"])
    assert compiled().metadata.name == "softmax"
    assert log == ["B", "-B"] * 2


def test_a_hook_that_replaces_a_stage() -> None:
    """A hook replaces a stage, as in Triton's documentation; the edits apply to the new stage as to the old one."""

    def hook(backend: Any = None, stages: Any = None, options: Any = None, language: Any = None, _: Any = None) -> Any:
        from triton._C.libtriton import ir, passes

        def make_ttir(module: Any, metadata: dict[str, Any]) -> Any:
            manager = ir.pass_manager(module.context)
            passes.common.add_inliner(manager)
            manager.run(module, "make_ttir")
            metadata["by_hook"] = True
            return module

        if stages is not None:
            stages["ttir"] = make_ttir
        return "documentation", "documentation"

    put(hook)
    with RENAME:
        kernel = compiled()
    assert kernel.metadata.name == "ours"
    assert kernel.metadata.by_hook
    # The stage does not use the backend's globals, so its passes are unknown.
    with (
        pytest.raises(tx.PipelineError, match="no pass 'loop_unroll' in stage ttir"),
        tx.Pipeline().skip("ttir:loop_unroll"),
    ):
        compiled()


def test_a_hook_that_runs_the_backend_s_code() -> None:
    def hook(
        backend: Any = None, stages: Any = None, options: Any = None, language: Any = None, arch: Any = None
    ) -> Any:
        if stages is not None:
            stages["ttir"] = lambda module, metadata: backend.make_ttir(module, metadata, options, arch)
        return "again", "again"

    put(hook)
    found = []
    with tx.Pipeline().after("ttir.loop_unroll", found.append):
        compiled()
    assert len(found) == 1


def test_a_hook_that_returns_nothing_and_one_that_raises() -> None:
    put(lambda *arguments: ("", "") if not arguments else None)
    with RENAME:
        assert compiled().metadata.name == "ours"

    def broken(*arguments: Any) -> tuple[str, str]:
        raise ZeroDivisionError

    put(broken)
    with RENAME, pytest.raises(ZeroDivisionError):
        compiled()
    put(None)
    with RENAME:
        assert compiled().metadata.name == "ours"


def test_reading_the_slot_changes_nothing() -> None:
    plain = compiled()
    with RENAME:
        assert slot() is not None
        assert slot() is slot()
    assert slot() is None
    assert compiled().hash == plain.hash
    RENAME.install()
    hook = slot()
    RENAME.uninstall()
    assert slot() is None
    assert hook() == ("", "")
    assert compiled().hash == plain.hash


def test_an_uninstallation_between_two_reads() -> None:
    """Triton checks whether there is a hook, and then reads the slot again to call it."""
    RENAME.install()
    assert slot() is not None
    other = threading.Thread(target=RENAME.uninstall)
    other.start()
    other.join()
    assert slot()() == ("", "")
    assert slot() is None


@pytest.mark.slow
def test_in_memory_keys(no_gpu: None) -> None:
    x = MockTensor(triton.language.float32)

    def launch() -> str:
        return str(softmax.warmup(x, x, 1000, 256, grid=(1,)).metadata.name)

    log: list[str] = []
    assert launch() == "softmax"
    put(Hook("A", log))
    assert launch() == "softmax"
    with RENAME:
        assert [launch(), launch()] == ["ours", "ours"]
        put(Hook("B", log))
        assert launch() == "ours"
    assert log == ["A", "-A", "A", "-A", "B", "-B"]
    put(None)
    assert launch() == "softmax"
    assert len(log) == 6


def test_the_slot_in_the_class_is_as_without_us() -> None:
    mark(None)
    assert type(knobs.runtime).add_stages_inspection_hook is None
    copied = knobs.runtime.copy()
    assert copied.add_stages_inspection_hook is None
    put(hook := Hook("A", []))
    assert knobs.runtime.copy().add_stages_inspection_hook is hook
    del knobs.runtime.add_stages_inspection_hook
    assert slot() is None
