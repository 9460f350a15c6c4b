# SPDX-License-Identifier: Apache-2.0
"""``triton-ext new`` writes code that builds at once, passes its tests and passes lint; or it writes nothing."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import checkout, forked_python
from triton_ext.pipeline.extension_passes import STAGES

PROGRAMS = Path(sys.executable).parent
SUMMARY = re.compile(r"^(\w+|1 extension): lit: (\d+) passed; Python: (\d+) passed; [\d.]+ s$", re.MULTILINE)


def run(directory: Path, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs a program of this environment in `directory`."""
    return forked_python.run(
        [PROGRAMS / command[0], *command[1:]],
        cwd=directory,
        env={**os.environ, **variables},
        timeout=300,
    )


def succeed(directory: Path, *command: str, **variables: str) -> str:
    done = run(directory, *command, **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def files(directory: Path) -> set[Path]:
    return set(directory.rglob("*"))


def assert_lint(directory: Path) -> None:
    """Checks a file with the configuration of its tree."""
    sources = [str(f) for f in directory.rglob("*") if f.suffix in (".cpp", ".h") and "build" not in f.parts]
    succeed(directory, "clang-format", "--dry-run", "--Werror", "--style=LLVM", *sources)
    succeed(directory, "ruff", "format", "--no-cache", "--check", ".")
    succeed(directory, "ruff", "check", "--no-cache", ".")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Makes a copy of the checkout."""
    return checkout.copy(tmp_path_factory.mktemp("new") / "triton-ext")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "directory", "name", "counts"),
    [
        ("pass", "passes", "tidy_up_whatever_a_long_name_leaves_b", ("1", "3")),
        ("dialect", "dialects", "a_dialect_with_as_long_a_name_as_can_be", ("2", "11")),
        ("layout", "dialects", "a_layout_with_a_name_as_long_as_it_can_b", ("2", "7")),
        ("backend", "backends", "a_backend_with_as_long_a_name_as_can_be", ("1", "10")),
    ],
)
def test_in_a_checkout(kind: str, directory: str, name: str, counts: tuple[str, str], tree: Path) -> None:
    before = files(tree)
    environment = checkout.environment(tree)
    printed = succeed(tree, "triton-ext", "new", kind, name)
    assert printed.endswith(f"next: triton-ext test {name}\n")
    target = tree / directory / name
    assert files(tree) - before - {target.parent, target} == files(target)
    for path in files(target):
        if path.is_file():
            assert f"wrote {path.relative_to(tree)}\n" in printed
    assert_lint(target)
    summary = SUMMARY.search(succeed(tree, "triton-ext", "test", name, **environment))
    assert summary
    assert summary.groups() == (name, *counts)
    listed = json.loads(succeed(tree, "triton-ext", "list", "--json", **environment))
    is_kind = "dialect" if kind == "layout" else kind
    assert (is_kind, None) in [(e["kind"], e["problem"]) for e in listed if e["name"] == name]
    done = run(tree, "triton-ext", "new", kind, name, **environment)
    assert done.returncode == 1
    assert f"the name '{name}' is taken by {target}" in done.stderr


RELOAD = """
import shutil, sys
from pathlib import Path
import triton_ext as tx
copy = Path(sys.argv[2])
shutil.copy(sys.argv[1], copy)
extension = tx.load(copy)
assert tx.load(copy).path == extension.path
with copy.open("ab") as file:
    file.write(b"changed")
try:
    tx.load(copy)
except tx.TritonExtError as error:
    print(error)
"""


@pytest.mark.slow
def test_a_rebuilt_dialect_is_refused_in_the_same_process(bundle: Path, tmp_path: Path) -> None:
    library = bundle / "src" / "greeter" / "libtriton_ext_saturate.so"
    copy = tmp_path / "saturate.so"
    printed = succeed(tmp_path, "python", "-c", RELOAD, str(library), str(copy))
    assert printed == (
        f"{copy} has changed or moved: this process has the dialect 'saturate' from {copy} already, and MLIR keeps the "
        "first one (fix: restart Python)\n"
    )


@pytest.mark.slow
def test_load_by_name(bundle: Path) -> None:
    code = "import sys, triton_ext as tx; print(tx.load(sys.argv[1]).plugin.ops)"
    variables = {"TRITON_EXT_PATH": str(bundle / "src" / "greeter")}
    assert succeed(bundle, "python", "-c", code, "saturate", **variables) == "('saturate_add',)\n"
    done = run(bundle, "python", "-c", code, "nope", **variables)
    assert "no extension 'nope'; there is: " in done.stderr


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds a bundle with a pass, and a dialect and a layout, which are added from inside the bundle."""
    parent = tmp_path_factory.mktemp("bundle")
    printed = succeed(parent, "triton-ext", "new", "bundle", "greeter", "--dir", "projects")
    assert printed.endswith("next: cd projects/greeter && triton-ext test greeter\nthen: pip install .\n")
    root = parent / "projects" / "greeter"
    succeed(root, "triton-ext", "new", "dialect", "saturate")
    succeed(root, "triton-ext", "new", "layout", "windows")
    succeed(root, "triton-ext", "build")
    return root


@pytest.mark.slow
def test_bundle(bundle: Path) -> None:
    summary = re.search(
        r"^4 extensions: lit: 5 passed; Python: 21 passed; .*", succeed(bundle, "triton-ext", "test"), re.M
    )
    assert summary
    assert_lint(bundle)
    assert "Passed: 5 (100.00%)" in succeed(bundle, "lit", "-v", ".")  # by hand, too
    assert sorted(f.name for f in (bundle / "src" / "greeter").glob("*.so")) == [
        "libtriton_ext_greeter.so",
        "libtriton_ext_lower_saturate.so",
        "libtriton_ext_saturate.so",
        "libtriton_ext_windows.so",
    ]


@pytest.mark.slow
def test_a_pass_for_each_stage(tmp_path: Path) -> None:
    """Its lit test and its Python test, which compiles a kernel for a target that has the stage, pass."""
    stages = ("any", *STAGES)
    succeed(tmp_path, "triton-ext", "new", "bundle", "staged", "--stage", stages[0])
    for stage in stages[1:]:
        succeed(tmp_path / "staged", "triton-ext", "new", "pass", f"for_{stage}", "--stage", stage)
    printed = succeed(tmp_path / "staged", "triton-ext", "test")
    assert f"{len(stages)} extensions: lit: {len(stages)} passed; Python: " in printed
    assert "failed" not in printed
    assert "skipped" not in printed
    assert_lint(tmp_path / "staged")
    variables = {"TRITON_EXT_PATH": str(tmp_path / "staged" / "src" / "staged")}
    listed = json.loads(succeed(tmp_path, "triton-ext", "list", "--json", **variables))
    assert {(e["name"], e["stage"]) for e in listed if e["origin"] == "TRITON_EXT_PATH"} == {
        ("staged", stages[0]),
        *((f"for_{stage}", stage) for stage in stages[1:]),
    }


@pytest.mark.slow
def test_what_fails_is_counted(bundle: Path) -> None:
    test, lit = bundle / "passes/greeter/test/test_greeter.py", bundle / "passes/greeter/test/greeter.mlir"
    texts = {file: file.read_text() for file in (test, lit)}
    try:
        test.write_text("import pytest\n\ndef test_a(): assert False\n\n@pytest.mark.skip\ndef test_b(): pass\n")
        lit.write_text(texts[lit].replace("level = 7", "level = 8", 1))
        done = run(bundle, "triton-ext", "test", "greeter")
        assert done.returncode == 1
        assert "greeter: lit: 1 failed; Python: 1 failed, 1 skipped; " in done.stderr
        test.unlink()
        lit.unlink()
        done = run(bundle, "triton-ext", "test", "greeter")
        assert done.returncode == 1
        assert "nothing was tested" in done.stderr
    finally:
        for file, text in texts.items():
            file.write_text(text)


@pytest.mark.slow
def test_watch(bundle: Path) -> None:
    """Each save runs everything again; Ctrl-C ends it and leaves what was built."""
    lit, cpp = bundle / "passes/greeter/test/greeter.mlir", bundle / "passes/greeter/Greeter.cpp"
    texts = {file: file.read_text() for file in (lit, cpp)}
    process = subprocess.Popen(
        [PROGRAMS / "triton-ext", "test", "greeter", "--watch"],
        cwd=bundle,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )

    def rounds() -> Iterator[str]:
        """Returns the output of each round, up to the line which says that it waits."""
        assert process.stdout is not None
        lines: list[str] = []
        for line in process.stdout:
            lines.append(line)
            if line.startswith("waiting for a file to be saved"):
                yield "".join(lines)
                lines.clear()

    printed = rounds()
    try:
        assert "greeter: lit: 1 passed; Python: 3 passed;" in next(printed)
        lit.write_text(texts[lit].replace("level = 7", "level = 8", 1))
        assert "error: greeter: lit: 1 failed; Python: 3 passed;" in next(printed)
        lit.write_text(texts[lit])
        assert "greeter: lit: 1 passed; Python: 3 passed;" in next(printed)
        cpp.write_text("#error not yet\n" + texts[cpp])
        assert "Greeter.cpp:1:2: error: not yet" in next(printed)
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(20) == 130
    finally:
        for file, text in texts.items():
            file.write_text(text)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    assert SUMMARY.search(succeed(bundle, "triton-ext", "test", "greeter"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "says", "fix"),
    [
        (["pass", "TidyUp"], "'TidyUp' is not a name for a pass", "triton-ext new pass tidy_up"),
        (["pass", "tidy-up"], "'tidy-up' is not a name for a pass", "triton-ext new pass tidy_up"),
        (["pass", "2tidy"], "'2tidy' is not a name", "triton-ext new pass tidy"),
        (["pass", "_tidy"], "'_tidy' is not a name", "triton-ext new pass tidy"),
        (["pass", "tidy__up"], "'tidy__up' is not a name", "triton-ext new pass tidy_up"),
        (["pass", "tidy/../up"], "is not a name", "triton-ext new pass tidy_up"),
        (["pass", ""], "'' is not a name", "triton-ext new pass loop_split"),
        (["bundle", "größe"], "'größe' is not a name", "triton-ext new bundle loop_split"),
        (["pass", "a" * 41], "40 at most", f"triton-ext new pass {'a' * 40}"),
        (["pass", "lambda"], "'lambda' is reserved in Python or C++", "triton-ext new pass lambda_2"),
        (["dialect", "namespace"], "'namespace' is reserved in Python or C++", "triton-ext new dialect namespace_2"),
        (["pass", "std"], "'std' is reserved", "triton-ext new pass std_2"),
        (["dialect", "tidy", "--stage", "ttir"], "a dialect has no stage", "triton-ext new dialect tidy"),
        (["layout", "tidy", "--stage", "ttir"], "a layout has no stage", "triton-ext new layout tidy"),
        (["backend", "tidy", "--stage", "ttir"], "a backend has no stage", "triton-ext new backend tidy"),
        (["backend", "cuda"], "'cuda' is the name of a target of Triton", "triton-ext new backend cuda_2"),
        (
            ["backend", "passes"],
            "'passes' is a name that the Python of a new backend",
            "triton-ext new backend passes_2",
        ),
        (["backend", "pm"], "'pm' is a name that the Python of a new backend uses", "triton-ext new backend pm_2"),
        (["backend", "ll"], "'ll' would have the stage 'llir'", "triton-ext new backend ll_2"),
        (["dialect", "arith"], "'arith' is the name of a dialect of Triton", "triton-ext new dialect arith_2"),
        (["layout", "ttg"], "'ttg' is the name of a dialect of Triton", "triton-ext new layout ttg_2"),
        (["pass", "rename"], "the name 'rename' is taken by ", "triton-ext new pass rename_2"),
        (["bundle", "json"], "'json' is the name of an installed Python module", "triton-ext new bundle json_2"),
        (["pass", "there"], "there exists already", "another name, or remove it"),
        (["pass", "dangling"], "dangling exists already", "another name, or remove it"),
        (["pass", "tidy", "--dir", "file"], "cannot write file/tidy: File exists", "another --dir"),
        (["pass", "tidy", "--dir", "/proc/nowhere"], "cannot write /proc/nowhere/tidy: No such file", "another --dir"),
    ],
)
def test_errors(arguments: list[str], says: str, fix: str, tmp_path: Path) -> None:
    """The error is one line with a fix, and nothing is left behind."""
    (tmp_path / "there").mkdir()
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "file").touch()
    before = files(tmp_path)
    done = run(tmp_path, "triton-ext", "new", *arguments)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert says in done.stderr
    assert done.stderr.endswith(f" (fix: {fix})\n")
    assert files(tmp_path) == before


@pytest.mark.slow
def test_errors_in_a_project(tmp_path: Path) -> None:
    """In a bundle, the names of its own extensions are taken, too; a bundle inside a bundle is refused."""
    succeed(tmp_path, "triton-ext", "new", "dialect", "tidy")
    root, before = tmp_path / "tidy", files(tmp_path)
    for arguments, says in {
        ("pass", "tidy"): f"the name 'tidy' is taken by {root / 'dialects' / 'tidy'} (fix: triton-ext new pass tidy_2)",
        ("bundle", "other"): f"{root} is a project already, a bundle is one of its own "
        "(fix: triton-ext new bundle other --dir ..)",
    }.items():
        done = run(root, "triton-ext", "new", *arguments)
        assert (done.returncode, done.stderr) == (1, f"triton-ext: error: {says}\n")
    assert files(tmp_path) == before


@pytest.mark.slow
def test_not_a_project(tmp_path: Path) -> None:
    done = run(tmp_path, "triton-ext", "test")
    assert done.returncode == 1
    assert "is not a source tree of extensions (fix: triton-ext new bundle NAME && cd NAME)" in done.stderr


@pytest.mark.slow
def test_unknown_name(tmp_path: Path) -> None:
    succeed(tmp_path, "triton-ext", "new", "pass", "tidy")
    done = run(tmp_path / "tidy", "triton-ext", "test", "nope")
    assert done.returncode == 1
    assert "no extension 'nope' in " in done.stderr
    assert "; there is: tidy (fix: triton-ext new pass nope)" in done.stderr
