# SPDX-License-Identifier: Apache-2.0
"""Which kernels a pipeline applies to: those of a block, of a thread, of the process, or one kernel alone."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import random
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import triton
from triton import knobs
from triton.backends.compiler import GPUTarget
from triton.runtime.jit import MockTensor

import triton_ext as tx
from support.pipeline.kernels import SIGNATURE, add_one, matmul, softmax, source, squares
from support.pipeline.seen import MARK, mark, names, renaming
from triton_ext.pipeline import scope, stack

CUDA90 = GPUTarget("cuda", 90, 32)
X = MockTensor(triton.language.float32)


@pytest.fixture(autouse=True)
def nothing_stays_installed() -> Iterator[None]:
    """No test leaves a pipeline behind, not even one that fails."""
    yield
    while stack.installed.active:
        scope.uninstall(stack.installed.active[-1])


def compiled(kernel: Any = softmax) -> Any:
    return triton.compile(source(kernel), target=CUDA90)


def launch(kernel: Any = softmax, **options: Any) -> Any:
    """Returns the name of the kernel that ``kernel[grid](...)`` launches."""
    return kernel.warmup(X, X, 1000, 256, grid=(1,), **options)


def name(kernel: Any = softmax, **options: Any) -> str:
    return str(launch(kernel, **options).metadata.name)


# ---------------------------------------------------------------------------
# Blocks and the process
# ---------------------------------------------------------------------------


def test_blocks_nest_inside_out() -> None:
    """The inner pipeline edits the backend's passes, and the outer one edits the result."""
    inner = tx.Pipeline().after("ttir.combine", tx.builtin.common.cse()).skip("ttir.loop_unroll")
    outer = tx.Pipeline().before("ttir:common.cse#1", mark).skip("ttir:common.cse#2")
    with outer:
        ran = names(tx.describe(source(softmax), target="cuda:90", pipeline=inner), "ttir")
    assert ran == [
        "common.inliner", "common.canonicalizer", "ttir.combine", MARK, "common.cse", "ttir.reorder_broadcast",
        "common.symbol_dce",
    ]  # fmt: skip
    with inner, pytest.raises(tx.PipelineError, match="it occurs once"):
        tx.describe(source(softmax), target="cuda:90", pipeline=outer)  # in the other order there is one cse


@pytest.mark.slow
def test_an_outer_block_sees_what_an_inner_one_adds_at_the_start_and_at_the_end() -> None:
    cse, combine = tx.builtin.common.cse(), tx.builtin.ttir.combine()
    inner = tx.Pipeline().at_start("ttir", cse).at_end("ttir", cse, combine)
    outer = tx.Pipeline().skip("ttir:common.cse#1").after("ttir:common.cse#3", mark).skip("ttir:ttir.combine#last")
    with outer.at_start("ttir", mark).at_end("ttir", mark):
        ran = names(tx.describe(source(softmax), target="cuda:90", pipeline=inner), "ttir")
    assert ran == [
        MARK, "common.inliner", "common.canonicalizer", "ttir.combine", "ttir.reorder_broadcast", "common.cse",
        "common.symbol_dce", "ttir.loop_unroll", "common.cse", MARK, MARK,
    ]  # fmt: skip
    with tx.Pipeline().skip("llir:common.cse#last").after("llir:llvmir.di_scope", mark):
        ran = names(tx.describe(source(softmax), target="cuda:90", pipeline=tx.Pipeline().at_end("llir", cse)), "llir")
    assert ran[-2:] == ["llvmir.di_scope", MARK]


@pytest.mark.slow
def test_blocks_that_end_out_of_order() -> None:
    """Leaving a pipeline that is not the innermost one ends exactly that pipeline, and is an error."""
    a, b, c = renaming("softmax", "a"), renaming("softmax", "b"), renaming("b", "c")
    a.__enter__()
    b.__enter__()
    c.__enter__()
    with pytest.raises(tx.PipelineError) as error:
        a.__exit__(None, None, None)
    assert str(error.value).startswith(
        f"the pipeline '{a}' ends before '{c}', '{b}', entered after it and still active"
    )
    assert compiled().metadata.name == "b"  # c is innermost and does not see b yet
    c.__exit__(None, None, None)
    assert compiled().metadata.name == "b"
    b.__exit__(None, None, None)
    assert compiled().metadata.name == "softmax"
    assert stack.current.get() is stack.NOTHING


@pytest.mark.slow
def test_an_exit_too_many() -> None:
    a = renaming("softmax", "a")
    with pytest.raises(tx.PipelineError, match=r"the pipeline '.*' ends, but it was never entered"):
        a.__exit__(None, None, None)
    with a:
        pass
    with pytest.raises(tx.PipelineError, match="ends where it is not active"):
        a.__exit__(None, None, None)
    other = renaming("softmax", "other")
    with other:
        with pytest.raises(tx.PipelineError, match="ends where it is not active"):
            a.__exit__(None, None, None)
        assert compiled().metadata.name == "other"
    assert compiled().metadata.name == "softmax"


def test_a_block_ends_in_the_thread_that_entered_it() -> None:
    a = renaming("softmax", "a")
    problems: list[BaseException] = []

    def leave() -> None:
        try:
            a.__exit__(None, None, None)
        except tx.PipelineError as error:
            problems.append(error)

    with a:
        thread = threading.Thread(target=leave)
        thread.start()
        thread.join()
        assert "not entered in this thread" in str(problems[0])
        assert compiled().metadata.name == "a"


@pytest.mark.slow
def test_blocks_and_installations_nest() -> None:
    one, two, three = renaming("softmax", "one"), renaming("one", "two"), renaming("two", "three")
    three.install()
    two.install()
    try:
        assert compiled().metadata.name == "softmax"
        with one:
            assert compiled().metadata.name == "three"
        one.install()
        assert compiled().metadata.name == "three"
        two.uninstall()
        assert compiled().metadata.name == "one"
    finally:
        three.uninstall()
    assert compiled().metadata.name == "one"
    one.uninstall()
    assert compiled().metadata.name == "softmax"
    with pytest.raises(tx.PipelineError, match=r"'ttir: at_end.*' is not installed"):
        one.uninstall()


@pytest.mark.slow
def test_installed_twice() -> None:
    one = renaming("softmax", "one")
    assert one.install() is one.install() is one
    one.uninstall()
    assert compiled().metadata.name == "one"
    one.uninstall()
    assert compiled().metadata.name == "softmax"


def test_an_installation_reaches_every_thread() -> None:
    one = renaming("softmax", "one").install()
    found: list[str] = []
    thread = threading.Thread(target=lambda: found.append(compiled().metadata.name))
    thread.start()
    thread.join()
    one.uninstall()
    assert found == ["one"]


@pytest.mark.slow
def test_generators_and_tasks_keep_their_own_blocks() -> None:
    async def work(new: str) -> str:
        with renaming("softmax", new):
            await asyncio.sleep(0.01)
            found = compiled().metadata.name
            await asyncio.sleep(0.01)
        return str(found)

    async def work_all() -> list[str]:
        with renaming("b", "c"):
            return list(await asyncio.gather(work("a"), work("b"), work("d")))

    assert asyncio.run(work_all()) == ["a", "c", "d"]
    assert compiled().metadata.name == "softmax"


# ---------------------------------------------------------------------------
# Bystanders
# ---------------------------------------------------------------------------


@pytest.mark.slow
def test_other_kernels_have_the_key_that_they_have_without_us(no_gpu: None, kernel_cache: Path) -> None:
    plain = compiled()
    kernel = triton.jit(softmax.fn)
    in_memory = launch(kernel)
    keys = set(kernel.device_caches[0][0])
    renaming("softmax", "x").install().uninstall()
    with renaming("softmax", "y"):
        launch(kernel)
    used = tx.use(renaming("squares", "z"))(squares)
    assert name(used) == "z"
    assert compiled().hash == plain.hash
    assert launch(kernel) is in_memory
    assert {key for key in kernel.device_caches[0][0] if "triton-ext" not in key} == keys
    with tx.Pipeline(), tx.Pipeline():  # as without any pipeline, there is no hook
        assert compiled().hash == plain.hash
    assert sorted(path.name for path in kernel_cache.glob("*/softmax.json")) == ["softmax.json"] * 3


# ---------------------------------------------------------------------------
# One kernel
# ---------------------------------------------------------------------------


@pytest.mark.slow
def test_use_on_one_kernel(no_gpu: None) -> None:
    used = tx.use(renaming("softmax", "used"))(softmax)
    assert used is not softmax
    assert [name(used), name(softmax), name(used), name(squares)] == ["used", "softmax", "used", "squares"]
    other = tx.use(renaming("softmax", "other"))(softmax)
    assert [name(other), name(used)] == ["other", "used"]
    assert knobs.runtime.add_stages_inspection_hook is None


def test_use_leaves_the_original_as_it_was(no_gpu: None) -> None:
    before = dict(vars(softmax))
    used = tx.use(renaming("softmax", "used"))(softmax)
    name(used)
    used.add_pre_run_hook(lambda *args, **kwargs: None)
    assert {key: value for key, value in vars(softmax).items() if before.get(key) is not value} == {}
    assert not softmax.pre_run_hooks
    assert not hasattr(softmax, "triton_ext_pipelines")


@pytest.mark.slow
def test_use_composes_with_itself_and_with_what_is_active(no_gpu: None) -> None:
    twice = tx.use(renaming("one", "two"))(tx.use(renaming("softmax", "one"))(softmax))
    assert name(twice) == "two"
    with renaming("two", "three"):
        assert name(twice) == "three"
        assert name(softmax) == "softmax"
    assert name(twice) == "two"


@pytest.mark.slow
def test_use_through_a_grid_and_through_run(no_gpu: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel has everything that Inductor and similar tools call."""
    launched: list[str] = []

    class Kernel:
        def __init__(self, compiled: Any) -> None:
            self.name = compiled.metadata.name
            self.function = self.packed_metadata = None

        def launch_metadata(self, *arguments: Any) -> None: ...

        def run(self, *arguments: Any) -> None:
            launched.append(self.name)

    monkeypatch.setattr(triton.compiler, "compile", lambda *args, **kw: Kernel(triton.compile(*args, **kw)))
    fresh = triton.jit(softmax.fn)
    used = tx.use(renaming("softmax", "used"))(fresh)
    used[(1,)](X, X, 1000, 256)
    used.run(X, X, 1000, 256, grid=(1,), warmup=False)
    used.run(X, X, 1000, 256, grid=lambda meta: (meta["BLOCK"],), warmup=False)
    fresh[(1,)](X, X, 1000, 256)
    assert launched == ["used", "used", "used", "softmax"]


def bench(call: Any, quantiles: Any) -> list[float]:
    call()
    return [1.0, 1.0, 1.0]


def autotuned(kernel: Any = softmax, warps: tuple[int, ...] = (4, 8)) -> Any:
    configs = [triton.Config({"BLOCK": 256}, num_warps=n) for n in warps]
    return triton.autotune(configs, key=["n"], do_bench=bench)(kernel)


@pytest.mark.slow
def test_use_above_autotune_and_heuristics(no_gpu: None) -> None:
    pipeline = renaming("softmax", "used")
    tuner = autotuned()
    used = tx.use(pipeline)(tuner)
    assert [k.metadata.name for k in used.warmup(X, X, 1000, grid=(1,))] == ["used", "used"]
    assert [k.metadata.name for k in tuner.warmup(X, X, 1000, grid=(1,))] == ["softmax", "softmax"]
    assert used.run(X, X, 1000, grid=(1,), warmup=True).metadata.name == "used"
    assert list(used.cache) == [(1000, "fp32", "fp32")]
    assert not tuner.cache
    assert tuner.run(X, X, 1000, grid=(1,), warmup=True).metadata.name == "softmax"

    heuristic = triton.heuristics({"BLOCK": lambda arguments: 256})(softmax)
    used = tx.use(pipeline)(heuristic)
    assert used.warmup(X, X, 1000, grid=(1,)).metadata.name == "used"
    assert heuristic.warmup(X, X, 1000, grid=(1,)).metadata.name == "softmax"
    # A kernel under an autotuner keeps its pipeline.
    inside = autotuned(tx.use(pipeline)(softmax))
    assert {k.metadata.name for k in inside.warmup(X, X, 1000, grid=(1,))} == {"used"}
    assert inside.run(X, X, 1000, grid=(1,), warmup=True).metadata.name == "used"


def test_use_on_gluon(no_gpu: None) -> None:
    used = tx.use(tx.Pipeline().stage("ptx", lambda t, m, inner: "// used\n" + inner(t, m)))(add_one)
    kernel = used.warmup(X, X, 512, 32, grid=(1,))
    assert kernel.asm["ptx"].startswith("// used\n")
    assert not add_one.warmup(X, X, 512, 32, grid=(1,)).asm["ptx"].startswith("// used")


def test_a_used_kernel_may_be_called_by_another_one(no_gpu: None) -> None:
    """A kernel that another kernel calls is a function: the caller's pipeline applies."""
    from support.pipeline import kernels

    square = tx.use(renaming("squares", "no"))(kernels.square)
    assert square.cache_key == kernels.square.cache_key
    caller = triton.jit(squares.fn)
    caller.fn.__globals__["square"], before = square, kernels.square
    try:
        assert name(caller) == "squares"
    finally:
        caller.fn.__globals__["square"] = before


def test_use_on_something_else() -> None:
    with pytest.raises(tx.PipelineError, match=r"use: expected a kernel, got .*fix: put it above @triton.jit"):
        tx.use(tx.Pipeline())(softmax.fn)
    with pytest.raises(tx.PipelineError, match="use: expected a Pipeline"):
        tx.use("ttir: skip(cse)")  # type: ignore[arg-type]


@pytest.mark.slow
def test_an_error_in_a_used_kernel_ends_its_scope(no_gpu: None) -> None:
    used = tx.use(tx.Pipeline().skip("nowhere"))(softmax)
    for _ in range(2):
        with pytest.raises(tx.PipelineError, match="no pass 'nowhere'"):
            launch(used)
        assert knobs.runtime.add_stages_inspection_hook is None
    assert name() == "softmax"


# ---------------------------------------------------------------------------
# Threads
# ---------------------------------------------------------------------------


@pytest.mark.slow
def test_threads_with_different_pipelines() -> None:
    """Threads compile several kernels at the same time, each thread under its own pipeline, some under none."""
    kernels = [softmax, squares]
    failures: list[Any] = []
    start = threading.Barrier(8, timeout=60)

    def work(number: int) -> None:
        choice = random.Random(number)
        pipeline = None if number % 4 == 3 else renaming("softmax", f"t{number}") + renaming("squares", f"s{number}")
        start.wait()
        for _ in range(6):
            kernel = choice.choice(kernels)
            plain = kernel.__name__
            if pipeline is None:
                found, wanted = compiled(kernel).metadata.name, plain
            else:
                with pipeline:
                    found = compiled(kernel).metadata.name
                wanted = f"{'t' if kernel is softmax else 's'}{number}"
            if found != wanted:
                failures.append((number, wanted, found))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


@pytest.mark.slow
def test_threads_that_install_while_others_compile() -> None:
    """A thread outside any block gets one kernel or the other, and never fails."""
    found: set[str] = set()
    failures: list[BaseException] = []
    done = threading.Event()

    def compile_on() -> None:
        try:
            while not done.is_set():
                found.add(compiled().metadata.name)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=compile_on) for _ in range(2)]
    for thread in threads:
        thread.start()
    one = renaming("softmax", "one")
    for _ in range(200):
        one.install()
        time.sleep(0.001)
        one.uninstall()
    done.set()
    for thread in threads:
        thread.join()
    assert failures == []
    assert found <= {"softmax", "one"}


@pytest.mark.slow
@pytest.mark.parametrize("installed_first", [False, True])
def test_what_changes_between_key_and_stages_is_for_the_next(
    installed_first: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If another thread installs or uninstalls a pipeline at that moment, the binary still matches its key."""
    from triton.compiler import compiler

    one = renaming("softmax", "one")
    if installed_first:
        one.install()
    with monkeypatch.context() as patch:
        manager = compiler.get_cache_manager

        def change_and_get(key: str) -> Any:
            patch.undo()
            thread = threading.Thread(target=one.uninstall if installed_first else one.install)
            thread.start()
            thread.join()
            return manager(key)

        patch.setattr(compiler, "get_cache_manager", change_and_get)
        names = [compiled().metadata.name]
    try:
        names.append(compiled().metadata.name)
    finally:
        if not installed_first:
            one.uninstall()
    names.append(compiled().metadata.name)
    assert names == (["one", "softmax", "softmax"] if installed_first else ["softmax", "one", "softmax"])


@pytest.mark.slow
def test_threads_parse_kernels() -> None:
    """Python 3.11 fails if a second thread parses while a garbage collection in the first thread gives way to it."""
    failures: list[BaseException] = []

    def parse() -> None:
        try:
            for _ in range(50):
                matmul.parse()
        except BaseException as error:
            failures.append(error)

    def hand_over(*_: object) -> None:
        time.sleep(0)

    threshold = gc.get_threshold()
    with renaming("matmul", "product"):
        gc.callbacks.append(hand_over)
        gc.set_threshold(20, 10**6)  # only the youngest objects
        try:
            threads = [threading.Thread(target=parse) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            gc.set_threshold(*threshold)
            gc.callbacks.remove(hand_over)
    assert failures == []


# ---------------------------------------------------------------------------
# Asynchronous compilation
# ---------------------------------------------------------------------------


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(3) as pool:
        yield pool


class Later(Executor):
    """Compiles on request, in a thread of its own."""

    def __init__(self) -> None:
        self.jobs: list[tuple[Future[Any], Any]] = []

    def submit(self, function: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.jobs.append((future, function))
        return future

    def work(self) -> None:
        def run() -> None:
            for future, function in self.jobs:
                try:
                    future.set_result(function())
                except Exception as error:
                    future.set_exception(error)

        thread = threading.Thread(target=run)
        thread.start()
        thread.join()


@pytest.mark.slow
def test_pool_threads_have_the_pipelines_of_who_asked(no_gpu: None, pool: ThreadPoolExecutor) -> None:
    one, two = renaming("softmax", "one"), renaming("softmax", "two")
    kernel = triton.jit(softmax.fn)
    used = tx.use(renaming("softmax", "used"))(kernel)
    with triton.AsyncCompileMode(pool):
        futures = [launch(kernel)]
        for pipeline in (one, two, one):
            with pipeline:
                futures.append(launch(kernel))
        futures.append(launch(used))
    assert [f.metadata.name for f in futures] == ["softmax", "one", "two", "one", "used"]
    assert futures[1].result() is futures[3].result()
    with one:
        assert launch(kernel) is futures[1].result()
    assert launch(kernel) is futures[0].result()


@pytest.mark.slow
def test_what_is_asked_for_while_installed_is_compiled_so(no_gpu: None) -> None:
    """The pipelines at submission count, not those that are active when the pool compiles; this holds also for keys in
    memory."""
    one, two = renaming("softmax", "one"), renaming("softmax", "two")
    kernel, later = triton.jit(softmax.fn), Later()
    with triton.AsyncCompileMode(later):
        plain = launch(kernel)
        one.install()
        installed = launch(kernel)
        one.uninstall()
        two.install()
        later.work()
    try:
        assert [plain.metadata.name, installed.metadata.name] == ["softmax", "one"]
        assert name(kernel) == "two"
    finally:
        two.uninstall()
    assert name(kernel) == "softmax"
    one.install()
    assert launch(kernel) is installed.result()
    one.uninstall()


@pytest.mark.slow
def test_the_same_kernel_has_one_key_however_it_is_compiled(no_gpu: None, pool: ThreadPoolExecutor) -> None:
    one = renaming("two", "one").install()
    try:
        with triton.AsyncCompileMode(pool), renaming("softmax", "two"):
            there = launch(triton.jit(softmax.fn), num_warps=8)
        with renaming("softmax", "two"):
            here = triton.compile(
                triton.compiler.ASTSource(softmax, there.src.signature, there.src.constants, there.src.attrs),
                target=CUDA90,
                options={"num_warps": 8, "debug": False},
            )
    finally:
        one.uninstall()
    assert here.metadata.name == there.metadata.name == "one"
    assert here.hash == there.hash


@pytest.mark.slow
def test_an_error_in_a_pool_thread(no_gpu: None, pool: ThreadPoolExecutor) -> None:
    kernel = triton.jit(softmax.fn)
    with tx.Pipeline().skip("nowhere"):
        with pytest.raises(tx.PipelineError, match="no pass 'nowhere'"), triton.AsyncCompileMode(pool):
            launch(kernel)
        with pytest.raises(tx.PipelineError, match="no pass 'nowhere'"):
            launch(kernel)
    with triton.AsyncCompileMode(pool):
        future = launch(kernel)
    assert future.metadata.name == "softmax"


@pytest.mark.slow
def test_contexts_that_are_handed_on(pool: ThreadPoolExecutor) -> None:
    """``contextvars.copy_context`` carries a block to another thread, as `asyncio.to_thread` does."""
    with renaming("softmax", "one"):
        context = contextvars.copy_context()
    assert pool.submit(context.run, lambda: compiled().metadata.name).result() == "one"
    assert pool.submit(lambda: compiled().metadata.name).result() == "softmax"


# ---------------------------------------------------------------------------
# Sources
# ---------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["ttir", "ttgir"])
def test_ir_files(stage: str, tmp_path: Path) -> None:
    file = tmp_path / f"kernel.{stage}"
    file.write_text(compiled().asm[stage])
    later = "ttgir" if stage == "ttir" else "llir"

    def comment(text: str, metadata: dict[str, Any], inner: Any) -> str:
        return "// edited\n" + inner(text, metadata)

    found: list[Any] = []
    with tx.Pipeline().at_start(later, found.append).stage("ptx", comment):
        kernel = triton.compile(str(file), target=CUDA90)
    assert len(found) == 1
    assert kernel.asm["ptx"].startswith("// edited\n")
    assert triton.compile(str(file), target=CUDA90).hash != kernel.hash
    edits = [
        tx.Pipeline().at_end(stage, mark),
        tx.Pipeline().at_start("ttir", mark),
        tx.Pipeline().skip(f"{stage}:cse"),
        tx.Pipeline().stage(stage, comment),
    ]
    for edit in edits:  # these stages lie before the source, so no edit of them can apply
        with edit, pytest.raises(tx.PipelineError, match=r"this compilation begins after the stage 'ttg?ir'"):
            triton.compile(str(file), target=CUDA90)
    with tx.Pipeline().at_end(stage, mark, on_missing="ignore"):
        assert triton.compile(str(file), target=CUDA90).metadata.name == "softmax"


@pytest.mark.slow
def test_compile_ahead_of_time_as_triton_s_tool_does() -> None:
    """``triton/tools/compile.py`` calls `triton.compile` with a source, a target and options."""
    signature = {"a": "*fp16", "b": "*fp16", "c": "*fp32", "K": "i32", "BLOCK": "constexpr"}
    aot = triton.compiler.ASTSource(
        matmul, signature, {"BLOCK": 32}, {(i,): [["tt.divisibility", 16]] for i in range(3)}
    )
    with renaming("matmul", "matmul_aot"):
        kernel = triton.compile(aot, target=GPUTarget("cuda", 80, 32), options={"num_warps": 1, "num_stages": 3})
    assert b"matmul_aot" in kernel.asm["cubin"]
    assert set(SIGNATURE) == {"x", "y", "n", "BLOCK"}
