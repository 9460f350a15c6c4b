# SPDX-License-Identifier: Apache-2.0
"""A process without a home, without a place for temporary files, with a full disk or tight limits works, or says why
not."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

from support import forked_python

COMPILE = """
from triton.backends.compiler import GPUTarget
import triton_ext as tx
from triton_ext import demo
with tx.Pipeline().at_end("ttir", tx.passes.ttir.rename(old="matmul", new="other")):
    print(demo.compile_matmul(GPUTarget("cuda", 90, 32)).name)
"""
LAUNCH = """
import numpy, triton, triton.language as tl, sys, importlib.util
spec = importlib.util.spec_from_file_location("limits_kernel", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
x = numpy.zeros(16, dtype=numpy.float32)
module.fill[(1,)](x, 16)
print(x.sum())
"""
KERNEL = """
import triton
import triton.language as tl

@triton.jit
def fill(x, N: tl.constexpr):
    tl.store(x + tl.arange(0, N), 2.0)
"""
UNKNOWN = 54321
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="not permitted here: to be another user, which needs root")


def run(
    *command: str, before: str = "", cwd: Path | None = None, **environment: str | None
) -> subprocess.CompletedProcess[str]:
    """Runs Python, first the code `before`. A variable that is None is unset."""
    code, *arguments = command
    merged = {**os.environ, **environment}
    return forked_python.run(
        [sys.executable, "-c", before + code, *arguments], env={k: v for k, v in merged.items() if v is not None},
        cwd=cwd, timeout=300,
    )  # fmt: skip


def last_line(done: subprocess.CompletedProcess[str]) -> str:
    return (done.stderr.strip().splitlines() or [""])[-1]


#: Imports files that another user cannot read, and then becomes this user, who has neither name nor home.
NOBODY = f"""
import os, sys
import triton, triton_ext.demo, triton_ext.sdk
import triton_ext.loading.elf, triton_ext.loading.loader, triton_ext.loading.verification
import elftools.elf.elffile, triton_ext.pipeline.edited_compilation, triton_ext.tracing.page, importlib.metadata
del os.environ["HOME"]
os.environ.pop("XDG_CACHE_HOME", None)
os.setuid({UNKNOWN})
"""


@pytest.mark.slow
@needs_root
def test_no_home_and_no_name(tmp_path: Path) -> None:
    """There is no cache, and none is needed, except for the SDK: it has to be kept, and asks for a place."""
    kernels = tmp_path / "kernels"
    kernels.mkdir(mode=0o777)
    code = """
from triton_ext import sdk
from triton_ext.loading import index
from triton_ext.support import scratch, storage
print(storage.cache_dir(), index.recall("a", "b", object), sdk.find_triton and scratch.scratch_root() is not None)
index.remember("a", "b", 1, [], 0)
index.save()
try:
    sdk.sdk_root()
except triton_ext.errors.TritonExtError as error:
    print(error)
"""
    done = run(code, before=NOBODY + "import triton_ext.errors\n", TRITON_CACHE_DIR=str(kernels))
    first, second = done.stdout.splitlines() or [done.stderr] * 2
    assert first == "None None True"
    fix = "XDG_CACHE_HOME=/a/directory triton-ext sdk install"
    assert second == f"user {UNKNOWN} has no home directory to keep files in (fix: {fix})"


#: Leaves no place for temporary files: a limit has this effect for every user, even root.
NO_TEMPORARY = """
import tempfile
def nowhere(*_):
    raise FileNotFoundError(2, "No usable temporary directory found")
tempfile._get_default_tempdir = nowhere
tempfile._candidate_tempdir_list = lambda: []
"""


@pytest.mark.slow
def test_no_writable_tmp(tmp_path: Path) -> None:
    """Triton's own backends for GPUs need a place for temporary files; triton-ext does not."""
    (tmp_path / "k.py").write_text(KERNEL)
    code = """
import triton_ext as tx
with tx.Pipeline.parse("ttir: at_end(common.cse)"):
""" + "".join(f"    {line}\n" for line in LAUNCH.strip().splitlines())
    done = run(code, str(tmp_path / "k.py"), before=NO_TEMPORARY, TRITON_DEFAULT_BACKEND="cpu")
    assert done.stdout == "32.0\n", done.stderr


def test_no_place_at_all(tmp_path: Path) -> None:
    code = """
import os
from triton_ext.support import scratch
scratch._scratch_roots = lambda: iter(("/nowhere", "/proc"))
try:
    scratch.scratch_dir("x").__enter__()
except scratch.TritonExtError as error:
    print(error)
"""
    wanted = "no directory for temporary files can be made (fix: TMPDIR=/a/writable/directory)\n"
    assert run(code).stdout == wanted


@pytest.mark.slow
def test_limit_of_file_size(tmp_path: Path) -> None:
    """With `ulimit -f`, caches stay empty, and a library that cannot be copied to memory is loaded from its file."""
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
    code = """
import triton_ext as tx
from triton_ext.loading.loader import load_library
import triton
found = {e.name: e for e in tx.extensions()}
print(all(e.problem is None for e in found.values()), sorted(load_library(found["rename"]).add))
"""
    done = run(code, before=limit, XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert done.stdout == "True ['rename']\n", done.stderr
    assert [path for path in (tmp_path / "cache").rglob("*") if path.is_file()] == []


@pytest.fixture
def full_disk(tmp_path: Path) -> Path:
    """Returns a full disk."""
    place = tmp_path / "disk"
    place.mkdir()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"tmpfs", os.fsencode(place), b"tmpfs", 0, b"size=64k"):
        pytest.skip("not permitted here: to mount a file system")
    with (place / "filler").open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 4096)
        except OSError:
            pass
    yield place
    libc.umount2(os.fsencode(place), 2)


@pytest.mark.slow
@needs_root
def test_a_full_disk(full_disk: Path, tmp_path: Path) -> None:
    """The cache and all temporary files are on the full disk."""
    done = run(COMPILE, XDG_CACHE_HOME=str(full_disk / "cache"), TMPDIR=str(full_disk))
    assert done.stdout == "other\n", done.stderr
    assert [path for path in full_disk.rglob("*") if path.is_file() and path.name != "filler"] == []


@pytest.mark.slow
@needs_root
def test_a_full_disk_on_the_cpu(full_disk: Path, tmp_path: Path) -> None:
    (tmp_path / "k.py").write_text(KERNEL)
    environment = {"TRITON_DEFAULT_BACKEND": "cpu", "TMPDIR": str(full_disk)}
    done = run(LAUNCH, str(tmp_path / "k.py"), **environment)
    assert done.stdout == "32.0\n", done.stderr


@pytest.mark.slow
@needs_root
def test_kernels_that_are_to_be_kept_on_a_full_disk(full_disk: Path, tmp_path: Path) -> None:
    (tmp_path / "k.py").write_text(KERNEL)
    kept = str(full_disk / "kept")
    done = run(LAUNCH, str(tmp_path / "k.py"), TRITON_DEFAULT_BACKEND="cpu", TRITON_EXT_CPU_KERNELS=kept)
    assert "TritonExtError: the kernel fill cannot be kept in " in last_line(done)
    assert f"{kept}: No space left on device (fix: TRITON_EXT_CPU_KERNELS=/another/directory" in last_line(done)
    assert list((full_disk / "kept").iterdir()) == []


@pytest.mark.slow
def test_a_home_that_cannot_be_made(tmp_path: Path) -> None:
    """Triton's own cache has no place: a launch gives Triton's error, our commands give ours."""
    (tmp_path / "file").touch()
    (tmp_path / "k.py").write_text(KERNEL)
    home = tmp_path / "file" / "home"
    done = forked_python.run(
        [sys.executable, "-m", "triton_ext", "trace", "k.py:fill", "-s", "*fp32, 16", "-t", "cuda:90"],
        env={k: v for k, v in os.environ.items() if k not in {"TRITON_CACHE_DIR", "TRITON_HOME"}} | {"HOME": str(home)},
        cwd=tmp_path, timeout=300,
    )  # fmt: skip
    assert done.returncode == 1
    assert last_line(done).startswith(f"triton-ext: error: Triton's cache, {home}/.triton/cache, cannot be written: ")
    assert last_line(done).endswith("(fix: TRITON_CACHE_DIR=/a/directory/of/your/own)")
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_nothing_is_left_of_a_launch(tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    (tmp_path / "k.py").write_text(KERNEL)
    done = run(LAUNCH, str(tmp_path / "k.py"), TRITON_DEFAULT_BACKEND="cpu", TMPDIR=str(tmp_path / "tmp"))
    assert done.stdout == "32.0\n", done.stderr
    assert os.listdir(tmp_path / "tmp") == []


@pytest.mark.slow
def test_nothing_is_left_of_a_launch_in_a_process_that_is_killed(tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    (tmp_path / "k.py").write_text(KERNEL)
    code = LAUNCH + "\nimport os\nos.kill(os.getpid(), 9)"
    done = run(code, str(tmp_path / "k.py"), TRITON_DEFAULT_BACKEND="cpu", TMPDIR=str(tmp_path / "tmp"))
    assert done.returncode == -9, done.stderr
    assert os.listdir(tmp_path / "tmp") == []


def launch_with_cache(tmp_path: Path, cache: str) -> subprocess.CompletedProcess[str]:
    (tmp_path / "k.py").write_text(KERNEL)
    return run(LAUNCH, str(tmp_path / "k.py"), cwd=tmp_path, TRITON_DEFAULT_BACKEND="cpu", TRITON_CACHE_DIR=cache)


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "is_safe"), [(0o700, True), (0o755, True), (0o775, True), (0o777, False)])
def test_a_cache_of_triton_that_others_can_write(tmp_path: Path, mode: int, is_safe: bool) -> None:
    """Whoever can write there can have code run. A user's own group may write, as with umask 002."""
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache").chmod(mode)
    done = launch_with_cache(tmp_path, str(tmp_path / "cache"))
    if is_safe:
        assert done.stdout == "32.0\n", done.stderr
    else:
        assert f"can be written by users other than its owner (mode {mode:04o})" in last_line(done)
        assert "TRITON_CACHE_DIR=" in last_line(done)


@pytest.mark.slow
@needs_root
def test_a_cache_of_triton_of_another_user(tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir(0o700)
    os.chown(tmp_path / "cache", UNKNOWN, UNKNOWN)
    assert f"belongs to user {UNKNOWN}, this process runs as" in last_line(
        launch_with_cache(tmp_path, str(tmp_path / "cache"))
    )


@pytest.mark.slow
def test_a_cache_of_triton_in_the_working_directory(tmp_path: Path) -> None:
    """The cache is where Triton puts it for a user without a home directory."""
    assert "would be in the working directory" in last_line(launch_with_cache(tmp_path, "~/.triton/cache"))


#: Code of another user: it has run if the file MARK exists.
EVIL = """
#include <fcntl.h>
#include <stdint.h>
__attribute__((constructor)) static void run(void) { open(MARK, O_CREAT | O_WRONLY, 0600); }
int32_t fill(void) { return 0; }
"""


@pytest.mark.slow
@pytest.mark.parametrize("what", ["directory", "library", "metadata", "group"])
def test_a_kernel_in_triton_s_cache_that_others_can_write(tmp_path: Path, what: str) -> None:
    """The cache is the user's own, but a process with umask 000 has made the kernel's directory or files."""
    cache, mark = tmp_path / "cache", tmp_path / "mark"
    assert launch_with_cache(tmp_path, str(cache)).stdout == "32.0\n"
    [library] = cache.rglob("fill.so")
    assert launch_with_cache(tmp_path, str(cache)).stdout == "32.0\n"
    (tmp_path / "evil.c").write_text(EVIL)
    subprocess.run(
        ["cc", "-shared", "-fPIC", f'-DMARK="{mark}"', tmp_path / "evil.c", "-o", tmp_path / "evil.so"], check=True
    )
    kept = library.read_bytes()
    library.write_bytes((tmp_path / "evil.so").read_bytes())
    launch_with_cache(tmp_path, str(cache))
    assert mark.exists(), "the other library runs if it is loaded"
    mark.unlink()
    if what in ("metadata", "group"):
        library.write_bytes(kept)
    files = {"directory": "", "library": "fill.so", "metadata": "fill.json", "group": "__grp__fill.json"}
    victim = library.parent / files[what]
    victim.chmod(victim.stat().st_mode | 0o002)
    done = launch_with_cache(tmp_path, str(cache))
    assert not mark.exists()
    assert "can be written by users other than its owner" in last_line(done), done.stderr
    assert f"rm -r {library.parent}" in last_line(done)


@pytest.mark.slow
@needs_root
def test_a_kernel_in_triton_s_cache_of_another_user(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    assert launch_with_cache(tmp_path, str(cache)).stdout == "32.0\n"
    [library] = cache.rglob("fill.so")
    os.chown(library, UNKNOWN, UNKNOWN)
    assert f"belongs to user {UNKNOWN}, this process runs as" in last_line(launch_with_cache(tmp_path, str(cache)))


@pytest.mark.slow
def test_what_a_process_compiles_is_closed_to_others_whatever_the_umask(tmp_path: Path) -> None:
    """The cache is below a directory of the user's own, as Triton's cache is when it is in use."""
    (tmp_path / "cache").mkdir(0o755)
    (tmp_path / "k.py").write_text(KERNEL)
    before = "import os; os.umask(0)\n"
    for _ in range(2):
        done = run(
            LAUNCH, str(tmp_path / "k.py"), before=before, TRITON_DEFAULT_BACKEND="cpu",
            TRITON_CACHE_DIR=str(tmp_path / "cache"),
        )  # fmt: skip
        assert done.stdout == "32.0\n", done.stderr
    [library] = (tmp_path / "cache").rglob("fill.so")
    assert library.parent.stat().st_mode & 0o077 == 0


@pytest.mark.slow
def test_a_kernel_that_changes_while_it_is_read(tmp_path: Path) -> None:
    """A user who can write a directory above the cache can exchange the cache, and put it back."""
    change = """
import functools
import triton.compiler.compiler as c
make = c.CompiledKernel.__init__
@functools.wraps(make)
def make_and_change(self, *args):
    make(self, *args)
    self.kernel += b"x"
c.CompiledKernel.__init__ = make_and_change
"""
    (tmp_path / "k.py").write_text(KERNEL)
    done = run(
        LAUNCH, str(tmp_path / "k.py"), before=change, TRITON_DEFAULT_BACKEND="cpu",
        TRITON_CACHE_DIR=str(tmp_path / "cache"),
    )  # fmt: skip
    assert "fill.so, of a kernel in Triton's cache, is not what it was when Triton read it" in last_line(done)
