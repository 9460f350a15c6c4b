# SPDX-License-Identifier: Apache-2.0
"""A fault at run time leads to an error, a warning, or a line that names the kernel."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

from support import forked_python
from support.cpu import fault_programs
from support.cpu.fault_programs import fill, slow

PROGRAMS = fault_programs.__file__


def run(name: str, *flags: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return forked_python.run(
        [sys.executable, *flags, str(PROGRAMS), name],
        env={**os.environ, **environment},
        timeout=300,
    )


def output(name: str, *flags: str, **environment: str) -> str:
    done = run(name, *flags, **environment)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


# Threads


@pytest.mark.slow
@pytest.mark.parametrize("value", ["100000", "9" * 5000, "1025"])
def test_more_threads_than_make_sense(value: str) -> None:
    out = output("environment", TRITON_EXT_CPU_THREADS=value)
    assert out.startswith("1 a launch on the CPU asked for ")
    assert "which is the most there are" in out or "no more can be made" in out


@pytest.mark.slow
@pytest.mark.parametrize("value", ["x", "0", "-3", "1.5", "²", " ", "nan"])
def test_a_number_of_threads_that_is_none(value: str) -> None:
    out = output("environment", TRITON_EXT_CPU_THREADS=value)
    assert out.startswith(f"1 TRITON_EXT_CPU_THREADS is '{value}', expected a number of threads")


@pytest.mark.slow
@pytest.mark.parametrize("value", ["1", "2", "007", " 3 ", ""])
def test_a_number_of_threads(value: str) -> None:
    assert output("environment", TRITON_EXT_CPU_THREADS=value) == "0\n"


@pytest.mark.slow
@pytest.mark.parametrize("limit", ["no_processes", "no_memory"])
def test_threads_that_cannot_be_made(limit: str) -> None:
    """A launch runs on the existing threads, and warns once."""
    out = output(limit, TRITON_EXT_CPU_THREADS="40")
    threads, rest = out.split(" ", 1)
    assert int(threads) < 40
    assert rest.startswith("1 a launch on the CPU asked for 40 threads and ran on ")
    assert "no more can be made" in rest


@pytest.mark.slow
@pytest.mark.parametrize("megabytes", [800, 2000])
def test_threads_leave_address_space(megabytes: int) -> None:
    """Threads leave some address space free: the C library ends the process if it has no memory for their data."""
    code = f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({megabytes} << 20,) * 2)\n"
    code += f"import sys, runpy; sys.argv = ['', 'environment']; runpy.run_path({str(PROGRAMS)!r}, run_name='__main__')"
    # Started, because a forked program has more of the address space in use.
    done = forked_python.start(
        [sys.executable, "-c", code],
        env={**os.environ, "TRITON_EXT_CPU_THREADS": "1000", "OPENBLAS_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.startswith("1 a launch on the CPU asked for 1000 threads and ran on ")


@pytest.mark.slow
def test_threads_that_cannot_be_made_where_warnings_are_errors() -> None:
    done = run("no_processes", "-W", "error::RuntimeWarning", TRITON_EXT_CPU_THREADS="40")
    assert done.returncode in (0, 1), done.stderr  # not a signal


@pytest.mark.slow
def test_first_launches_from_many_threads() -> None:
    """Each thread may load the kernel; no thread unloads a library that another one runs."""
    assert output("first_launches") == "0\n"


FIRST_COMPILATIONS = """
import threading, time
from triton_ext.backends.cpu import _library

bind = _library.plugin_module.bind
def slow(library):
    bind(library)
    time.sleep(0.2)  # another thread finds no compiler meanwhile
_library.plugin_module.bind = slow
found = []
threads = [threading.Thread(target=lambda: found.append(_library.compiler())) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(found), len({*found}), "allow_inlining" in found[0].passes)
"""


def test_first_compilations_in_many_threads_load_one_compiler() -> None:
    done = forked_python.run([sys.executable, "-c", FIRST_COMPILATIONS], check=True)
    assert (done.stdout, done.stderr) == ("4 1 True\n", "")


FORKED_MEANWHILE = """
import os, signal, threading
from triton_ext.support.once import once

begun, ends = threading.Event(), threading.Event()

@once
def number():
    if threading.current_thread() is not threading.main_thread():
        begun.set()
        ends.wait()
    return os.getpid()

thread = threading.Thread(target=number)
thread.start()
begun.wait()
child = os.fork()
if not child:
    signal.alarm(10)
    os._exit(number() != os.getpid())
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
ends.set()
thread.join()
print(number() == os.getpid())
"""


def test_a_child_does_not_wait_for_a_thread_of_its_parent() -> None:
    done = forked_python.run([sys.executable, "-c", FORKED_MEANWHILE], check=True)
    assert done.stdout == "0\nTrue\n"


@pytest.mark.parametrize("threads", [-1, 2.5, "2"])
def test_an_option_that_is_no_number_of_threads(threads: Any) -> None:
    with pytest.raises(ValueError, match=r"num_threads is .*, expected a number of threads"):
        fill[(1,)](np.zeros(64, np.float32), 1.0, 64, BLOCK=64, num_threads=threads)


def test_an_option_that_is_too_many_threads() -> None:
    x = np.zeros(6400, np.float32)
    fill[(100,)](x, 1.0, 6400, BLOCK=64, num_threads=1 << 32)
    assert (x == 1).all()


# Grids


@pytest.mark.parametrize(
    "grid",
    [
        (2**31 - 1, 2**31 - 1, 2**31 - 1),
        (2**31 - 1, 2**31 - 1, 4),
        (2**31 - 1, 2**31 - 1, 3),
        (2**22, 2**21, 2**21),  # 2^64: no program at all, as int64
        (-1,),
        (1, -1),
        (-1, -1),
        (1, 1, -(2**40)),
        (2**31,),
        (2**63,),
        (2**64 + 1,),
        (-(2**64),),
    ],
    ids=str,
)
def test_a_grid_that_is_too_large(grid: tuple[int, ...]) -> None:
    x = np.zeros(64, np.float32)
    with pytest.raises(ValueError, match=r"a grid of .* programs.*: expected"):
        fill[grid](x, 1.0, 64, BLOCK=64)
    assert not x.any()


@pytest.mark.parametrize("grid", [(0,), (2**31 - 1, 0, 2**31 - 1), (1, 2**31 - 1, 0)], ids=str)
def test_a_grid_without_programs(grid: tuple[int, ...]) -> None:
    x = np.zeros(64, np.float32)
    fill[grid](x, 1.0, 64, BLOCK=64)
    assert not x.any()


# Arrays


@triton.jit
def copy(source, target, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(target + i, tl.load(source + i, mask=i < n), mask=i < n)


@pytest.mark.parametrize("kind", ["f2", "f4", "f8", "i2", "i4", "i8", "u2", "u4", "u8"])
def test_other_byte_orders(kind: str) -> None:
    native = np.arange(64, dtype=kind)
    swapped = native.astype(f">{kind}")
    out = np.zeros_like(native)
    with pytest.raises(ValueError, match="argument 'source': an array in big-endian byte order"):
        copy[(1,)](swapped, out, 64, BLOCK=64)
    with pytest.raises(ValueError, match="argument 'target': an array in big-endian byte order"):
        copy[(1,)](native, swapped, 64, BLOCK=64)
    kernel = copy[(1,)](native, out, 64, BLOCK=64)
    with pytest.raises(ValueError, match="argument 'source': an array in big-endian byte order"):
        kernel[(1, 1, 1)](swapped, out, 64)  # this launch does not go through Triton's specialization
    assert (out == native).all() and (swapped == native).all()
    for same in ("<", "="):
        copy[(1,)](native.astype(f"{same}{kind}"), out, 64, BLOCK=64)


def test_byte_orders_of_one_byte() -> None:
    out = np.zeros(64, np.int8)
    copy[(1,)](np.arange(64, dtype=">i1"), out, 64, BLOCK=64)
    assert (out == np.arange(64)).all()


def test_read_only_arrays(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(64, dtype=np.float32))
    frozen = np.arange(64, dtype=np.float32)
    frozen.flags.writeable = False
    out = np.zeros(64, np.float32)
    for array in (frozen, frozen[::1], np.load(tmp_path / "x.npy", mmap_mode="r"), np.frombuffer(bytes(256), "f4")):
        before = array.copy()
        with pytest.raises(ValueError, match="argument 'target': the array is read-only, and the kernel stores to it"):
            copy[(1,)](out, array, 64, BLOCK=64)
        assert (array == before).all()
        copy[(1,)](array, out, 64, BLOCK=64)  # the kernel only reads `array`
        assert (out == before).all()
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r+")
    copy[(1,)](np.ones(64, np.float32), mapped, 64, BLOCK=64)
    assert (mapped == 1).all()


@triton.jit
def add_atomically(x, y):
    tl.atomic_add(x, tl.load(y))


@triton.jit
def choose(x, y, flag):
    p = x
    if flag > 3:
        p = y
    tl.store(p, 1.0)


@triton.jit
def advance(x, y, n):
    for _ in range(n):
        tl.store(x, tl.load(y))
        x += 1
        y += 1


@triton.jit
def swap(x, y, z, n):
    for _ in range(n):
        x, y = y, x
    tl.store(x, tl.load(z))


@triton.jit
def carry(x, y, z, n):
    """After the loop, `p` is the pointer that came into the loop, or the one that an iteration has assigned to it."""
    p, q = x, z
    while n > 0:
        tl.load(q)
        if n == 3:
            p = y
        q += 1
        n -= 1
    tl.store(p, 1.0)


@triton.jit
def walk(x, y):
    while tl.load(y) > 0:
        y += 1
        x += 1
    tl.store(x, 1.0)


@triton.jit
def through_integers(x, y):
    tl.store((x.to(tl.int64) + 4).to(tl.pointer_type(tl.float32)), tl.load(y))


@triton.jit
def keep(x, table):
    tl.store(table, x.to(tl.int64))


@triton.jit
def through_a_table(table, y):
    tl.store(tl.load(table).to(tl.pointer_type(tl.float32)), tl.load(y))


@triton.jit
def look(x, y):
    is_aligned = x.to(tl.int64) % 16 == 0
    tl.device_print("x", x)
    tl.store(y, 1.0, mask=is_aligned)


@triton.jit
def poll(x, y):
    tl.store(y, tl.atomic_poll(x, 0, timeout_ns=1).to(tl.float32))


@triton.jit
def helper(p, value):
    tl.store(p, value)
    return p


@triton.jit
def by_a_function(x, y):
    helper(y + 1, tl.load(x))


@triton.jit
def described(x, y, n, BLOCK: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [n], [1], [BLOCK])
    target = tl.make_tensor_descriptor(y, [n], [1], [BLOCK])
    target.store([0], source.load([0]))


def f4() -> Any:
    return np.zeros(64, np.float32)


def addresses() -> Any:
    return np.zeros(1, np.int64)


@pytest.mark.parametrize(
    ("kernel", "arguments", "stored"),
    [
        (copy, lambda: (f4(), f4(), 64, 64), {1}),
        (add_atomically, lambda: (f4(), f4()), {0}),
        (choose, lambda: (f4(), f4(), 5), {0, 1}),
        (advance, lambda: (f4(), f4(), 5), {0}),
        (swap, lambda: (f4(), f4(), f4(), 5), {0, 1}),
        (carry, lambda: (f4(), f4(), f4(), 5), {0, 1}),
        (walk, lambda: (f4(), f4()), {0}),
        (through_integers, lambda: (f4(), f4()), {0}),
        (keep, lambda: (f4(), addresses()), {0, 1}),
        (look, lambda: (f4(), f4()), {1}),
        (poll, lambda: (np.zeros(1, np.int32), f4()), {1}),
        (by_a_function, lambda: (f4(), f4()), {1}),
        (described, lambda: (f4(), f4(), 64, 64), {1}),
    ],
    ids=lambda value: getattr(value, "__name__", "") if isinstance(value, triton.JITFunction) else "",
)
def test_what_a_kernel_stores_to(kernel: Any, arguments: Any, stored: set[int]) -> None:
    assert set(kernel[(1,)](*arguments()).metadata.stored_slots) == stored


def test_what_a_kernel_stores_to_through_a_table() -> None:
    """A store through a pointer from a table does not count as a store to the table."""
    target = f4()
    table = np.array([target.__array_interface__["data"][0]])
    table.flags.writeable = False
    kernel = through_a_table[(1,)](table, np.ones(1, np.float32))
    assert kernel.metadata.stored_slots == [] and target[0] == 1


@triton.jit
def of_a_tuple(arrays, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(arrays[35] + i, tl.load(arrays[2] + i, mask=i < n), mask=i < n)


def test_many_arguments() -> None:
    """A kernel may have more arguments than one integer attribute of the module has bits."""
    arrays = [np.full(64, k, np.float32) for k in range(40)]
    for k, array in enumerate(arrays):
        array.flags.writeable = k == 35
    kernel = of_a_tuple[(1,)](tuple(arrays), 64, BLOCK=64)
    assert kernel.metadata.stored_slots == [35]
    assert (arrays[35] == 2).all()
    arrays[35].flags.writeable = False
    with pytest.raises(ValueError, match="argument 'arrays': the array is read-only"):
        of_a_tuple[(1,)](tuple(arrays), 64, BLOCK=64)


def test_types_for_which_numpy_has_no_letter() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    source = np.arange(64).astype(ml_dtypes.bfloat16)
    source.flags.writeable = False
    out = np.zeros(64, ml_dtypes.bfloat16)
    copy[(1,)](source, out, 64, BLOCK=64)
    assert (out == source).all()
    with pytest.raises(ValueError, match="argument 'target': the array is read-only"):
        copy[(1,)](out, source, 64, BLOCK=64)


# Ctrl-C


@pytest.mark.slow
def test_an_interrupt_ends_a_launch() -> None:
    assert output("interrupts") == "interrupted\n" * 6


@pytest.mark.slow
def test_a_second_interrupt() -> None:
    """If the running programs end only after the second signal, Python handles both as one."""
    assert output("interrupted_twice") in ("first\n", "first second\n")


@pytest.mark.slow
def test_an_interrupt_ends_a_wait() -> None:
    assert output("interrupted_wait") == "interrupted\n"


@pytest.mark.slow
def test_handlers_of_other_signals() -> None:
    assert output("other_signals") == "launched, ended, forked, ended, 7, from a handler\n"


@pytest.mark.slow
@pytest.mark.parametrize("is_main", [True, False])
def test_a_time_limit_of_launches(is_main: bool) -> None:
    """The tuner limits the time of launches, for candidates that take too long."""
    x = np.zeros(64, np.float32)
    slow[(1,)](x, 1000)
    driver = triton.runtime.driver.active
    errors: list[BaseException] = []

    def launch() -> None:
        try:
            with driver.time_limit(0.2):
                slow[(1 << 24,)](x, 1000)
        except TimeoutError as error:
            errors.append(error)
        slow[(100,)](x, 1000)  # the limit has ended

    started = time.monotonic()
    if is_main:
        launch()
    else:
        thread = threading.Thread(target=launch)
        thread.start()
        thread.join()
    assert [str(error) for error in errors] == ["the launch took too long"]
    assert time.monotonic() - started < 20


# Crashes


@pytest.mark.slow
@pytest.mark.parametrize("threads", ["1", "4"])
def test_a_crash_names_the_kernel(threads: str) -> None:
    done = run("crash", TRITON_EXT_CPU_THREADS=threads)
    assert done.returncode == -signal.SIGSEGV
    assert done.stdout == "so far\n"
    assert done.stderr.count("SIGSEGV in the kernel 'slow' (") == 1
    assert f"({PROGRAMS}:" in done.stderr
    assert re.search(r"program \(\d+, 0, 0\)\n", done.stderr)


@pytest.mark.slow
@pytest.mark.parametrize("program", ["crash_below_faulthandler", "crash_above_faulthandler"])
def test_a_crash_is_left_to_who_else_handles_it(program: str) -> None:
    done = run(program)
    assert done.returncode == -signal.SIGSEGV
    assert done.stderr.count("SIGSEGV in the kernel 'slow' (") == 1
    assert done.stderr.count("Fatal Python error: Segmentation fault") == 1
    assert f"in {program}" in done.stderr


@pytest.mark.slow
def test_a_fault_of_a_kernel_does_not_reach_another_handler() -> None:
    """Afterwards that handler still has the faults that are not a kernel's."""
    done = run("faults_below_another_handler")
    assert done.stdout == "True\n" * 4
    assert done.returncode == -signal.SIGSEGV
    assert done.stderr.count("Fatal Python error: Segmentation fault") == 1
    assert "in the kernel" not in done.stderr


@pytest.mark.slow
def test_a_crash_elsewhere_is_not_a_kernels() -> None:
    code = "import sys; sys.argv[1] = 'check'; exec(open(sys.argv[2]).read()); import ctypes; ctypes.string_at(8)"
    done = forked_python.run([sys.executable, "-c", code, "", str(PROGRAMS)])
    assert done.returncode in (-signal.SIGSEGV, 1)
    assert "in the kernel" not in done.stderr


def test_torch_tensors_elsewhere_are_named() -> None:
    with pytest.raises(ValueError, match="argument 'target': a kernel on the CPU got a tensor that is elsewhere"):
        copy[(1,)](torch.zeros(64), torch.zeros(64, device="meta"), 64, BLOCK=64)
