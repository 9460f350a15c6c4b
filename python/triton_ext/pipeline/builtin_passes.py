# SPDX-License-Identifier: Apache-2.0
"""The passes of libtriton as typed Python values: `BuiltinPass`, and the `BuiltinFactory` that makes one."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import PipelineError
from ..patches import signatures
from ..support.closest import closest
from ..support.shown import shown
from .values import Value, braces


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
        """The function of libtriton that adds the pass to a pass manager."""
        return find_builtin(self.name)

    def __str__(self) -> str:
        names = (name for name, _ in signatures.parameters(self.add))
        return self.name + braces(dict(zip(names, self.args, strict=False)))


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
    """Returns `values` under the names that `add` gives its arguments.

    Args:
        where: the edit or the pass, for messages.
        add: the function of libtriton.
        values: the arguments by name, in which ``-`` may stand for ``_``.

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
        if type(value).__name__ != declared[name]:  # a bool is not an int here
            raise PipelineError(f"{where}: argument '{name}': expected {declared[name]}, got {shown(value)}")
        checked[name] = value
    return checked


def find_builtin(name: str) -> Callable[..., None]:
    """Returns the function of libtriton that adds the pass ``group.pass``.

    Raises:
        PipelineError: libtriton has no such pass.
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
    """Returns the module of libtriton with the passes of a group, e.g. ``["ttgpuir"]`` or ``["nvidia", "ttnvgpuir"]``.

    Returns None if there is no such group.
    """
    from triton._C import libtriton

    for root in (["passes"], [*groups[:1], "passes"]):
        found: Any = libtriton
        for part in [*root, *(groups if root == ["passes"] else groups[1:])]:
            found = getattr(found, part, None)
        if isinstance(found, types.ModuleType):
            return found
    return None


def builtin_names() -> list[str]:
    """Returns ``group.pass`` of every pass that libtriton offers to Python."""
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


def _signature(parameters: Any) -> str:
    return ", ".join(f"{name}: {kind}" for name, kind in parameters)
