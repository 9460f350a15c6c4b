# SPDX-License-Identifier: Apache-2.0
"""A wrong program is an error with its line, or a report, and not the end of the process or a silent hang."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from triton_ext.backends.cpu import _launcher

from support import forked_python
from support.cpu import wrong_programs
from support.cpu.wrong_programs import copy, line_of, wild, zero

PROGRAMS = Path(wrong_programs.__file__)


def works(threads: int = 2) -> None:
    """Checks that launches still compute the right result."""
    x = np.ones(64_000, np.float32)
    zero[(1000,)](x, 0, BLOCK=64, num_threads=threads)
    assert not x.any()


# Faults


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("program", [0, 7, 999])
def test_a_fault_is_an_error_with_line_and_program(threads: int, program: int) -> None:
    x = np.zeros(64, np.float32)
    with pytest.raises(RuntimeError) as caught:
        wild[(1000,)](x, program, 1 << 34, num_threads=threads)
    text = str(caught.value)
    assert text.startswith(f"{PROGRAMS}:{line_of('WILD')}: SIGSEGV in the kernel 'wild' ({PROGRAMS}:")
    assert f"program ({program}, 0, 0): it loaded from or stored to 0x" in text
    assert f"{x.ctypes.data + (4 << 34):#x}, where no memory is" in text
    works(threads)


def test_a_program_of_three_dimensions() -> None:
    with pytest.raises(RuntimeError, match=r"program \(3, 1, 2\): "):
        wild[(5, 2, 3)](np.zeros(64, np.float32), 3 + 5 * (1 + 2 * 2), 1 << 34)


@pytest.mark.slow
def test_faults_of_all_threads() -> None:
    """Each thread of the pool faults, and only the first fault is told; the pool has as many threads as before."""
    x = np.zeros(64, np.float32)
    works(4)
    before = len(os.listdir("/proc/self/task"))
    for _ in range(50):
        with pytest.raises(RuntimeError, match=r"in the kernel 'wild'"):
            wild[(100,)](x, -1, 1 << 34, num_threads=4)
    assert len(os.listdir("/proc/self/task")) == before
    works(4)


@pytest.mark.slow
def test_faults_of_launches_at_the_same_time() -> None:
    """Each launch has its own error, and launches without a fault have their results."""
    wrong: list[object] = []

    def launch(number: int) -> None:
        x = np.zeros(64, np.float32)
        for _ in range(20):
            try:
                wild[(100,)](x, number, 1 << 34)
                wrong.append("no error")
            except RuntimeError as error:
                if f"program ({number}, 0, 0)" not in str(error):
                    wrong.append(error)
            works()

    threads = [threading.Thread(target=launch, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_an_address_that_no_memory_can_have() -> None:
    with pytest.raises(RuntimeError, match=r"program \(0, 0, 0\): .* an address that no memory can have"):
        wild[(1,)](np.zeros(64, np.float32), 0, 1 << 60)


def test_memory_that_is_protected(tmp_path: Path) -> None:
    """A torch tensor does not tell that its memory is read-only."""
    file = tmp_path / "x"
    file.write_bytes(bytes(4096))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x = torch.from_numpy(np.memmap(file, np.float32, mode="r"))
    with pytest.raises(
        RuntimeError, match=r"SIGSEGV in the kernel 'wild' .*, which is protected, as read-only memory is"
    ):
        wild[(1,)](x, 0, 0)


def test_a_file_that_has_become_shorter(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_bytes(bytes(8192))
    x = np.memmap(file, np.float32, mode="r+")
    os.truncate(file, 0)
    with pytest.raises(RuntimeError, match=r"SIGBUS in the kernel 'wild' "):
        wild[(1,)](x, 0, 1024)


@pytest.mark.parametrize("kernel", [copy, zero], ids=["memcpy", "memset"])
def test_a_fault_in_a_function_of_libc(kernel: Any) -> None:
    """LLVM replaces a loop by a call of libc, which then faults; the line is that of the call."""
    x = np.zeros(1 << 14, np.float32)
    assert kernel.__name__[:3] in kernel[(1,)](x, 0, BLOCK=1 << 12).asm["asm"]
    with pytest.raises(RuntimeError) as caught:
        kernel[(1,)](x, 1 << 40, BLOCK=1 << 12)
    assert str(caught.value).startswith(f"{PROGRAMS}:{line_of(kernel.__name__.upper())}: SIGSEGV in the kernel '")
    works()


def test_a_fault_in_a_poll() -> None:
    """The runtime waits for the kernel, and reads the address itself."""
    with pytest.raises(RuntimeError, match=r"SIGSEGV in the kernel 'wait' .*program \(0, 0, 0\)"):
        wrong_programs.wait[(1,)](np.zeros(1, np.int32), 1 << 40)
    works()


def test_a_fault_without_debug_information() -> None:
    @triton.jit
    def unmarked(x, offset):
        tl.store(x + offset, 1.0)

    with triton.knobs.compilation.scope():
        triton.knobs.compilation.disable_line_info = True  # sets the variable, too, which Triton's library reads
        with pytest.raises(RuntimeError, match=r"^SIGSEGV in the kernel 'unmarked' "):
            unmarked[(1,)](np.zeros(64, np.float32), 1 << 40)


# Waiting for programs that have not started


def run(name: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return forked_python.run(
        [sys.executable, str(PROGRAMS), name],
        env={**os.environ, **environment},
        timeout=300,
    )


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["spin_cas", "spin_volatile", "spin_poll"])
def test_programs_that_wait_for_later_ones_are_reported(kernel: str) -> None:
    done = run(kernel, TRITON_EXT_CPU_THREADS="2", TRITON_EXT_CPU_SPIN_SECONDS="0.5")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "released\n"
    assert done.stderr.count("no program has ended for 0.5 s") == 1
    assert f"triton-ext: the kernel '{kernel}' ({PROGRAMS}:" in done.stderr
    assert "All 2 threads run programs: (" in done.stderr
    # A chunk is one program, so the threads have taken the first two.
    assert "14 have not started, the first one is (2, 0, 0)" in done.stderr
    assert "TRITON_EXT_CPU_THREADS=16)" in done.stderr


@pytest.mark.slow
def test_a_single_thread_that_waits_for_its_own_next_program() -> None:
    done = run("spin_cas", TRITON_EXT_CPU_THREADS="1", TRITON_EXT_CPU_SPIN_SECONDS="0.5")
    assert done.returncode == 0, done.stderr
    assert "The only thread runs program (0, 0, 0); 15 have not started, the first one is (1, 0, 0)" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seconds", "threads"),
    [("0", "2"), ("600", "2"), ("0.5", "16")],
    ids=["no report is wanted", "not yet", "all have started"],
)
def test_what_is_not_reported(seconds: str, threads: str) -> None:
    done = run("spin_cas", TRITON_EXT_CPU_THREADS=threads, TRITON_EXT_CPU_SPIN_SECONDS=seconds)
    assert done.returncode == 0, done.stderr
    assert "no program has ended" not in done.stderr


@pytest.mark.parametrize("value", ["x", "-1", "nan", "inf"])
def test_a_time_that_is_none(value: str) -> None:
    _launcher._spin_seconds.cache_clear()
    with pytest.warns(RuntimeWarning, match=f"TRITON_EXT_CPU_SPIN_SECONDS is '{value}', expected a number of seconds"):
        assert _launcher._spin_seconds(value) == 10


def test_which_kernels_may_wait() -> None:
    """Only these are watched, so that other launches cost nothing more."""
    x = np.zeros(16, np.int32)
    assert wrong_programs.spin_cas.warmup(x, 0, grid=(1,)).metadata.waits
    assert wrong_programs.spin_volatile.warmup(x, 0, grid=(1,)).metadata.waits
    assert wrong_programs.wait.warmup(x, 0, grid=(1,)).metadata.waits
    assert not wild.warmup(np.zeros(64, np.float32), 0, 0, grid=(1,)).metadata.waits
    assert not wrong_programs.count.warmup(x, grid=(1,)).metadata.waits


# TRITON_EXT_CPU_CHECK


@pytest.mark.slow
def test_checks_of_accesses() -> None:
    """A wrong access becomes an exception, and touches no memory."""
    done = run("checked", TRITON_EXT_CPU_CHECK="1")
    assert done.returncode == 0, done.stderr
    store, load, rest = done.stdout.split("====\n")
    assert f"wrong_programs.py:{line_of('WILD')}:" in store
    assert "store outside of x" in store
    assert "x[17179869184]" in store
    assert "program (7, 0, 0)" in store
    assert f"wrong_programs.py:{line_of('GATHER')}:" in load
    assert "load outside of x" in load
    assert "x[1099511627776]" in load
    assert "program (0, 0, 0), lane 2" in load
    assert rest == "no memory was touched\n"


@pytest.mark.slow
@pytest.mark.parametrize("value", ["0", ""])
def test_no_checks_of_accesses(value: str) -> None:
    done = run("checked", TRITON_EXT_CPU_CHECK=value)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("SIGSEGV in the kernel '") == 2


@pytest.mark.slow
def test_a_wrong_choice_of_checks() -> None:
    done = run("checked", TRITON_EXT_CPU_CHECK="yes")
    assert "TRITON_EXT_CPU_CHECK is 'yes', expected 0 or 1" in done.stdout


def test_checks_without_the_sanitizer(monkeypatch: pytest.MonkeyPatch) -> None:
    import triton_ext as tx
    from triton_ext.backends import import_file
    from triton_ext.errors import TritonExtError

    file = Path(__file__).parents[1] / "api" / "startup" / "cpu_check.py"
    start = import_file(file, "cpu_check_under_test").start

    def missing(*_: object, **__: object) -> None:
        raise AttributeError("there is no tx.sanitize")

    monkeypatch.setattr(tx, "sanitize", missing)
    start("0")
    with pytest.raises(
        TritonExtError, match=r"TRITON_EXT_CPU_CHECK=1 needs the sanitizer: .*triton-ext build sanitizer"
    ):
        start("1")
