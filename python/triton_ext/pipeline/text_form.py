# SPDX-License-Identifier: Apache-2.0
"""Reads the text forms of a `Pipeline`: edits, and a listing, which `listing_form` turns into edits.

Edits: ``ttir: after(loop_unroll, loop_split{max-splits=2}); ttgir: skip(prefetch), set(pipeline, num_stages=4)``. The
name of a stage holds for the edits up to the next name; without one, or after ``*:``, an anchor is looked for in every
stage. ``#`` after a blank begins a comment. A line break counts as a blank.
"""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any, NoReturn

from .. import backends
from ..errors import ExtensionNotFoundError, PipelineError, PipelineTypeError
from ..loading.discovery import find_pass
from ..support.closest import closest
from ..support.shown import shown
from .anchors import Anchor
from .builtin_passes import BuiltinFactory, find_builtin
from .checked_edits import made
from .edits import Edit, Entry, as_entry
from .extension_passes import ANY, PLACEABLE, STAGES, PassFactory, find_factory
from .listing_form import edits_of_listing, options_in
from .llvm_passes import NAME, LLVMFactory
from .named_functions import find_function
from .values import Value

_VERBS = ("before", "after", "at_start", "at_end", "replace", "skip", "set", "stage")
_BLANK = re.compile(r"(?:\s|(?<![^\s;,({])#[^\n]*)*")
_WORD = re.compile(r"[^\s,;(){}=\"#]+(?:#\w+)?")
_STAGE = re.compile(r"(\w+|\*)\s*:")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_BRACES = re.compile(r"\{((?:[^{}\"]|\"(?:[^\"\\]|\\.)*\"|\{[^{}]*\})*)\}")
_ARGUMENT = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s"]+')
#: The digits that an integer may have; no argument of a pass has more than 20. Python's limit is 4,300.
_MOST_DIGITS = 300
_FLOAT = re.compile(r"-?\d+(?:\.\d*)?(?:e[+-]?\d+)?")


@dataclasses.dataclass(frozen=True)
class _Argument:
    """``name``, ``name{options}`` or ``name=value``, and its position in the text."""

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
    """Returns `text`, or the contents of FILE if `text` is ``@FILE``.

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
    """Parses `text` without looking up the passes and functions that it names.

    Raises:
        PipelineError: it is malformed; the message points at the place.
    """
    return _Parser(edits_of_listing(text)).calls()


def parse(text: str) -> tuple[Edit, ...]:
    """Returns the edits that `text` describes.

    Raises:
        PipelineError: it is malformed, or names something that does not exist.
        PipelineTypeError: `text` is not a str.
    """
    if not isinstance(text, str):
        raise PipelineTypeError(
            f"Pipeline.parse: expected a text, got {shown(text)}", fix="Pipeline.parse('ttir: skip(loop_unroll)')"
        )
    parser = _Parser(edits_of_listing(text))
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
        """Returns the edit that `call` describes; each error points at its place in the text."""
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
        if call.verb in ("at_start", "at_end", "stage"):
            if call.stage is None:
                self.fail(f"'{call.verb}' needs its stage before it, as in 'ttir: {call.verb}(...)'", call.at)
            place = call.stage
        else:
            if not arguments or arguments[0].options is not None:
                self.fail(f"'{call.verb}' begins with an anchor, as in {call.verb}(loop_unroll)", call.at)
            anchor = arguments.pop(0)
            try:
                parsed = Anchor.parse(anchor.name)
            except PipelineError as error:
                self.fail(str(error), anchor.at)
            stage = parsed.stage or call.stage
            place = (f"{stage}:" if stage else "") + str(parsed)
        if call.verb in ("skip", "set") and arguments:
            self.fail(f"'{call.verb}' takes no pass", arguments[0].at)
        items: list[Any] = []
        for argument in arguments:
            try:
                items.append(find_function(argument.name) if call.verb == "stage" else _entry(argument, call.stage))
            except (PipelineError, ExtensionNotFoundError) as error:
                self.fail(str(error), argument.at)
        if call.verb == "stage" and len(items) != 1:
            self.fail("'stage' takes one function, as in stage(my_module:my_function)", call.at)
        try:
            return made(call.verb, place, items, keywords)
        except PipelineError as error:
            self.fail(str(error), call.at)


def _entry(argument: _Argument, stage: str | None) -> Entry:
    name, options = argument.name, argument.options
    if ":" in name:
        if options is not None:
            raise PipelineError(f"'{name}' is a function, which takes no options")
        return as_entry(find_function(name), name)
    if name.startswith("plugin."):
        name = name.removeprefix("plugin.")
        words = (match[0] for match in _ARGUMENT.finditer(options or ""))
        return PassFactory(find_pass(name, "plugin"), name)(*(_unquoted(word) for word in words))
    if name == NAME:
        given = {n: _value(v) for n, v in options_in(options or "").items()}
        if set(given) != {"passes"}:
            raise PipelineError(f'expected the passes of LLVM, as in {NAME}{{passes="function(gvn)"}}')
        return LLVMFactory()(str(given["passes"]))
    group, _, rest = name.rpartition(".")
    if group and group not in backends.stages():
        return BuiltinFactory(name, find_builtin(name))(**{n: _value(v) for n, v in options_in(options or "").items()})
    # In a listing, a stage of a backend may have extension passes of its own; their group is the name of the stage.
    stages = PLACEABLE.get(stage or "", (ANY, *STAGES))
    factory = find_factory(rest, stages)
    return factory.parse((n, _as_mlir(v)) for n, v in options_in(options or "").items())


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
    """Returns the value of an option as MLIR quotes it, which has no escapes."""
    if not text.startswith('"'):
        return text
    value = _unquoted(text)
    quote = "'" if '"' in value else '"'
    return f"{quote}{value}{quote}"
