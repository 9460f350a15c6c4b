# SPDX-License-Identifier: Apache-2.0
"""``triton-ext compile-cpu``: a library and a header for programs that have neither Python nor Triton."""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import triton
import triton.language as tl
from click.testing import CliRunner
from elftools.elf.elffile import ELFFile
from triton_ext.backends.cpu import _exports

import triton_ext as tx
from triton_ext.cli import cli

KERNELS = """\
import triton, triton.language as tl

@triton.jit
def scale(x, y, factor, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.device_assert(i < 4096, "too many")
    tl.store(y + i, tl.sin(tl.load(x + i, mask=i < n) * 0) + tl.load(x + i, mask=i < n) * factor, mask=i < n)

@triton.jit
def residue(x, y):
    v = tl.load(x)
    tl.store(y, v * v - 1.0)

@triton.jit
def kinds(out, a, b, c, d, e, f, g, default, short):
    tl.store(out, a.to(tl.float64))
    tl.store(out + 1, b.to(tl.float64))
    tl.store(out + 2, c.to(tl.float64))
    tl.store(out + 3, d.to(tl.float64))
    tl.store(out + 4, e.to(tl.float64))
    tl.store(out + 5, f.to(tl.float64))
    tl.store(out + 6, g.to(tl.float64))
    tl.store(out + 7, tl.load(default).to(tl.float64))
    tl.store(out + 8, tl.num_programs(2) + short * 0.0)
"""

MAIN = r"""
#include "kernels.h"
#include <stdio.h>

int main(void) {
  _Alignas(64) static float x[104], y[104];
  for (int i = 0; i < 104; ++i)
    x[i] = (float)i;
  int code = scale(2, 1, 1, 2, x, y, 2.5f, 100);
  float sum = 0;
  for (int i = 0; i < 104; ++i)
    sum += y[i];
  printf("%d %g %s\n", code, sum, scale_message(code));
  code = scale(2, 1, 1, 0, x + 1, y, 2.5f, 99);
  printf("%d %s\n", code, scale_message(code));
  code = scale(2, -1, 1, 0, x, y, 2.5f, 99);
  printf("%d %s\n", code, scale_message(code));
  printf("%s\n", scale_message(TRITON_EXT_CPU_BAD_THREADS));
  code = scale(2, 1, 1, -1, x, y, 2.5f, 99);
  printf("%d %s\n", code, scale_message(code));
  code = scale(0, 1, 1, 3, x, y, 2.5f, 99);
  printf("%d\n", code);
  code = scale(64, 64, 1, 4, x, y, 2.5f, 99);
  printf("%d\n", code);
  code = scale(65, 1, 1, 1, x, y, 2.5f, 99);
  printf("%d %s\n", code, scale_message(code));
  float one = 1.0f + 0x1p-12f, rest = -1;
  code = residue(1, 1, 1, 1, &one, &rest);
  printf("%d %a\n", code, (double)rest);
  double out[9];
  uint16_t bf16 = 0x4040; /* 3 */
  code = kinds(1, 1, 5, 1, out, true, -7, 200, INT64_MIN, 1.0f + 0x1p-11f + 0x1p-20f, 0.1, 1.0f + 0x1p-8f, &bf16, -2);
  printf("%d", code);
  for (int i = 0; i < 9; ++i)
    printf(" %.17g", out[i]);
  printf("\n");
}
"""

#: The same call from a language of which the machine has an implementation: Rust, else Lua.
RUST = r"""
use std::ffi::{c_char, CStr};
#[link(name = "kernels")]
extern "C" {
    fn scale(x: i32, y: i32, z: i32, threads: i32, from: *const f32, to: *mut f32, factor: f32, n: i32) -> i32;
    fn scale_message(code: i32) -> *const c_char;
}
#[repr(align(64))]
struct Aligned([f32; 104]);
fn main() {
    let mut x = Aligned([0.0; 104]);
    let mut y = Aligned([0.0; 104]);
    for i in 0..104 { x.0[i] = i as f32; }
    let threads: Vec<_> = (0..2).map(|_| std::thread::spawn(|| {
        let x = Aligned([1.0; 104]);
        let mut y = Aligned([0.0; 104]);
        let code = unsafe { scale(2, 1, 1, 2, x.0.as_ptr(), y.0.as_mut_ptr(), 2.0, 100) };
        (code, y.0.iter().sum::<f32>())
    })).collect();
    for thread in threads { println!("{:?}", thread.join().unwrap()); }
    let code = unsafe { scale(2, 1, 1, 2, x.0.as_ptr(), y.0.as_mut_ptr(), 2.5, 100) };
    println!("{} {}", code, y.0.iter().sum::<f32>());
    let code = unsafe { scale(2, 1, 1, 2, x.0.as_ptr(), y.0.as_mut_ptr().add(1), 2.5, 100) };
    println!("{} {}", code, unsafe { CStr::from_ptr(scale_message(code)) }.to_str().unwrap().contains("'y'"));
}
"""
LUA = r"""
local ffi = require("ffi")
ffi.cdef(io.popen("cc -E -P kernels.h"):read("*a"))
local library = ffi.load("./libkernels.so")
local x, y = ffi.new("float[128]"), ffi.new("float[128]")
local function aligned(p) return p + (-tonumber(ffi.cast("uintptr_t", p)) % 64) / 4 end
local from, to = aligned(x), aligned(y)
for i = 0, 103 do from[i] = 1 end
for _ = 1, 2 do
  local code, sum = library.scale(2, 1, 1, 2, from, to, 2.0, 100), 0
  for i = 0, 103 do sum = sum + to[i] end
  print(string.format("(%d, %.1f)", code, sum))
end
for i = 0, 103 do from[i] = i end
local code, sum = library.scale(2, 1, 1, 2, from, to, 2.5, 100), 0
for i = 0, 103 do sum = sum + to[i] end
print(code, sum)
code = library.scale(2, 1, 1, 2, from, to + 1, 2.5, 100)
print(code, ffi.string(library.scale_message(code)):find("'y'") ~= nil)
"""

SIGNATURES = {
    "scale": "*fp32:16, *fp32:16, fp32, i32, 64",
    "residue": "*fp32, *fp32",
    "kinds": "*fp64, i1, i8, u8, i64, fp16, fp64, bf16, *bf16, i16",
}


def compile_cpu(*arguments: str | Path) -> str:
    """Runs the command in this process, and returns what it prints.

    Raises:
        TritonExtError: as the command does.
    """
    done = CliRunner().invoke(cli, ["compile-cpu", *map(str, arguments)])
    if done.exception is not None:
        raise done.exception
    return done.output


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory with ``libkernels.so`` and ``kernels.h``; bdver4 has instructions that no CPU of today has."""
    directory = tmp_path_factory.mktemp("library")
    (directory / "kernels.py").write_text(KERNELS)
    pairs = [part for name, text in SIGNATURES.items() for part in (f"{directory}/kernels.py:{name}", "-s", text)]
    output = ("-o", directory / "libkernels.so", "--header", directory / "kernels.h")
    archs = ("--arch", "x86-64", "--arch", "bdver4", "--arch", "x86-64-v3")
    compile_cpu(*pairs, *output, *archs, "--option", "debug=true")
    return directory


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, env={"PATH": "/usr/bin:/bin"})
    assert done.returncode == 0, done.stderr
    return done.stdout


def c_compiler() -> str:
    found = shutil.which("cc") or shutil.which("clang-19") or shutil.which("clang")
    if found is None:
        pytest.skip("there is no C compiler")
    return found


@pytest.mark.slow
def test_from_c(library: Path) -> None:
    (library / "main.c").write_text(MAIN)
    options = ["-std=c11", "-Wall", "-Wextra", "-Werror", "main.c", "libkernels.so", "-Wl,-rpath,$ORIGIN"]
    run(c_compiler(), *options, "-o", "main", cwd=library)
    lines = run("./main", cwd=library).splitlines()
    assert lines[0] == f"0 {2.5 * sum(range(100)):g} success"
    assert lines[1].startswith("3 scale: the argument 'x' is 0x")
    assert lines[1].endswith(", and the kernel is compiled for multiples of 16 (fix: without :16 in the signature)")
    assert lines[2] == "1 scale: a grid of 2 x -1 x 1 programs"
    assert lines[3] == "the number of threads is negative"
    assert lines[4] == "2 scale: -1 threads: expected a number of threads, or 0 for one for each processor"
    assert lines[5:7] == ["0", "0"]
    assert lines[7].startswith("6 scale: ")
    assert lines[7].endswith("kernels.py:6: device assertion failed in program (64, 0, 0): too many")
    has_fma = "fma" in Path("/proc/cpuinfo").read_text().split("flags", 1)[1].split("\n", 1)[0].split()
    assert lines[8] == ("0 0x1.0008p-11" if has_fma else "0 0x1p-11"), "the code for this processor is not chosen"
    wanted = [1, -7, 200, -(2.0**63), 1 + 2**-10, 0.1, 1, 3, 5]
    assert lines[9] == " ".join(["0", *(f"{value:.17g}" for value in wanted)])


@pytest.mark.slow
def test_from_another_language(library: Path) -> None:
    """Rust is too large an installation for CI, so Lua will do; Rust also calls from two threads at once."""
    if shutil.which("rustc"):
        (library / "main.rs").write_text(RUST)
        command = ["rustc", "main.rs", "-L", ".", "-C", "link-arg=-Wl,-rpath,$ORIGIN", "-o", "rust"]
        done = subprocess.run(command, cwd=library, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        output = run("./rust", cwd=library)
    elif shutil.which("luajit"):
        (library / "main.lua").write_text(LUA)
        output = run("luajit", "main.lua", cwd=library)
    else:
        pytest.skip("there is neither rustc nor luajit")
    assert output.split() == ["(0,", "200.0)", "(0,", "200.0)", "0", "12375", "3", "true"]


@pytest.mark.slow
def test_it_needs_nothing_of_ours(library: Path) -> None:
    """The library names only libraries of the system, and exports only what the header declares."""
    file = ELFFile(io.BytesIO((library / "libkernels.so").read_bytes()))
    dynamic = file.get_section_by_name(".dynamic")
    needed = {tag.needed for tag in dynamic.iter_tags("DT_NEEDED")}
    assert needed <= {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2"}
    exported = {
        symbol.name
        for symbol in file.get_section_by_name(".dynsym").iter_symbols()
        if symbol["st_shndx"] != "SHN_UNDEF" and symbol["st_info"]["bind"] == "STB_GLOBAL"
    }
    assert exported == {name for kernel in SIGNATURES for name in (kernel, f"{kernel}_message")}


@triton.jit
def copied(x, y):
    tl.store(y, tl.load(x))


@pytest.mark.slow
def test_no_code_for_this_processor(tmp_path: Path) -> None:
    import ctypes

    tx.cpu.compile_library(
        {"copy": (copied, "*i32, *i32")}, tmp_path / "k.so", header=tmp_path / "k.h", arch=["bdver4"]
    )
    library = ctypes.CDLL(str(tmp_path / "k.so"))
    library.copy_message.restype = ctypes.c_char_p
    assert library.copy(1, 1, 1, 1, None, None) == 4
    assert b"copy is compiled for bdver4, and this processor is none of these" in library.copy_message(4)
    assert library.copy_message(5) == b"out of memory"
    assert library.copy_message(77) == b"not a code of this library"


def test_a_program_can_load_many_libraries(library: Path, tmp_path: Path) -> None:
    """The static thread-local storage of a process has room for about one of them."""
    program = "import ctypes, sys\nfor path in sys.argv[1:]:\n    assert ctypes.CDLL(path).residue_message(4)"
    copies = [shutil.copy(library / "libkernels.so", tmp_path / f"{number}.so") for number in range(40)]
    run(sys.executable, "-c", program, *copies, cwd=tmp_path)


def test_the_header_is_also_cpp(library: Path) -> None:
    text = (library / "kernels.h").read_text()
    assert 'extern "C" {' in text
    assert "const float *x" in text and "float *y" in text and "with BLOCK=64" in text
    assert "bool a" in text and "const uint16_t *default_" in text and "int16_t short_" in text


ERRORS = [
    (("k.py:scale", "-s", "*fp32, *fp32, fp32, i32, 64", "-o", "a/b.so"), "a/b.so cannot be written"),
    (("k.py:scale", "-s", "*fp32", "-o", "k.so"), "the signature has 1 entries, 'scale' takes x, y, factor, n, BLOCK"),
    (("k.py:scal", "-s", "*fp32", "-o", "k.so"), "k.py has no kernel 'scal', it has: scale"),
    (("k.py:scale", "-s", "*fp33, *fp32, fp32, i32, 64", "-o", "k.so"), "argument 'x': '*fp33' is not a type"),
    (
        ("k.py:residue", "-s", "*fp32, *fp32", "-o", "k.so", "--arch", "pentium9"),
        "'pentium9' is not an x86-64 CPU that",
    ),
    (("k.py:residue", "-s", "*fp32, *fp32", "-o", "k.so", "--arch", "diamondrapids"), "for which a library cannot ask"),
    (
        ("k.py:residue", "-s", "*fp32, *fp32", "-o", "k.so", "--name", "double"),
        "'double' cannot be the name of a C fun",
    ),
    (("k.py:residue", "-s", "*fp32, *fp32", "-o", "k.so", "--header", "k.so"), "for the library and for the header"),
    (("k.py:residue", "-s", "tensordesc<fp32[4, 4]>, *fp32", "-o", "k.so"), "which a C function cannot take"),
    (("k.py:residue", "k.py:residue", "-s", "*fp32, *fp32", "-o", "k.so"), "2 kernels and 1 times --signature"),
    (
        ("k.py:residue", "-s", "fp32, *fp32", "-o", "k.so"),
        "'residue' does not compile for x86-64: at 2:8: Unsupported ptr",
    ),
    (("k.py:residue", "-s", "*fp32, *i64:16", "-o", "k.so", "--option", "x"), "option 'x': expected NAME=VALUE"),
]


@pytest.mark.parametrize(("arguments", "says"), ERRORS)
def test_errors(arguments: tuple[str, ...], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is one line, and leaves the files as they were."""
    monkeypatch.chdir(tmp_path)
    Path("k.py").write_text(KERNELS)
    Path("k.h").write_text("old")
    with pytest.raises(tx.TritonExtError) as error:
        compile_cpu(*arguments)
    assert says in str(error.value)
    assert "\n" not in str(error.value)
    assert {file.name for file in tmp_path.iterdir() if file.suffix != ""} == {"k.py", "k.h"}
    assert Path("k.h").read_text() == "old"


def test_names_of_c() -> None:
    for name in ("add", "_x1", "softmax_v3"):
        _exports.check_name(name)
    for name in ("int", "größe", "1a", "a-b", "", "main", "triton_ext_cpu_run"):
        with pytest.raises(tx.TritonExtError, match="cannot be the name of a C function"):
            _exports.check_name(name)
