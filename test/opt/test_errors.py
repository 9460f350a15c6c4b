# SPDX-License-Identifier: Apache-2.0
"""Every failure of triton-ext-opt gives a line or a diagnostic on standard error, exit code 1 and no output."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import triton_ext as tx

OPT = Path(sys.executable).with_name("triton-ext-opt")
FOO = "tt.func @foo() {\n  tt.return\n}\n"


def run(*arguments: str | Path, **kwargs: object) -> subprocess.CompletedProcess[str]:
    options: dict[str, Any] = {"capture_output": True, "text": True, "errors": "replace", "timeout": 60, **kwargs}
    return subprocess.run([OPT, *arguments], check=False, **options)


@pytest.mark.parametrize(
    ("module", "pipeline", "name", "message"),
    [
        ("module {}\ud800", "canonicalize", "m", r"the module has the character '\\ud800' at 9"),
        ("module {}", "canon\udcff", "m", r"the pipeline has the character '\\udcff' at 5"),
        ("module {}", "canonicalize", "\ud800", r"its name has the character '\\ud800' at 0"),
    ],
)
def test_text_that_is_not_unicode(module: str, pipeline: str, name: str, message: str) -> None:
    with pytest.raises(tx.PipelineError, match=message):
        tx.opt(module, pipeline, name=name)


@pytest.fixture
def foo(tmp_path: Path) -> Path:
    path = tmp_path / "foo.mlir"
    path.write_text(FOO)
    return path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        ("tt.func @f(", [], "in.mlir:1:11: error: expected"),
        (f"{FOO}\ntt.func @g() -> i32 {{\n  tt.return\n}}", [], "in.mlir:6:3: error: 'tt.return' op"),
        ("\x00\xff", [], "in.mlir:1:2: error: unexpected character"),
        (FOO, ["-no-such-pass"], "Unknown command line argument '-no-such-pass'"),
        (FOO, ["-hello"], "Unknown command line argument '-hello'"),
        (FOO, ["-canonicalise"], "Did you mean '--canonicalize'?"),
        (FOO, ["-cse=depth=1"], "no such option depth"),
        (FOO, ["-triton-ext-rename=nwe=1"], "no such option nwe"),
        (FOO, ["-tritongpu-pipeline=num-stages=many"], "invalid"),
        (FOO, ["-rename=new=1st"], "in.mlir:1:1: error: cannot be renamed to '1st'"),
        (FOO, ["--pass-pipeline=builtin.module(nothing)"], "'nothing' does not refer to a registered pass"),
        (FOO, ["--pass-pipeline=builtin.module(tt.func(cse)"], "unbalanced parentheses"),
        (FOO, ["--pass-pipeline=cse"], "expected"),
        (FOO, ["-cse", "--pass-pipeline=builtin.module(cse)"], "'-pass-pipeline' option can't be used with"),
        (FOO, ["another.mlir"], "Too many positional arguments"),
        (FOO, ["-o"], "requires a value"),
        (FOO, ["-verify-each=perhaps"], "invalid value for boolean argument"),
        (FOO, ["-emit-bytecode"], "libtriton has no bytecode writer"),
        (FOO, ["--load-extension=/no/such.so"], "triton-ext-opt: error: /no/such.so: no such file"),
        (FOO, ["--load-extension=./in.mlir"], "is not an ELF shared library"),
        (FOO, ["--load-extension=in.mlir"], "no extension 'in.mlir'; there is: "),
        (FOO, ["--load-extension"], "requires a value"),
        # tt.expand_dims of Triton 3.9.0 writes to axis 100000 of a shape of two.
        (
            "tt.func @f(%x: tensor<64xi32>) {\n"
            "  %0 = tt.expand_dims %x {axis = 100000 : i32} : tensor<64xi32> -> tensor<64x1xi32>\n  tt.return\n}\n",
            [],
            "error:",
        ),
        ("tt.func @f(%c: i1) {" + "scf.if %c {" * 200_000, [], "crash while parsing in.mlir"),
    ],
)
def test_error_contract(text: str, arguments: list[str], message: str, tmp_path: Path) -> None:
    (tmp_path / "in.mlir").write_bytes(text.encode("latin-1"))
    output = tmp_path / "out.mlir"
    for destination in ([], ["-o", str(output)]):
        done = run("in.mlir", *destination, *arguments, cwd=tmp_path)
        assert message in done.stderr
        assert (done.returncode, done.stdout) == (1, "")
        assert "Traceback" not in done.stderr
        assert sorted(path.name for path in tmp_path.iterdir()) == ["in.mlir"]


@pytest.mark.slow
def test_a_failure_keeps_the_file_that_was_there(foo: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.mlir"
    output.write_text("precious")
    assert run(foo, "-rename=new=1", "-o", output).returncode == 1
    assert output.read_text() == "precious"
    assert run(foo, "-rename", "-o", output).returncode == 0
    assert "@bar" in output.read_text()


@pytest.mark.slow
def test_output_goes_through_links_and_into_devices(foo: Path, tmp_path: Path) -> None:
    target, link = tmp_path / "target.mlir", tmp_path / "link.mlir"
    link.symlink_to(target)
    assert run(foo, "-o", link).returncode == 0
    assert link.is_symlink()
    assert "@foo" in target.read_text()
    assert run(foo, "-o", "/dev/null").returncode == 0
    assert Path("/dev/null").is_char_device()


@pytest.mark.slow
def test_a_full_disk_and_a_closed_pipe(foo: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = run(foo, capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1
    assert "cannot write to standard output: No space left on device" in done.stderr
    reader, writer = os.pipe()
    os.close(reader)
    done = run(foo, capture_output=False, stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert done.returncode != 0
    assert done.stderr == ""


@pytest.mark.slow
def test_a_missing_input(tmp_path: Path) -> None:
    done = run(tmp_path / "none.mlir")
    assert done.returncode == 1
    assert "none.mlir': No such file or directory" in done.stderr
    assert run(tmp_path).returncode == 1


@pytest.mark.slow
def test_a_run_that_takes_too_long_can_be_limited(tmp_path: Path) -> None:
    constants = "".join(f"%{i} = arith.constant {i} : i32\n" for i in range(300_000))
    (tmp_path / "long.mlir").write_text(f"tt.func @f() {{\n{constants}tt.return\n}}\n")
    done = run("long.mlir", cwd=tmp_path, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (1, 5)))
    assert (done.returncode, done.stdout) == (1, "")
    assert "triton-ext-opt: error: crash while " in done.stderr
    assert "CPU time limit exceeded" in done.stderr


def test_nothing_is_left_behind_by_a_driver_that_is_killed() -> None:
    with subprocess.Popen([OPT, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as driver:
        child = Path(f"/proc/{driver.pid}/task/{driver.pid}/children")
        while not child.read_text():
            assert driver.poll() is None
            time.sleep(0.01)
        driver.kill()
        assert driver.stdout
        assert driver.stdout.read() == b""  # ends when the last process that could write has gone


@pytest.mark.slow
def test_a_broken_extension_is_named(foo: Path, tmp_path: Path) -> None:
    broken = tmp_path / "libtriton_ext_shatter.so"
    broken.write_bytes(b"\x7fELF")
    environment = {**os.environ, "TRITON_EXT_PATH": str(broken)}
    for name in ("-shatter", "-triton-ext-shatter", "--pass-pipeline=builtin.module(shatter)"):
        done = run(foo, name, env=environment)
        assert (done.returncode, done.stdout) == (1, "")
        assert "triton-ext-opt: error: extension 'shatter' is broken" in done.stderr
    # It does not disturb other processes.
    assert "@bar" in run(foo, "-rename", env=environment).stdout


@pytest.mark.slow
def test_an_extension_is_loaded_by_name_or_path(foo: Path) -> None:
    path = next(e.path for e in tx.extensions() if e.name == "rename")
    for extension in ("rename", str(path)):
        done = run(foo, f"--load-extension={extension}", "--pass-pipeline=builtin.module(triton-ext-rename)")
        assert "@bar" in done.stdout, done.stderr


@pytest.mark.slow
def test_only_extensions_that_are_named_are_looked_at(foo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    imported = "import sys; from triton_ext import driver\ntry:\n  driver.main([{0!r}, '-cse', '-o', '/dev/null'])\n"
    imported += "except SystemExit as e:\n  found = {{'triton', 'triton_ext.loading.loader'}} & set(sys.modules)\n"
    imported += "  sys.exit(e.code or bool(found))"
    assert subprocess.run([sys.executable, "-c", imported.format(str(foo))], check=False).returncode == 0


class TestInPrograms:
    def test_runs_a_pipeline(self) -> None:
        for pipeline in ("rename", "builtin.module(triton-ext-rename{old=foo new=bar})", "rename,tt.func(cse)"):
            assert "tt.func @bar()" in tx.opt(FOO, pipeline)
        assert "tt.func @foo()" in tx.opt(FOO, "")

    @pytest.mark.slow
    def test_runs_in_threads(self) -> None:
        with ThreadPoolExecutor(8) as threads:
            results = list(threads.map(lambda n: tx.opt(FOO, f"rename{{new=f{n}}}"), range(64)))
        assert all(f"@f{n}()" in result for n, result in enumerate(results))

    def test_takes_a_module(self, tmp_path: Path) -> None:
        from triton._C.libtriton import ir

        (tmp_path / "foo.mlir").write_text(FOO)
        context = ir.context()
        ir.load_dialects(context)
        assert "tt.func @bar()" in tx.opt(ir.parse_mlir_module(str(tmp_path / "foo.mlir"), context), "rename")

    @pytest.mark.parametrize(
        ("module", "pipeline", "message"),
        [
            ("nonsense", "cse", "k.ttir:1:1: error: custom op 'nonsense' is unknown"),
            (FOO, "nothing", "'nothing' does not refer to a registered pass"),
            (FOO, "cse{depth=1}", "no such option depth"),
            (FOO, "rename{new=1}", "k.ttir:1:1: error: cannot be renamed to '1'"),
        ],
    )
    def test_raises_the_diagnostics(
        self, module: str, pipeline: str, message: str, capfd: pytest.CaptureFixture[str]
    ) -> None:
        with pytest.raises(tx.PipelineError, match=re.escape(message)):
            tx.opt(module, pipeline, name="k.ttir")
        assert capfd.readouterr() == ("", "")

    @pytest.mark.slow
    def test_a_library_that_is_built_again_is_an_error(self, tmp_path: Path) -> None:
        script = f"""
import os, shutil, triton_ext as tx
from pathlib import Path
copy = Path({str(tmp_path)!r}, "libtriton_ext_rename.so")
library = next(e.path for e in tx.extensions() if e.name == "rename")
os.environ["TRITON_EXT_LIBRARY_DIR"] = str(copy.parent)
for file in library.parent.glob("*.so"):
    shutil.copy(file, copy.parent)
tx.opt({FOO!r}, "rename")
other = copy.with_suffix(".new")
other.write_bytes(copy.read_bytes() + b"more")
other.replace(copy)
try:
    tx.opt({FOO!r}, "rename")
except tx.PipelineError as error:
    assert "was built again" in str(error), error
else:
    raise SystemExit("the old code ran")
"""
        subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.slow
@pytest.mark.parametrize("flag", ["-h", "-help", "--help", "--help-hidden"])
def test_help_is_no_error(flag: str) -> None:
    done = run(flag)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("OVERVIEW: ")
