# SPDX-License-Identifier: Apache-2.0
"""The passes of extensions as typed Python values: `Pass`, and the `PassFactory` that makes one."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from .. import backends
from ..errors import ExtensionNotFoundError, PipelineError
from ..loading.discovery import Extension, find_pass
from ..loading.manifest import Manifest, Option, in_words
from ..support.shown import shown

_OF_BACKENDS = {name: stage.passes for name, stage in backends.stages().items() if stage.passes}
STAGES = ("ttir", "ttgir", "llir", "llvm", *_OF_BACKENDS)
#: The stage of a pass that takes the modules of every stage.
ANY = "any"
#: For each stage, the stages whose passes it takes. A stage of a backend of ours may take those of ``ttir``, because
#: the module that enters it is Triton's.
PLACEABLE = {stage: (stage,) for stage in STAGES} | _OF_BACKENDS


@dataclass(frozen=True)
class Pass:
    """A pass with its options, ready to be placed in a `Pipeline`.

    Attributes:
        name: name of the extension, e.g. ``loop_split``.
        stage: the stage that the pass is for, or ``any``; None for a foreign plugin, which does not declare one.
        args: its options as MLIR spells them, e.g. ``("max-splits=2",)``.
        extension: the extension that has the pass.
    """

    name: str
    stage: str | None
    args: tuple[str, ...]
    extension: Extension

    def __str__(self) -> str:
        name = self.name if self.stage else f"plugin.{self.name}"
        return name + ("{" + " ".join(texts_of(self.args, named=bool(self.stage))) + "}" if self.args else "")

    def __repr__(self) -> str:
        return f"Pass({self})"


def texts_of(args: Iterable[str], *, named: bool = True) -> list[str]:
    """Returns options as the text form of a pipeline writes them: a value that is not one word is quoted.

    Args:
        args: the options as MLIR spells them.
        named: whether each is ``name=value``; the options of foreign plugins are plain texts.
    """

    def quoted(text: str) -> str:
        return json.dumps(text, ensure_ascii=False) if not text or re.search(r"[\s\"'{}\\]", text) else text

    if not named:
        return [quoted(arg) for arg in args]
    pairs = (arg.partition("=") for arg in args)
    return [f"{name}={value and quoted(value)}" for name, _, value in pairs]


class PassFactory:
    """Makes `Pass` values of one extension pass; its signature and docstring come from the pass's ``.td``."""

    def __init__(self, extension: Extension, name: str, stage: str | None = None) -> None:
        self.extension = extension
        self._name = name
        # A pass for any stage becomes one of the stage under which it was looked up.
        self._stage = stage if extension.stage == ANY and stage else extension.stage
        self.__name__ = name
        if extension.manifest is None:
            self.__doc__ = f"The pass '{name}' of the plugin {extension.path}; takes its arguments as strings."
            return
        options = extension.manifest.options
        self.__doc__ = _docstring(extension.manifest)
        self.__signature__ = inspect.Signature(
            [
                inspect.Parameter(
                    o.python_name,
                    inspect.Parameter.KEYWORD_ONLY,
                    default=o.python_default,
                    annotation=_annotation(o),
                )
                for o in options
            ],
            return_annotation=Pass,
        )

    def __call__(self, /, *args: str, **options: object) -> Pass:
        """Checks the options against the pass's declaration.

        Raises:
            PipelineError: an option is unknown or has a value of the wrong type.
        """
        manifest = self.extension.manifest
        if manifest is None:
            if options or not all(isinstance(arg, str) for arg in args):
                raise PipelineError(f"the plugin pass '{self._name}' takes its arguments as strings")
            return Pass(self._name, None, args, self.extension)
        if args:
            raise PipelineError(f"the pass '{self._name}' takes its options by keyword: {self.__signature__}")
        declared = {o.python_name: o for o in manifest.options}
        for name in options:
            if name not in declared:
                valid = ", ".join(declared) or "none"
                raise PipelineError(f"unknown option '{name}' of pass '{self._name}'; valid options: {valid}")
        texts = tuple(_format(self._name, declared[name], value) for name, value in sorted(options.items()))
        return Pass(self._name, self._stage, texts, self.extension)

    def parse(self, options: Iterable[tuple[str, str]]) -> Pass:
        """Returns the pass with `options`, which are pairs of a name, as MLIR or Python spells it, and a text.

        Raises:
            PipelineError: an option is unknown, or its text is not a value of its type.
        """
        manifest = self.extension.manifest
        assert manifest is not None, "a foreign plugin declares no options"
        declared = {o.python_name: o for o in manifest.options}
        values: dict[str, object] = {}
        for name, text in options:
            option = declared.get(name.replace("-", "_"))
            values[name.replace("-", "_")] = _read(option, text) if option else text
        return self(**values)

    def change(self, args: Iterable[str], options: Mapping[str, object]) -> tuple[str, ...]:
        """Returns `args`, the options of a pass as MLIR spells them, with the values that `options` gives by name.

        Raises:
            PipelineError: an option is unknown or has a value of the wrong type.
        """
        changed = self(**{name.replace("-", "_"): value for name, value in options.items()})
        values = dict(arg.partition("=")[::2] for arg in (*args, *changed.args))
        return tuple(f"{name}={value}" for name, value in sorted(values.items()))

    def __repr__(self) -> str:
        return f"<pass {self._name}{getattr(self, '__signature__', '(*args)')}>"


def find_factory(name: str, stages: Iterable[str], among: Sequence[Extension] | None = None) -> PassFactory:
    """Returns the factory of the extension pass `name`.

    Args:
        name: name of the extension.
        stages: the pass may be for any of these; the first that has one counts.
        among: the extensions to search; None for all that are found.

    Raises:
        ExtensionNotFoundError: no stage has such a pass; the message is about the last one.
    """
    problem = ExtensionNotFoundError(f"no extension offers a pass '{name}'")
    for stage in stages:
        try:
            return PassFactory(find_pass(name, stage, among), name, stage)
        except ExtensionNotFoundError as error:
            problem = error
    raise problem


def _docstring(manifest: Manifest) -> str:
    lines = [manifest.summary + ".", "", manifest.description, ""]
    if manifest.targets:
        lines += [f"Only for the target {' or '.join(manifest.targets)}.", ""]
    if manifest.options:
        lines += ["Args:", *(f"    {o.python_name}: {o.description}.{_choices(o)}" for o in manifest.options)]
    return "\n".join(lines).rstrip() + "\n"


def _choices(option: Option) -> str:
    return f" One of: {', '.join(option.values)}." if option.values else ""


def _annotation(option: Option) -> object:
    """Returns the type of the option's value in Python."""
    kind: Any = Literal[option.values] if option.values else option.python_type
    return Sequence[kind] if option.list else kind


def _format(pass_name: str, option: Option, value: object) -> str:
    """Returns ``name=value`` as MLIR parses it.

    Raises:
        PipelineError: `value` does not fit the declaration of `option`, or MLIR's syntax cannot express it.
    """
    values = value if option.list else [value]
    if not isinstance(values, list | tuple):
        values = [...]  # fits no type, so it is refused below
    wanted = option.python_type
    for item in values:
        # In Python a bool is an int; as a pass option it is not. A float may be given as an int.
        if type(item) is not wanted and not (wanted is float and type(item) is int):
            kind = f"a list of {wanted.__name__}" if option.list else wanted.__name__
            raise PipelineError(
                f"option '{option.python_name}' of pass '{pass_name}': expected {kind}, got {shown(value)}"
            )
        if option.values and item not in option.values:
            raise PipelineError(
                f"option '{option.python_name}' of pass '{pass_name}': expected one of {', '.join(option.values)}, "
                f"got {shown(item)}"
            )
        if isinstance(item, int) and item not in option.range:
            raise PipelineError(
                f"option '{option.python_name}' of pass '{pass_name}': {in_words(item)} is out of the range of "
                f"{option.type}"
            )
        if isinstance(item, str) and not _can_be_written(item, option.list):
            raise PipelineError(
                f"option '{option.python_name}' of pass '{pass_name}': MLIR has no way to write {shown(item)}"
                + (" in a list" if option.list else "")
            )
    texts = (_spelled(item, wanted) for item in values)
    return f"{option.name}={','.join(texts)}"


def _spelled(item: object, wanted: type) -> str:
    """Returns `item` in the one spelling that text form and cache key use: a float that is given as 1 is ``1.0``."""
    if isinstance(item, bool):
        return str(item).lower()
    return str(float(item) if wanted is float and isinstance(item, int) else item)


def _read(option: Option, text: str) -> object:
    """Returns the value that MLIR's `text` stands for; if it is malformed, the text itself, which `_format` refuses."""
    if option.list:
        return [_read(replace(option, list=False), item) for item in text.split(",")] if text else []
    kind = option.python_type
    if kind is bool:
        return {"true": True, "1": True, "false": False, "0": False}.get(text.lower(), text)
    if kind is str:
        quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
        return text[1:-1] if quoted else text
    try:
        return int(text, 0) if kind is int else float(text)
    except ValueError:
        return text


def _can_be_written(text: str, in_list: bool) -> bool:
    """Whether MLIR's parser of pass options returns `text` unchanged: it trims, has no escapes and splits lists."""
    if not text.isprintable() and any("\ud800" <= c <= "\udfff" for c in text):
        return False
    if in_list:
        return bool(text) and not set(text) & set(" \t\n\v\f\r,'\"{}()[]")
    return text == text.strip(" \t\n\v\f\r") and not ("'" in text and '"' in text)
