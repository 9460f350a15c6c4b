# SPDX-License-Identifier: Apache-2.0
"""Lists the passes of libtriton and of the extensions that textual pipelines can name.

The driver prints argument, options and description of each built-in pass. Its stages are those whose functions in
Triton's backends add it.
"""

from __future__ import annotations

import ast
import functools
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .. import backends
from ..errors import BuildError, TritonExtError
from ..loading.discovery import extensions
from ..loading.host import triton_root
from ..loading.manifest import Manifest, OwnPass
from ..pipeline.extension_passes import ANY, STAGES
from ..support import resources

GROUPS = (
    *("analysis", "common", "convert", "ttir", "ttgpuir", "ttnvgpuir", "llvmir"),
    *("gluon", "amd", "nvidia", "proton", "extensions"),
)
_STAGE_FUNCTIONS = {"gluon_to_ttgir": "ttgir"} | {f"make_{stage}": stage for stage in STAGES}
# The words that --help shows between < and >, and the types they stand for. An option without a value is a bool.
_TYPES = {"uint": "unsigned", "ulong": "unsigned long", "number": "float", "value": "enum", "pass-manager": "pipeline"}

#: Summaries of passes whose own description is poor or missing.
_SUMMARIES = {
    "add-sched-barriers": "Keep AMD's scheduler from moving instructions across Proton's records",
    "gluon-inline": "Inline the functions of a Gluon kernel",
    "gluon-canonicalize": "Simplify TTGIR with those patterns that keep explicit layouts as they are",
    "triton-combine": "Combine operations: fold a dot's addition into it, a select into a masked load, and the like",
    "tritonamdgpu-accelerate-matmul": "Give matrix products the layouts of AMD's matrix cores",
    "tritonamdgpu-pipeline": "Software-pipeline loops for AMD, by the schedule that is on them",
    "tritonamdgpu-warp-pipeline": "Partition loops into the stages of a pipeline of warps",
    "tritongpu-accelerate-matmul": "Give matrix products the layouts of tensor cores",
    "tritongpu-coalesce": "Give loads and stores layouts in which neighbouring threads access neighbouring addresses",
    "tritongpu-combine-tensor-select-and-if": "Merge selects into an if on the same condition",
    "tritongpu-optimize-dot-operands": "Fold transpositions and conversions into the operands of matrix products",
    "tritongpu-pipeline": "Software-pipeline loops: overlap the loads of an iteration with the work of those before",
    "tritongpu-prefetch": "Load a matrix product's operands from shared memory one slice ahead",
    "tritongpu-reorder-instructions": "Move operations to where they need fewer registers",
    "tritongpu-schedule-loops": "Assign the operations of loops to pipeline stages",
    "tritongpu-assign-latencies": "Decide how many stages ahead the loads of a loop are issued",
}

#: The functions of Python's ``passes`` modules that have no entry, and why.
NOT_LISTED = {
    "passes.plugin.extend_with": "loads a plugin; in the driver --load-extension",
    "amd.passes.ttgpuir.add_prepare_consan_captures": "tritoninstrument-prepare-consan-captures with target=amd",
    "amd.add_scalarize_packed_fops_llvm_pass": "works on LLVM IR, not on MLIR",
}


@dataclass(frozen=True)
class PassOption:
    """One option of a pass.

    Attributes:
        name: its spelling in pipelines.
        type: the type of its value, as a word.
        default: its default, as it is written in a pipeline; None if there is none.
        values: the values of an enum; empty for other types.
        description: its description, on one line.
    """

    name: str
    type: str
    default: str | None
    values: tuple[str, ...]
    description: str


@dataclass(frozen=True)
class CataloguedPass:
    """One pass that textual pipelines can name.

    Attributes:
        group: its group in Triton's ``passes`` module; ``extensions`` for a pass of an extension, also of a backend.
        argument: its name in pipelines and on the command line.
        stages: the stages in which Triton, or the backend that has it, runs it; for an extension, those that it is for.
        binding: the Python function that adds it, e.g. ``passes.ttgpuir.add_coalesce``; empty if there is none.
        origin: ``libtriton``, or the origin of the extension.
        summary: its summary, on one line.
        options: its options.
    """

    group: str
    argument: str
    stages: tuple[str, ...]
    binding: str
    origin: str
    summary: str
    options: tuple[PassOption, ...]


def catalogue() -> list[CataloguedPass]:
    """Returns every built-in pass and every pass of an extension or a backend that can be used.

    Raises:
        BuildError: the driver is not built.
        TritonExtError: Triton is not installed.
    """
    return [*_builtin_passes(), *_extension_passes()]


def option_text(option: PassOption) -> str:
    """Returns e.g. ``name=<type> [default]``."""
    kind = "|".join(option.values) if option.values else option.type
    return f"{option.name}=<{kind}>" + (f" [{option.default}]" if option.default else "")


@functools.cache
def _builtin_passes() -> tuple[CataloguedPass, ...]:
    stages = _stages(sorted(triton_root().glob("backends/*/compiler.py")))
    # In a separate process, because the driver prints to the process's standard output.
    done = subprocess.run(
        [sys.executable, "-P", "-m", "triton_ext.driver", "--print-pass-catalogue"],
        env=resources.child_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        message = done.stderr.strip().splitlines()[-1:] or ["the driver failed"]
        raise BuildError(message[0].removeprefix("triton-ext-opt: error: "))
    return tuple(_read_record(record, stages) for record in done.stdout.split("\f\n") if record)


def _read_record(record: str, stages: dict[str, set[str]]) -> CataloguedPass:
    """Returns the pass that a record of `printCatalogue` in ``infra/opt/Passes.cpp`` describes."""
    head, summary_line, *lines = record.splitlines()
    group, binding, argument, pipeline = head.split("\t")
    defaults = dict(re.findall(r"([\w-]+)=([^\s{}]*)", pipeline[len(argument) :]))
    options: list[PassOption] = []
    for line in lines:
        if match := re.match(r" +--([\w-]+)(?:=<([\w-]+)>)?\s+- (.*)", line):
            name, kind, description = match.groups()
            kind = _TYPES.get(kind, kind) if kind else "bool"
            # The text of a pipeline leaves out a list that has its default value.
            kind = kind if name in defaults else f"list of {kind}"
            options.append(PassOption(name, kind, defaults.get(name), (), description.strip().rstrip(".")))
        elif match := re.match(r" +=(\S+)\s+-", line):
            last = options.pop()
            options.append(PassOption(last.name, last.type, last.default, (*last.values, match[1]), last.description))
    summary = _SUMMARIES.get(argument) or summary_line.partition(" - ")[2].strip().rstrip(".")
    return CataloguedPass(
        group,
        argument,
        tuple(s for s in STAGES if s in stages.get(binding, ())),
        binding,
        "libtriton",
        summary[:1].upper() + summary[1:],
        tuple(options),
    )


def _extension_passes() -> list[CataloguedPass]:
    found = []
    for extension in extensions():
        manifest = extension.manifest
        if manifest is None or extension.problem:
            continue
        if manifest.kind == "pass":
            stage = STAGES if manifest.stage == ANY else (manifest.stage,) if manifest.stage else ()
            only = f"only for {' or '.join(manifest.targets)}" if manifest.targets else ""
            found.append(_extension_pass(manifest, extension.origin, stage, "", only))
        compilers = [path for each in backends.__path__ for path in Path(each).glob(f"{manifest.name}/compiler.py")]
        for own in manifest.passes:
            binding = f"{manifest.name}.passes.add_{own.name}"
            stage = tuple(s for s in STAGES if s in _stages(compilers).get(binding, ()))
            only = f"triton-ext-opt needs --load-extension={manifest.name}"
            found.append(_extension_pass(own, extension.origin, stage, binding, only))
    return found


def _extension_pass(
    declared: Manifest | OwnPass, origin: str, stages: tuple[str, ...], binding: str, only: str
) -> CataloguedPass:
    """Returns the entry of a pass of an extension; `only` is a condition of its use, or empty."""
    options = tuple(
        PassOption(o.name, f"list of {o.type}" if o.list else o.type, o.default or None, o.values, o.description)
        for o in declared.options
    )
    summary = f"{declared.summary} ({only})" if only else declared.summary
    return CataloguedPass("extensions", declared.argument, stages, binding, origin, summary, options)


def _stages(compilers: Sequence[Path]) -> dict[str, set[str]]:
    """Returns the stages whose functions in the backends' `compilers` call each ``<module>.passes.….add_<name>``."""
    stages: dict[str, set[str]] = {}
    for compiler in compilers:
        try:
            tree = ast.parse(compiler.read_text())
        except (OSError, SyntaxError) as error:
            raise TritonExtError(
                f"{compiler} cannot be read: {error}", fix="pip install --force-reinstall triton"
            ) from None
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef) and function.name in _STAGE_FUNCTIONS:
                for node in ast.walk(function):
                    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                        stages.setdefault(ast.unparse(node.func), set()).add(_STAGE_FUNCTIONS[function.name])
    return stages
