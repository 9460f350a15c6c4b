# SPDX-License-Identifier: Apache-2.0
"""Parts of random tensors are the same with ``-extract-like-move-backward`` as without it."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest
import torch

from support.linalg.on_memory import PTR, numbers, run


def type_of(shape: list[int]) -> str:
    return f"tensor<{'x'.join(map(str, [*shape, 'i32']))}>"


@dataclass
class Program:
    """Operations on a tensor, of which a part is stored; `value` is what they compute.

    Attributes:
        lines: the operations; those of program `i` have names that begin with ``%v{i}_``.
    """

    number: int
    rng: random.Random
    value: torch.Tensor
    lines: list[str] = field(default_factory=list)
    last: str = ""

    @property
    def shape(self) -> list[int]:
        return list(self.value.shape)

    def name(self) -> str:
        return f"%v{self.number}_{len(self.lines)}"

    def add(self, operation: str, value: torch.Tensor) -> None:
        result = self.name()
        self.lines.append(f"{result} = {operation}")
        self.last, self.value = result, value

    def filled(self, shape: list[int], constant: int) -> str:
        name = self.name()
        self.lines.append(f"{name} = arith.constant dense<{constant}> : {type_of(shape)}")
        return name

    def empty(self, shape: list[int]) -> str:
        name = self.name()
        self.lines.append(f"{name} = tensor.empty() : {type_of(shape)}")
        return name

    def subtract(self) -> None:
        """Subtracts the tensor from a constant."""
        constant = self.rng.randint(-9, 9)
        other, type_ = self.filled(self.shape, constant), type_of(self.shape)
        self.add(f"arith.subi {other}, {self.last} : {type_}", constant - self.value)

    def transpose(self) -> None:
        order = self.rng.sample(range(len(self.shape)), len(self.shape))
        value = self.value.permute(order)
        out = self.empty(list(value.shape))
        self.add(
            f"linalg.transpose ins({self.last} : {type_of(self.shape)}) outs({out} : {type_of(list(value.shape))}) "
            f"permutation = {order}",
            value,
        )

    def broadcast(self) -> None:
        at, size = self.rng.randint(0, len(self.shape)), self.rng.randint(1, 4)
        shape = [*self.shape[:at], size, *self.shape[at:]]
        out = self.empty(shape)
        self.add(
            f"linalg.broadcast ins({self.last} : {type_of(self.shape)}) outs({out} : {type_of(shape)}) "
            f"dimensions = [{at}]",
            self.value.unsqueeze(at).expand(shape),
        )

    def reshape(self) -> None:
        """Joins two dimensions, or puts a dimension of one element before one."""
        at = self.rng.randrange(len(self.shape))
        groups = [[i] for i in range(len(self.shape))]
        if at + 1 < len(self.shape) and self.rng.random() < 0.6:
            shape = [*self.shape[:at], self.shape[at] * self.shape[at + 1], *self.shape[at + 2 :]]
            groups = [[i] for i in range(at)] + [[at, at + 1]] + [[i] for i in range(at + 2, len(self.shape))]
            text = f"tensor.collapse_shape {self.last} {groups} : {type_of(self.shape)} into {type_of(shape)}"
        else:
            shape = [*self.shape[:at], 1, *self.shape[at:]]
            groups = [[i] for i in range(at)] + [[at, at + 1]] + [[i + 1] for i in range(at + 1, len(self.shape))]
            text = (
                f"tensor.expand_shape {self.last} {groups} output_shape {shape} : "
                f"{type_of(self.shape)} into {type_of(shape)}"
            )
        self.add(text, self.value.reshape(shape))

    def loop(self) -> None:
        """Subtracts a constant several times, in a loop."""
        constant, type_ = self.rng.randint(-9, 9), type_of(self.shape)
        other, result, carried = self.filled(self.shape, constant), self.name(), f"%c{self.number}_{len(self.lines)}"
        self.lines.append(
            f"{result} = scf.for %k = %zero to %three step %one iter_args({carried} = {self.last}) -> ({type_}) {{\n"
            f"    {carried}s = arith.subi {carried}, {other} : {type_}\n    scf.yield {carried}s : {type_}\n  }}"
        )
        self.last, self.value = result, self.value - 3 * constant

    def take(self) -> None:
        """Takes a slice, without some of the dimensions of one element."""
        offsets, sizes, strides, kept = [], [], [], []
        for whole in self.shape:
            stride = self.rng.randint(1, 3)
            size = self.rng.randint(1, (whole - 1) // stride + 1)
            if size == 1:
                stride = 1  # with another stride, stock mlir-opt makes a memref that it does not verify
            offsets.append(self.rng.randint(0, whole - 1 - (size - 1) * stride))
            sizes.append(size)
            strides.append(stride)
            kept.append(size != 1 or self.rng.random() < 0.5)
        shape = [size for size, keep in zip(sizes, kept, strict=True) if keep]
        value = self.value
        for dim, (offset, size, stride) in enumerate(zip(offsets, sizes, strides, strict=True)):
            value = value.index_select(dim, torch.arange(size) * stride + offset)
        self.add(
            f"tensor.extract_slice {self.last}{offsets} {sizes} {strides} : {type_of(self.shape)} to {type_of(shape)}",
            value.reshape(shape),
        )


def programs(seed: int, count: int) -> tuple[str, list[torch.Tensor], list[torch.Tensor]]:
    """Returns the text of a function `f`, its inputs, and what it writes to an output for each of them."""
    rng = random.Random(seed)
    lines, inputs, outputs = [], [], []
    for number in range(count):
        shape = [rng.randint(1, 6) for _ in range(rng.randint(1, 3))]
        given = numbers(*shape, dtype=torch.int32, seed=number)
        memory = f"memref<{'x'.join(map(str, [*shape, 'i32']))}>"
        program = Program(number, rng, given, last=f"%t{number}")
        for _ in range(rng.randint(1, 6)):
            rng.choice([program.subtract, program.transpose, program.broadcast, program.reshape, program.loop])()
        program.take()
        out = f"memref<{'x'.join(map(str, [*program.shape, 'i32']))}>"
        lines += [
            f"%m{number} = aux.view %p{number} to offset: [0], sizes: {shape}, strides: {list(given.stride())} "
            f": {PTR} to {memory}",
            f"%t{number} = bufferization.to_tensor %m{number} restrict : {memory} to {type_of(shape)}",
            *program.lines,
            f"%o{number} = aux.view %q{number} to offset: [0], sizes: {program.shape}, "
            f"strides: {list(program.value.contiguous().stride())} : {PTR} to {out}",
            f"bufferization.materialize_in_destination {program.last} in writable %o{number} "
            f": ({type_of(program.shape)}, {out}) -> ()",
        ]
        inputs.append(given)
        outputs.append(program.value)
    arguments = ", ".join(f"%{kind}{number}: {PTR}" for kind in "pq" for number in range(count))
    numbers_ = [f"%{name} = arith.constant {i} : index" for name, i in (("zero", 0), ("one", 1), ("three", 3))]
    body = "\n  ".join([*numbers_, *lines, "return"])
    return f"func.func @f({arguments}) {{\n  {body}\n}}\n", inputs, outputs


@pytest.mark.slow
@pytest.mark.usefixtures("stock")
@pytest.mark.parametrize("moves", ["", "extract-like-move-backward,canonicalize,"])
@pytest.mark.parametrize("seed", range(3))
def test_parts_of_random_tensors(moves: str, seed: int) -> None:
    text, inputs, expected = programs(seed, 16)
    outputs = [torch.full_like(value, 77) for value in expected]
    run(text, f"{moves}convert-arith-to-linalg,lower-linalg-ext{{program-arguments=false}}", *inputs, *outputs)
    for number, (found, wanted) in enumerate(zip(outputs, expected, strict=True)):
        assert found.equal(wanted), (seed, number)
