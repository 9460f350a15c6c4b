# SPDX-License-Identifier: Apache-2.0
"""``triton-ext pipeline show`` and ``triton-ext pipeline edits``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import support
import triton_ext as tx
from support import forked_python
from support.pipeline import kernels
from support.pipeline.seen import CUDA80, CUDA90, GFX942, MARK, describe, names
from triton_ext.cli import cli
from triton_ext.pipeline.listing_form import entry_text

SOFTMAX = ["pipeline", "show", f"{kernels.__file__}:softmax", "-s", "*fp32, *fp32, i32, 256"]
MATMUL = ["pipeline", "show", f"{kernels.__file__}:matmul", "-s", "*fp16:16, *fp16:16, *fp32:16, i32:16, 32"]


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(cli, list(arguments))


def shown(*arguments: str) -> str:
    result = invoke(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.slow
@pytest.mark.parametrize("target", [CUDA90, GFX942])
def test_a_matmul(target: str) -> None:
    """The listing shows the passes that a user looks for."""
    table = shown(*MATMUL, "-t", target)
    assert table.startswith(f"matmul for {target}, Triton ")
    assert "no edits" in table
    text, at = "".join(table.split()), 0  # the table folds long rows
    for stage in describe(None, target, "matmul").stages:
        for record in stage.passes:
            at = text.index("".join(entry_text(record).split()), at) + 1


@pytest.mark.slow
def test_options_of_the_backend() -> None:
    def argument(pass_: str, name: str, *options: str) -> str:
        told = json.loads(shown(*MATMUL, "-t", CUDA80, "--json", *options))
        (found,) = (dict(p["arguments"])[name] for s in told["stages"] for p in s["passes"] if p["name"] == pass_)
        return str(found)

    assert argument("ttir.convert_to_ttgpuir", "num_warps", "-w", "8") == "8"
    assert argument("ttgpuir.pipeline", "num_stages", "--num-stages", "5") == "5"
    assert argument("ttir.convert_to_ttgpuir", "num_warps", "-o", "num_warps=2", "-o", "maxnreg=64") == "2"


@pytest.mark.slow
def test_json_is_what_describe_tells() -> None:
    told = json.loads(shown(*SOFTMAX, "-t", CUDA90, "--json", "-p", "ttir: skip(common.cse)"))
    assert (told["kernel"], told["target"], told["pipeline"]) == ("softmax", CUDA90, "ttir: skip(common.cse)")
    ttir, *_ = told["stages"]
    assert [p["name"] for p in ttir["passes"] if p["ran"]] == names(
        describe(tx.Pipeline().skip("ttir:common.cse")), "ttir"
    )
    assert {"name", "ordinal", "arguments", "pipeline", "edit", "ran", "seconds", "ops_before", "changed"} <= set(
        ttir["passes"][0]
    )


@pytest.mark.slow
def test_the_difference_to_none_and_to_another_one() -> None:
    edit = ["-p", "ttir: skip(common.cse); ttgir: set(ttgpuir.pipeline, num_stages=5)"]
    lines = shown(*SOFTMAX, "-t", CUDA90, *edit, "--diff").splitlines()
    assert lines[0].startswith("--- no edits, ")
    assert lines[1].startswith("+++ ttir: skip(common.cse); ttgir: set(")
    assert [line for line in lines[2:] if line[0] in "+-"] == [
        "- common.cse",
        "- ttgpuir.pipeline{num-stages=3 dump-intermediate-steps=false}",
        "+ ttgpuir.pipeline{num-stages=5 dump-intermediate-steps=false}",
    ]
    other = "ttir: skip(common.cse), skip(ttir.combine)"
    lines = shown(*SOFTMAX, "-t", CUDA90, *edit, "--diff", other).splitlines()
    assert lines[0].startswith(f"--- {other}, ")
    assert "+ ttir.combine" in lines
    assert "- common.cse" not in lines


@pytest.mark.slow
def test_a_listing_is_changed_and_given_back(tmp_path: Path) -> None:
    """Triton's example "dump the pipeline, edit the file, run with it" in two commands."""
    listing = shown(*SOFTMAX, "-t", CUDA90, "--text")
    assert shown("pipeline", "edits", listing) == ""
    file = tmp_path / "pipeline.txt"
    edited = listing.replace("  ttir.combine\n", f"  {MARK}\n  rename{{old=softmax new=listed}}\n", 1)
    file.write_text(edited.replace("pipeline{num-stages=3", "pipeline{num-stages=5", 1))
    assert shown("pipeline", "edits", f"@{file}").splitlines() == [
        "ttir: skip(ttir.combine)",
        f"ttir: after(common.canonicalizer, {MARK}, rename{{new=listed old=softmax}})",
        "ttgir: set(ttgpuir.pipeline, num_stages=5)",
    ]
    again = shown(*SOFTMAX, "-t", CUDA90, "--text", "-p", f"@{file}")
    upper, _, lower = again.partition("--- below")
    assert upper == file.read_text().partition("--- below")[0].replace(
        "{old=softmax new=listed}", "{new=listed old=softmax}"
    )
    assert lower == listing.partition("--- below")[2]
    program = """
import triton
from support.pipeline.kernels import softmax, source
from triton.backends.compiler import GPUTarget
print(triton.compile(source(softmax), target=GPUTarget("cuda", 90, 32)).metadata.name)
"""
    environment = support.environment(TRITON_EXT_PIPELINE=f"@{file}")
    done = forked_python.run([sys.executable, "-c", program], env=environment)
    assert done.stdout == "listed\n", done.stderr


def test_edits_of_a_text() -> None:
    text = "ttgir: skip(prefetch), set(pipeline, num_stages=4); *: skip(cse)"
    assert shown("pipeline", "edits", text).splitlines() == [
        "ttgir: skip(prefetch)", "ttgir: set(pipeline, num_stages=4)", "skip(cse)",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([*SOFTMAX, "-t", "cuda"], "'cuda' is not a target"),
        ([*SOFTMAX[:3], "-t", CUDA90], "kernel 'softmax' needs a signature"),
        ([*SOFTMAX, "-t", CUDA90, "-p", "skip("], "character 6: expected an anchor or a pass, found the end"),
        ([*SOFTMAX, "-t", CUDA90, "-p", "skip(nowhere)"], "no pass 'nowhere' in stage"),
        ([*SOFTMAX, "-t", CUDA90, "-p", "@nowhere"], "pipeline file 'nowhere': No such file or directory"),
        ([*SOFTMAX, "-t", CUDA90, "-o", "num_warps"], "option 'num_warps': expected NAME=VALUE"),
        (["pipeline", "edits", "skop(x)"], "unknown edit 'skop', did you mean 'skip'?"),
    ],
)
def test_an_error_is_ours(arguments: list[str], says: str) -> None:
    result = invoke(*arguments)
    assert result.exit_code == 1
    assert isinstance(result.exception, tx.TritonExtError)
    assert says in str(result.exception)


@pytest.mark.slow
def test_an_error_has_no_traceback() -> None:
    program = Path(sys.executable).parent / "triton-ext"
    done = forked_python.run([program, *SOFTMAX, "-t", CUDA90, "-p", "skip(x) skip(y)"])
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.splitlines() == [
        "triton-ext: error: pipeline text, character 9: expected ',' or ';' before the next edit, found 's'",
        "  skip(x) skip(y)",
        "          ^",
    ]


def test_views_exclude_each_other() -> None:
    result = invoke(*SOFTMAX, "-t", CUDA90, "--json", "--text")
    assert result.exit_code == 2
    assert "--diff, --json and --text exclude each other" in result.output


def test_help() -> None:
    assert "Compile KERNEL and show every pass that ran." in shown("pipeline", "show", "--help")
    assert "Run COMMAND and apply a pipeline to every kernel" in shown("run", "--help")
