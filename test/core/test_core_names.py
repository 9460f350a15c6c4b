# SPDX-License-Identifier: Apache-2.0
"""The core, ``python/triton_ext`` and ``infra``, names no extension: these declare what the core needs of them."""

from __future__ import annotations

import ast
import re
import subprocess

import pytest

from support import ROOT
from triton_ext import backends

KINDS = ("passes", "dialects", "backends")
EXTENSIONS = {p.parent.name: kind for kind in KINDS for p in (ROOT / kind).glob("*/CMakeLists.txt")}
OF_BACKENDS = [name for name, stage in backends.stages().items() if stage.passes]
STAGES = ("any", "llir", "llvm", "ttgir", "ttir", *OF_BACKENDS)
#: Words that look like an extension's name but are not, or that name one in an example: file, word, reason.
ALLOWED = {
    ("demo.py", "ttir.loop_split"): "the demo is an example",
    ("demo.py", "loop_split"): "the demo is an example",
    ("demo.py", "loop-split"): "the demo is an example",
    ("demo.py", '"cpu"'): "the demo is an example",
    ("edits.py", "ttir.rename"): "an example in a message",
    ("new.py", '"loop_split"'): "an example in a message",
    ("foreign_plugins.py", '"probe"'): "a directory of the cache",
    ("backend_globals.py", '"instrument"'): "an attribute of Triton's backends",
    ("jobs.py", '"cpu"'): "torch's name of a device",
    ("target.py", '"cpu"'): "an example in a message",
    ("RATIONALE.md.in", "assign_layout"): "an example of a pass that sets a layout",
    ("driver.py.in", '"cpu"'): "torch's name of a device",
    ("Dialects.cpp", '"linalg"'): "MLIR's dialect",
    ("sources.toml", '"linalg"'): "the part of the SDK that has MLIR's dialect",
    ("lower_programs.mlir.in", "llvm.ptr"): "a type of MLIR's dialect llvm",
    ("Passes.cpp", '"rename"'): "an option of the self-test's own pass",
}
_TEXT = r'"(?:\\.|[^"\\\n])*"'
_COMMENTS = {
    **dict.fromkeys((".cpp", ".h", ".td", ".js"), re.compile(rf"({_TEXT})|//[^\n]*|/\*.*?\*/", re.DOTALL)),
    **dict.fromkeys((".cmake", ".txt", ".toml", ".sh", ""), re.compile(rf"({_TEXT})|#[^\n]*")),
}


def code(text: str, suffix: str) -> str:
    """Returns the text of a file without its comments and docstrings."""
    if suffix != ".py":
        comments = _COMMENTS.get(suffix)
        return comments.sub(lambda match: match[1] or " ", text) if comments else text
    tree = ast.parse(text)
    for node in ast.walk(tree):
        first = (getattr(node, "body", None) or [None])[0] if isinstance(getattr(node, "body", None), list) else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            first.value.value = ""
    return ast.unparse(tree).replace("'", '"')


def mentions(text: str) -> set[str]:
    """Returns the words in `text` that name an extension, or a stage that a backend declares."""
    found: set[str] = set()
    for name, kind in EXTENSIONS.items():
        spelled = name.replace("_", "[_-]")
        forms = [rf"{kind}[/.]{name}\b", rf"triton[_-]ext[_-]{spelled}\b", rf'"{spelled}"']
        forms += [rf"\b(?:{'|'.join(STAGES)})\.{name}\b"]
        forms += [rf'(?<!")\b{spelled}\b'] if "_" in name else []
        forms += [rf'"{name}:', rf"\b{kind} import [^\n]*\b{name}\b"] if kind == "backends" else []
        found |= {match[0] for form in forms for match in re.finditer(form, text)}
    return found | set(re.findall(rf"\b(?:{'|'.join(OF_BACKENDS)})\b", text))


@pytest.mark.slow
def test_the_core_names_no_extension() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "python/triton_ext", "infra"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.splitlines()
    files = [ROOT / name for name in listed if (ROOT / name).is_file() and not name.endswith((".md", ".gz", ".gpg"))]
    assert len(files) > 100
    found = {(f.name, m): str(f.relative_to(ROOT)) for f in files for m in mentions(code(f.read_text(), f.suffix))}
    assert {key: file for key, file in found.items() if key not in ALLOWED} == {}
    assert ALLOWED.keys() - found.keys() == set(), "these are gone, and need no exception"


PLANTED = {
    "an import": ("from .backends import cpu", ".py"),
    "a module": ('load("triton_ext.backends.linalg")', ".py"),
    "a list of passes": ('ORDER = ("inline_calls", "tile-linalg")', ".py"),
    "a target": ('TARGETS = ["cpu:native"]', ".py"),
    "a stage": ('STAGES = ("ttir", "linalgir")', ".py"),
    "a library": ("target_link_libraries(x PRIVATE triton_ext_aux)", ".cmake"),
    "a directory": ("add_subdirectory(passes/rename)", ".txt"),
    "a header": ('#include "passes/rename/Rename.h"', ".cpp"),
    "a pass": ('pass = "triton-ext-loop-split"; // a comment', ".cpp"),
}


@pytest.mark.parametrize("case", PLANTED)
def test_it_is_noticed(case: str) -> None:
    text, suffix = PLANTED[case]
    assert mentions(code(text, suffix))


def test_comments_and_other_words_are_not() -> None:
    assert not mentions(code('"""Runs ``loop_split``."""\npath.rename(other)  # passes/rename\n', ".py"))
    assert not mentions(code('fs::rename(a, b); // "rename"\nlinalg::LinalgDialect x;\n', ".cpp"))
    assert not mentions(code('# passes/loop_split\nmessage(FATAL_ERROR "(fix: rename the directory)")\n', ".cmake"))
