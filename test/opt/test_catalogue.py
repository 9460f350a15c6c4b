# SPDX-License-Identifier: Apache-2.0
"""Compares the catalogue with Triton itself: it has every pass that Python can add, under the right argument."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from support import ROOT, forked_python
from triton_ext.authoring import reference
from triton_ext.authoring.catalogue import GROUPS, NOT_LISTED, CataloguedPass, catalogue
from triton_ext.authoring.taxonomy import TAXONOMY

CLI = Path(sys.executable).with_name("triton-ext")

# Adds each pass to its own pass manager, runs it on a small module, and writes the pass that Triton reports.
# Each pass has its own process, because some crash on a target that is not theirs.
DUMP = r"""
import os, re, sys
os.environ["MLIR_ENABLE_DUMP"] = "1"
from triton._C import libtriton
from triton._C.libtriton import amd, ir, nvidia, proton
path, directory, *bindings = sys.argv[1:]
values = {"bool": False, "int": 1, "str": "gfx942"}
enums = {"METRIC_TYPE": "CYCLE", "SAMPLING_STRATEGY": "NONE", "GRANULARITY": "WARP", "BUFFER_STRATEGY": "CIRCULAR",
         "BUFFER_TYPE": "SHARED"}

def run(binding):
    function = libtriton
    for name in binding.split("."):
        function = getattr(function, name)
    parameters = re.findall(r"\w+: ([\w.]+)(?! =)(?=[,)])", function.__doc__.splitlines()[0])
    kinds = [p.split(".")[-1] for p in parameters[1:] if p != "/"]
    arguments = [getattr(getattr(proton, k), enums[k]) if k in enums else values[k] for k in kinds]
    if "convert_to_ttgpuir" in binding:
        arguments = ["cuda:80", 4, 32, 1]
    context = ir.context()
    for dialects in (ir, nvidia, amd, proton):
        dialects.load_dialects(context)
    module = ir.parse_mlir_module(path, context)
    manager = ir.pass_manager(context)
    manager.enable_debug()
    function(manager, *arguments)
    manager.run(module, "test")

for binding in bindings:
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.path.join(directory, binding), os.O_CREAT | os.O_WRONLY), 2)
        run(binding)
        sys.exit()
    os.waitpid(child, 0)
"""
MODULE = """
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90",
                   "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel() { tt.return }
  llvm.func @lowered() { llvm.return }
}
"""


def bindings(module: ModuleType, prefix: str) -> Iterator[str]:
    """Returns every function below `module` that takes a pass manager, or whose name says that it adds a pass."""
    for name in dir(module):
        value = getattr(module, name)
        if isinstance(value, ModuleType):
            yield from bindings(value, f"{prefix}.{name}")
        elif name.startswith("add_") or "pass_manager" in (value.__doc__ or ""):
            yield f"{prefix}.{name}"


def all_bindings() -> list[str]:
    from triton._C.libtriton import amd, nvidia, passes, proton

    roots = {"passes": passes, "nvidia": nvidia, "amd": amd, "proton": proton}
    found = [b for prefix, root in roots.items() for b in bindings(root, prefix)]
    # Functions that plugins of this process have added are not part of Triton.
    return [b for b in found if not b.startswith("passes.plugin.add_")]


def builtin() -> list[CataloguedPass]:
    return [p for p in catalogue() if p.origin == "libtriton"]


@pytest.mark.slow
def test_every_pass_of_python_is_in_it_or_is_said_not_to_be() -> None:
    listed = [p.binding for p in builtin() if p.binding]
    assert len(set(listed)) == len(listed)
    assert sorted(all_bindings()) == sorted({*listed, *NOT_LISTED} - {"passes.plugin.extend_with"})
    assert len(listed) > 100


@pytest.mark.slow
def test_each_is_the_pass_that_python_adds(tmp_path: Path) -> None:
    module = tmp_path / "module.mlir"
    module.write_text(MODULE)
    passes = {p.binding: p.argument for p in builtin() if p.binding}
    dumps = tmp_path / "dumps"
    dumps.mkdir()
    subprocess.run([sys.executable, "-c", DUMP, module, dumps, *passes], check=True, timeout=300)
    wrong = {}
    for binding, argument in passes.items():
        dump = (dumps / binding).read_text(errors="replace")
        found = re.search(r"IR Dump Before .*?: ([\w-]+)", dump)
        if not found or found[1] != argument:
            wrong[binding] = (argument, dump[-300:])
    assert wrong == {}


@pytest.mark.slow
def test_every_entry_of_the_taxonomy_is_a_pass_that_exists() -> None:
    arguments = {p.argument for p in catalogue()}
    names = {entry.name for entry in TAXONOMY}
    assert {argument for entry in TAXONOMY for argument in entry.arguments} <= arguments
    assert {
        *("ModuleAllocation", "ModuleMembarAnalysis", "SCCP", "SymbolDCE", "Inliner", "Canonicalizer", "CSE"),
        *("LoopInvariantCodeMotion", "ConvertSCFToCF", "ConvertIndexToLLVM", "ArithToLLVMConversion"),
        *("ConvertControlFlowToLLVM", "CombineOps", "ReorderBroadcast", "ConvertTritonToTritonGPU", "Coalesce"),
        *("OptimizeThreadLocality", "Pipeline", "Prefetch", "AccelerateMatmul", "ReorderInstructions", "F32DotTC"),
        *("OptimizeDotOperands", "RemoveLayoutConversions", "ReduceDataDuplication", "AllocateSharedMemory"),
        *("CombineTensorSelectAndIf", "ConvertTritonGPUToLLVM", "DecomposeUnsupportedConversions", "PlanCTA"),
        *("FenceInsertion", "TMALowering", "LLVMDIScope", "RewriteTensorPointer", "ConvertTensorPointer"),
    } == names


@pytest.mark.slow
def test_every_pass_is_described() -> None:
    for described in catalogue():
        assert described.summary, described
        assert described.group in GROUPS
        assert all(o.type and (o.values or o.type != "enum") for o in described.options), described
    convert = next(p for p in catalogue() if p.argument == "convert-triton-to-tritongpu")
    assert [(o.name, o.type, o.default) for o in convert.options] == [
        ("enable-source-remat", "bool", "false"),
        ("num-ctas", "int", "1"),
        ("num-warps", "int", "4"),
        ("target", "string", ""),
        ("threads-per-warp", "int", "32"),
    ]
    assert convert.stages == ("ttgir",)


@pytest.mark.slow
def test_the_command() -> None:
    def run(*arguments: str) -> str:
        return forked_python.run([CLI, "passes", *arguments], check=True).stdout

    everything = json.loads(run("--json"))
    assert {"tritongpu-coalesce", "triton-ext-rename"} <= {p["argument"] for p in everything}
    ttir = {p["argument"] for p in json.loads(run("--stage", "ttir", "--json"))}
    assert {"triton-loop-unroll", "triton-ext-rename"} <= ttir
    assert "tritongpu-coalesce" not in ttir
    assert {p["group"] for p in json.loads(run("--group", "gluon", "--json"))} == {"gluon"}
    text = run()
    assert "region-simplify=<disabled|normal|aggressive> [normal]" in text
    assert "PlanCTA" in text


def test_the_reference_page_is_up_to_date() -> None:
    page = ROOT / "docs" / "reference" / "builtin-passes.md"
    assert page.read_text() == reference.builtin_passes_page(), "run make docs"
