# SPDX-License-Identifier: Apache-2.0
"""The tools that tell an agent which kernels and passes there are."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from typing import Any

from ..authoring.catalogue import CataloguedPass, catalogue
from ..loading.discovery import extensions
from ..loading.manifest import Manifest, Option, OwnPass
from ..patches import signatures
from ..pipeline.builtin_passes import builtin_names, find_builtin
from ..support.closest import closest
from .answers import Answer, FailedError


def list_kernels(files: list[str], root: str) -> Answer:
    """Returns the kernels and the functions without parameters of Python files, without executing them."""
    lines, kernels = [], 0
    for file in files:
        try:
            tree = ast.parse(Path(file).read_bytes())
        except (SyntaxError, ValueError, RecursionError, OSError) as error:
            lines.append(f"{Path(file).relative_to(root)}: cannot be parsed: {error}")
            continue
        functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
        found = [f for f in functions if any("jit" in ast.unparse(d) for d in f.decorator_list)]
        makers = [f.name for f in functions if not f.decorator_list and not _needs_arguments(f.args)]
        kernels += len(found)
        if found:
            lines.append(f"{Path(file).relative_to(root)}")
            lines += [f"  kernel {f.name}({ast.unparse(f.args)})" for f in found]
            lines += [f"  functions without parameters, one of which may make inputs: {', '.join(makers)}"] * bool(
                makers
            )
    return Answer("\n".join(lines) or "no kernel under the root", figures={"kernels": kernels})


def _needs_arguments(arguments: ast.arguments) -> bool:
    positional = len(arguments.posonlyargs) + len(arguments.args) - len(arguments.defaults)
    return positional > 0 or any(default is None for default in arguments.kw_defaults)


def name_in_pipelines(entry: CataloguedPass) -> str:
    """Returns the name by which an edit places the pass, e.g. ``ttgpuir.coalesce`` or ``loop_split``; or empty."""
    if entry.binding:
        head, _, last = entry.binding.rpartition(".")
        group = head.removeprefix("passes").removeprefix(".").replace(".passes", "")
        return ".".join(filter(None, (group, last.removeprefix("add_"))))
    if entry.group == "extensions":
        return entry.argument.removeprefix("triton-ext-").replace("-", "_")
    return ""


def list_passes(stage: str | None, search: str | None, origin: str) -> Answer:
    """Returns name, stages and summary of passes that a pipeline may place."""
    lines = []
    for entry in catalogue():
        name = name_in_pipelines(entry)
        is_ours = entry.group == "extensions"
        if (
            not name
            or (stage and stage not in entry.stages)
            or (origin != "all" and is_ours != (origin == "extensions"))
        ):
            continue
        options = f" {{{', '.join(option.name for option in entry.options)}}}" if entry.options else ""
        line = f"{name}{options} [{', '.join(entry.stages) or 'no stage by default'}]: {entry.summary}"
        if not search or search.lower() in line.lower():
            lines.append(line)
    head = f"{len(lines)} passes. describe_pass documents one of them with types, ranges and defaults of its options."
    return Answer("\n".join([head, "", *lines]), figures={"passes": len(lines)}, rest="narrow it with stage or search")


def describe_pass(name: str) -> Answer:
    """Returns the documentation of one pass, with type, range, default and meaning of each option.

    Raises:
        FailedError: there is no such pass.
    """
    wanted = name.strip().lstrip("%")
    for extension in extensions():
        manifest = extension.manifest
        if manifest is None or extension.problem:
            continue
        if manifest.kind == "pass" and wanted in (manifest.name, manifest.argument):
            return _of_extension(manifest.name, manifest, manifest.stage or "")
        for own in manifest.passes:
            if wanted in (f"{manifest.name}.{own.name}", own.argument):
                return _of_extension(f"{manifest.name}.{own.name}", own, f"the stages of the target {manifest.name}")
    entries = {name_in_pipelines(entry): entry for entry in catalogue()}
    found = entries.get(wanted) or next((e for e in entries.values() if e.argument == wanted), None)
    builtin = name_in_pipelines(found) if found else wanted
    if builtin in builtin_names():
        return _of_builtin(builtin, found)
    close = closest(wanted, [*entries, *builtin_names()])
    raise FailedError(
        "input error", f"no pass '{wanted[:80]}'" + (f", did you mean '{close}'?" if close else ""), fix="list_passes"
    )


def _of_extension(name: str, declared: Manifest | OwnPass, stage: str) -> Answer:
    lines = [f"{name}: {declared.summary}", f"stage: {stage}"]
    if isinstance(declared, Manifest) and declared.targets:
        lines.append(f"only for the target {' or '.join(declared.targets)}")
    lines += ["", inspect.cleandoc(declared.description), ""]
    lines += ["options:" if declared.options else "no options", *map(_option, declared.options)]
    first = declared.options[0] if declared.options else None
    example = f"{name}{{{first.name}={first.default or '...'}}}" if first else name
    lines += ["", f"in a pipeline: {stage if stage.isidentifier() else 'ttir'}: at_end({example})"]
    figures = {option.name: _figures(option) for option in declared.options}
    return Answer("\n".join(lines), figures={"name": name, "options": figures})


def _figures(option: Option) -> dict[str, Any]:
    found: dict[str, Any] = {"type": _type(option), "default": option.default or None}
    if option.python_type is int:
        found["range"] = [option.range.start, option.range.stop - 1]
    if option.values:
        found["values"] = list(option.values)
    return found


def _type(option: Option) -> str:
    kind = "|".join(option.values) or option.python_type.__name__
    return f"list of {kind}" if option.list else kind


def _option(option: Option) -> str:
    known = [_type(option)]
    if option.python_type is int:
        known.append(f"{option.range.start} to {option.range.stop - 1}")
    known.append(f"default {option.default}" if option.default else "no default")
    return f"  {option.name} ({', '.join(known)}): {option.description}"


def _of_builtin(name: str, entry: CataloguedPass | None) -> Answer:
    parameters = signatures.parameters(find_builtin(name))
    summary = entry.summary if entry else "A pass of Triton"
    lines = [f"{name}: {summary}"]
    if entry and entry.stages:
        lines.append(f"Triton runs it in: {', '.join(entry.stages)}")
    lines += ["", "arguments of the pass in a pipeline:" if parameters else "no arguments in a pipeline"]
    lines += [f"  {parameter} ({kind})" for parameter, kind in parameters]
    if entry and entry.options:
        lines += ["", f"options of {entry.argument}, which the arguments set:"]
        for option in entry.options:
            kind = "|".join(option.values) or option.type
            default = f"default {option.default}" if option.default else "no default"
            lines.append(f"  {option.name} ({kind}, {default}): {option.description}")
    lines += ["", "describe_pipeline shows the values that the backend passes."]
    return Answer("\n".join(lines), figures={"name": name, "arguments": dict(parameters)})
