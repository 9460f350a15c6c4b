# SPDX-License-Identifier: Apache-2.0
"""Says what is wrong with launches: runs them in Triton's interpreter on arrays with checked bounds.

``oracle.py corpus [NAME ...]`` prints in JSON what is wrong with the kernels of the corpus and with their twins;
``oracle.py FILE SEED EACH`` with the launches of a file of `random_kernels`. TRITON_INTERPRET=1 has to be set. Nothing
of `passes/sanitizer` is used here. The truth about garbage (`lanes`) is found by changing it: a load whose masked-off
lanes change what the kernel stores, or which branch it takes, is wrong.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from triton.runtime import interpreter
from triton.tools.tensor_descriptor import TensorDescriptor

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from support.sanitizer import races
from support.sanitizer.cases import Case, corpus, programs
from support.sanitizer.memory import Memory
from support.sanitizer.watching import Run, Watching, install


class _Address:
    """A tensor argument, of which the interpreter only asks for the type and the address."""

    def __init__(self, tensor: torch.Tensor, address: int) -> None:
        self.dtype = tensor.dtype
        self.address = address

    def data_ptr(self) -> int:
        return self.address


def _arguments(memory: Memory, given: dict[str, Any], constants: list[str]) -> dict[str, Any]:
    def convert(name: str, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return _Address(value, memory.add(value, name))
        if isinstance(value, tuple):
            return tuple(convert(f"{name}[{i}]", one) for i, one in enumerate(value))
        if isinstance(value, TensorDescriptor):
            return dataclasses.replace(value, base=_Address(value.base, memory.add(value.base, name)))
        return value

    convert_to_tensor = interpreter._implicit_cvt
    return {
        name: value if name in constants else convert_to_tensor(convert(name, value)) for name, value in given.items()
    }


def interpret(kernel: Any, memory: Memory, given: dict[str, Any], grid: tuple[int, ...], run: Run) -> None:
    """Executes a launch."""
    function = kernel.rewrite()
    constants = [name for name, kind in inspect.get_annotations(kernel.fn).items() if "constexpr" in str(kind)]
    watching = interpreter.interpreter_builder
    assert isinstance(watching, Watching)
    watching.begin(run, memory)
    scope = interpreter._patch_lang(kernel.fn)
    try:
        arguments = _arguments(memory, given, constants)
        watching.set_grid_dim(*(*grid, 1, 1)[:3])
        for program in programs(grid):
            watching.set_grid_idx(*program)
            function(**arguments)
    finally:
        scope.restore()


def findings(case: Case, bug: bool) -> list[dict[str, Any]]:
    """Returns what is wrong with a launch of the corpus."""

    def execute(garbage: tuple[int, float] | None = None) -> Run:
        memory = Memory(bug)
        run = Run(case.file, garbage=garbage)
        interpret(case.kernel, memory, case.given(memory), case.grid, run)
        return run

    plain = execute()
    wrong = [*plain.findings.values(), *races.races(plain.touched)]
    for line in sorted(plain.without_other):
        if any(repr(execute((line, number)).effects) != repr(plain.effects) for number in (3.0, 1e3, np.nan)):
            wrong.append({"check": "lanes", "line": line, "argument": plain.without_other[line], "lanes": []})
    return wrong


def main(what: str, *arguments: str) -> None:
    """Prints the truth in JSON."""
    install()
    if what == "corpus":
        chosen = {name: case for name, case in corpus().items() if not arguments or name in arguments}
        truth: object = {
            name: {"bug": findings(case, True), "twin": findings(case, False)} for name, case in chosen.items()
        }
    else:
        from support.sanitizer import random_launches

        truth = random_launches.interpret_all(Path(what), int(arguments[0]), int(arguments[1]))
    print(json.dumps(truth))


if __name__ == "__main__":
    main(*sys.argv[1:])
