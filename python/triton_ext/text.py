# SPDX-License-Identifier: Apache-2.0
"""The text forms of a `Pipeline`: edits on a line, and a listing of everything that runs, to be changed by hand.

Edits: ``ttir: after(loop_unroll, loop_split{max-splits=2}); ttgir: skip(prefetch), set(pipeline, num_stages=4)``. A
stage holds for the edits up to the next one; without it, or after ``*:``, an anchor is looked for in every stage. ``#``
after a blank begins a comment, line breaks are blanks.

Listing: what ``triton-ext pipeline show --text`` prints. Its lower part is the pipeline without edits, and what the
upper part has otherwise becomes edits, which therefore survive a Triton that runs further passes.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from ._closest import closest
from ._diff import diff
from ._shown import said, shown
from .edits import Anchor, BuiltinFactory, Edit, Entry, Value, as_entry, find_builtin
from .errors import ExtensionNotFoundError, PipelineError, PipelineTypeError
from .loader import find_pass
from .passes import ANY, PLACEABLE, STAGES, PassFactory, find_factory
from .record import Compilation, PassRecord

_VERBS = ("before", "after", "at_start", "at_end", "replace", "skip", "set", "stage")
_CUT = "--- below: the pipeline without edits. Leave it alone; what differs from it becomes edits ---"
_BLANK = re.compile(r"(?:\s|(?<![^\s;,({])#[^\n]*)*")
_WORD = re.compile(r"[^\s,;(){}=\"#]+(?:#\w+)?")
_COMMENT = re.compile(r'("(?:[^"\\]|\\.)*")|(?:^|(?<=\s))#.*')
_STAGE = re.compile(r"(\w+|\*)\s*:")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_BRACES = re.compile(r"\{((?:[^{}\"]|\"(?:[^\"\\]|\\.)*\"|\{[^{}]*\})*)\}")
_ARGUMENT = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s"]+')
#: Of an integer; no argument of a pass has more than 20. Python itself reads 4,300.
_MOST_DIGITS = 300
_FLOAT = re.compile(r"-?\d+(?:\.\d*)?(?:e[+-]?\d+)?")
_OPTION = re.compile(r"([\w-]+)(?:=(\"(?:[^\"\\]|\\.)*\"|\{[^{}]*\}|[^\s\"]*))?\s*")


@dataclasses.dataclass(frozen=True)
class _Argument:
    """``name``, ``name{options}`` or ``name=value``, and where it stands."""

    at: int
    name: str
    options: str | None = None
    value: str | None = None


@dataclasses.dataclass(frozen=True)
class _Call:
    at: int
    stage: str | None
    verb: str
    arguments: tuple[_Argument, ...]


def read(text: str) -> str:
    """`text`, or the contents of FILE if it is ``@FILE``.

    Raises:
        PipelineError: the file cannot be read.
    """
    if not text.startswith("@"):
        return text
    try:
        return Path(text[1:]).read_text()
    except (OSError, ValueError) as error:  # not UTF-8, or a name with a null character
        raise PipelineError(f"pipeline file {text[1:]!r}: {getattr(error, 'strerror', None) or error}") from None


def syntax(text: str) -> list[_Call]:
    """Checks how `text` is written, not what it names.

    Raises:
        PipelineError: it is malformed; the message points at the place.
    """
    return _Parser(_edits_of_listing(text)).calls()


def parse(text: str) -> tuple[Edit, ...]:
    """The edits that `text` describes.

    Raises:
        PipelineError: it is malformed, or names what does not exist.
        PipelineTypeError: `text` is not a str.
    """
    if not isinstance(text, str):
        raise PipelineTypeError(
            f"Pipeline.parse: expected a text, got {shown(text)}", fix="Pipeline.parse('ttir: skip(loop_unroll)')"
        )
    parser = _Parser(_edits_of_listing(text))
    return tuple(parser.edit(call) for call in parser.calls())


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def fail(self, problem: str, at: int | None = None) -> NoReturn:
        at = self.at if at is None else at
        start = self.text.rfind("\n", 0, at) + 1
        line = self.text[start:].split("\n", 1)[0]
        number = self.text.count("\n", 0, at) + 1
        where = f"line {number}, " if "\n" in self.text.strip() else ""
        raise PipelineError(
            f"pipeline text, {where}character {at - start + 1}: {problem}\n  {line}\n  {' ' * (at - start)}^"
        )

    def blank(self) -> None:
        match = _BLANK.match(self.text, self.at)
        assert match
        self.at = match.end()

    def next_is(self, *characters: str) -> bool:
        self.blank()
        return self.text[self.at : self.at + 1] in characters

    def take(self, character: str, what: str) -> None:
        if not self.next_is(character):
            found = self.text[self.at : self.at + 1]
            self.fail(f"expected {what}, found " + (f"'{found}'" if found else "the end"))
        self.at += 1

    def word(self, what: str) -> str:
        self.blank()
        match = _WORD.match(self.text, self.at)
        if match is None:
            found = self.text[self.at : self.at + 1]
            self.fail(f"expected {what}, found " + (f"'{found}'" if found else "the end"))
        self.at = match.end()
        return match[0]

    def calls(self) -> list[_Call]:
        calls: list[_Call] = []
        stage: str | None = None
        while True:
            while self.next_is(";", ","):
                self.at += 1
            if self.at == len(self.text):
                return calls
            start = self.at
            match = _STAGE.match(self.text, self.at)
            if match:
                stage = None if match[1] == "*" else match[1]
                self.at = match.end()
                self.blank()
                start = self.at
            verb = self.word("an edit such as after(...)")
            if verb not in _VERBS:
                close = closest(verb, _VERBS)
                hint = f", did you mean '{close}'?" if close else f", expected one of {', '.join(_VERBS)}"
                self.fail(f"unknown edit '{verb}'{hint}", start)
            calls.append(_Call(start, stage, verb, self.arguments(verb)))
            if not self.next_is(";", ",", ""):
                self.fail(f"expected ',' or ';' before the next edit, found '{self.text[self.at]}'")

    def arguments(self, verb: str) -> tuple[_Argument, ...]:
        self.take("(", f"'(' after '{verb}'")
        arguments: list[_Argument] = []
        while not self.next_is(")"):
            if arguments:
                self.take(",", "',' or ')'")
                self.blank()
            at = self.at
            name = self.word("an anchor or a pass")
            if self.next_is("="):
                self.at += 1
                self.blank()
                match = _STRING.match(self.text, self.at) or _WORD.match(self.text, self.at)
                if match is None:
                    self.fail(f"expected a value for '{name}'")
                self.at = match.end()
                arguments.append(_Argument(at, name, value=match[0]))
            elif self.next_is("{"):
                match = _BRACES.match(self.text, self.at)
                if match is None:
                    self.fail("this '{' is not closed")
                self.at = match.end()
                arguments.append(_Argument(at, name, options=match[1]))
            else:
                arguments.append(_Argument(at, name))
        self.take(")", "')'")
        return tuple(arguments)

    def edit(self, call: _Call) -> Edit:
        """The edit that `call` stands for; everything that is wrong is said with its place."""
        from .pipeline import Pipeline

        arguments = list(call.arguments)
        keywords: dict[str, Any] = {}
        for argument in [a for a in arguments if a.value is not None]:
            arguments.remove(argument)
            name = argument.name.replace("-", "_")
            if call.verb != "set" and name != "on_missing":
                self.fail(f"'{call.verb}' takes no argument '{argument.name}'", argument.at)
            if name in keywords:
                self.fail(f"'{argument.name}' is given twice", argument.at)
            try:
                keywords[name] = _value(argument.value or "")
            except PipelineError as error:
                self.fail(str(error), argument.at)
        place: tuple[str, ...] = ()
        if call.verb in ("at_start", "at_end", "stage"):
            if call.stage is None:
                self.fail(f"'{call.verb}' needs its stage before it, as in 'ttir: {call.verb}(...)'", call.at)
            place = (call.stage,)
        else:
            if not arguments or arguments[0].options is not None:
                self.fail(f"'{call.verb}' begins with an anchor, as in {call.verb}(loop_unroll)", call.at)
            anchor = arguments.pop(0)
            try:
                parsed = Anchor.parse(anchor.name)
            except PipelineError as error:
                self.fail(str(error), anchor.at)
            stage = parsed.stage or call.stage
            place = ((f"{stage}:" if stage else "") + str(parsed),)
        if call.verb in ("skip", "set") and arguments:
            self.fail(f"'{call.verb}' takes no pass", arguments[0].at)
        items: list[Any] = []
        for argument in arguments:
            try:
                items.append(_function(argument.name) if call.verb == "stage" else _entry(argument, call.stage))
            except (PipelineError, ExtensionNotFoundError) as error:
                self.fail(str(error), argument.at)
        if call.verb == "stage" and len(items) != 1:
            self.fail("'stage' takes one function, as in stage(my_module:my_function)", call.at)
        try:
            pipeline: Pipeline = getattr(Pipeline(), call.verb)(*place, *items, **keywords)
        except PipelineError as error:
            self.fail(str(error), call.at)
        return pipeline.edits[0]


def _entry(argument: _Argument, stage: str | None) -> Entry:
    name, options = argument.name, argument.options
    if ":" in name:
        if options is not None:
            raise PipelineError(f"'{name}' is a function, which takes no options")
        return as_entry(_function(name), name)
    if name.startswith("plugin."):
        name = name.removeprefix("plugin.")
        words = (match[0] for match in _ARGUMENT.finditer(options or ""))
        return PassFactory(find_pass(name, "plugin"), name)(*(_unquoted(word) for word in words))
    if "." in name and not name.startswith("linalgir."):
        return BuiltinFactory(name, find_builtin(name))(**{n: _value(v) for n, v in _options(options or "").items()})
    # In a listing, those that the stage linalgir runs by itself are in a group of its name.
    stages = PLACEABLE.get(stage or "", (ANY, *STAGES))
    factory = find_factory(name.removeprefix("linalgir."), stages)
    return factory.parse((n, _as_mlir(v)) for n, v in _options(options or "").items())


def _options(text: str) -> dict[str, str]:
    """Values by name, as they are written; a name alone is true."""
    values: dict[str, str] = {}
    at, text = 0, text.strip()
    while at < len(text):
        match = _OPTION.match(text, at)
        if match is None:
            raise PipelineError(f"malformed options '{{{text}}}', expected {{name=value name=value}}")
        at, name = match.end(), match[1].replace("-", "_")
        if name in values:
            raise PipelineError(f"option '{match[1]}' is given twice")
        values[name] = match[2] if match[2] is not None else "true"
    return values


def _function(name: str) -> Any:
    """The object ``module:qualified.name``."""
    module, _, path = name.partition(":")
    if not path:
        raise PipelineError(f"'{name}' is no function, expected module:function")
    try:
        with _working_directory_too():
            found: Any = importlib.import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise PipelineError(f"'{name}': {said(error)}") from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit, and others that are no Exception, such as pytest's Skipped
        raise PipelineError(f"'{name}': importing it raised {type(error).__name__}: {said(error)}") from error
    return found


@contextlib.contextmanager
def _working_directory_too() -> Iterator[None]:
    """While it lasts, modules are found in the working directory, after all other places, but not by ``python -P``.

    What is imported later, by whomever, is not looked for there.
    """
    try:
        directory = str(Path.cwd())
    except OSError:  # it has been removed
        directory = ""
    if sys.flags.safe_path or not directory or {"", directory} & set(sys.path):
        yield
        return
    entry = _Entry(directory)
    sys.path.append(entry)
    try:
        yield
    finally:
        sys.path[:] = [place for place in sys.path if place is not entry]


class _Entry(str):
    """An entry of ``sys.path`` that is told from equal ones."""

    __slots__ = ()


def _value(text: str) -> Value:
    if text.startswith('"'):
        return _unquoted(text)
    if text in ("true", "false"):
        return text == "true"
    if re.fullmatch(r"-?\d+", text):
        if len(text) > _MOST_DIGITS:
            raise PipelineError(f"an integer of {len(text):,} digits, expected at most {_MOST_DIGITS}")
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text


def _unquoted(text: str) -> str:
    if not text.startswith('"'):
        return text
    try:
        return str(json.loads(text, strict=False))
    except ValueError:
        raise PipelineError(f"malformed string {text}, its escapes are those of JSON") from None


def _as_mlir(text: str) -> str:
    """The value of an option as MLIR quotes it, with no escapes."""
    if not text.startswith('"'):
        return text
    value = _unquoted(text)
    quote = "'" if '"' in value else '"'
    return f"{quote}{value}{quote}"


def entry_text(record: PassRecord) -> str:
    """One entry of a listing, e.g. ``ttgpuir.pipeline{num-stages=3 dump-intermediate-steps=false}``."""
    named = not record.name.startswith("plugin.")
    inner = " ".join(f"{n.replace('_', '-')}={v}" if named else n for n, v in record.arguments)
    return record.name + ("{" + inner + "}" if inner else "")


def listing(compilation: Compilation, without_edits: Compilation) -> str:
    """Both compilations of one kernel as a text that `parse` takes back."""
    head = (
        f"# {compilation.kernel} for {compilation.target}, Triton {compilation.triton}.\n"
        "# Delete, move, change or add lines, then: TRITON_EXT_PIPELINE=@FILE python train.py\n"
    )
    return f"{head}{_stages_text(compilation)}\n{_CUT}\n{_stages_text(without_edits)}"


def _stages_text(compilation: Compilation) -> str:
    blocks = []
    for stage in compilation.stages:
        entries = [f"  {entry_text(record)}\n" for record in stage.passes if record.ran]
        if entries:
            blocks.append(f"{stage.name}:\n{''.join(entries)}")
    return "\n".join(blocks)


def _edits_of_listing(text: str) -> str:
    """`text` with a listing turned into edits; other text as it is."""
    lines = text.splitlines()
    cuts = [i for i, line in enumerate(lines) if line.startswith("--- ")]
    if not cuts:
        return text
    edited, base = _read_stages(lines[: cuts[0]]), _read_stages(lines[cuts[0] + 1 :])
    for stage in edited:
        if stage not in base:
            raise PipelineError(
                f"pipeline listing: stage '{stage}' is not in its lower part, which has {', '.join(base)}"
            )
    blocks = []
    for stage, entries in base.items():
        edits = list(_difference(entries, edited.get(stage, entries)))
        if edits:
            blocks.append(f"{stage}: {', '.join(edits)}")
    return ";\n".join(blocks)


def _read_stages(lines: list[str]) -> dict[str, list[str]]:
    stages: dict[str, list[str]] = {}
    entries: list[str] | None = None
    for number, line in enumerate(lines, 1):
        content = _COMMENT.sub(lambda match: match[1] or "", line).strip()
        if not content:
            continue
        if re.fullmatch(r"\w+:", content):
            entries = stages.setdefault(content[:-1], [])
        elif entries is None:
            raise PipelineError(f"pipeline listing, line {number}: expected a stage such as 'ttir:', found '{content}'")
        else:
            entries.append(content)
    return stages


def _difference(base: list[str], edited: list[str]) -> Iterator[str]:
    """The edits that make `edited` of `base`."""
    names = [_name(entry) for entry in base]
    total, count = Counter(names), Counter[str]()
    anchors = []
    for name in names:
        count[name] += 1
        anchors.append(f"{name}#{count[name]}" if total[name] > 1 else name)
    for a, a_end, b, b_end in (block[1:] for block in diff(base, edited) if not block[0]):
        old, new = list(range(a, a_end)), edited[b:b_end]
        while old and new and names[old[0]] == _name(new[0]):
            yield from _changed(anchors[old[0]], base[old[0]], new[0])
            old, new = old[1:], new[1:]
        for i in old:
            yield f"skip({anchors[i]})"
        place = old[0] if old else a_end
        if new and place:
            yield f"after({anchors[place - 1]}, {', '.join(new)})"
        elif new:
            yield f"before({anchors[0]}, {', '.join(new)})" if anchors else f"at_start({', '.join(new)})"


def _name(entry: str) -> str:
    return entry.partition("{")[0].rstrip()


def _changed(anchor: str, old: str, new: str) -> Iterator[str]:
    """The edit that makes one pass of another with the same name."""
    before, after = (_options(entry.partition("{")[2].removesuffix("}")) for entry in (old, new))
    arguments = [f"{name}={value}" for name, value in after.items() if before.get(name) != value]
    if arguments and before.keys() == after.keys():
        yield f"set({anchor}, {', '.join(arguments)})"
    elif old != new:
        yield f"replace({anchor}, {new})"
