# SPDX-License-Identifier: Apache-2.0
"""``with`` statements of kernels: an operation with a region, or one operation before the block and one behind it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ..patches import with_statements
from . import library
from .errors import LanguageError

if TYPE_CHECKING:
    from .declaration import Declaration


@dataclass(frozen=True)
class Call:
    """The parts of an operation that one call of a declaration determines.

    Attributes:
        operands: the values.
        groups: how many operands belong to each parameter.
        attributes: name and MLIR's text of each.
        arguments: the arguments of the call by parameter.
    """

    operands: Sequence[Any]
    groups: Sequence[int]
    attributes: Sequence[tuple[str, str]]
    arguments: Mapping[str, Any]


def handles_of(values: Iterable[Any]) -> list[Any]:
    """Returns libtriton's values that `values` consist of."""
    handles: list[Any] = []
    for value in values:
        value._flatten_ir(handles)
    return handles


class Pair:
    """Builds one operation when the block begins, and, from its results, another one when it ends."""

    def __init__(self, declaration: Declaration, semantic: Any, call: Call) -> None:
        self._declaration = declaration
        self._semantic = semantic
        self._call = call

    def __enter__(self) -> Any:
        self._begun = self._declaration.build(self._semantic, self._call)
        return self._begun

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        end = self._declaration.end
        assert end is not None
        begun = self._begun if isinstance(self._begun, tuple) else () if self._begun is None else (self._begun,)
        handles = handles_of(begun)
        description = library.Description(end, (), (), [1] * len(handles))
        self._declaration.built(self._semantic.builder, description, handles)


class Region:
    """Builds one operation, and has the block of the ``with`` statement in its region.

    What is assigned in the block does not leave it: SSA values of a region are not known behind its operation.
    """

    def __init__(self, declaration: Declaration, semantic: Any, call: Call) -> None:
        assert declaration.operation is not None
        self._declaration = declaration
        self._builder = semantic.builder
        self._call = call
        self._description = library.Description(
            declaration.operation, call.attributes, (), call.groups, has_region=True
        )

    def __enter__(self) -> None:
        self._generator = with_statements.generator()
        self._before = dict(getattr(self._generator, "lscope", {}))
        self._declaration.built(self._builder, self._description, handles_of(self._call.operands))
        self._built = library.built()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            library.leave(self._builder, self._built, self._declaration.terminator)
        except ValueError as problem:
            raise LanguageError(f"{self._declaration}: {problem}") from None
        scope = getattr(self._generator, "lscope", {})
        for name in list(scope):
            if name not in self._before:
                del scope[name]
                self._generator.local_defs.pop(name, None)
            elif scope[name] is not self._before[name]:
                raise LanguageError(
                    f"'{name}' is assigned in the block of `with {self._declaration.name}(...)`, which no value leaves",
                    fix="another name, or the assignment before the block",
                )
