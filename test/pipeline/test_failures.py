# SPDX-License-Identifier: Apache-2.0
"""Failures while a kernel compiles: the error says where, and the failure leaves nothing behind."""

from __future__ import annotations

import contextlib
import json
import re
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import triton
import triton.language as tl
from triton import knobs
from triton._C.libtriton import ir, passes
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia import compiler as nvidia
from triton.runtime.errors import PTXASError
from triton.runtime.jit import MockTensor

import triton_ext as tx
from support.pipeline.kernels import softmax, source
from support.pipeline.seen import GFX942, MARK, describe, mark, names, records
from triton_ext.patches import backend_globals
from triton_ext.pipeline import failures

B = tx.builtin
P = tx.Pipeline
TARGET = GPUTarget("cuda", 90, 32)


def compiled() -> Any:
    return triton.compile(source(softmax), target=TARGET)


@pytest.fixture(autouse=True)
def nothing_stays(kernel_cache: Path) -> Iterator[None]:
    """Checks after each test that the process and the cache are as they were."""
    yield
    assert knobs.runtime.add_stages_inspection_hook is None
    assert backend_globals.running.get() is None
    assert type(nvidia.ir.pass_manager(ir.context())) is ir.pass_manager
    for made in kernel_cache.glob(
        "*/__grp__*.json"
    ):  # a kernel is in the cache if its group file is, and then it is complete
        for path in json.loads(made.read_text())["child_paths"].values():
            assert Path(path).exists()
    kernel = compiled()
    assert kernel.metadata.name == "softmax"
    assert kernel.hash == triton.compile(source(softmax), target=TARGET).hash
    with P().after("ttir.loop_unroll", mark):
        assert compiled().metadata.name == "softmax"


def wrong_value(module: Any) -> None:
    raise ValueError("no luck")


def wrong_warps(module: Any) -> None:
    module.set_attr("ttg.num-warps", ir.builder(module.context).get_int32_attr(3))


def returns(module: Any) -> Any:
    return module


def takes_two(module: Any, other: Any) -> None: ...


def raises_ours(module: Any) -> None:
    raise tx.PipelineError("I refuse")


def stage_raises(source: Any, metadata: Any, inner: Any) -> Any:
    raise KeyError("missing")


def stage_returns_nothing(source: Any, metadata: Any, inner: Any) -> Any:
    inner(source, metadata)


def stage_returns_text(source: Any, metadata: Any, inner: Any) -> Any:
    return str(inner(source, metadata))


HERE = "test_failures:"
FAILS: dict[str, tuple[tx.Pipeline, list[str]]] = {
    "an exception": (
        P().at_end("ttir", mark, wrong_value),
        [
            f"'ttir: at_end({MARK}, {HERE}wrong_value)': pass '{HERE}wrong_value' failed in stage 'ttir' on kernel "
            "'softmax': ValueError: no luck"
        ],
    ),
    "an exception at the start": (
        P().at_start("ttgir", wrong_value),
        ["'ttgir: at_start(", "stage 'ttgir'", "no luck"],
    ),
    "an exception in llir": (
        P().after("to_llvmir", wrong_value),
        ["'after(to_llvmir, ", "stage 'llir' on kernel 'softmax'", "no luck"],
    ),
    "an exception at the end of llir": (
        P().at_end("llir", wrong_value),
        ["stage 'llir' on kernel 'softmax'", "no luck"],
    ),
    "an error of ours": (P().at_end("ttir", raises_ours), [f"pass '{HERE}raises_ours' failed", "I refuse"]),
    "a wrong signature": (P().at_end("ttir", takes_two), ["TypeError: takes_two() missing 1 required", "softmax"]),
    "a value returned": (
        P().after("ttir.combine", returns),
        ["'after(ttir.combine, ", "returned module; it has to change the module in place and return nothing"],
    ),
    "an invalid module": (
        P().after("ttgpuir.coalesce", wrong_warps),
        [
            f"'after(ttgpuir.coalesce, {HERE}wrong_warps)'",
            "stage 'ttgir' on kernel 'softmax': left a module that does not verify: ",
            "kernels.py:",
            "Layout has 4 warps per CTA, but the context requires 3 warps per CTA.",
        ],
    ),
    "a pass in the wrong stage": (
        P().after("ttir.loop_unroll", B.common.cse(), B.ttgpuir.coalesce()),
        [
            "'after(ttir.loop_unroll, common.cse, ttgpuir.coalesce)': pass 'ttgpuir.coalesce' failed in stage 'ttir' "
            "on kernel 'softmax': ",
            "kernels.py:",
            "error: 'tt.load' op is not contained within a context that specifies the number of warps",
        ],
    ),
    "one of two passes of a name": (
        P().at_end(
            "ttir", tx.passes.ttir.rename(old="softmax", new="fine"), tx.passes.ttir.rename(old="fine", new="1")
        ),
        ["pass 'rename{new=1 old=fine}' failed in stage 'ttir' on kernel 'fine'"],
    ),
    "a pass that Triton needs is skipped": (
        P().skip("convert_to_ttgpuir"),
        [
            "pass 'ttgpuir.coalesce' of Triton failed in stage 'ttgir' on kernel 'softmax', in the pipeline "
            "'skip(convert_to_ttgpuir)': ",
            "is not contained within a context that specifies the number of warps",
        ],
    ),
    "an unknown argument": (
        P().set("ttgpuir.pipeline", num_stagez=3),
        [
            "'set(ttgpuir.pipeline, num_stagez=3)': pass 'ttgpuir.pipeline': unknown argument 'num_stagez'; did you "
            "mean 'num_stages'?; it takes: num_stages: int, dump_intermediate_steps: bool"
        ],
    ),
    "a wrong type": (
        P().set("ttgpuir.pipeline", num_stages=True),
        ["'set(ttgpuir.pipeline, num_stages=true)'", "argument 'num_stages': expected int, got True"],
    ),
    "an argument for a pass without any": (P().set("ttir.combine", a=1), ["unknown argument 'a'; it takes: none"]),
    "no such stage": (P().at_end("ttri", mark), ["'ttri: at_end(", "no stage 'ttri', it has: ttir, ttgir, llir, ptx"]),
    "a stage of text": (
        P().at_end("ptx", mark),
        ["'ptx: at_end(", "stage 'ptx' has no MLIR module; use .stage('ptx', function)"],
    ),
    "a stage function that raises": (
        P().stage("ptx", stage_raises),
        [f"'ptx: stage({HERE}stage_raises)': KeyError: 'missing'"],
    ),
    "a stage function that returns nothing": (
        P().stage("ttgir", stage_returns_nothing),
        [
            f"'ttgir: stage({HERE}stage_returns_nothing)': returned NoneType, expected module; see what inner(source, "
            "metadata) returns"
        ],
    ),
    "a stage function without a text": (P().stage("ptx", stage_returns_nothing), ["returned NoneType, expected str;"]),
    "a stage function that returns text": (P().stage("ttir", stage_returns_text), ["returned str, expected module;"]),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", FAILS)
def test_an_error_says_where_and_why(case: str) -> None:
    pipeline, says = FAILS[case]
    for attempt in (compiled, lambda: describe(None)):  # a compilation that is observed fails in the same way
        with pipeline, pytest.raises(tx.PipelineError) as error:
            attempt()
        for part in says:
            assert part in str(error.value)


@pytest.mark.slow
def test_the_cause_is_kept() -> None:
    with P().at_end("ttir", wrong_value), pytest.raises(tx.PipelineError) as error:
        compiled()
    cause = error.value.__cause__
    assert isinstance(cause, ValueError)
    assert cause.__traceback__ is not None


@pytest.mark.slow
def test_a_builtin_pass_that_crashes() -> None:
    """MLIR keeps the process alive, and the error names the pass and its edit."""
    with P().skip("to_llvmir"), pytest.raises(tx.PipelineError) as error:
        compiled()
    assert "of Triton failed in stage 'llir' on kernel 'softmax', in the pipeline 'skip(to_llvmir)'" in str(error.value)


@pytest.mark.slow
def test_errors_of_the_stage_itself_keep_their_type() -> None:
    """An autotuner catches some of these errors by their type."""

    def broken(text: str, metadata: Any, inner: Any) -> Any:
        return inner(text, metadata).replace("ret;", "rat;")

    def around(text: str, metadata: Any, inner: Any) -> Any:
        return inner(text, metadata)

    for pipeline in (P().stage("ptx", broken), P().stage("ptx", broken).stage("cubin", around)):
        with pipeline, pytest.raises(PTXASError) as error:
            compiled()
        (note,) = error.value.__notes__
        assert note.startswith("in stage 'cubin' with the pipeline 'ptx: stage(")
        assert note.endswith("; without the edits the kernel compiles")


@pytest.mark.slow
def test_other_errors_of_a_stage_are_ours() -> None:
    with P().after("llir:common.cse#1", mark).skip("llir:nvgpu_to_llvm"), pytest.raises(tx.PipelineError) as error:
        compiled()
    said = str(error.value)
    pipeline = f"llir: after(common.cse#1, {MARK}), skip(nvgpu_to_llvm)"
    assert said.startswith(f"stage 'llir' failed on kernel 'softmax', in the pipeline '{pipeline}': ")
    assert said.endswith("\nwithout the edits the kernel compiles")
    assert type(error.value.__cause__) is RuntimeError


@pytest.mark.slow
def test_a_failure_in_a_stage_without_edits() -> None:
    """The failure surfaces in one stage, but the edits of another stage have caused it."""
    with P().skip("ttgir:*"), pytest.raises(tx.PipelineError) as error:
        compiled()
    assert str(error.value).startswith("pass 'ttgpuir.")
    for part in (
        "of Triton failed in stage 'llir' on kernel 'softmax', in the pipeline 'ttgir: skip(*)': ",
        "kernels.py:",
        "is not contained within a context that specifies the number of warps",
        "\nwithout the edits the kernel compiles",
    ):
        assert part in str(error.value)


@pytest.mark.slow
def test_a_kernel_that_fails_without_the_edits_too() -> None:
    with P().at_end("ttir", wrong_value), pytest.raises(tx.PipelineError) as error:
        triton.compile(source(softmax), target=TARGET, options={"ptx_options": "--no-such-option"})
    assert "\nwithout the edits the kernel fails, too, in stage 'cubin': PTXASError: " in str(error.value)


@pytest.mark.slow
def test_trying_without_the_edits_leaves_nothing(kernel_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[Any] = []
    monkeypatch.setattr(knobs.compilation, "listener", lambda **values: heard.append(values))
    monkeypatch.setattr(failures, "_known", {})
    for _ in range(2):
        with (
            P().at_end("ttir", wrong_value),
            pytest.raises(tx.PipelineError, match="without the edits the kernel comp"),
        ):
            compiled()
    assert len(failures._known) == 1
    assert not heard
    assert not list(kernel_cache.glob("*/*.json"))


def text_of(answer: str | bytes) -> Any:
    """Returns a stage function that returns `answer`."""

    def function(source: Any, metadata: Any, inner: Any) -> Any:
        result = inner(source, metadata)
        return result.replace("define", "defined") if answer == "broken" else answer

    function.cache_key = str(answer)  # type: ignore[attr-defined]
    return function


def other_warps(source: Any, metadata: Any, inner: Any) -> Any:
    module = inner(source, metadata)
    wrong_warps(module)
    return module


HIP, CPU = GPUTarget("hip", "gfx942", 64), GPUTarget("cpu", "x86-64", 0)


def adds_to_itself(source: Any, metadata: Any, inner: Any) -> Any:
    """Returns LLVM IR that parses but does not verify; on such IR, LLVM's own reader ends the process."""
    changed, count = re.subn(r"(?m)^  (ret \w+)", r"  %zz = add i32 %zz, 1\n  \1", inner(source, metadata), count=1)
    assert count == 1
    return changed


#: What a stage function returns, and the error. Each once ended the process, or its error did not name the edit.
RETURNS: list[tuple[GPUTarget, str, Any, str]] = [
    *((target, "llir", text_of("broken"), "returned text that is not LLVM IR: line ") for target in (TARGET, HIP, CPU)),
    *((target, "llir", text_of(""), "returned str that is empty") for target in (TARGET, HIP, CPU)),
    *((target, "llir", text_of(b"x"), "returned bytes, expected str") for target in (TARGET, HIP, CPU)),
    *(
        (target, "llir", adds_to_itself, "Only PHI nodes may reference their own value")
        for target in (TARGET, HIP, CPU)
    ),
    (TARGET, "llir", text_of("; nothing"), "it defines no function"),
    (TARGET, "ttgir", other_warps, "returned a module that does not verify: "),
    (TARGET, "ptx", text_of(b"x"), "returned bytes, expected str"),
    (TARGET, "ptx", text_of(" "), "returned str that is empty"),
    (HIP, "amdgcn", text_of(b"x"), "returned bytes, expected str"),
    (CPU, "cpuir", text_of("x"), "returned str, expected module"),
    (CPU, "asm", text_of(b"x"), "returned bytes, expected str"),
    (TARGET, "cubin", text_of("x"), "returned str, expected bytes"),
    (TARGET, "cubin", text_of(b"x"), "returned bytes that are not a binary: expected an ELF file, found b'x'"),
    (HIP, "hsaco", text_of(b"x"), "returned bytes that are not a binary"),
    (CPU, "so", text_of(b"x"), "returned bytes that are not a binary"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("target", "stage", "function", "says"), RETURNS)
def test_what_a_stage_function_may_not_return(target: GPUTarget, stage: str, function: Any, says: str) -> None:
    with P().stage(stage, function), pytest.raises(tx.PipelineError) as error:
        triton.compile(source(softmax), target=target)
    assert str(error.value).startswith(f"'{stage}: stage({HERE}")
    assert says in str(error.value)
    assert str(error.value).endswith("\nwithout the edits the kernel compiles")


@pytest.mark.slow
@pytest.mark.parametrize(("target", "stage"), [(TARGET, "ptx"), (HIP, "amdgcn"), (CPU, "asm")])
def test_llvm_ir_that_a_stage_function_gives_to_the_stage(target: GPUTarget, stage: str) -> None:
    """Two of the three once ended the process, and the third gave no error."""

    def spoils(source: str, metadata: Any, inner: Any) -> Any:
        return inner(source.replace("define", "defined"), metadata)

    with P().stage(stage, spoils), pytest.raises(tx.PipelineError) as error:
        triton.compile(source(softmax), target=target)
    assert str(error.value).startswith(f"'{stage}: stage({HERE}")
    assert "gave inner text that is not LLVM IR: line " in str(error.value)
    assert str(error.value).endswith("\nwithout the edits the kernel compiles")


@triton.jit
def doubled(x):  # type: ignore[no-untyped-def]
    i = tl.arange(0, 64)
    tl.store(x + i, tl.load(x + i) * 2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "pipeline"),
    [(TARGET, P().skip("llir:*")), (HIP, P().skip("llir:*")), (CPU, P().skip("cpuir:*"))],
    ids=str,
)
def test_why_a_module_cannot_be_translated(target: GPUTarget, pipeline: tx.Pipeline) -> None:
    double = triton.compiler.ASTSource(doubled, {"x": "*fp32"}, {})
    with pipeline, pytest.raises(tx.PipelineError) as error:
        triton.compile(double, target=target)
    assert "failed to translate module to LLVM IR: " in str(error.value)
    assert re.search(r"\.py:\d+:\d+: error: .*`LLVMTranslationDialectInterface` registration", str(error.value))
    assert str(error.value).endswith("\nwithout the edits the kernel compiles")


def runs_a_manager(module: Any, *_: Any) -> None:
    manager = ir.pass_manager(module.context)
    passes.ttir.add_convert_to_ttgpuir(manager, "cuda:90", 3, 32, 1)
    manager.run(module, "three warps")


@pytest.mark.slow
@pytest.mark.parametrize("target", [TARGET, CPU], ids=str)
def test_why_a_manager_of_a_python_pass_fails(target: GPUTarget) -> None:
    with P().at_end("ttir", runs_a_manager), pytest.raises(tx.PipelineError) as error:
        triton.compile(source(softmax), target=target)
    assert "failed in stage 'ttir'" in str(error.value)
    assert "warpsPerCTA must be a power of two" in str(error.value)


@pytest.mark.slow
def test_why_a_manager_of_a_stage_function_fails() -> None:
    with P().stage("ttir", runs_a_manager), pytest.raises(tx.PipelineError, match="must be a power of two"):
        triton.compile(source(softmax), target=TARGET)


def removes_the_hash(source: Any, metadata: Any, inner: Any) -> Any:
    result = inner(source, metadata)
    del metadata["hash"]
    return result


def removes_all(source: Any, metadata: Any, inner: Any) -> Any:
    result = inner(source, metadata)
    metadata.clear()
    return result


def keeps_to_itself(source: Any, metadata: Any, inner: Any) -> Any:
    return inner(source, dict(metadata))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "stage", "function", "says"),
    [
        (CPU, "llir", removes_the_hash, "metadata['hash']"),
        (CPU, "ttir", removes_all, "metadata['target']"),
        (TARGET, "cubin", removes_all, "metadata['name']"),
        (TARGET, "ptx", keeps_to_itself, "metadata['name']"),
    ],
)
def test_metadata_that_a_stage_function_removes(target: GPUTarget, stage: str, function: Any, says: str) -> None:
    with P().stage(stage, function), pytest.raises(tx.PipelineError) as error:
        triton.compile(source(softmax), target=target)
    said = str(error.value)
    assert said.startswith(f"'{stage}: stage({HERE}{function.__name__})': its function has left the kernel without ")
    assert says in said
    assert said.endswith("\nwithout the edits the kernel compiles")


def lacks_the_kernel(source: Any, metadata: Any, inner: Any) -> Any:
    return inner(source, metadata).replace("@softmax", "@other")


def calls_nobody(source: Any, metadata: Any, inner: Any) -> Any:
    text = inner(source, metadata).replace("ret ", "call void @nobody()\n  ret ", 1)
    return text + "\ndeclare void @nobody()\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "says"),
    [
        (lacks_the_kernel, "it does not define the function 'softmax'"),
        (calls_nobody, "nothing defines the symbol 'nobody'"),
    ],
)
def test_a_library_that_no_launch_could_load(function: Any, says: str) -> None:
    with P().stage("llir", function), pytest.raises(tx.PipelineError) as error:
        triton.compile(source(softmax), target=CPU)
    said = str(error.value)
    assert said.startswith(
        f"'llir: stage({HERE}{function.__name__})': the binary of kernel 'softmax' cannot be launched"
    )
    assert says in said


#: A stage function whose result looks like that of its stage, the later stage that fails, and the error of that stage.
REJECTED_LATER: list[tuple[GPUTarget, str, Any, str, str]] = [
    (HIP, "amdgcn", text_of("hello"), "hsaco", ""),
    (CPU, "asm", text_of("hello"), "so", "assembling a kernel failed: line 1: "),
    (CPU, "asm", text_of("\tmovq\t%rax, %nowhere\n"), "so", "assembling a kernel failed: line 1: "),
]


@pytest.mark.slow
@pytest.mark.parametrize(("target", "stage", "function", "later", "says"), REJECTED_LATER)
def test_what_a_later_stage_rejects(target: GPUTarget, stage: str, function: Any, later: str, says: str) -> None:
    with P().stage(stage, function), pytest.raises(tx.PipelineError) as error:
        triton.compile(source(softmax), target=target)
    said = str(error.value)
    assert said.startswith(f"stage '{later}' failed on kernel 'softmax', in the pipeline '{stage}: stage({HERE}")
    assert says in said
    assert said.endswith("\nwithout the edits the kernel compiles")


@pytest.mark.slow
def test_bad_ptx_is_the_assembler_s_error() -> None:
    with P().stage("ptx", text_of("hello")), pytest.raises(PTXASError) as error:
        compiled()
    assert f"with the pipeline 'ptx: stage({HERE}" in error.value.__notes__[0]


def kept(results: dict[str, Any], stage: str) -> Any:
    """Returns a stage function that returns an earlier result of the stage, without calling the stage."""

    def function(source: Any, metadata: Any, inner: Any) -> Any:
        return results[stage]

    function.cache_key = stage  # type: ignore[attr-defined]
    return function


SET_BY_LLIR = ", ".join(
    f"metadata['{name}']"
    for name in (
        *(f"{kind}_scratch_{what}" for kind in ("global", "profile") for what in ("align", "size")),
        *("shared", "tmem_size"),
    )
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "stage", "sets"),
    [
        (TARGET, "ptx", "metadata['name']"),
        (TARGET, "llir", SET_BY_LLIR),
        (HIP, "amdgcn", "metadata['name']"),
        (CPU, "asm", ""),
        (CPU, "llir", ""),
    ],
)
def test_a_stage_function_that_does_not_call_the_stage(target: GPUTarget, stage: str, sets: str) -> None:
    whole = triton.compile(source(softmax), target=target)
    pipeline = P().stage(stage, kept(dict(whole.asm), stage))
    if not sets:
        with pipeline:
            assert triton.compile(source(softmax), target=target).asm[stage] == whole.asm[stage]
        return
    with pipeline, pytest.raises(tx.PipelineError) as error:
        triton.compile(source(softmax), target=target)
    assert f"'{stage}: stage({HERE}" in str(error.value)
    assert f"its function has not called inner, which sets {sets}; call it, or set them" in str(error.value)
    assert str(error.value).endswith("\nwithout the edits the kernel compiles")


@pytest.mark.slow
def test_a_stage_function_that_was_rehearsed_is_named_once() -> None:
    """The stage runs once without its passes, but with the function, to find the last pass of a name."""
    whole = triton.compile(source(softmax), target=TARGET)
    pipeline = P().stage("llir", kept(dict(whole.asm), "llir")).skip("llir:common.cse#last", on_missing="ignore")
    with pipeline, pytest.raises(tx.PipelineError, match="has not called inner") as error:
        compiled()
    assert str(error.value).count(f"'llir: stage({HERE}") == 1


@pytest.mark.slow
def test_assembly_of_a_stage_function_is_what_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The edit was once dropped silently: the library was made from the LLVM IR of an earlier stage."""
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(
        triton.runtime.driver, "_active", pytest.importorskip("triton_ext.backends.cpu.driver").CPUDriver()
    )

    @triton.jit
    def store_seven(x):
        triton.language.store(x, 7)

    def eight(llir: str, metadata: Any, inner: Any) -> Any:
        asm = inner(llir, metadata)
        assert asm.count("$7,") == 1
        return asm.replace("$7,", "$8,")

    x = torch.zeros(1, dtype=torch.int32)
    store_seven[(1,)](x)
    assert x.item() == 7
    with P().stage("asm", eight):
        store_seven[(1,)](x)
    assert x.item() == 8


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["at_start", "after", "at_end", "after the last", "stage", "stage in advance"])
def test_an_interrupt_passes_through(verb: str) -> None:
    def interrupted(*arguments: Any) -> None:
        raise KeyboardInterrupt

    interrupted.cache_key = "interrupted"  # type: ignore[attr-defined]
    pipeline = {
        "at_start": P().at_start("ttir", interrupted),
        "after": P().after("ttir.combine", interrupted),
        "at_end": P().at_end("llir", interrupted),
        "after the last": P().after("ttgir:common.cse#last", interrupted),
        "stage": P().stage("ttir", interrupted),
        "stage in advance": P().stage("ttir", interrupted).after("common.cse#last", mark),
    }[verb]
    for attempt in (compiled, lambda: describe(None)):
        with pytest.raises(KeyboardInterrupt), pipeline:
            attempt()
        assert backend_globals.running.get() is None


def exits(*arguments: Any) -> None:
    sys.exit(3)


@pytest.mark.slow
@pytest.mark.parametrize("isolate", ["", "1"])
@pytest.mark.parametrize(
    ("pipeline", "says"),
    [
        (P().at_end("ttir", exits), f"pass '{HERE}exits' failed in stage 'ttir' on kernel 'softmax': SystemExit: 3"),
        (P().stage("ttir", exits), f"'ttir: stage({HERE}exits)': SystemExit: 3"),
    ],
)
def test_an_exit_is_a_failure(pipeline: tx.Pipeline, says: str, isolate: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tuner that tries many pipelines goes on, and so does any other program."""
    monkeypatch.setenv("TRITON_EXT_ISOLATE", isolate)
    with pipeline, pytest.raises(tx.PipelineError) as error:
        compiled()
    assert says in str(error.value)
    assert str(error.value).endswith("\nwithout the edits the kernel compiles")


def adds_an_extension(module: Any) -> None:
    manager = ir.pass_manager(module.context)
    passes.plugin.add_rename(manager, ["old=softmax", "new=renamed"])
    manager.run(module, "renamed")


@pytest.mark.slow
def test_an_extension_in_a_manager_of_a_python_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was once refused because finding the library lists a directory."""
    with P().at_end("ttir", adds_an_extension), pytest.raises(tx.PipelineError) as error:
        compiled()
    assert "adds the pass 'rename' with passes.plugin.add_rename, whose library is in no cache key" in str(error.value)
    assert "tx.digest('rename')" in str(error.value)
    monkeypatch.setattr(adds_an_extension, "cache_key", tx.digest("rename"), raising=False)
    with P().at_end("ttir", adds_an_extension):
        assert compiled().metadata.name == "renamed"


@pytest.mark.slow
def test_a_failure_is_not_cached(kernel_cache: Path, no_gpu: None) -> None:
    fail = [True]

    def sometimes(module: Any) -> None:
        if fail:
            raise ValueError

    sometimes.cache_key = "sometimes"  # type: ignore[attr-defined]
    pipeline = P().at_end("ttgir", sometimes)
    kernel, x = triton.jit(softmax.fn), MockTensor(triton.language.float32)
    for _ in range(2):
        with pipeline, pytest.raises(tx.PipelineError):
            kernel.warmup(x, x, 1000, 256, grid=(1,))
    assert not list(kernel_cache.glob("*/*.json"))
    assert not kernel.device_caches[0][0]
    fail.clear()
    with pipeline:
        made = kernel.warmup(x, x, 1000, 256, grid=(1,))
        assert kernel.warmup(x, x, 1000, 256, grid=(1,)) is made
    assert made.metadata.name == "softmax"


@pytest.mark.slow
def test_an_observed_failure_leaves_no_file(kernel_cache: Path) -> None:
    with pytest.raises(tx.PipelineError):
        describe(P().at_end("ttgir", wrong_value))
    assert not [path for path in kernel_cache.glob("*") if path.is_dir()]


@pytest.mark.slow
def test_other_threads_do_not_notice() -> None:
    found: list[Any] = []
    start = threading.Barrier(4, timeout=60)

    def work(pipeline: tx.Pipeline) -> None:
        start.wait()
        for _ in range(4):
            try:
                with pipeline:
                    found.append((pipeline, compiled().metadata.name))
            except tx.PipelineError as error:
                found.append((pipeline, str(error).partition("'")[0] or type(error).__name__))

    good = P().at_end("ttir", tx.passes.ttir.rename(old="softmax", new="good"))
    bad = [
        FAILS[case][0] for case in ("an exception", "a pass in the wrong stage", "a pass that Triton needs is skipped")
    ]
    threads = [threading.Thread(target=work, args=(pipeline,)) for pipeline in (good, *bad)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 16
    assert {name for pipeline, name in found if pipeline is good} == {"good"}
    assert "good" not in {name for pipeline, name in found if pipeline is not good}


@pytest.mark.slow
def test_arguments_of_what_another_pipeline_brings_in() -> None:
    inner = P().at_end("ttir", tx.passes.ttir.rename(old="softmax", new="inner"), mark)
    with P().set("ttir:rename", new="other"):
        assert dict(records(describe(inner), "ttir")[-2].arguments) == {"old": "softmax", "new": "other"}
    for edit, says in (
        (P().set("ttir:rename", newer="x"), "unknown option 'newer' of pass 'rename'; valid options: "),
        (P().set("ttir:rename", new=1), "option 'new' of pass 'rename': expected str, got 1"),
        (P().set("ttir:*mark", new="x"), "is a Python function"),
    ):
        with edit, pytest.raises(tx.PipelineError) as error:
            describe(inner)
        assert says in str(error.value)
        assert str(error.value).startswith(f"'{edit}'")


@pytest.mark.slow
def test_passes_that_nobody_sees() -> None:
    """Passes that other code adds to the backend's manager directly cannot be edited; an edit never matches the wrong
    pass."""
    from triton._C.libtriton import passes

    def behind(module: Any, metadata: Any, inner: Any) -> Any:
        manager = nvidia.ir.pass_manager(module.context)
        nvidia.passes.common.add_cse(manager)
        passes.common.add_cse(manager)
        manager.run(module, "behind")
        return module

    with (
        P().stage("ttir", behind),
        pytest.raises(tx.PipelineError, match="adds passes in a way that triton-ext does not"),
    ):
        compiled()


@pytest.mark.slow
def test_a_warning_once_for_each_edit() -> None:
    with warnings.catch_warnings(record=True) as caught, P().skip("nowhere", on_missing="warn"):
        warnings.simplefilter("always")
        compiled()
        compiled()  # from the cache
    assert len(caught) == 1


@pytest.mark.slow
def test_a_broken_library_of_one_pipeline_leaves_others_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "libtriton_ext_broken.so"
    broken.write_bytes(b"no library")
    monkeypatch.setenv("TRITON_EXT_PATH", str(broken))
    with P().at_end("ttir", tx.passes.ttir.rename(old="softmax", new="fine")):
        assert compiled().metadata.name == "fine"


@pytest.mark.slow
def test_what_a_failed_entry_into_a_block_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    pipeline = P().at_end("ttir", lambda module: module.seen(lock))  # noqa: F821 - put there below
    monkeypatch.setitem(globals(), "lock", threading.Lock())
    with pytest.raises(tx.PipelineError, match="no cache key can be made of the global 'lock'"), pipeline:
        pytest.fail("it was entered")
    with pytest.raises(tx.PipelineError, match="no cache key"):
        pipeline.install()
    with contextlib.suppress(tx.PipelineError), pipeline:
        pass


@pytest.mark.slow
def test_amd_says_the_same() -> None:
    with pytest.raises(tx.PipelineError, match=r"pass 'ttgpuir.coalesce' failed in stage 'ttir' on kernel 'softmax'"):
        describe(P().at_end("ttir", B.ttgpuir.coalesce()), GFX942)
    with pytest.raises(tx.PipelineError, match="of Triton failed in stage 'ttgir'"):
        describe(P().skip("convert_to_ttgpuir"), GFX942)
    assert names(describe(P().at_end("ttir", mark), GFX942), "ttir")[-1] == MARK


@pytest.mark.slow
def test_a_kernel_that_does_not_compile_is_not_our_error() -> None:
    @triton.jit
    def wrong(x, y, n, BLOCK: triton.language.constexpr):
        triton.language.store(x + no_such_name, 0)  # noqa: F821

    with P().at_end("ttir", mark), pytest.raises(triton.CompilationError):
        triton.compile(source(wrong), target=TARGET)
