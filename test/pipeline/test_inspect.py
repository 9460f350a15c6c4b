# SPDX-License-Identifier: Apache-2.0
"""`Inspection` of real pass managers on the modules of real kernels."""

from __future__ import annotations

import contextlib
import gc
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from triton._C.libtriton import amd, ir, passes
from triton.backends.compiler import GPUTarget
from triton.compiler import make_backend

import triton_ext as tx
from support.pipeline import kernels
from support.pipeline.kernels import softmax, source, squares
from triton_ext.errors import BuildError, TritonExtError
from triton_ext.loading.discovery import extensions
from triton_ext.loading.loader import load_library
from triton_ext.pipeline import inspection_library
from triton_ext.pipeline.inspection import Inspection, Level, Result

CUDA90 = GPUTarget("cuda", 90, 32)
Add = Callable[[Any], None]

CSE, CANONICALIZE = passes.common.add_cse, passes.common.add_canonicalizer
TO_TTGIR: tuple[Add, ...] = (
    passes.common.add_inliner,
    CANONICALIZE,
    CSE,
    lambda manager: passes.ttir.add_convert_to_ttgpuir(manager, "cuda:90", 4, 32, 1),
    passes.ttgpuir.add_coalesce,
    passes.ttgpuir.add_remove_layout_conversions,
    CSE,
)
NAMES = "inline canonicalize cse convert-triton-to-tritongpu tritongpu-coalesce tritongpu-remove-layout-conversions cse"


@pytest.fixture
def report(report_library: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Add]:
    """``report("error")`` adds the pass of ``report/``, in that mode."""
    monkeypatch.setenv("TRITON_EXT_PATH", str(report_library))
    return lambda mode: extension(tx.passes.ttir.report(mode=mode))


@pytest.fixture(autouse=True)
def nothing_stays_open() -> Any:
    yield
    gc.collect()
    assert count() == 0


def extension(item: Any) -> Add:
    return lambda manager: load_library(item.extension).add[item.name](manager, list(item.args))


def rename(old: str, new: str) -> Add:
    return extension(tx.passes.ttir.rename(old=old, new=new))


def module_of(kernel: Any) -> Any:
    """Returns the module with which a compilation of `kernel` begins, in its own context."""
    backend = make_backend(CUDA90)
    options = backend.parse_options({})
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    functions, modules = backend.get_codegen_implementation(options), backend.get_module_map()
    return source(kernel).make_ir(CUDA90, options, functions, modules, context)


def parsed(text: str, path: Path) -> Any:
    path.write_text(text)
    context = module_of(softmax).context
    module = ir.parse_mlir_module(str(path), context)
    module.context = context
    return module


def manager_of(module: Any, *adds: Add) -> Any:
    manager = ir.pass_manager(module.context)
    for add in adds:
        add(manager)
    return manager


def inspect(module: Any, *adds: Add, level: Level = Level.SUMMARY) -> Result:
    """Returns what an inspection records of these passes, and whether they fail."""
    manager = manager_of(module, *adds)
    with Inspection(level) as inspection:
        inspection.attach(manager)
        with contextlib.suppress(RuntimeError, IndexError):
            manager.run(module, "test")
        return inspection.result()


def number_of_operations(module: Any) -> int:
    found: list[None] = []
    module.walk(lambda operation: found.append(None))
    return len(found)


def count() -> int:
    return inspection_library.load()[0].tritonExtInspectCount()


@pytest.mark.parametrize("kernel", [softmax, squares], ids=["softmax", "squares"])
def test_events_agree_with_running_the_passes_one_by_one(kernel: Any) -> None:
    events = iter(inspect(module_of(kernel), *TO_TTGIR, level=Level.IR).events)
    module = module_of(kernel)
    changes = set()
    for index, (add, name) in enumerate(zip(TO_TTGIR, NAMES.split(), strict=True)):
        before, ops_before = str(module), number_of_operations(module)
        manager_of(module, add).run(module, "test")
        event, after = next(events), str(module)
        changes.add(event.changed)
        assert (event.index, event.span, event.argument, event.failed) == (index, 1, name, False)
        assert (event.ops_before, event.ops_after) == (ops_before, number_of_operations(module))
        assert (event.changed, event.ir) == (before != after, after if before != after else None)
        assert event.pipeline.startswith(name)
        assert event.ns > 0
    assert next(events, None) is None
    assert changes == {True, False}


def test_levels_record_what_they_promise() -> None:
    failures, summary, full = (inspect(module_of(softmax), *TO_TTGIR, level=level) for level in Level)
    for event in failures.events:
        assert (event.ops_before, event.ops_after, event.changed, event.ir) == (0, 0, False, None)
    assert " ".join(event.argument for event in failures.events) == NAMES
    for event, same in zip(summary.events, full.events, strict=True):
        assert (event.ops_before, event.ops_after, event.changed) == (same.ops_before, same.ops_after, same.changed)
        assert event.ir is None
    assert failures.source_ir is None
    assert summary.source_ir is None
    assert full.source_ir == str(module_of(softmax))


@pytest.mark.slow
def test_the_ir_parses_again(tmp_path: Path) -> None:
    module = module_of(softmax)
    result = inspect(module, *TO_TTGIR, level=Level.IR)
    texts = [result.source_ir, *(event.ir for event in result.events if event.changed)]
    assert len(texts) > 3
    for text in texts:
        assert text is not None
        assert str(parsed(text, tmp_path / "module.mlir")) == text
        assert f'loc("{kernels.__file__}":' in text
    assert texts[-1] == str(module)


def test_a_new_name_is_a_change() -> None:
    first, second = inspect(module_of(softmax), rename("softmax", "new"), rename("softmax", "new")).events
    assert (first.argument, first.pipeline) == ("triton-ext-rename", "triton-ext-rename{new=new old=softmax}")
    assert (first.changed, second.changed) == (True, False)
    assert first.ops_before == first.ops_after


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["attribute", "location", "operands", "rebuild"])
def test_a_change_is_a_change_of_the_text(mode: str, report: Callable[[str], Add]) -> None:
    module = module_of(softmax)
    before = str(module)
    (event,) = inspect(module, report(mode), level=Level.IR).events
    assert event.changed == (str(module) != before) == (mode != "rebuild")
    assert event.ops_before == event.ops_after


@pytest.mark.slow
def test_a_nested_pipeline_is_one_event(report: Callable[[str], Add]) -> None:
    adds = [CSE, report("remark"), amd.passes.ttgpuir.add_sink_layout_conversions, CSE, report("remark")]
    events = inspect(module_of(softmax), *adds).events
    remark = "triton-ext-report{mode=remark}"
    assert [(e.index, e.span, e.argument, e.pipeline, len(e.remarks)) for e in events] == [
        (0, 1, "cse", "cse", 0),
        (1, 2, "", f"tt.func({remark},tritonamdgpu-sink-layout-conversions)", 1),  # MLIR merges adjacent managers
        (3, 1, "cse", "cse", 0),
        (4, 1, "", f"tt.func({remark})", 1),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("level", Level)
def test_reports_belong_to_their_pass(level: Level, report: Callable[[str], Add]) -> None:
    result = inspect(
        module_of(softmax), CSE, report("remark"), CSE, report("engine"), CSE, report("warning"), level=level
    )
    at = re.escape(kernels.__file__) + r":\d+:\d+: "
    expected = {
        1: at + "remark: has 3 arguments",
        3: at + r"remark: 3 iterations \[-Rpass-missed=loop-split\]",
        5: f"{at}warning: is odd\n{at}note: ends here",
    }
    for event in result.events:
        said = event.remarks + event.diagnostics
        assert len(said) == (event.index in expected)
        assert all(re.fullmatch(expected[event.index], text) for text in said)
    assert result.diagnostics == result.events[5].diagnostics != ()


@pytest.mark.slow
def test_the_context_is_left_as_it_was(report: Callable[[str], Add], monkeypatch: Any, capfd: Any) -> None:
    monkeypatch.setenv("MLIR_ENABLE_DIAGNOSTICS", "remarks")
    module = module_of(softmax)
    assert inspect(module, report("engine")).events[0].remarks
    assert "loop-split" in capfd.readouterr().err  # Triton's handler runs after ours
    manager_of(module, report("engine")).run(module, "test")
    assert "loop-split" not in capfd.readouterr().err


def test_what_is_said_after_a_run_is_not_its_own(tmp_path: Path, capfd: Any) -> None:
    module = module_of(softmax)
    manager = manager_of(module, CSE)
    wrong = tmp_path / "wrong.mlir"
    wrong.write_text("wrong")
    with Inspection(Level.SUMMARY) as inspection:
        inspection.attach(manager)
        manager.run(module, "test")
        with pytest.raises(RuntimeError, match="Parse"):  # the one kind of diagnostic for which Triton has no handler
            ir.parse_mlir_module(str(wrong), module.context)
        assert inspection.result().diagnostics == ()
    assert "wrong.mlir" in capfd.readouterr().err


def test_a_failure_has_its_pass_and_its_reason_and_is_printed(monkeypatch: Any, capfd: Any) -> None:
    monkeypatch.setenv("MLIR_ENABLE_DIAGNOSTICS", "operations")
    module = module_of(squares)
    (callee,) = re.findall(r"private @([\w.]+)", str(module))
    manager = manager_of(module, CSE, rename(callee, "taken"), CSE, rename("squares", "taken"), CSE)
    with Inspection(Level.FAILURES) as inspection:
        inspection.attach(manager)
        with pytest.raises(RuntimeError, match="PassManager::run failed"):
            manager.run(module, "test")
        result = inspection.result()
    assert [(event.index, event.failed) for event in result.events] == [(0, False), (1, False), (2, False), (3, True)]
    (error,) = result.diagnostics
    first, *notes = error.splitlines()
    assert f"{kernels.__file__}:" in first
    assert first.endswith("the name is taken")
    assert len(notes) == 2
    assert "see current operation: " in notes[0]  # its first line
    assert notes[1].endswith("note: it is the name of this")
    assert result.events[3].diagnostics == result.diagnostics
    assert "the name is taken" in capfd.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "reasons"),
    [("error", ["error: cannot be used"]), ("silent", []), ("invalid", ["error: block with no terminator"])],
)
def test_every_way_to_fail_is_seen(mode: str, reasons: list[str], report: Callable[[str], Add], capfd: Any) -> None:
    result = inspect(module_of(softmax), CSE, report(mode), CSE, level=Level.IR)
    assert [(event.index, event.failed) for event in result.events] == [(0, False), (1, True)]
    failed = result.events[1]
    assert (failed.changed, failed.ir, failed.ops_after) == (False, None, failed.ops_before)
    assert len(result.diagnostics) == len(reasons)
    assert all(reason in text for reason, text in zip(reasons, result.diagnostics, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["crash", "throw"])
def test_a_pass_that_does_not_return_has_failed(
    mode: str, report_library: Path, run_python: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITON_EXT_PATH", str(report_library))
    program = f"""
import os
import test_inspect as t
module = t.module_of(t.softmax)
manager = t.manager_of(module, t.CSE, t.extension(t.tx.passes.ttir.report(mode="{mode}")), t.CSE)
inspection = t.Inspection(t.Level.IR)
inspection.attach(manager)
try:
    manager.run(module, "test")
except RuntimeError:  # its context can go on, and the first manager is not to hear of the second
    following = t.manager_of(module, t.CSE, t.extension(t.tx.passes.ttir.report(mode="remark")))
    inspection.attach(following)
    following.run(module, "test")
except IndexError:
    pass
print([(e.index, e.failed, len(e.remarks), len(e.diagnostics)) for e in inspection.result().events], flush=True)
os._exit(0)  # Triton does not survive the end of a context in which a pass has thrown
"""
    crashed = "[(0, False, 0, 0), (1, True, 0, 1), (0, False, 0, 0), (1, False, 1, 0)]\n"
    assert run_python(program) == (crashed if mode == "crash" else "[(0, False, 0, 0), (1, True, 0, 0)]\n")


def test_several_managers_one_after_another() -> None:
    module = module_of(softmax)
    source_ir = str(module)
    with Inspection(Level.IR) as inspection:
        for adds in (TO_TTGIR[:2], (), TO_TTGIR[2:4]):
            manager = manager_of(module, *adds)
            inspection.attach(manager)
            manager.run(module, "test")
        result = inspection.result()
    assert [(e.manager, e.index, e.argument) for e in result.events] == [
        (0, 0, "inline"),
        (0, 1, "canonicalize"),
        (2, 0, "cse"),
        (2, 1, "convert-triton-to-tritongpu"),
    ]
    assert result.source_ir == source_ir


@pytest.mark.slow
def test_threads_inspect_on_their_own(report: Callable[[str], Add]) -> None:
    expected = {name: inspect(module_of(kernel), *TO_TTGIR) for name, kernel in (("a", softmax), ("b", squares))}
    seen: list[tuple[str, Result]] = []
    start = threading.Barrier(4, timeout=60)

    def work(name: str, kernel: Any) -> None:
        modules = [module_of(kernel) for _ in range(5)]
        start.wait()
        seen.extend((name, inspect(module, *TO_TTGIR)) for module in modules)

    threads = [threading.Thread(target=work, args=a) for a in [("a", softmax), ("b", squares)] * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 20
    for name, result in seen:
        for event, same in zip(result.events, expected[name].events, strict=True):
            assert (event.pipeline, event.ops_after, event.changed) == (same.pipeline, same.ops_after, same.changed)


@pytest.mark.slow
def test_a_manager_runs_on_when_its_inspection_is_gone(report: Callable[[str], Add]) -> None:
    module = module_of(softmax)
    manager, forgotten, raised = (manager_of(module, rename("softmax", "new"), report("remark")) for _ in range(3))
    with contextlib.suppress(ZeroDivisionError), Inspection(Level.IR) as inspection:
        inspection.attach(raised)
        _ = 1 / 0
    inspection = Inspection(Level.IR)
    inspection.attach(forgotten)
    inspection = Inspection(Level.IR)
    gc.collect()
    assert count() == 1
    inspection.attach(manager)
    inspection.close()
    for each in (raised, forgotten, manager):
        each.run(module, "test")
    assert "@new" in str(module)


def test_a_closed_inspection_says_so() -> None:
    inspection = Inspection(Level.SUMMARY)
    inspection.close()
    inspection.close()
    with pytest.raises(TritonExtError, match="closed"):
        inspection.attach(manager_of(module_of(softmax)))
    with pytest.raises(TritonExtError, match="closed"):
        inspection.result()


@pytest.mark.slow
def test_module_manager_and_inspection_may_end_in_any_order(
    report_library: Path, run_python: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITON_EXT_PATH", str(report_library))
    program = """
import contextlib, gc, itertools, sys
import test_inspect as t
for mode in ("remark", "error", "crash"):
    for order in itertools.permutations(("module", "manager", "inspection")):
        alive = {"module": t.module_of(t.softmax), "inspection": t.Inspection(t.Level.IR)}
        report = t.extension(t.tx.passes.ttir.report(mode=mode))
        alive["manager"] = t.manager_of(alive["module"], t.CSE, report)
        alive["inspection"].attach(alive["manager"])
        with contextlib.suppress(RuntimeError):
            alive["manager"].run(alive["module"], "test")
        for name in order:
            if name == "inspection":
                assert len(alive[name].result().events) == 2
            del alive[name]
            gc.collect()
print("survived", t.count())
"""
    assert run_python(program) == "survived 0\n"


@pytest.mark.slow
def test_200_inspections_leave_nothing_behind(report: Callable[[str], Add]) -> None:
    module = module_of(softmax)
    with Inspection(Level.SUMMARY) as all_of_them:
        for _ in range(200):
            manager = manager_of(module, report("remark"))
            all_of_them.attach(manager)
            with Inspection(Level.IR) as inspection:
                inspection.attach(manager)
                manager.run(module, "test")
                assert count() == 2
                assert len(inspection.result().events[0].remarks) == 1
        events = all_of_them.result().events
    assert [event.manager for event in events] == list(range(200))
    assert all(len(event.remarks) == 1 for event in events)


@pytest.mark.slow
@pytest.mark.parametrize("variable", ["MLIR_ENABLE_DUMP", "MLIR_ENABLE_TIMING"])
def test_what_triton_prints_is_not_disturbed(variable: str, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    monkeypatch.setenv(variable, "1")

    def printed(inspected: bool) -> str:
        module = module_of(softmax)
        manager = ir.pass_manager(module.context)
        manager.enable_debug()
        for add in TO_TTGIR:
            add(manager)
        with Inspection(Level.IR) as inspection:
            if inspected:
                inspection.attach(manager)
            manager.run(module, "test")
        del manager
        return re.sub(r" *-?\d+\.\d+ +\( *-?\d+\.\d+%\)|\d+\.\d+ seconds", "", capfd.readouterr().err)

    plain, inspected = printed(False), printed(True)
    assert plain.count("onvert") >= 1
    assert inspected == plain


def test_it_is_no_extension_and_leaves_no_name_behind() -> None:
    inspect(module_of(softmax), CSE)
    assert not [name for name in passes.plugin.__dict__ if "inspect" in name]
    assert not [extension for extension in extensions() if "nspect" in extension.path.name]


def test_a_library_that_is_not_built_is_an_error_with_its_remedy(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("TRITON_EXT_LIBRARY_DIR", str(tmp_path))
    with pytest.raises(BuildError, match=r"libTritonExtInspect.so.*fix: triton-ext build"):
        inspection_library.load.__wrapped__()
