# SPDX-License-Identifier: Apache-2.0
"""`triton-ext lint` finds the planted mistakes, each at its line, and nothing in kernels that are right."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from triton_ext.sanitize import _lint
from triton_ext.sanitize._examples import declared_above, grid_of, parsed

import support
from triton_ext.cli import cli
from triton_ext.errors import TritonExtError

ROOT = Path(support.__file__).parents[2]
MISTAKES = ROOT / "test" / "fixtures" / "lint_mistakes.py"
TARGET = "cuda:90"
#: Files with kernels that are right, among them the tutorials of Triton; how many kernels can be read without help.
RIGHT = {
    "backends/cpu/test/test_tutorials.py": 11,
    "test/support/intensity/kernels.py": 17,
    "test/support/instrument/tutorial.py": 3,
    "test/support/ragged_matmul.py": 1,
}


def run(*arguments: str) -> Any:
    return CliRunner().invoke(cli, ["lint", "-t", TARGET, *arguments])


def expected(file: Path) -> set[tuple[int, str]]:
    """Returns the lines that say what is expected, with the rule."""
    found = (re.search(r"# expect: ([\w-]+)", line) for line in file.read_text().splitlines())
    return {(number, match[1]) for number, match in enumerate(found, 1) if match}


@pytest.mark.slow
def test_planted_mistakes(tmp_path: Path) -> None:
    result = run(str(MISTAKES))
    assert result.exit_code == 1, result.output
    assert "lint: 11 findings in 15 kernels" in result.output
    for line, rule in expected(MISTAKES):
        assert re.search(rf"\[{rule}\].*\n *--> .*lint_mistakes.py:{line}[:,]", result.output), (line, rule)
    assert "n = 2,147,483,649 is the first that breaks" in result.output
    assert "note:" not in result.output
    data = json.loads(run("--format", "json", str(MISTAKES)).output)
    assert {(one["line"], one["check"]) for one in data["findings"]} == expected(MISTAKES)
    log = tmp_path / "lint.sarif"
    assert run("--format", "sarif", "--output", str(log), str(MISTAKES)).exit_code == 1
    results = json.loads(log.read_text())["runs"][0]["results"]
    assert len(results) == 11
    assert {one["level"] for one in results} == {"error", "warning", "note"}


@pytest.mark.slow
@pytest.mark.parametrize("file", RIGHT)
def test_no_false_alarm(file: str) -> None:
    linted = _lint.lint_file(str(ROOT / file), target=TARGET)
    assert not linted.findings, linted.text()
    assert linted.kernels - len(linted.notes) >= RIGHT[file], linted.notes


@pytest.mark.slow
def test_examples_and_options(tmp_path: Path) -> None:
    one = run("-k", "large", str(MISTAKES))
    assert (one.exit_code, "lint: 1 finding in 1 kernel" in one.output) == (1, True)
    right = run("-k", "large", "--shape", "n=2**31", str(MISTAKES))
    assert (right.exit_code, "nothing found" in right.output) == (0, True)
    only_notes = run("-k", "without_mask", "--shape", "N=64", str(MISTAKES))
    assert only_notes.exit_code == 0, only_notes.output
    lacking = run("-k", "row_sum", "--shape", "columns=10", str(MISTAKES))
    assert "which lacks x_ptr, y_ptr, BLOCK, grid" in lacking.output
    with pytest.raises(TritonExtError, match="has no kernel 'none', it has: tile_mask"):
        _lint.lint_file(str(MISTAKES), "none")
    broken = tmp_path / "broken.py"
    broken.write_text("import triton\n@triton.jit\ndef kernel(x):\n    undefined(x)\n")
    result = run(str(broken))
    assert (result.exit_code, "'kernel' is not read: " in result.output) == (0, True)
    broken.write_text("def")
    with pytest.raises(TritonExtError, match="cannot be read"):
        _lint.lint_file(str(broken))


CONDITIONAL = """
import triton
import triton.language as tl
if tl is None:
    kernel = None
else:
    try:
        @triton.jit
        def kernel(x, n, B: tl.constexpr):
            v = tl.load(x + tl.arange(0, B), mask=tl.arange(0, B) < n)
            tl.store(x, tl.sum(v, axis=0))
    except ImportError:
        pass
"""


@pytest.mark.slow
def test_kernels_under_conditions_and_the_files_after_one_that_fails(tmp_path: Path) -> None:
    wrong, broken = tmp_path / "wrong.py", tmp_path / "broken.py"
    wrong.write_text(CONDITIONAL)
    broken.write_text("import triton, no_such_module\n@triton.jit\ndef kernel(x):\n    pass\n")
    result = run(str(broken), str(wrong))
    assert result.exit_code == 1
    assert "[missing-other]" in result.output
    assert "lint: 1 finding in 1 kernel\n" in result.output
    assert "no_such_module" in str(result.exception)


NESTED = """
import functools
import triton
import triton.language as tl
from triton import jit as compiled

fast = functools.partial(triton.jit, debug=False)

@compiled
def imported(x, n, B: tl.constexpr):
    tl.store(x, tl.sum(tl.load(x + tl.arange(0, B), mask=tl.arange(0, B) < n), axis=0))

@fast
def partial(x, n, B: tl.constexpr):
    tl.store(x, tl.sum(tl.load(x + tl.arange(0, B), mask=tl.arange(0, B) < n), axis=0))

def make(factor, configs):
    if factor:
        @triton.jit
        def scale(v):
            return v * 2

        @triton.jit
        def inner(x, n, B: tl.constexpr):
            tl.store(x, scale(tl.sum(tl.load(x + tl.arange(0, B), mask=tl.arange(0, B) < n), axis=0)))

        @triton.jit
        def closure(x, n):
            tl.store(x, n * factor)

        @triton.autotune(configs, key=[])
        @triton.jit
        def tuned(x, n):
            tl.store(x, n)
    raise AssertionError("the function is not called")
"""


@pytest.mark.slow
def test_kernels_of_functions_and_other_names_of_jit(tmp_path: Path) -> None:
    file = tmp_path / "nested.py"
    file.write_text(NESTED)
    linted = _lint.lint_file(str(file), target=TARGET)
    assert {(one.kernel, one.check) for one in linted.findings} == {
        (name, "missing-other") for name in ("imported", "partial", "inner")
    }
    line = 1 + next(n for n, text in enumerate(NESTED.splitlines()) if "scale(tl.sum" in text)
    assert {one.line for one in linted.findings if one.kernel == "inner"} == {line}
    closure, tuned = sorted(linted.notes)
    assert "'make.closure' is not read: " in closure
    assert "make.closure cannot be defined alone: it uses 'factor', a variable" in closure
    assert "make.tuned cannot be defined alone: it uses 'configs', a variable" in tuned
    assert len(_lint.lint_file(str(file), "make.inner", target=TARGET).findings) == 1


SHADOWED = """
import triton
import triton.language as tl

WIDTH = tl.constexpr(0)
configs = [triton.Config({"B": 16})]

@triton.jit
def helper(v):
    return v

def make(WIDTH, configs):
    import triton.language as tl

    @triton.jit
    def helper(v):
        return v + WIDTH

    @triton.jit
    def direct(x):
        tl.store(x + tl.arange(0, 16) - 16 + WIDTH, 0.0)

    @triton.jit
    def by_helper(x):
        tl.store(x + helper(tl.arange(0, 16) - 16), 0.0)

    @triton.autotune(configs, key=[])
    @triton.jit
    def tuned(x, B: tl.constexpr):
        tl.store(x + tl.arange(0, B) - B, 0.0)

    @triton.jit
    def own(x):
        WIDTH = 16
        tl.store(x + tl.arange(0, 16) - WIDTH, 0.0)

    return direct(16)
"""


@pytest.mark.slow
def test_a_variable_of_a_function_is_not_the_one_of_the_module(tmp_path: Path) -> None:
    file = tmp_path / "shadowed.py"
    file.write_text(SHADOWED)
    linted = _lint.lint_file(str(file), target=TARGET)
    assert [(one.kernel, one.check) for one in linted.findings] == [("own", "before-start")]
    uses = {name: sorted(note for note in linted.notes if f"'make.{name}' is not read" in note) for name in
            ("direct", "by_helper", "tuned")}  # fmt: skip
    assert {name: len(notes) for name, notes in uses.items()} == {"direct": 1, "by_helper": 1, "tuned": 1}
    for name, variable in (("direct", "WIDTH"), ("by_helper", "WIDTH"), ("tuned", "configs")):
        assert f"it uses '{variable}', a variable of the enclosing function" in uses[name][0]


@pytest.mark.slow
def test_kernels_of_classes_and_other_functions_named_jit(tmp_path: Path) -> None:
    (tmp_path / "k.py").write_text(
        "import triton, triton.language as tl\n\n"
        "class other:\n    jit = staticmethod(lambda function: function)\n\n"
        "@other.jit\ndef host(x):\n    print(x)\n\n"
        "class Kernels:\n    @staticmethod\n    @triton.jit\n    def low(x):\n"
        "        tl.store(x + tl.arange(0, 16) - 16, 0.0)\n"
    )
    result = run(str(tmp_path / "k.py"))
    assert "[before-start]" in result.output
    assert "in 1 kernel" in result.output
    assert "is not read" in result.output


def test_what_an_example_may_be() -> None:
    lines = ["x = 1", "# a comment", "# lint: n=1", "#  lint:  n=2 ", "@triton.jit", "def kernel(n): ..."]
    assert declared_above(lines, 5) == ["n=1", "n=2"]
    assert declared_above(lines, 2) == []
    example = parsed(
        "x=fp16[n, 2*m], y=i32[(n, m), (1, n)], n=m*2**3, m=cdiv(5, 2) % 4, t='a', b=True, f=-0.5, g=(n, 1)"
    )
    assert (example["n"], example["m"], example["t"], example["b"], example["f"], example["g"]) == (
        24, 3, "a", True, -0.5, (24, 1),
    )  # fmt: skip
    assert (example["x"].shape, example["x"].strides, example["x"].dtype) == ((24, 6), None, "fp16")
    assert (example["y"].shape, example["y"].strides) == ((24, 3), (1, 24))
    grid = grid_of("n=8, grid=(cdiv(n, B), 2)", {"n": 8, "B": 3})
    assert grid is not None
    assert (grid({}), grid({"n": 9})) == ((3, 2), (3, 2))
    assert grid_of("n=8", {}) is None
    for wrong, why in (
        ("n=", "is not an example"),
        ("1", "is not an example"),
        ("**n", "is not an example"),
        ("n=m", "needs a value for 'm'"),
        ("n=n", "needs a value for 'n'"),
        ("n=open('f')", "is not allowed"),
        ("n=1 // 0", "has no value"),
        ("n=2**2**30", "is too large|more than"),
        ("n=2**128 * 2", "more than 128 bits"),
        ("x=fp17[3]", "is not an element type"),
    ):
        with pytest.raises(TritonExtError, match=why):
            parsed(wrong)
