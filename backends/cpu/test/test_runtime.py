# SPDX-License-Identifier: Apache-2.0
"""The driver: when it is active, threads, forks, many compilations, hooks, and the cost of a launch."""

from __future__ import annotations

import gc
import os
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from triton import knobs
from triton.backends.compiler import GPUTarget

import support
from support import forked_python

PROGRAM = """
import sys, triton, triton.language as tl, numpy as np
from triton.runtime import driver
print(type(driver.active).__name__)
"""


def run_python(code: str, **env: str) -> str:
    done = forked_python.run([sys.executable, "-c", code], env={**os.environ, **env}, check=True)
    return done.stdout


@triton.jit
def fill(x, value, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, value, mask=i < n)


@triton.jit
def heavy(x, out, n, ROUNDS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    for _ in range(ROUNDS):
        v = tl.exp(v) * 0.5 - 1
    tl.store(out + i, v, mask=i < n)


@pytest.mark.slow
def test_active_where_it_was_asked_for() -> None:
    assert run_python(PROGRAM, TRITON_DEFAULT_BACKEND="cpu") == "CPUDriver\n"
    activated = "from triton_ext.backends import cpu; cpu.activate()\n" + PROGRAM
    assert run_python(activated) == "CPUDriver\n"


@pytest.mark.slow
def test_importing_triton_stays_fast() -> None:
    """The backend adds less than 5 ms to the import of Triton, in the best of some runs."""
    best = float("inf")
    for _ in range(5):
        done = forked_python.start([sys.executable, "-X", "importtime", "-c", "import triton"], check=True)
        lines = [line.split("|") for line in done.stderr.splitlines() if "triton_ext.backends" in line]
        best = min(best, sum(int(line[0].removeprefix("import time:")) for line in lines) / 1000)
        assert not any("torch" in line or "numpy" in line for line in done.stderr.splitlines())
    assert best < 5


@triton.jit
def cube(x, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    value = tl.load(x + i)
    tl.store(x + i, value * value * value)


def test_compile_for_another_cpu() -> None:
    source = triton.compiler.ASTSource(cube, {"x": "*fp32", "BLOCK": "constexpr"}, {"BLOCK": 64})
    old = triton.compile(source, target=GPUTarget("cpu", "haswell;+avx2,+fma", 1))
    assert "zmm" not in old.asm["asm"] and "ymm" in old.asm["asm"]
    new = triton.compile(source, target=GPUTarget("cpu", "skylake-avx512;+avx512f,+avx512vl,+avx512bw,+avx512dq", 1))
    assert "zmm" in new.asm["asm"] and new.hash != old.hash


@pytest.mark.slow
def test_kernels_for_avx2() -> None:
    """The kernels of test_tutorials.py work on a CPU without AVX-512."""
    features = (
        "haswell;+avx,+avx2,+fma,+f16c,+bmi,+bmi2,+popcnt,+lzcnt,+sse4.2,+sse4.1,+ssse3,+sse3,+64bit,+cx16,+movbe"
    )
    tests = Path(__file__).parent / "test_tutorials.py"
    done = forked_python.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-k",
            "matmul or softmax or norm or dot",
            str(tests),
        ],
        env={**os.environ, "TRITON_EXT_CPU_TARGET": features},
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert " passed" in done.stdout


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_number_of_threads(threads: int) -> None:
    x = torch.zeros(100_000)
    fill[(1000,)](x, 3.0, 100_000, BLOCK=128, num_threads=threads)
    assert (x == 3).all()


@pytest.mark.slow
def test_launches_from_several_threads() -> None:
    def work(k: int) -> None:
        for _ in range(50):
            fill[(100,)](arrays[k], float(k), 10_000, BLOCK=128)

    arrays = [torch.zeros(10_000) for _ in range(4)]
    fill[(1,)](arrays[0], 0.0, 10_000, BLOCK=128)
    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all((array == k).all() for k, array in enumerate(arrays))


def test_after_a_fork() -> None:
    x = np.zeros(100_000, np.float32)  # torch's own threads do not survive a fork
    fill[(1000,)](x, 1.0, 100_000, BLOCK=128, num_threads=2)  # the pool has a thread now
    pid = os.fork()
    if pid == 0:
        fill[(1000,)](x, 2.0, 100_000, BLOCK=128, num_threads=2)
        os._exit(0 if (x == 2).all() else 1)
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    fill[(1000,)](x, 4.0, 100_000, BLOCK=128, num_threads=2)
    assert (x == 4).all()


@pytest.mark.slow
def test_determinism() -> None:
    x = torch.randn(100_000)
    outs = [torch.empty_like(x) for _ in range(5)]
    for threads, out in enumerate(outs, 1):
        heavy[(100,)](x, out, 100_000, ROUNDS=20, BLOCK=1024, num_threads=threads)
    assert all(torch.equal(outs[0], out) for out in outs)


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.slow
def test_many_launches_do_not_leak() -> None:
    x = np.zeros(64, np.float32)
    for _ in range(1000):
        fill[(1,)](x, 1.0, 64, BLOCK=64)
    before = resident()
    for _ in range(20_000):
        fill[(1,)](x, 1.0, 64, BLOCK=64)
    assert resident() - before < 4 << 20


@pytest.mark.slow
def test_many_compilations_do_not_leak(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knobs.compilation, "always_compile", True)
    x = np.zeros(64, np.float32)

    def compile_and_launch(times: int) -> None:
        for _ in range(0, times, 10):
            for _ in range(10):
                fill.device_caches.clear()
                fill[(1,)](x, 1.0, 64, BLOCK=64)
            # 0.5 MB of each compilation is in cycles. In tests, Python itself collects so rarely that the garbage of
            # 100 compilations would be the largest that the process has had, unless another test had more before.
            gc.collect()

    compile_and_launch(30)
    mapped = Path("/proc/self/maps").read_text().count("fill-")
    before = resident()
    compile_and_launch(100)
    assert Path("/proc/self/maps").read_text().count("fill-") <= mapped
    # A leak of 100 KB for each compilation would be a gigabyte after 10,000.
    assert resident() - before < 100 * 50_000


def test_launch_hooks(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    monkeypatch.setattr(knobs.runtime, "launch_enter_hook", lambda metadata: seen.append(metadata.get()["name"]))
    monkeypatch.setattr(knobs.runtime, "launch_exit_hook", lambda metadata: seen.append("done"))
    fill[(1,)](torch.zeros(16), 1.0, 16, BLOCK=16)
    assert seen == ["fill", "done"]


def test_launch_overhead() -> None:
    """The launcher takes a fraction of the 5 µs that it may add to Triton's own code for a launch."""
    x = torch.zeros(16)
    kernel = fill[(1,)](x, 1.0, 16, BLOCK=16)
    run, function, packed = kernel.run, kernel.function, kernel.packed_metadata
    best = float("inf")
    for _ in range(20):
        start = time.perf_counter()
        for _ in range(1000):
            run(1, 1, 1, 0, function, packed, None, None, None, x, 1.0, 16, 16)
        best = min(best, (time.perf_counter() - start) / 1000)
    assert best < 5e-6


def test_line_information() -> None:
    kernel = fill[(1,)](torch.zeros(16), 1.0, 16, BLOCK=16)
    assert "test_runtime.py" in kernel.asm["asm"] and "\t.loc\t" in kernel.asm["asm"]


def test_do_bench() -> None:
    x = torch.zeros(16)
    assert triton.testing.do_bench(lambda: fill[(1,)](x, 1.0, 16, BLOCK=16), warmup=1, rep=5) > 0


@pytest.mark.slow
def test_compile_time_does_not_grow_with_the_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knobs.compilation, "always_compile", True)
    x, out = torch.zeros(65536), torch.zeros(65536)
    best = {}
    for block in (1024, 65536):
        times = []
        for _ in range(4):
            heavy.device_caches.clear()
            start = time.perf_counter()
            heavy[(1,)](x, out, 65536, ROUNDS=3, BLOCK=block)
            times.append(time.perf_counter() - start)
        best[block] = min(times)
    assert best[65536] < 2 * best[1024]
    assert best[65536] < 1


OLD = {
    # name: whether the code may hold registers of 32 bytes, and fused multiply-adds
    "x86-64": (False, False),
    "sandybridge": (True, False),
    "haswell": (True, True),
}

EVERYTHING = """
import torch, triton, triton.language as tl
from triton.language.extra import libdevice

@triton.jit
def kernel(x, h, b, i, out, product, N: tl.constexpr):
    at = tl.arange(0, N)
    v, half, brain, k = tl.load(x + at, mask=at < N - 3), tl.load(h + at), tl.load(b + at), tl.load(i + at)
    r = tl.exp(v) + tl.sin(v) * tl.rsqrt(tl.abs(v) + 1) + tl.floor(v)
    tl.store(out + at, r)
    tl.store(out + N + at, (half * half + half).to(tl.float32))
    tl.store(out + 2 * N + at, (brain / 3).to(tl.float32))
    tl.store(out + 3 * N + at, tl.load(x + k, mask=k % 3 != 0, other=-1.0))
    tl.store(out + 4 * N + at, tl.cumsum(v, 0) + tl.min(half, 0) + tl.sum(k // 7, 0))
    narrow = v.to(tl.float16).to(tl.float32) + v.to(tl.bfloat16).to(tl.float32)
    tl.store(out + 5 * N + at, libdevice.fma(v, v, v) + narrow)
    square = tl.reshape(half, (16, N // 16))
    tl.store(product + tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :], tl.dot(square, square.T))

torch.manual_seed(0)
N = 256
x, i = torch.randn(N), torch.randperm(N, dtype=torch.int32)
h, b = torch.randn(N).half(), torch.randn(N).bfloat16()
h[:6] = torch.tensor([0.0, -0.0, 65504.0, 6e-8, float("inf"), float("nan")]).half()
h2 = torch.randn(N).half()
out, product = torch.zeros(6, N), torch.zeros(16, 16)
found = kernel[(1,)](x, h, b, i, out, product, N=N)
v = torch.where(torch.arange(N) < N - 3, x, 0)
expected = torch.stack([
    v.exp() + v.sin() * (v.abs() + 1).rsqrt() + v.floor(),
    (h * h).float() + h.float(),  # rounded below
    b.float() / 3,
    torch.where(i % 3 != 0, x[i.long()], -1.0),
    v.cumsum(0) + h.float().nan_to_num(9e9).min() + (i // 7).sum(),
    v * v + v + v.half().float() + v.bfloat16().float(),
])
torch.testing.assert_close(out[0], expected[0], atol=1e-5, rtol=1e-5)
torch.testing.assert_close(out[1], expected[1].half().float(), atol=2e-3, rtol=2e-3, equal_nan=True)
torch.testing.assert_close(out[2], expected[2], atol=1e-2, rtol=1e-2)
assert torch.equal(out[3], expected[3])
torch.testing.assert_close(out[4], expected[4], equal_nan=True)
torch.testing.assert_close(out[5], expected[5], atol=1e-5, rtol=1e-5)
kernel[(1,)](x, h2, b, i, out, product, N=N)
square = h2.float().view(16, -1)
torch.testing.assert_close(product, square @ square.t(), atol=1e-3, rtol=1e-4)
asm = found.asm["asm"]
print("ymm" in asm or "zmm" in asm, "vfmadd" in asm, "__truncsfhf2" in asm)
"""


@pytest.mark.slow
@pytest.mark.parametrize("target", OLD)
def test_older_cpus(target: str, tmp_path: Path) -> None:
    """The name of a CPU implies its features; operations without an instruction call the runtime or libm."""
    script = tmp_path / "everything.py"
    script.write_text(EVERYTHING)
    done = forked_python.run(
        [sys.executable, script],
        env={**os.environ, "TRITON_DEFAULT_BACKEND": "cpu", "TRITON_EXT_CPU_TARGET": target},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    wide, fused = OLD[target]
    assert done.stdout == f"{wide} {fused} {target != 'haswell'}\n"


@pytest.mark.parametrize("target", ["i386", "no-such-cpu", "znver9"])
def test_a_cpu_that_is_none(target: str) -> None:
    source = triton.compiler.ASTSource(
        fill, {"x": "*fp32", "value": "fp32", "n": "i32", "BLOCK": "constexpr"}, {"BLOCK": 64}
    )
    with pytest.raises(ValueError, match=rf"'{target}' is not an x86-64 CPU that LLVM knows"):
        triton.compile(source, target=GPUTarget("cpu", target, 1))


def test_handles_of_other_drivers() -> None:
    """A kernel is unloaded by the driver that is active at that time, which may be another one."""
    driver = triton.runtime.driver.active
    for foreign in (0, 1, 0xDEADBEEF, id(driver), None):
        driver.utils.unload_module(foreign)
    x = np.zeros(64, np.float32)
    fill.device_caches.clear()
    kernel = fill[(1,)](x, 1.0, 64, BLOCK=64)
    # The driver of a GPU cannot mistake this for one of its handles, because its functions expect a number.
    with pytest.raises(TypeError):
        int(kernel.module)
    name = Path(kernel.module._library._name).name
    assert name in Path("/proc/self/maps").read_text()
    module = kernel.module
    driver.utils.unload_module(module)
    driver.utils.unload_module(module)
    assert name not in Path("/proc/self/maps").read_text()
    fill.device_caches.clear()


@pytest.mark.slow
def test_kernels_that_another_driver_is_asked_to_unload() -> None:
    """A library is unloaded even if the active driver refuses its handle."""
    code = """
import gc, numpy as np, triton, triton.language as tl
from pathlib import Path
from triton_ext.backends import cpu
from test_runtime import fill
cpu.activate()
kernel = fill[(1,)](np.zeros(64, np.float32), 1.0, 64, BLOCK=64)
name = Path(kernel.module._library._name).name
assert name in Path("/proc/self/maps").read_text()
asked = []
class Utils:
    def unload_module(self, module):
        asked.append(module.__index__() if hasattr(module, "__index__") else None)
class Other:
    utils = Utils()
triton.runtime.driver.set_active(Other())
fill.device_caches.clear()
del kernel
gc.collect()
print(asked, name in Path("/proc/self/maps").read_text())
"""
    out = run_python(code, PYTHONPATH=support.path(support.PATH, Path(__file__).parent), TRITON_DEFAULT_BACKEND="cpu")
    assert out == "[None] False\n"
