# SPDX-License-Identifier: Apache-2.0
"""Runs `integer_programs` on the CPU backend, many in one kernel, and compares each value with the interpreter's."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
import triton
from triton.backends.compiler import GPUTarget

from support.analysis.integer_claims import OPT, Run
from support.analysis.integer_programs import PROGRAMS, ROWS, Value

INPUTS = 24  # for each program and program id, chosen among the inputs for which the program is defined
WORDS = 4  # in a row of the table of inputs: whether the program runs, and its arguments
_SHARED = "%table: !tt.ptr<i64>, %row: !tt.ptr<i64>, %out: !tt.ptr<i64>"
_TYPES = "!tt.ptr<i64>, !tt.ptr<i64>, !tt.ptr<i64>"


def results(run: Run) -> list[Value]:
    """Returns the values to compare: the values at the top level of the program, without addresses of the table."""
    return [value for value in run.program.top if value.element not in ("index", "!tt.ptr<i64>")]


def size(value: Value) -> int:
    return int(np.prod(value.shape))


def _store(value: Value, k: int, at: int) -> list[str]:
    """Returns the lines that store `value` in 64 bits, from the element `at` on."""
    lines, name = [], value.name
    wide = f"tensor<{''.join(f'{n}x' for n in value.shape)}i64>" if value.shape else "i64"
    if value.is_pointer:
        lines.append(f"%w{k} = tt.ptr_to_int {name} : {value.type} -> {wide}")
        name = f"%w{k}"
    elif value.width < 64:
        lines.append(f"%w{k} = arith.extsi {name} : {value.type} to {wide}")
        name = f"%w{k}"
    lines += [f"%o{k} = arith.constant {at} : i32", f"%s{k} = tt.addptr %out, %o{k} : !tt.ptr<i64>, i32"]
    if not value.shape:
        return [*lines, f"tt.store %s{k}, {name} : !tt.ptr<i64>"]
    count = size(value)
    flat, pointers = f"tensor<{count}xi64>", f"tensor<{count}x!tt.ptr<i64>>"
    if len(value.shape) > 1:
        lines.append(f"%f{k} = tt.reshape {name} : {wide} -> {flat}")
        name = f"%f{k}"
    return [
        *lines,
        f"%g{k} = tt.make_range {{start = 0 : i32, end = {count} : i32}} : tensor<{count}xi32>",
        f"%h{k} = tt.splat %s{k} : !tt.ptr<i64> -> {pointers}",
        f"%i{k} = tt.addptr %h{k}, %g{k} : {pointers}, tensor<{count}xi32>",
        f"tt.store %i{k}, {name} : {pointers}",
    ]


def _function(run: Run, number: int) -> tuple[str, int]:
    """Returns a function that reads the program's arguments and stores its values, and the number of their elements."""
    program = run.program
    lines = [f"tt.func private @f{number}({_SHARED}) {{"]
    numbers = [value for value in program.arguments[1:-1] if not value.is_pointer]
    for k, argument in enumerate(numbers):
        lines += [
            f"%at{k} = arith.constant {k + 1} : i32",
            f"%slot{k} = tt.addptr %row, %at{k} : !tt.ptr<i64>, i32",
            f"%loaded{k} = tt.load %slot{k} : !tt.ptr<i64>",
            f"{argument.name} = arith.trunci %loaded{k} : i64 to {argument.type}",
        ]
    for argument, values in zip(program.arguments[1:], program.inputs[1:], strict=True):
        if argument.is_pointer:
            lines += [
                f"%address = arith.constant {values[0]} : i64",
                f"{argument.name} = tt.int_to_ptr %address : i64 -> {argument.type}",
            ]
    lines += program.lines[1:-2]
    at = 0
    for k, value in enumerate(results(run)):
        lines += _store(value, k, at)
        at += size(value)
    return "\n".join([*lines, "tt.return", "}"]), at


def compare(runs: Sequence[Run], directory: Path) -> tuple[list[str], int]:
    """Returns each value that differs, and how many elements have been compared."""
    rows = INPUTS * PROGRAMS
    table = torch.zeros((len(runs), rows, WORDS), dtype=torch.int64)
    chosen = []
    for n, run in enumerate(runs):
        fine = np.flatnonzero(~run.machine.bad & ~run.machine.endless)
        ids = run.program.inputs[-1]
        pick = np.random.default_rng(n)
        of: dict[int, int] = {}
        for y in range(PROGRAMS):
            having = fine[ids[fine] == y]
            for x, place in enumerate(pick.permutation(having)[:INPUTS]):
                of[x * PROGRAMS + y] = int(place)
        numbers = [k for k, value in enumerate(run.program.arguments[:-1]) if k and not value.is_pointer]
        for row, place in of.items():
            words = [1, *(int(run.program.inputs[k][place]) for k in numbers)]
            table[n, row, : len(words)] = torch.tensor(words)
        chosen.append(of)
    functions, starts, total = [], [], 0
    for n, run in enumerate(runs):
        text, count = _function(run, n)
        functions.append(text)
        starts.append((total, count))
        total += count * rows
    lines = [
        *functions,
        "tt.func public @programs(%table: !tt.ptr<i64>, %rows: !tt.ptr<i64>, %outs: !tt.ptr<i64>) {",
        "%zero = arith.constant 0 : i64",
        "%x = tt.get_program_id x : i32",
        "%y = tt.get_program_id y : i32",
        f"%ids = arith.constant {PROGRAMS} : i32",
        "%xs = arith.muli %x, %ids : i32",
        "%here = arith.addi %xs, %y : i32",
        f"%words = arith.constant {WORDS} : i32",
        "%at = arith.muli %here, %words : i32",
    ]
    for n, (start, count) in enumerate(starts):
        lines += [
            f"%first{n} = arith.constant {n * rows * WORDS} : i32",
            f"%place{n} = arith.addi %at, %first{n} : i32",
            f"%row{n} = tt.addptr %rows, %place{n} : !tt.ptr<i64>, i32",
            f"%runs{n} = tt.load %row{n} : !tt.ptr<i64>",
            f"%is{n} = arith.cmpi ne, %runs{n}, %zero : i64",
            f"scf.if %is{n} {{",
            f"%count{n} = arith.constant {count} : i32",
            f"%moved{n} = arith.muli %here, %count{n} : i32",
            f"%start{n} = arith.constant {start} : i32",
            f"%to{n} = arith.addi %moved{n}, %start{n} : i32",
            f"%out{n} = tt.addptr %outs, %to{n} : !tt.ptr<i64>, i32",
            f"tt.call @f{n}(%table, %row{n}, %out{n}) : ({_TYPES}) -> ()",
            "}",
        ]
    file = directory / "integers.ttir"
    # A `.ttir` file starts behind the stage ttir, which inlines, so inline here.
    text = "\n".join([*lines, "tt.return", "}"])
    inlined = subprocess.run(
        [*OPT, "-", "-inline", "-symbol-dce"], input=text, capture_output=True, text=True, check=False
    )
    assert inlined.returncode == 0, inlined.stderr[-3000:]
    file.write_text(inlined.stdout)
    compiled = triton.compile(str(file), target=GPUTarget("cpu", "generic", 0))
    out = torch.zeros(total, dtype=torch.int64)
    compiled[(INPUTS, PROGRAMS, 1)]((torch.arange(-ROWS, ROWS) * 3 + 1000)[ROWS:], table, out)
    wrong, compared = [], 0
    for n, (run, (start, count)) in enumerate(zip(runs, starts, strict=True)):
        got = out[start : start + count * rows].reshape(rows, count).numpy()
        at = 0
        for value in results(run):
            (record,) = run.records(value)
            picked = list(chosen[n].items())
            mine = got[[row for row, _ in picked], at : at + size(value)]
            expected = record.numbers[[place for _, place in picked]].reshape(len(picked), size(value))
            at += size(value)
            compared += mine.size
            if (mine != expected).any():
                k = int(np.flatnonzero((mine != expected).any(axis=1))[0])
                inputs = [int(numbers[picked[k][1]]) for numbers in run.program.inputs]
                wrong.append(
                    f"{value.name} is {list(mine[k])}, not {list(expected[k])}, for {inputs}\n{run.program.text()}"
                )
                break
    return wrong, compared
