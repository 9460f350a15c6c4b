# SPDX-License-Identifier: Apache-2.0
"""Runs the random programs of `programs` as one kernel of the CPU backend, with the pass on and off.

The kernel records in order what the programs store and return. The interpreter decides which inputs have a meaning.
"""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import torch
import triton
from triton.backends.compiler import GPUTarget

from support.loop_split import interpret, programs

LOG = 1 << 20  # entries; more overwrite the first
INPUTS = 8  # of each program
SLOTS = 32  # numbers in the table for each program: whether it runs, and its arguments

#: Called for each store.
_RECORD = (
    "".join(
        f"""
tt.func private @record_{type_}(%log: !tt.ptr<i64>, %count: !tt.ptr<i32>, %value: {type_}) {{
  %one = arith.constant 1 : i32
  %last = arith.constant {LOG - 1} : i32
  %k = tt.load %count : !tt.ptr<i32>
  %next = arith.addi %k, %one : i32
  tt.store %count, %next : !tt.ptr<i32>
  %slot = arith.andi %k, %last : i32
  %at = tt.addptr %log, %slot : !tt.ptr<i64>, i32
  {"%wide = arith.extsi %value : " + type_ + " to i64" if type_ != "i64" else ""}
  tt.store %at, {"%wide" if type_ != "i64" else "%value"} : !tt.ptr<i64>
  tt.return
}}"""
        for type_ in ("i8", "i16", "i32", "i64")
    )
    + f"""
tt.func private @record_lanes(%log: !tt.ptr<i64>, %count: !tt.ptr<i32>, %values: tensor<{programs.LANES}xi8>,
                              %mask: tensor<{programs.LANES}xi1>) {{
  %lanes = arith.constant {programs.LANES} : i32
  %last = arith.constant {LOG - 2 * programs.LANES} : i32
  %k = tt.load %count : !tt.ptr<i32>
  %next = arith.addi %k, %lanes : i32
  tt.store %count, %next : !tt.ptr<i32>
  %slot = arith.minui %k, %last : i32
  %start = tt.splat %slot : i32 -> tensor<{programs.LANES}xi32>
  %range = tt.make_range {{start = 0 : i32, end = {programs.LANES} : i32}} : tensor<{programs.LANES}xi32>
  %offsets = arith.addi %start, %range : tensor<{programs.LANES}xi32>
  %base = tt.splat %log : !tt.ptr<i64> -> tensor<{programs.LANES}x!tt.ptr<i64>>
  %at = tt.addptr %base, %offsets : tensor<{programs.LANES}x!tt.ptr<i64>>, tensor<{programs.LANES}xi32>
  %wide = arith.extsi %values : tensor<{programs.LANES}xi8> to tensor<{programs.LANES}xi64>
  tt.store %at, %wide, %mask : tensor<{programs.LANES}x!tt.ptr<i64>>
  tt.return
}}"""
)

_SHARED = "%log: !tt.ptr<i64>, %count: !tt.ptr<i32>, %pi8: !tt.ptr<i8>, %table: !tt.ptr<i64>"
_TYPES = "!tt.ptr<i64>, !tt.ptr<i32>"


def _record(kind: str, operands: str, types: str) -> str:
    return f"tt.call @record_{kind}(%log, %count, {operands}) : ({_TYPES}, {types}) -> ()"


def _function(program: programs.Program) -> str:
    """Returns the program with arguments loaded from the table, and calls in place of its stores and returns."""
    head, *body = program.text.splitlines()
    name = re.search(r"@(\w+)", head)
    assert name
    lines = [f"tt.func private @{name[1]}({_SHARED}) {{"]
    for n, (argument, type_) in enumerate(re.findall(r"(%a\d+): (\w+)", head)):
        loaded = argument if type_ == "i64" else f"%number{n}"
        lines += [
            f"  %offset{n} = arith.constant {n + 1} : i32",
            f"  %slot{n} = tt.addptr %table, %offset{n} : !tt.ptr<i64>, i32",
            f"  {loaded} = tt.load %slot{n} : !tt.ptr<i64>",
        ]
        if loaded != argument:
            lines.append(f"  {argument} = arith.trunci {loaded} : i64 to {type_}")
    lanes, bits = f"tensor<{programs.LANES}xi8>", f"tensor<{programs.LANES}xi1>"
    lines.append(f"  %always = arith.constant dense<true> : {bits}")
    for line in body:
        if scalar := re.match(r"\s*tt.store %p\w+, (%[\w#]+) : !tt.ptr<(\w+)>", line):
            lines.append(_record(scalar[2], scalar[1], scalar[2]))
        elif tensor := re.match(r"\s*tt.store %\w+, (%\w+)(?:, (%\w+))? : tensor", line):
            lines.append(_record("lanes", f"{tensor[1]}, {tensor[2] or '%always'}", f"{lanes}, {bits}"))
        elif returned := re.match(r"\s*tt.return (.*) : (.*)", line):
            for value, type_ in zip(returned[1].split(", "), returned[2].split(", "), strict=True):
                lines.append(_record(type_, value, type_))
            lines.append("  tt.return")
        else:
            lines.append(line)
    return "\n".join(lines)


def kernel(batch: list[programs.Program]) -> str:
    """Returns a module with a kernel that runs the programs which the table selects."""
    lines = [
        _RECORD,
        *map(_function, batch),
        f"tt.func public @programs({_SHARED}) {{",
        "  %zero = arith.constant 0 : i64",
    ]
    for n in range(len(batch)):
        lines += [
            f"  %offset{n} = arith.constant {n * SLOTS} : i32",
            f"  %row{n} = tt.addptr %table, %offset{n} : !tt.ptr<i64>, i32",
            f"  %runs{n} = tt.load %row{n} : !tt.ptr<i64>",
            f"  %is{n} = arith.cmpi ne, %runs{n}, %zero : i64",
            f"  scf.if %is{n} {{",
            _record("i64", f"%runs{n}", "i64"),
            f"    tt.call @f{n}(%log, %count, %pi8, %row{n}) : ({_TYPES}, !tt.ptr<i8>, !tt.ptr<i64>) -> ()",
            "  }",
        ]
    return "\n".join([*lines, "  tt.return", "}"])


def _run(text: str, directory: Path, tables: list[torch.Tensor]) -> list[list[int]]:
    """Returns what the kernel records for each table."""
    file = directory / "programs.ttir"
    file.write_text(text)
    compiled = triton.compile(str(file), target=GPUTarget("cpu", "generic", 0))
    written = []
    for table in tables:
        log, count = torch.zeros(LOG, dtype=torch.int64), torch.zeros(1, dtype=torch.int32)
        compiled[(1, 1, 1)](log, count, torch.tensor([3, -7, 11, 100], dtype=torch.int8), table)
        assert count.item() <= LOG, "more is stored than programs of this size store"
        written.append(log[: count.item()].tolist())
    return written


def random_programs(random: Random, count: int, options: str) -> list[programs.Program]:
    """Returns programs without `index`, a type that kernels do not have.

    They have many inputs, because compiling a program takes much longer than running it.
    """
    batch: list[programs.Program] = []
    while len(batch) < count:
        program = programs.program(random, f"f{len(batch)}", options, inputs=INPUTS)
        batch += [program] if "index" not in program.text else []
    return batch


def check(batch: list[programs.Program], options: str, directory: Path) -> programs.Outcome:
    """Compares what the programs do with the pass on and off.

    Raises:
        AssertionError: they differ; the message has the first program that does.
    """
    small = "no-wrap" in options
    plain = programs.opt("\n".join(p.text for p in batch), "-mlir-print-op-generic")
    meaning = interpret.functions(interpret.texts(plain), strict=True, small=small, bounded=True)
    outcome = programs.Outcome()
    tables = []
    for number in range(len(batch[0].inputs)):
        table = torch.zeros(len(batch), SLOTS, dtype=torch.int64)
        for n, (program, function) in enumerate(zip(batch, meaning.values(), strict=True)):
            arguments = program.inputs[number]
            try:
                stored, _ = function(*arguments)
            except (interpret.Poison, interpret.TooLong):
                stored = None
            if stored is None or len(stored) > LOG // len(batch) // 2:
                outcome.vacuous += 1
                continue
            numbers = arguments[len(programs.WIDTHS) - 1 :]  # behind the pointers
            table[n, : 1 + len(numbers)] = torch.tensor([n + 1, *numbers], dtype=torch.int64)
            outcome.cases += 1
        tables.append(table)
    text = kernel(batch)
    inline = ("-inline", "-symbol-dce")  # the stage ttir does, which a file in that form begins behind
    on, off = programs.opt(text, f"-triton-ext-loop-split={options}", *inline), programs.opt(text, *inline)
    outcome.split = on.count("triton_ext.split")
    for table, expected, got in zip(tables, _run(off, directory, tables), _run(on, directory, tables), strict=True):
        if expected != got:
            ran = [n for n in range(len(batch)) if table[n, 0]]
            raise AssertionError(f"-triton-ext-loop-split={options} changes one of the programs {ran} of\n{text}")
    return outcome
