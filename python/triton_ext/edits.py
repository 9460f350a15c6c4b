# SPDX-License-Identifier: Apache-2.0
"""What a `Pipeline` is made of: edits, the anchors that they are placed by, and the passes that they bring in."""

from __future__ import annotations

import fnmatch
import json
import re
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from . import signatures
from ._closest import closest
from ._shown import shown
from .errors import PipelineError
from .manifest import digits
from .passes import Pass

Value = int | float | bool | str
OnMissing = Literal["error", "warn", "ignore"]
_ANCHOR = re.compile(r"(?:(?P<stage>\w+):)?(?P<name>[\w.*?-]+)(?:#(?P<ordinal>[1-9]\d*|last))?")


@dataclass(frozen=True)
class Anchor:
    """A place in a pipeline: the passes of a backend by name.

    A name matches where its components are the last ones of ``group.pass``, so ``pipeline`` and ``ttgpuir.pipeline``
    match ``ttgpuir.pipeline`` and ``amd.ttgpuir.pipeline``. ``*`` and ``?`` match as in file names.

    Attributes:
        name: e.g. ``ttgpuir.coalesce``, ``nvidia.*`` or ``canonicalizer``.
        ordinal: which of the matches of a stage is meant, from 1, or ``last``; None means all.
        stage: the one stage in which it is looked for; None means every stage.
    """

    name: str
    ordinal: int | Literal["last"] | None = None
    stage: str | None = None

    @classmethod
    def parse(cls, text: str) -> Anchor:
        """The anchor written as ``[stage:]name[#n|#last]``.

        Raises:
            PipelineError: it is not written like that.
        """
        match = _ANCHOR.fullmatch(text) if isinstance(text, str) else None
        if match is None:
            raise PipelineError(f"{shown(text)} is no anchor, expected '[stage:]group.pass[#n|#last]'")
        ordinal = match["ordinal"]
        if ordinal and len(ordinal) > _MOST_DIGITS:
            raise PipelineError(f"an anchor with an ordinal of {len(ordinal):,} digits: no stage has so many passes")
        number = int(ordinal) if ordinal and ordinal != "last" else None
        return cls(match["name"], "last" if ordinal == "last" else number, match["stage"])

    def matches(self, name: str) -> bool:
        """Whether the pass `name` is meant, its ordinal left aside."""
        parts = name.split(".")
        return any(fnmatch.fnmatchcase(".".join(parts[i:]), self.name) for i in range(len(parts)))

    def covers(self, other: Anchor) -> bool:
        """Whether it is sure to match every pass that `other` matches, whatever a stage runs."""
        if self.stage not in (None, other.stage):
            return False
        if self.ordinal is not None:  # which one that is depends on the others of the name
            return (self.name, self.ordinal) == (other.name, other.ordinal)
        # `other.name` may itself be a pattern: what takes its `*` for a character takes what that stands for, but `?`
        # stands for one character only.
        return self.name == other.name or ("?" not in self.name and self.matches(other.name))

    def __str__(self) -> str:
        return self.name + (f"#{self.ordinal}" if self.ordinal else "")


@dataclass(frozen=True)
class BuiltinPass:
    """A pass of libtriton, ready to be placed in a `Pipeline`; made by ``tx.builtin``.

    Attributes:
        name: ``group.pass``, e.g. ``ttgpuir.pipeline``.
        args: its arguments, in order.
    """

    name: str
    args: tuple[Value, ...] = ()

    @property
    def add(self) -> Callable[..., None]:
        """The function of libtriton that adds it to a pass manager."""
        return find_builtin(self.name)

    def __str__(self) -> str:
        names = (name for name, _ in signatures.parameters(self.add))
        return self.name + braces(dict(zip(names, self.args, strict=False)))


@dataclass(frozen=True)
class PythonPass:
    """A Python function that changes a module in place.

    Attributes:
        function: is called with the ``ir.module``.
    """

    function: Callable[[Any], None]

    @property
    def name(self) -> str:
        """``module:qualified.name``, by which the text form of a pipeline finds it again."""
        return function_name(self.function)

    def __str__(self) -> str:
        return self.name


Entry = Pass | BuiltinPass | PythonPass
StageFunction = Callable[[Any, dict[str, Any], Callable[[Any, dict[str, Any]], Any]], Any]


@dataclass(frozen=True)
class Edit:
    """One change to a pipeline.

    Attributes:
        verb: ``before``, ``after``, ``at_start``, ``at_end``, ``replace``, ``skip``, ``set`` or ``stage``.
        stage: the stage that it is for; None where the anchor may be in any.
        anchor: where; None for ``at_start``, ``at_end`` and ``stage``.
        entries: the passes that it brings in.
        arguments: for ``set``, new values by name.
        function: for ``stage``.
        on_missing: what happens when the anchor does not occur.
    """

    verb: str
    stage: str | None
    anchor: Anchor | None = None
    entries: tuple[Entry, ...] = ()
    arguments: tuple[tuple[str, Value], ...] = ()
    function: StageFunction | None = None
    on_missing: OnMissing = "error"

    def __str__(self) -> str:
        return f"{self.stage}: {self.text}" if self.stage else self.text

    @property
    def text(self) -> str:
        """The edit without its stage, e.g. ``after(loop_unroll, loop_split{max-splits=2})``."""
        items = [str(self.anchor)] if self.anchor else []
        items += map(str, self.entries)
        items += (f"{name}={text_of(value)}" for name, value in self.arguments)
        if self.function is not None:
            items.append(function_name(self.function))
        if self.on_missing != "error":
            items.append(f"on_missing={self.on_missing}")
        return f"{self.verb}({', '.join(items)})"


def text_of_edits(edits: Iterable[Edit]) -> str:
    """The edits on one line, those of one stage together where they follow each other."""
    blocks: list[tuple[str | None, list[str]]] = []
    for edit in edits:
        if not blocks or blocks[-1][0] != edit.stage:
            blocks.append((edit.stage, []))
        blocks[-1][1].append(edit.text)
    # A stage holds until the next one; `*` is any.
    stages = [f"{stage or '*'}: " if stage or i else "" for i, (stage, _) in enumerate(blocks)]
    return "; ".join(stage + ", ".join(texts) for stage, (_, texts) in zip(stages, blocks, strict=True))


def as_entry(item: object, where: str) -> Entry:
    """`item` as something that a pipeline can hold.

    Raises:
        PipelineError: it is neither a pass nor a function of one argument.
    """
    if isinstance(item, Pass | BuiltinPass | PythonPass):
        return item
    hint = ", or a function that takes a module"
    if not callable(item):
        raise PipelineError(f"{where}: expected a pass such as tx.passes.ttir.rename(){hint}, got {shown(item)}")
    from .passes import PassFactory

    if isinstance(item, PassFactory | BuiltinFactory):
        raise PipelineError(f"{where}: {shown(item)} is not a pass yet, call it: add ()")
    if isinstance(item, type):
        raise PipelineError(f"{where}: expected a pass{hint}, got the class {item.__name__}")
    return PythonPass(item)


class BuiltinFactory:
    """Makes `BuiltinPass` values of one pass of libtriton."""

    def __init__(self, name: str, add: Callable[..., None]) -> None:
        self._name = name
        self._add = add
        self.__name__ = name.rpartition(".")[2]
        signature = ", ".join(f"{n}: {kind}" for n, kind in signatures.parameters(add))
        self.__doc__ = f"The pass '{name}' of libtriton. Arguments: {signature or 'none'}."

    def __call__(self, /, *args: Value, **named: Value) -> BuiltinPass:
        """Checks the arguments against the pass's signature.

        Raises:
            PipelineError: one is unknown, missing or has the wrong type.
        """
        declared = signatures.parameters(self._add)
        where = f"pass '{self._name}'"
        if len(args) > len(declared):
            raise PipelineError(f"{where} takes {len(declared)} arguments, got {len(args)}")
        values: dict[str, Value] = {name: value for (name, _), value in zip(declared, args, strict=False)}
        for name, value in named.items():
            if name in values:
                raise PipelineError(f"{where}: argument '{name}' is given twice")
            values[name] = value
        checked = check_arguments(where, self._add, values)
        missing = [name for name, _ in declared if name not in checked]
        if missing and not (not checked and signatures.callable_without_arguments(self._add)):
            raise PipelineError(f"{where}: missing argument '{missing[0]}'; it takes: {_signature(declared)}")
        return BuiltinPass(self._name, tuple(checked[name] for name, _ in declared if name in checked))

    def __repr__(self) -> str:
        return f"<built-in pass {self._name}({_signature(signatures.parameters(self._add))})>"


def check_arguments(where: str, add: Callable[..., None], values: Mapping[str, Value]) -> dict[str, Value]:
    """`values` by the names that `add` uses.

    Raises:
        PipelineError: a name is unknown or a value has the wrong type.
    """
    declared = dict(signatures.parameters(add))
    checked = {}
    for given, value in values.items():
        name = given.replace("-", "_")
        if name not in declared:
            close = closest(name, declared)
            hint = f"; did you mean '{close}'?" if close else ""
            raise PipelineError(
                f"{where}: unknown argument '{given}'{hint}; it takes: {_signature(declared.items()) or 'none'}"
            )
        if type(value).__name__ != declared[name]:  # a bool is no int here
            raise PipelineError(f"{where}: argument '{name}': expected {declared[name]}, got {shown(value)}")
        checked[name] = value
    return checked


def find_builtin(name: str) -> Callable[..., None]:
    """The function of libtriton that adds the pass ``group.pass``.

    Raises:
        PipelineError: there is none.
    """
    *groups, last = name.split(".")
    found = namespace(groups)
    add = getattr(found, f"add_{last}", None) if found else None
    if add is None or not signatures.is_pass(add):
        close = closest(name, builtin_names())
        hint = f"; did you mean '{close}'?" if close else ""
        raise PipelineError(f"libtriton has no pass '{name}'{hint}", fix="dir(tx.builtin) lists its groups")
    return add  # type: ignore[no-any-return]


def namespace(groups: list[str]) -> types.ModuleType | None:
    """The part of libtriton with the passes of e.g. ``["ttgpuir"]`` or ``["nvidia", "ttnvgpuir"]``."""
    from triton._C import libtriton

    for root in (["passes"], [*groups[:1], "passes"]):
        found: Any = libtriton
        for part in [*root, *(groups if root == ["passes"] else groups[1:])]:
            found = getattr(found, part, None)
        if isinstance(found, types.ModuleType):
            return found
    return None


def builtin_names() -> list[str]:
    """``group.pass`` of every pass that libtriton offers to Python."""
    from triton._C import libtriton

    def walk(module: types.ModuleType, prefix: str) -> list[str]:
        names = []
        for name, value in sorted(vars(module).items()):
            if isinstance(value, types.ModuleType) and name != "plugin":
                names += walk(value, f"{prefix}{name}.")
            elif name.startswith("add_") and signatures.is_pass(value):
                names.append(prefix + name.removeprefix("add_"))
        return names

    backends = [
        name for name, value in vars(libtriton).items() if isinstance(getattr(value, "passes", None), types.ModuleType)
    ]
    return walk(libtriton.passes, "") + [n for b in backends for n in walk(getattr(libtriton, b).passes, f"{b}.")]


def braces(arguments: Mapping[str, Value]) -> str:
    """``{num-stages=3 dump=false}``, or nothing."""
    return (
        "{" + " ".join(f"{n.replace('_', '-')}={text_of(v)}" for n, v in arguments.items()) + "}" if arguments else ""
    )


def text_of(value: Value) -> str:
    """`value` as the text form of a pipeline has it.

    Raises:
        PipelineError: it is an integer that no argument of a pass can be.
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return digits(value)
    if isinstance(value, float) or (re.fullmatch(r"[A-Za-z_][\w.:+-]*", value) and value not in ("true", "false")):
        return str(value)
    return json.dumps(value, ensure_ascii=False)


#: Of an ordinal.
_MOST_DIGITS = 9


def function_name(function: object) -> str:
    """``module:qualified.name`` of a function, or of the class of a callable object."""
    named = function if hasattr(function, "__qualname__") else type(function)
    return f"{named.__module__}:{named.__qualname__}"


def _signature(parameters: Any) -> str:
    return ", ".join(f"{name}: {kind}" for name, kind in parameters)
