# SPDX-License-Identifier: Apache-2.0
"""The manifest that every triton-ext library carries in an ELF note, as typed data."""

from __future__ import annotations

import dataclasses
import functools
import json
import keyword
import re
from dataclasses import dataclass
from typing import TypeVar

from ..errors import PipelineError

#: In format 2 the library has no copies of objects that must exist once per process; see `singletons`.
FORMAT = 2
_SUFFIX = re.compile(r"(?<=[\d.])[uUlLfF]+$")  # of a C++ number
_T = TypeVar("_T")
_CHECKED_TYPES: dict[str, type | tuple[type, ...]] = {"str": str, "bool": bool, "str | None": (str, type(None))}

#: The Python types that an option can have.
Scalar = type[int] | type[float] | type[bool] | type[str]

#: The bits that an integer in a pipeline may have; no argument or option of a pass has more than 64.
_MOST_BITS = 1024
_INTEGERS = {
    **dict.fromkeys(("int", "int32_t"), range(-(2**31), 2**31)),
    "int64_t": range(-(2**63), 2**63),
    **dict.fromkeys(("unsigned", "uint32_t"), range(2**32)),
    **dict.fromkeys(("uint64_t", "size_t"), range(2**64)),
}
_PYTHON_TYPES: dict[str, Scalar] = {
    **dict.fromkeys(_INTEGERS, int),
    **dict.fromkeys(("float", "double"), float),
    "bool": bool,
    "std::string": str,
}


@dataclass(frozen=True)
class Option:
    """One option of a pass, as declared in its ``.td``.

    Attributes:
        name: spelling in textual pipelines, e.g. ``max-splits``.
        type: C++ type, e.g. ``int64_t``.
        list: whether it takes several values.
        default: C++ expression, empty for none; of an enum, the spelling in textual pipelines.
        description: one line.
        values: the values of an enum, as textual pipelines spell them; empty for other types.
    """

    name: str
    type: str
    list: bool
    default: str
    description: str
    values: tuple[str, ...] = ()

    @property
    def python_name(self) -> str:
        """Keyword in Python, e.g. ``max_splits``."""
        return self.name.replace("-", "_")

    @property
    def python_type(self) -> Scalar:
        """Type of one value; ``str`` where C++ has a type of its own (an enum)."""
        return _PYTHON_TYPES.get(self.type, str)

    @property
    def range(self) -> range:
        """The integers that its type can hold; for a float, integers of any size that makes sense."""
        return _INTEGERS.get(self.type, range(-(2**64), 2**64))

    @property
    def python_default(self) -> object:
        """The default as a Python value; ``...`` if it is not a literal."""
        if self.list:
            return ()
        if self.values:
            return self.default if self.default in self.values else ...
        if self.type == "bool":
            return self.default == "true"
        try:
            return self.python_type(json.loads(_SUFFIX.sub("", self.default)))
        except (ValueError, TypeError):
            return ...


@dataclass(frozen=True)
class OwnPass:
    """A pass that a backend's library brings for the backend's own stages.

    Attributes:
        name: as the backend's stages call it, e.g. ``lower_tiles`` for ``cpu.lower_tiles``.
        argument: spelling in textual pipelines.
        summary: one line.
        description: Markdown.
        options: its options.
    """

    name: str
    argument: str
    summary: str
    description: str
    options: tuple[Option, ...]


@dataclass(frozen=True)
class Manifest:
    """What a library says of itself, as ``infra/cmake/manifest.py`` and ``triton_ext/Manifest.h`` write it.

    `stage`, `targets`, `argument` and `options` are those of a pass, `ops` those of a dialect:
    ``builder.create_<op>``, `passes` those of a backend. A stage ``any`` means every stage, and no targets mean every
    target. `lower_with` names the pass that lowers a dialect, and `lower_at` its place, e.g. ``ttir:start``; both are
    empty if there is none.
    """

    name: str
    kind: str
    stage: str | None
    version: str
    triton: str
    llvm_commit: str
    headers: str
    compiler: str
    abi_breaking_checks: bool
    argument: str
    summary: str
    description: str
    options: tuple[Option, ...]
    ops: tuple[str, ...]
    targets: tuple[str, ...] = ()
    lower_with: str = ""
    lower_at: str = ""
    passes: tuple[OwnPass, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Manifest:
        """Parses the text of the ELF note.

        Raises:
            ValueError: not a manifest of a format that this version reads.
        """
        try:
            fields = json.loads(text)
        except RecursionError:
            raise ValueError("nested too deeply") from None
        if not isinstance(fields, dict):
            raise ValueError("it is not a JSON object")
        if (found := fields.pop("format", None)) != FORMAT:
            why = (
                "; libraries of format 1 have copies of objects that must exist once per process, with which passes "
                "take conflicting effects for independent ones"
            )
            raise ValueError(f"written in format {found}, this reads format {FORMAT}{why if found == 1 else ''}")
        for name in ("ops", "targets"):
            if name in fields:
                fields[name] = _names(name, fields[name])
        passes = fields.get("passes", [])
        if not isinstance(passes, list):
            raise ValueError("'passes' is not a list")
        own = tuple(_checked(OwnPass, _with_options(each)) for each in passes)
        manifest = _checked(cls, _with_options({**fields, "passes": own}))
        names = [option.python_name for option in manifest.options]
        for name in names:
            if not name.isidentifier() or keyword.iskeyword(name):
                raise ValueError(f"option '{name}' is not a Python identifier")
            if names.count(name) > 1:
                raise ValueError(f"two options are called '{name}' in Python")
        return manifest


def digits(value: int) -> str:
    """Returns `value` in decimal digits.

    Raises:
        PipelineError: it has more bits than an integer in a pipeline may have; Python writes at most 4,300 digits.
    """
    if value.bit_length() > _MOST_BITS:
        raise PipelineError(f"{in_words(value)}, expected at most {_MOST_BITS}")
    return str(value)


def in_words(value: int) -> str:
    """Returns `value` for a message: its digits, or the number of its bits if it is too long for Python to print."""
    return str(value) if value.bit_length() <= _MOST_BITS else f"an integer of {value.bit_length():,} bits"


def _with_options(record: object) -> object:
    """Returns `record`, a pass or a manifest, with its options as typed data."""
    options = record.get("options") if isinstance(record, dict) else None
    if not isinstance(record, dict) or not isinstance(options, list):
        raise ValueError("'options' is not a list")
    for option in options:
        if isinstance(option, dict) and "values" in option:
            option["values"] = _names("values", option["values"])
    return {**record, "options": tuple(_checked(Option, option) for option in options)}


def _names(field: str, value: object) -> tuple[str, ...]:
    """Returns the list `value` as a tuple of texts.

    Raises:
        ValueError: it is not a list of texts.
    """
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"'{field}' is not a list of names")
    return tuple(value)


@functools.cache
def _fields(cls: type) -> tuple[dict[str, object], set[str]]:
    """Returns the fields of a dataclass with their types, and the names of those that have a default."""
    fields = dataclasses.fields(cls)
    return (
        {field.name: field.type for field in fields},
        {field.name for field in fields if field.default is not dataclasses.MISSING},
    )


def _checked(cls: type[_T], values: object) -> _T:
    """Returns a `cls` with the fields in `values`. A field with a default may be missing: older libraries lack it.

    Raises:
        ValueError: a field is missing, unknown or has the wrong type.
    """
    declared, added = _fields(cls)  # type: ignore[arg-type] # classes are hashable
    if not isinstance(values, dict):
        raise ValueError(f"{values!r} is not a JSON object")
    if odd := sorted((declared.keys() ^ values.keys()) - (added - values.keys())):
        raise ValueError(f"'{odd[0]}' is missing or unknown")
    for name, value in values.items():
        if not isinstance(value, _CHECKED_TYPES.get(str(declared[name]), object)):
            raise ValueError(f"'{name}' has the value {value!r}")
    return cls(**values)
