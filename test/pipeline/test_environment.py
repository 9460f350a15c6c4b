# SPDX-License-Identifier: Apache-2.0
"""``TRITON_EXT_PIPELINE`` and ``triton-ext run``: pipelines for programs that know nothing of triton-ext."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import support
from support import forked_python

TRITON_EXT = Path(sys.executable).parent / "triton-ext"
PROGRAM = f"""
import sys
sys.path.append({support.PATH!r})
import triton
from support.pipeline.kernels import softmax, source
from triton.backends.compiler import GPUTarget

def name():
    return triton.compile(source(softmax), target=GPUTarget("cuda", 90, 32)).metadata.name
"""
SHOW = PROGRAM + "print(name(), *sys.argv[1:])"
RENAMED = "ttir: at_end(rename{old=softmax new=env})"


def python(
    program: str, *arguments: str, cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    return run([sys.executable, "-c", program, *arguments], cwd, environment)


def run(command: list[object], cwd: Path | None, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    inherited = {name: value for name, value in os.environ.items() if name != "TRITON_EXT_PIPELINE"}
    return forked_python.run(list(map(str, command)), cwd=cwd, env=inherited | environment)


def output(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    """Returns a directory that holds a pipeline in a file and a module of passes."""
    (tmp_path / "edits.txt").write_text(f"# softmax gets a name\n{RENAMED}; # and that is all\n")
    (tmp_path / "mine.py").write_text('def show(module):\n    print("seen", module.get_entry_func_name())\n')
    return tmp_path


@pytest.mark.slow
def test_a_program_that_never_imports_triton_ext() -> None:
    assert output(python(SHOW, TRITON_EXT_PIPELINE=RENAMED)) == "env"
    assert (
        output(python(SHOW, TRITON_EXT_PIPELINE=" \n")) == "softmax"
    )  # with the files that the run before left on disk


@pytest.mark.slow
def test_from_a_file_and_with_functions_of_the_program(scratch: Path) -> None:
    edits = scratch / "edits.txt"
    assert output(python(SHOW, TRITON_EXT_PIPELINE=f"@{edits}")) == "env"
    done = python(SHOW, cwd=scratch, TRITON_EXT_PIPELINE=f"{RENAMED}, after(loop_unroll, mine:show)")
    assert output(done) == "seen softmax\nenv"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "says"),
    [
        (f"{RENAMED}, sikp(cse)", [" character 44: unknown edit 'sikp', did you mean 'skip'?", " " * 45 + "^"]),
        ("ttir: at_end(rename", ["expected ',' or ')', found the end", " " * 21 + "^"]),
        ("@/no/such/file", ["pipeline file '/no/such/file': No such file or directory"]),
    ],
)
def test_a_malformed_text_is_an_error_of_the_import(text: str, says: list[str]) -> None:
    done = python("import triton\nprint('imported')", TRITON_EXT_PIPELINE=text)
    assert done.returncode == 1
    assert "imported" not in done.stdout
    for part in says:
        assert part in done.stderr
    if len(says) > 1:
        assert done.stderr.splitlines()[-2:] == [f"  {text}", says[1]]


@pytest.mark.slow
def test_an_unknown_name_is_an_error_of_each_compilation() -> None:
    program = PROGRAM + (
        "from triton_ext import PipelineError\n"
        "for _ in range(2):\n"
        "    try: name()\n"
        "    except PipelineError as error: print(error)\n"
    )
    found = output(python(program, TRITON_EXT_PIPELINE="ttir: at_end(renam)")).splitlines()
    assert len(found) == 6
    assert found[:3] == found[3:]
    assert "no extension offers a pass 'renam' for stage 'ttir'; did you mean 'rename'?" in found[0]
    assert found[2].index("^") == found[1].index("renam")


@pytest.mark.slow
def test_an_anchor_that_does_not_occur() -> None:
    done = python(SHOW, TRITON_EXT_PIPELINE="ttir: skip(no_such_pass)")
    assert done.returncode == 1
    assert "no pass 'no_such_pass' in stage ttir\nthe anchors, in order, are\n  ttir: common.inliner" in done.stderr


@pytest.mark.slow
def test_children_inherit_it() -> None:
    program = (
        PROGRAM
        + """
import multiprocessing, subprocess
if __name__ == "__main__":
    fork = multiprocessing.get_context("fork").Pool(1)
    print("fork", fork.apply(name), flush=True)
    subprocess.run([sys.executable, "-c", sys.argv[1]], check=True)
"""
    )
    assert output(python(program, SHOW, TRITON_EXT_PIPELINE=RENAMED)).split() == ["fork", "env", "env"]


@pytest.mark.slow
def test_it_is_outside_of_what_the_program_does() -> None:
    program = (
        PROGRAM
        + """
import support
import triton_ext as tx
def rename(old, new):
    return tx.Pipeline().at_end("ttir", tx.passes.ttir.rename(old=old, new=new))
with rename("softmax", "inside"):
    print(name(), end=" ")
with rename("env", "never"):
    print(name(), end=" ")
rename("softmax", "installed").install()
print(name(), end=" ")
"""
    )
    inside = "ttir: at_end(rename{old=softmax new=env}), at_end(rename{old=inside new=env_inside})"
    assert output(python(program, TRITON_EXT_PIPELINE=inside)) == "env_inside env installed"
    before = "import triton_ext as tx\ntx.Pipeline().skip('x').install().uninstall()\n"
    assert output(python(before + SHOW, TRITON_EXT_PIPELINE=RENAMED)) == "env"


@pytest.mark.slow
def test_the_entry_point_is_no_backend() -> None:
    program = """
import triton
from triton.backends import backends
from triton.backends.compiler import GPUTarget
ours = backends["triton_ext"]
targets = [GPUTarget("cuda", 90, 32), GPUTarget("hip", "gfx942", 64), GPUTarget("cpu", "x86_64", 0)]
print(ours.driver.is_active(), any(map(ours.compiler.supports_target, targets)))
import sys
heavy = ("pipeline.pipeline", "pipeline.hook", "loading.loader")
print([name for name in heavy if f"triton_ext.{name}" in sys.modules])
"""
    assert output(python(program)) == "False False\n[]"


@pytest.mark.slow
def test_backends_in_tree() -> None:
    """Triton then ignores entry points: nothing of triton-ext runs, and `triton-ext run` says so."""
    found = output(python(SHOW, TRITON_EXT_PIPELINE=RENAMED, TRITON_BACKENDS_IN_TREE="1"))
    assert found == "softmax"
    done = triton_ext("run", "-p", RENAMED, "--", sys.executable, "-c", SHOW, TRITON_BACKENDS_IN_TREE="1")
    assert done.returncode == 1
    assert done.stderr == (
        "triton-ext: error: TRITON_BACKENDS_IN_TREE=1 keeps Triton from finding triton-ext (fix: unset it)\n"
    )


# ---------------------------------------------------------------------------
# triton-ext run
# ---------------------------------------------------------------------------


def triton_ext(*arguments: object, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    return run([TRITON_EXT, *arguments], cwd, environment)


@pytest.mark.slow
def test_run(scratch: Path) -> None:
    command = ["--", sys.executable, "-c", SHOW, "-p", "--help"]
    assert output(triton_ext("run", "-p", RENAMED, *command)) == "env -p --help"
    assert output(triton_ext("run", *command, TRITON_EXT_PIPELINE=RENAMED)) == "env -p --help"
    # The file's name stays valid if the program changes its directory.
    moving = f"import os\nos.chdir('/')\n{SHOW}"
    assert output(triton_ext("run", "--pipeline", "@edits.txt", sys.executable, "-c", moving, cwd=scratch)) == "env"


@pytest.mark.slow
def test_run_inside_of_run() -> None:
    inner = "ttir: at_end(rename{old=softmax new=inner})"
    command = [TRITON_EXT, "run", "-p", inner, "--", sys.executable, "-c", SHOW]
    assert output(triton_ext("run", "-p", RENAMED, "--", *command)) == "inner"


@pytest.mark.slow
def test_run_becomes_the_program() -> None:
    done = triton_ext("run", "--", sys.executable, "-c", "import sys; sys.exit(7)")
    assert done.returncode == 7
    done = triton_ext("run", "-p", RENAMED, "--", "sh", "-c", "kill -TERM $$")
    assert done.returncode == -15


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["-p", "skip(", "--", "true"], "character 6: expected an anchor or a pass, found the end"),
        (["-p", "ttir: at_end(renam)", "--", "true"], "did you mean 'rename'?"),
        (["-p", "@nowhere.txt", "--", "true"], "pipeline file 'nowhere.txt': No such file or directory"),
        (["--", "no-such-program"], "no such command: no-such-program"),
        ([], "Missing argument 'COMMAND...'"),
    ],
)
def test_run_refuses_before_it_starts_anything(arguments: list[str], says: str) -> None:
    done = triton_ext("run", *arguments)
    assert done.returncode != 0
    assert says in done.stderr
    assert "Traceback" not in done.stderr
