# SPDX-License-Identifier: Apache-2.0
"""Random conditions for which a kernel for NVIDIA raises the flag of its launch, and what lower_probe makes of them."""

from __future__ import annotations

import os
import random
import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import triton

from support import forked_opt
from support.probe.ptx import Machine, assemblies_in

MAGIC = 0x31304C534F525054
#: The address of the slot.
START = 2**33
MODULE = """
module attributes {{probe.target = "cuda:90", probe.num_warps = 4 : i32, probe.warp_size = 32 : i32}} {{
{kernels}
}}
"""
KERNEL = """
tt.func public @kernel({arguments}) {{
{body}
  tt.return
}}
"""
ARGUMENTS = {"%arg0": "i32", "%arg1": "i32", "%arg2": "i64", "%arg3": "!tt.ptr<f32>", "%arg4": "i1"}
#: The words of the slot: its head, and eight for each argument; behind them is the flag.
WORDS = 8 + 8 * len(ARGUMENTS)
PREDICATES: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda x, y: x == y, "ne": lambda x, y: x != y, "lt": lambda x, y: x < y, "le": lambda x, y: x <= y,
    "gt": lambda x, y: x > y, "ge": lambda x, y: x >= y,
}  # fmt: skip
BINARY: dict[str, Callable[[int, int], int]] = {
    "addi": lambda x, y: x + y, "subi": lambda x, y: x - y, "muli": lambda x, y: x * y, "andi": lambda x, y: x & y,
    "ori": lambda x, y: x | y, "xori": lambda x, y: x ^ y, "minsi": min, "maxsi": max, "minui": min, "maxui": max,
}  # fmt: skip
EDGES = [0, 1, -1, 4, 1023, 2**31 - 1, -(2**31)]


def wrapped(value: int, bits: int) -> int:
    return value % 2 if bits == 1 else (value + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)


class Body:
    """Operations, and what they compute from the arguments, the slot and the number of the program."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.values: dict[str, int] = {}
        self.widths: dict[str, int] = {}
        self.arguments = {"%arg0": self.number(32), "%arg1": self.number(32), "%arg2": self.number(64)}
        self.arguments |= {"%arg3": self.random.randrange(2**40), "%arg4": self.random.randrange(2)}
        self.program = tuple(self.random.randrange(size) for size in (5, 3, 2))
        self.has_slot = self.random.random() < 0.8
        self.slot = [MAGIC if self.has_slot else 7, *(self.number(64) for _ in range(WORDS - 1)), 0, 0]

    def number(self, bits: int) -> int:
        far = self.random.randrange(-(2 ** (bits - 1)), 2 ** (bits - 1))
        return self.random.choice([*EDGES, far, far >> bits // 2])

    def add(self, text: str, value: int, bits: int) -> str:
        name = f"%{len(self.lines)}"
        self.lines.append(f"  {name} = {text}")
        self.values[name], self.widths[name] = wrapped(value, bits), bits
        return name

    def leaf(self, bits: int) -> str:
        kind = self.random.randrange(4)
        if bits == 1 or kind == 0:
            value = self.random.randrange(2) if bits == 1 else self.number(bits)
            if bits == 1 and self.random.random() < 0.5:
                return self.argument("%arg4")
            return self.add(
                f"arith.constant {('false', 'true')[value] if bits == 1 else f'{value} : i{bits}'}", value, bits
            )
        if kind == 1:
            return self.argument(self.random.choice(["%arg0", "%arg1"] if bits == 32 else ["%arg2"]))
        if bits == 32:
            axis = self.random.randrange(3)
            if kind == 2:
                return self.add(f"tt.get_program_id {'xyz'[axis]} : i32", self.program[axis], 32)
            return self.add(f"tt.get_num_programs {'xyz'[axis]} : i32", (5, 3, 2)[axis], 32)
        if kind == 2:
            return self.add("tt.ptr_to_int %arg3 : !tt.ptr<f32> -> i64", self.arguments["%arg3"], 64)
        word, otherwise = self.random.randrange(8, WORDS), self.number(64)
        value = self.slot[word] if self.has_slot else otherwise
        return self.add(f"probe.launch_word {word} {{otherwise = {otherwise} : i64}} : i64", value, 64)

    def argument(self, name: str) -> str:
        self.values[name] = self.arguments[name]
        return name

    def tree(self, bits: int, depth: int) -> str:
        """Adds an expression; returns its name."""
        if not depth:
            return self.leaf(bits)
        kind, value = self.random.randrange(5), self.values
        if kind == 0 and bits != 1:
            yes, no, which = self.tree(bits, depth - 1), self.tree(bits, depth - 1), self.tree(1, depth - 1)
            return self.add(f"arith.select {which}, {yes}, {no} : i{bits}", value[yes if value[which] else no], bits)
        if kind == 1 and bits == 32:
            source = self.tree(64, depth - 1)
            return self.add(f"arith.trunci {source} : i64 to i32", value[source], 32)
        if kind <= 2 and bits != 1:
            width = self.random.choice([1, 32]) if bits == 64 else 1
            source, is_signed = self.tree(width, depth - 1), self.random.random() < 0.5
            extended = value[source] if is_signed and width != 1 else value[source] % 2**width
            if is_signed and width == 1:
                extended = -extended
            return self.add(f"arith.ext{'su'[not is_signed]}i {source} : i{width} to i{bits}", extended, bits)
        if bits == 1 and kind <= 2:
            width, name = self.random.choice([32, 64]), self.random.choice([*PREDICATES])
            left, right = self.tree(width, depth - 1), self.tree(width, depth - 1)
            is_unsigned = name not in ("eq", "ne") and self.random.random() < 0.5
            sides = [value[one] % 2**width if is_unsigned else value[one] for one in (left, right)]
            full = name if name in ("eq", "ne") else f"{'su'[is_unsigned]}{name}"
            return self.add(f"arith.cmpi {full}, {left}, {right} : i{width}", int(PREDICATES[name](*sides)), 1)
        name = self.random.choice(["andi", "ori", "xori"] if bits == 1 else [*BINARY])
        left, right = self.tree(bits, depth - 1), self.tree(bits, depth - 1)
        if bits == 1 and name == "xori" and self.random.random() < 0.5:
            right = self.add("arith.constant true", 1, 1)
        is_unsigned = name in ("minui", "maxui")
        sides = [value[one] % 2**bits if is_unsigned else value[one] for one in (left, right)]
        return self.add(f"arith.{name} {left}, {right} : i{bits}", BINARY[name](*sides), bits)


def kernels_of(bodies: list[str]) -> list[str]:
    """Returns a lowered kernel for each body."""
    arguments = ", ".join(f"{name}: {type_}" for name, type_ in ARGUMENTS.items())
    kernels = []
    for number, body in enumerate(bodies):
        text = KERNEL.format(arguments=arguments, body=body)
        kernels.append(text.replace("@kernel", f"@kernel_{number}"))
    module = MODULE.format(kernels="".join(kernels))
    options = (f"-triton-ext-lower-probe={name}=true" for name in ("keep", "emit"))
    bug = os.environ.get("TRITON_EXT_MUTANT", "")
    done = forked_opt.run("-", "--load-extension=probe", *options, text=module, mutant=bug)
    assert done.returncode == 0, done.stderr
    return str(done.stdout).split("tt.func public @")[1:]


def runs(module: str, body: Body, thread: int, *, is_any: bool = False) -> bool:
    """Executes what the kernel has, where all votes say `is_any`. Returns whether the thread votes for something."""
    return any(any(one) for one in votes_of(module, body, thread, (is_any,) * len(assemblies_in(module))))


def votes_of(module: str, body: Body, thread: int, said: Sequence[bool]) -> list[list[bool]]:
    """Executes what the kernel has: assembly, and the extension of bits that assembly gets.

    Args:
        module: the kernel.
        body: what it has computed.
        thread: its number.
        said: what the vote of each assembly says.

    Returns:
        What the thread votes for, in each assembly.
    """
    votes: list[list[bool]] = []
    (scratch,) = re.findall(r"(%\w+) = ttg.global_scratch_alloc", module)
    x, y, z = body.program
    values = {**body.arguments, scratch: START + ((z * 3 + y) * 5 + x) * 2048}
    special = {f"%ctaid.{axis}": own for axis, own in zip("xyz", body.program, strict=True)}
    special |= {"%nctaid.x": 5, "%nctaid.y": 3, "%nctaid.z": 2, "%tid.x": thread}
    assemblies = iter(assemblies_in(module))
    for line in module.splitlines():
        if found := re.search(r"(%\w+) = arith.constant (true|false|-?\d+)", line):
            values[found[1]] = {"true": 1, "false": 0}.get(found[2]) if found[2].isalpha() else int(found[2])
        elif found := re.search(r"(%\w+) = arith.extui (%\w+) : i1 to i32", line):
            values[found[1]] = values[found[2]]
        elif "elementwise_inline_asm" in line:
            one = next(assemblies)
            given = [0] * len(one.results) + [values[name] for name in one.operands]
            machine = Machine(one.text, body.slot, START, is_any=said[len(votes)])
            values |= dict(zip(one.results, machine.run(given, special), strict=False))
            votes.append(machine.votes)
        else:
            assert "arith" not in line, f"the assembly does not compute this: {line}"
    assert next(assemblies, None) is None
    return votes


def translate(kernels: list[str], directory: Path) -> None:
    """Has ptxas translate the assembly of kernels. The registers of the operands get any numbers."""
    ptxas = Path(triton.__file__).with_name("backends") / "nvidia/bin/ptxas"
    blocks = []
    for kernel in kernels:
        for one in assemblies_in(kernel):
            kinds = re.findall(r"([lr])(?:,|$)", one.constraints)
            names = [f"{kind}{i}" for i, kind in enumerate(kinds)]
            text = re.sub(r"\$(\d+)", lambda found, names=names: f"%{names[int(found[1])]}", one.text)
            declared = [f".reg .b{64 if name[0] == 'l' else 32} %{name};" for name in names]
            given = [f"mov.b{64 if name[0] == 'l' else 32} %{name}, 8;" for name in names[len(one.results) :]]
            blocks.append("\n".join(["{", *declared, *given, text, "}"]))
    file = directory / "blocks.ptx"
    file.write_text("\n".join([".version 8.0 .target sm_90 .address_size 64 .entry k() {", *blocks, "ret; }"]))
    command = [ptxas, "--gpu-name=sm_90", file, "-o", directory / "out"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert not done.returncode, done.stderr[-2000:]
