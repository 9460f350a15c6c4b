# SPDX-License-Identifier: Apache-2.0
"""The manifest that every triton-ext library carries in an ELF note, as typed data."""

from __future__ import annotations

import json
from dataclasses import dataclass

FORMAT = 1

#: The Python types that an option can have.
Scalar = type[int] | type[float] | type[bool] | type[str]

_PYTHON_TYPES: dict[str, Scalar] = {
    **dict.fromkeys(("int", "int32_t", "int64_t", "unsigned", "uint32_t", "uint64_t", "size_t"), int),
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
        default: C++ expression, empty for none.
        description: one line.
    """

    name: str
    type: str
    list: bool
    default: str
    description: str

    @property
    def python_name(self) -> str:
        """Keyword in Python, e.g. ``max_splits``."""
        return self.name.replace("-", "_")

    @property
    def python_type(self) -> Scalar:
        """Type of one value; ``str`` where C++ has a type of its own (an enum)."""
        return _PYTHON_TYPES.get(self.type, str)

    @property
    def python_default(self) -> object:
        """The default as a Python value where it is a literal, ``...`` otherwise."""
        if self.list:
            return ()
        if self.type == "bool":
            return self.default == "true"
        try:
            return self.python_type(json.loads(self.default))
        except (ValueError, TypeError):
            return ...


@dataclass(frozen=True)
class Manifest:
    """What a library says of itself; see ``infra/cmake/generate_pass_glue.py`` for who writes it."""

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

    @classmethod
    def parse(cls, text: str) -> Manifest:
        """Parses the text of the ELF note.

        Raises:
            ValueError: not a manifest of a format that this version reads.
        """
        try:
            fields = json.loads(text)
            if fields.pop("format") != FORMAT:
                raise ValueError("written in a newer format")
            fields["options"] = tuple(Option(**option) for option in fields["options"])
            return cls(**fields)
        except (TypeError, KeyError, AttributeError) as error:
            raise ValueError(str(error)) from None
