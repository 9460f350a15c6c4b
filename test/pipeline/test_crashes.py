# SPDX-License-Identifier: Apache-2.0
"""A crash while a kernel compiles: what the process prints before it ends, and the error that it raises if the
compilation is isolated."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import triton
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia import compiler as nvidia

import support
import triton_ext as tx
from support import forked_python
from support.pipeline.kernels import softmax, source
from support.pipeline.seen import describe
from triton_ext.pipeline import forked_child, inspection_library, isolation

pytestmark = pytest.mark.slow

P = tx.Pipeline
CUDA90 = GPUTarget("cuda", 90, 32)
#: A separate process finds the function `aborts` here.
HERE = Path(__file__).parent
#: Compiles with the pipeline that the command line has as text.
PROGRAM = """
import sys, triton, triton_ext as tx
from support.pipeline.kernels import softmax, source
from triton.backends.compiler import GPUTarget
with tx.Pipeline.parse(sys.argv[1]):
    print(triton.compile(source(softmax), target=GPUTarget("cuda", 90, 32)).metadata.name, flush=True)
"""
ABORTS = "test_crashes:aborts"


def aborts(module: Any) -> None:
    os.abort()


def leaves(module: Any) -> None:
    os._exit(3)


def is_killed(module: Any) -> None:
    signal.raise_signal(signal.SIGKILL)


def gets_a_signal_without_a_name(module: Any) -> None:
    signal.raise_signal(signal.SIGRTMIN + 1)


def runs_a_pass_that_crashes(mode: str, module: Any) -> Any:
    """Crashes like a pass of the backend: no edit has placed it."""
    manager = nvidia.ir.pass_manager(module.context)
    nvidia.passes.plugin.add_report(manager, [f"mode={mode}"])
    manager.run(module, "test")
    return module


def dies(source: Any, metadata: Any, inner: Any) -> Any:
    return runs_a_pass_that_crashes("thread", source)


def crashes(source: Any, metadata: Any, inner: Any) -> Any:
    return runs_a_pass_that_crashes("crash", source)


def aborts_later(source: Any, metadata: Any, inner: Any) -> Any:
    os.abort()


@pytest.fixture(autouse=True)
def report(report_library: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Makes the crashing pass available, and a directory for the files that crashes leave."""
    monkeypatch.setenv("TRITON_EXT_PATH", str(report_library))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.delenv(isolation.VARIABLE, raising=False)


@pytest.fixture
def isolated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(isolation.VARIABLE, "1")


def run(edits: str, *options: str, program: str = PROGRAM) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *options, "-c", program, edits]
    return forked_python.run(command, cwd=HERE, env=support.environment(), timeout=300)


def compiled() -> Any:
    return triton.compile(source(softmax), target=CUDA90)


def shell(command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, shell=True, capture_output=True, text=True, check=False, cwd=HERE, env=support.environment()
    )


def runs_again(text: str) -> None:
    """The command in `text`, pasted into a shell, crashes as the compilation did, and with another mode it does not."""
    (command,) = set(re.findall(r"to run it again: (.*?)$", text, re.MULTILINE))
    assert "error: crash while running -triton-ext-report" in shell(command).stderr
    fine = shell(re.sub(r"mode=\w+", "mode=remark", command))
    assert fine.returncode == 0, fine.stderr
    assert "@softmax" in fine.stdout


@pytest.mark.parametrize(("mode", "code", "cause"), [
    ("thread", -signal.SIGABRT, "SIGABRT"), ("exit", 3, "something ended the process"),
    ("fatal", 1, "something ended the process"),
])  # fmt: skip
def test_a_process_that_dies_says_where(mode: str, code: int, cause: str) -> None:
    edits = f"ttir: after(combine, report{{mode={mode}}})"
    done = run(edits)
    assert done.returncode == code
    line = next(line for line in done.stderr.splitlines() if line.startswith("triton-ext: "))
    where = f"stage 'ttir' of kernel 'softmax', with the pipeline '{edits}'"
    assert line.startswith(f"triton-ext: {cause} ")
    assert line.endswith(f"pass 'report{{mode={mode}}}' of the edit '{edits}', {where}")
    if mode == "thread":
        runs_again(done.stderr)
    else:
        assert "to run it again: " in done.stderr
    assert ("LLVM ERROR: cannot go on" in done.stderr) == (mode == "fatal")


def test_a_crash_that_mlir_catches_is_an_exception_with_the_command(capfd: Any) -> None:
    with P.parse("ttir: after(combine, report{mode=crash})"), pytest.raises(tx.PipelineError) as error:
        compiled()
    assert "failed in stage 'ttir' on kernel 'softmax': it crashed; " in str(error.value)
    assert str(error.value).endswith("\nwithout the edits the kernel compiles")
    runs_again(str(error.value))
    assert "triton-ext: " not in capfd.readouterr().err  # the process lives on


def test_a_function_that_kills_the_process_is_named() -> None:
    edits = f"ttgir: at_end({ABORTS})"
    done = run(edits)
    assert done.returncode == -signal.SIGABRT
    assert f"triton-ext: SIGABRT in pass '{ABORTS}' of the edit '{edits}', stage 'ttgir' of kernel" in done.stderr
    assert "TRITON_EXT_ISOLATE=1" in done.stderr


def with_isolation(said: str) -> str:
    """Runs the command at the end of `said` in a shell, in the same directory, and returns what it prints."""
    (command,) = re.findall(r": (TRITON_EXT_ISOLATE=1 .*)", said, re.DOTALL)
    return shell(command.partition("\nwithout the edits")[0]).stderr


def test_a_crash_of_the_backend_says_how_to_get_the_command() -> None:
    done = run("ttir: stage(test_crashes:dies)")
    assert done.returncode == -signal.SIGABRT
    assert "in pass 'plugin.report', stage 'ttir' of kernel 'softmax'" in done.stderr
    runs_again(with_isolation(done.stderr))


def test_a_crash_of_the_backend_that_mlir_catches_says_so_too(monkeypatch: pytest.MonkeyPatch) -> None:
    done = run("ttir: stage(test_crashes:crashes)")
    assert done.returncode == 1
    assert "it crashed; what it said is on standard error\nto get a command that runs it again: " in done.stderr
    runs_again(with_isolation(done.stderr))


def test_a_long_command_is_left_to_the_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "orig_argv", ["python", "-c", "pass\n" * 2000])
    assert inspection_library.isolated_command() == "TRITON_EXT_ISOLATE=1 and the command that was used"


@pytest.mark.parametrize("when", ["before", "after"])
def test_the_handler_of_somebody_else_is_called_too(when: str) -> None:
    enable = "import faulthandler; faulthandler.enable()\n"
    with_it = PROGRAM.replace("with tx", enable + "with tx") if when == "before" else PROGRAM
    if when == "after":  # our handler is installed when the first kernel compiles
        with_it = with_it.replace(
            "with tx",
            "with tx.Pipeline().skip('combine'): triton.compile(source(softmax), target=GPUTarget('cuda', 90, 32))\n"
            f"{enable}with tx",
        )
    done = run("ttir: after(combine, report{mode=thread})", program=with_it)
    assert done.returncode == -signal.SIGABRT
    assert done.stderr.count("triton-ext: SIGABRT") == 1
    assert done.stderr.count("Fatal Python error: Aborted") == 1


def test_a_crash_outside_of_a_compilation_is_none_of_ours() -> None:
    done = run("ttir: skip(combine)", program=PROGRAM + "\nimport os\nos.abort()")
    assert done.returncode == -signal.SIGABRT
    assert done.stdout == "softmax\n"
    assert "triton-ext" not in done.stderr


@pytest.mark.parametrize("mode", ["thread", "exit", "fatal", "crash"])
def test_isolated_every_crash_is_an_exception(mode: str, isolated: None, capfd: Any) -> None:
    edits = f"ttir: after(combine, report{{mode={mode}}})"
    with P.parse(edits), pytest.raises(tx.PipelineError) as error:
        compiled()
    for part in (f"report{{mode={mode}}}", f"'{edits}'", "stage 'ttir'", "kernel 'softmax'", "to run it again: "):
        assert part in str(error.value)
    assert str(error.value).endswith("\nwithout the edits the kernel compiles")
    if mode == "fatal":
        assert "LLVM ERROR: cannot go on" in str(error.value)
    assert "TRITON_EXT_ISOLATE" not in str(error.value) + capfd.readouterr().err  # the variable is set
    with P().skip("ttir.combine"):
        assert compiled().metadata.name == "softmax"  # the process still compiles
    assert os.environ.get(isolation.VARIABLE) == "1"
    assert not forked_child.is_child()


def test_isolated_code_that_is_no_pass(isolated: None) -> None:
    for pipeline, says in (
        (P().at_end("ttir", aborts), f"crashed (SIGABRT) in pass '{ABORTS}' of the edit 'ttir: at_end("),
        (P().stage("ptx", aborts_later), "crashed (SIGABRT) outside of any pass, stage 'ptx' of kernel 'softmax', "),
        (P().at_end("ttir", leaves), "ended its process (exit code 3) in pass 'test_crashes:leaves' of the edit"),
        (P().at_end("ttir", is_killed), "crashed (SIGKILL) in pass 'test_crashes:is_killed' of the edit"),
        (P().at_end("ttir", gets_a_signal_without_a_name), f"crashed (signal {signal.SIGRTMIN + 1}) in pass 'test_"),
    ):
        with pipeline, pytest.raises(tx.PipelineError) as error:
            compiled()
        assert f"the compilation {says}" in str(error.value)
        assert str(error.value).endswith("\nwithout the edits the kernel compiles")


def test_isolated_a_hang_ends(isolated: None, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    monkeypatch.setenv(forked_child.LIMIT, "6")
    with P.parse("ttir: after(combine, report{mode=hang})"), pytest.raises(tx.PipelineError) as error:
        compiled()
    assert "did not end within 6 s (TRITON_EXT_ISOLATE_SECONDS) in pass 'report{mode=hang}' of" in str(error.value)
    assert "to run it again: " in str(error.value)
    said = capfd.readouterr().err + str(error.value)
    assert "SIG" not in said  # an exit is not a crash
    assert "TRITON_EXT_ISOLATE=" not in said  # the variable is set


@pytest.mark.parametrize("value", ["soon", "-1", "0", "nan", "inf", "1e300"])
def test_isolated_limits_that_are_none(value: str, isolated: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(forked_child.LIMIT, value)
    with P().skip("ttir.cse"), pytest.raises(tx.TritonExtError) as error:
        compiled()
    assert f"TRITON_EXT_ISOLATE_SECONDS={value}: expected a number of seconds, above 0" in str(error.value)


def test_isolated_results_are_the_same(kernel_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Isolation changes neither the content of the cache, nor the observations, nor the key."""
    pipeline = P().after("ttir.combine", tx.passes.ttir.rename(old="softmax", new="other")).skip("ttgir:common.cse#1")
    made = {}
    for isolate in ("0", "1"):
        monkeypatch.setenv(isolation.VARIABLE, isolate)
        monkeypatch.setenv("TRITON_CACHE_DIR", str(kernel_cache / isolate))
        with pipeline:
            kernel = compiled()
            assert compiled().hash == kernel.hash
        passes = [(s.name, [(p.name, p.edit, p.changed) for p in s.passes]) for s in describe(pipeline).stages]
        texts = {name: text for name, text in kernel.asm.items() if name != "source"}
        made[isolate] = kernel.hash, kernel.metadata, texts, passes
    assert made["0"][0] == made["1"][0]
    assert made["0"][1] == made["1"][1]
    assert made["0"][2].keys() == made["1"][2].keys()
    assert made["0"][2]["ptx"] == made["1"][2]["ptx"]
    assert made["0"][3] == made["1"][3]
    groups = list((kernel_cache / "1").glob("*/__grp__*.json"))
    assert all(Path(path).exists() for g in groups for path in json.loads(g.read_text())["child_paths"].values())


def test_isolated_errors_are_those_of_the_child(isolated: None) -> None:
    with P().skip("convert_to_ttgpuir"), pytest.raises(tx.PipelineError) as error:
        compiled()
    assert "pass 'ttgpuir.coalesce' of Triton failed in stage 'ttgir' on kernel 'softmax'" in str(error.value)
    with P().skip("nowhere"), pytest.raises(tx.PipelineError, match="no pass 'nowhere'"):
        compiled()


def test_without_a_pipeline_nothing_is_isolated(isolated: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fork", lambda: pytest.fail("it forks"))
    assert compiled().metadata.name == "softmax"


def test_isolated_an_interrupt_leaves_no_child() -> None:
    program = "import os\nos.environ['TRITON_EXT_ISOLATE'] = '1'\n" + PROGRAM
    command = [sys.executable, "-c", program, "ttir: after(combine, report{mode=hang})"]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, cwd=HERE, env=support.environment(), start_new_session=True
    ) as process:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        while not children.read_text().split() and process.poll() is None:
            time.sleep(0.05)
        time.sleep(1)
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=120)
    assert "KeyboardInterrupt" in said
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
