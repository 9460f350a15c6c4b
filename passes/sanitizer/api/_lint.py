# SPDX-License-Identifier: Apache-2.0
"""Reads the kernels of a Python file for `triton-ext lint`. The file is imported, kernels are not run."""

from __future__ import annotations

import ast
import contextlib
import inspect
import io
import linecache
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from triton_ext.errors import TritonExtError

from . import _json, _sarif, _text
from ._check_launch import check_launch
from ._definitions import Definition, definitions, helpers, loaded
from ._examples import declared_above, grid_of, parsed
from ._finding import Finding
from ._guesses import GUESSES, constants_at_launches, guesses
from ._launch import default_target
from ._lint_rules import RULES, Read, lint
from ._uses import distinct, loops_of, uses_of
from ._values import Graph

FORMATS = ("text", "json", "sarif")
_IGNORED = re.compile(r"#\s*lint:\s*ignore(?:\[([\w, -]*)\])?")
#: Rules that a value of a constant can make true by chance, so that guessed values say nothing alone.
_NEED_SEVERAL = ("mask-always-true", "mask-always-false")


@dataclass
class Linted:
    """The findings of `triton-ext lint` in some files.

    Attributes:
        findings: what is wrong, by file and line.
        notes: what could not be read, as sentences.
        kernels: how many kernels were read.
    """

    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    kernels: int = 0

    @property
    def is_bad(self) -> bool:
        """Whether there is a finding that is more than a note."""
        return any(one.severity != "note" for one in self.findings)

    def text(self) -> str:
        """Returns the findings with their source lines, what was not read, and a summary."""
        kernels = f"{self.kernels} kernel{'s' * (self.kernels != 1)}"
        count = f"{len(self.findings)} finding{'s' * (len(self.findings) != 1)}" if self.findings else "nothing found"
        notes = [f"note: {note}" for note in self.notes]
        return "\n\n".join([*map(_text.finding_text, self.findings), *notes, f"lint: {count} in {kernels}"]) + "\n"

    def json(self) -> str:
        """Returns the findings and notes as JSON; the fields of a finding are those of `Finding`."""
        data = {"version": 1, "findings": [asdict(one) for one in self.findings], "notes": self.notes}
        return _json.dumps({**data, "kernels": self.kernels})

    def sarif(self) -> str:
        """Returns the findings as a log in SARIF 2.1.0."""
        return _sarif.log(self.findings, {**_sarif.RULES, **RULES}, "triton-ext lint")

    def written_as(self, kind: str) -> str:
        """Returns the findings as ``text``, ``json`` or ``sarif``."""
        return {"text": self.text, "json": self.json, "sarif": self.sarif}[kind]()


def lint_file(path: str, kernel: str | None = None, shapes: Sequence[str] = (), target: object = None) -> Linted:
    """Returns the findings in the kernels of a file.

    Args:
        path: the path of the file.
        kernel: the name of the only kernel to read; None for all.
        shapes: values for launches, as in the comments ``# lint: …``; each kernel takes those of its arguments.
        target: e.g. ``cuda:90``.

    Raises:
        TritonExtError: the file cannot be read, raised, or has no kernel `kernel`; or `shapes` is malformed.
    """
    try:
        lines = Path(path).read_text().splitlines()
        tree = ast.parse("\n".join(lines), path)
    except (OSError, SyntaxError, ValueError) as error:
        raise TritonExtError(f"{path} cannot be read: {error}") from None
    linecache.checkcache(path)
    given = ", ".join(shapes)
    if given:
        parsed(given)
    found = definitions(tree)
    if kernel is not None and kernel not in found:
        raise TritonExtError(f"{path} has no kernel '{kernel}', it has: {', '.join(found) or 'none'}")
    called = helpers(found)
    linted = Linted()
    for name, definition in found.items():
        if name == kernel or (kernel is None and name not in called):
            try:
                one = _Kernel(path, definition, lines=lines, tree=tree, target=target)
            except TritonExtError as error:
                if not definition.around and not isinstance(error, _NotAKernelError):
                    raise
                linted.notes.append(f"{path}:{definition.node.lineno}: '{name}' is not read: {error}")
            else:
                one.lint(given, linted)
    linted.findings = sorted(
        (one for one in linted.findings if not _is_ignored(one)), key=lambda one: (one.file, one.line, one.column)
    )
    return linted


class _NotAKernelError(TritonExtError):
    """Something of another library has a decorator that is named as Triton's."""


def _is_ignored(finding: Finding) -> bool:
    match = _IGNORED.search(linecache.getline(finding.file, finding.line))
    return match is not None and (match[1] is None or finding.check in re.split(r"[ ,]+", match[1]))


@dataclass(frozen=True)
class _Key:
    """A finding that is equal to another one at the same place."""

    finding: Finding = field(hash=False)

    @property
    def order(self) -> tuple[str, str, int, int, str]:
        one = self.finding
        return one.check, one.file, one.line, one.column, one.argument or ""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self.order == other.order

    def __hash__(self) -> int:
        return hash(self.order)


@contextlib.contextmanager
def _no_diagnostics() -> Iterator[None]:
    """Silences what Triton and MLIR print about a kernel that does not fit a guess."""
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _reason(error: BaseException) -> str:
    """Returns the last line of the first error behind one of the compiler."""
    while error.__cause__ is not None:
        error = error.__cause__
    lines = [line.strip() for line in str(error).splitlines() if re.search(r"\w", line)]
    return f"{type(error).__name__}: {lines[-1] if lines else ''}"


class _Kernel:
    """One kernel of a file."""

    def __init__(
        self,
        path: str,
        definition: Definition,
        *,
        lines: list[str],
        tree: ast.Module,
        target: object,
    ) -> None:
        from triton import JITFunction

        self._tree, self._target = definition.node, default_target(target)
        first = min([self._tree.lineno, *(one.lineno for one in self._tree.decorator_list)])
        self._examples = declared_above(lines, first)
        self._launched = constants_at_launches(tree)
        self._where = f"{path}:{self._tree.lineno}: '{definition.name}'"
        found = loaded(path, definition)
        self._function = found.__func__ if isinstance(found, staticmethod) else found
        while hasattr(self._function, "fn") and not inspect.isfunction(self._function.fn):
            configurations = getattr(self._function, "configs", None)
            if configurations:
                self._launched = {**self._launched, **configurations[0].kwargs}
            self._function = self._function.fn
        if not isinstance(self._function, JITFunction):
            raise _NotAKernelError(f"it is a {type(self._function).__name__}, not a kernel of Triton")

    def lint(self, given: str, linted: Linted) -> None:
        """Adds what is wrong with the kernel."""
        linted.kernels += 1
        names = {parameter.name for parameter in self._function.params}
        examples = [self._example(text, given, names) for text in (self._examples or ([given] if given else []))]
        found = dict.fromkeys(self._structural(examples, linted))
        for example in examples:
            found |= dict.fromkeys(self._launches(example, linted))
        linted.findings += [key.finding for key in found]

    @staticmethod
    def _example(text: str, given: str, names: set[str]) -> dict[str, Any]:
        """Returns the values of an example that are arguments, and its grid; those that are given come first."""
        values = {**parsed(text, parsed(given) if given else {}), **(parsed(given) if given else {})}
        grid = (grid_of(given, values) if given else None) or grid_of(text, values)
        found = {name: value for name, value in values.items() if name in names}
        return found | ({} if grid is None else {"grid": grid})

    def _launches(self, example: dict[str, Any], linted: Linted) -> Iterator[_Key]:
        missing = [
            parameter.name
            for parameter in self._function.params
            if parameter.name not in example and not parameter.has_default and parameter.name not in self._launched
        ]
        if "grid" not in example:
            missing.append("grid")
        if missing:
            linted.notes.append(f"{self._where} is not checked with the example, which lacks {', '.join(missing)}")
            return
        constants = {p.name: self._launched[p.name] for p in self._function.params if p.name in self._launched}
        values = {**constants, **example}
        grid = values.pop("grid")
        report = check_launch(self._function, grid=grid, target=self._target, **values)
        linted.notes += [
            f"{one.file}:{one.line}: {one.check} of this {one.what} is unknown: {one.why}" for one in report.unknown
        ]
        yield from map(_Key, report.findings)

    def _structural(self, examples: Sequence[Mapping[str, Any]], linted: Linted) -> Iterator[_Key]:
        """Yields what is found with every guess of the arguments."""
        known = {**self._launched, **(examples[0] if examples else {})}
        rounds: list[set[_Key]] = []
        problem = ""
        for i, signature in enumerate(guesses(self._function, self._tree, known)):
            if i == GUESSES and rounds:
                break
            try:
                with _no_diagnostics():
                    read = self._read(signature)
            except Exception as error:  # Triton raises whatever it likes about a kernel that does not compile
                problem = problem or _reason(error)
            else:
                rounds.append({_Key(one) for one in lint(read)})
        if not rounds:
            linted.notes.append(f"{self._where} is not read: {problem} (declare an example above it)")
            return
        for key in sorted(set.intersection(*rounds), key=lambda key: key.order):
            if len(rounds) > 1 or key.finding.check not in _NEED_SEVERAL:
                yield key

    def _read(self, signature: Mapping[str, object]) -> Read:
        from triton_ext.intensity.description import described, names_of

        description, request = described(self._function, self._target, signature, {}, optimized=False)
        inlined, _ = described(self._function, self._target, signature, {})
        widths = {
            i: int(argument["type"][1:])
            for i, argument in enumerate(description["arguments"])
            if re.fullmatch(r"i\d+", argument["type"])
        }
        graph = Graph([list(node) for node in description["nodes"]], loops_of(description["body"]), widths, {})
        unknown = graph.add("unknown", "the grid", "", 32)
        graph.grid = [unknown] * 3
        uses = distinct(uses_of(description["body"], graph.add, {}))
        unfilled = dict(_unfilled(inlined["body"]))
        return Read(description["kernel"], names_of(description, request), graph, uses, unfilled)


def _unfilled(items: Sequence[Mapping[str, Any]]) -> Iterator[tuple[tuple[int, int], tuple[int, ...]]]:
    for item in items:
        if "unfilled" in item:
            yield (int(item["line"].rpartition(":")[2] or 0), item["column"]), tuple(item["unfilled"])
        for part in ("body", "then", "else", "before", "after"):
            yield from _unfilled(item.get(part, ()))
