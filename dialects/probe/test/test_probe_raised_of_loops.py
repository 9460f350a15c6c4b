# SPDX-License-Identifier: Apache-2.0
"""The assembly in which a kernel for NVIDIA raises its flag behind loops: random conditions of iterations, executed."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import pytest

from support.probe.ptx import assemblies_in
from support.probe.raised import MAGIC, WORDS, Body, kernels_of, runs, translate, wrapped


class LoopBody(Body):
    """Operations of a loop, and what they compute in the iteration `turn`.

    Attributes:
        before: operations in front of the loop.
        trips: how many iterations it has.
    """

    def __init__(self, seed: int, turn: int) -> None:
        super().__init__(seed)
        self.before: list[str] = []
        lower, step = self.random.randrange(-9, 10), self.random.choice([1, 3, 64])
        self.trips = self.random.choice([0, 1, 5, 31, 32, 33, 70])
        upper = lower + step * (self.trips - 1) + self.random.randrange(1, step + 1) if self.trips else lower - 7
        self.arguments |= {"%arg0": upper, "%arg1": lower}
        self.step, self.wide, self.narrow = step, self.number(64), self.number(32)
        self.values |= {"%iv": lower + step * turn, "%wide": wrapped(self.arguments["%arg2"] + turn * self.wide, 64)}
        self.values["%narrow"] = wrapped(lower + turn * (self.narrow + upper), 32)
        self.condition = self.tree(1, 4)

    def leaf(self, bits: int) -> str:
        if bits != 1 and self.random.random() < 0.4:
            return self.random.choice(["%iv", "%narrow"]) if bits == 32 else "%wide"
        if bits == 64 and self.random.random() < 0.3:
            offset = self.leaf(32)
            address = self.arguments["%arg3"] + 4 * self.values[offset]
            pointer = self.add(f"tt.addptr %arg3, {offset} : !tt.ptr<f32>, i32", address, 64)
            del self.widths[pointer]
            return self.add(f"tt.ptr_to_int {pointer} : !tt.ptr<f32> -> i64", address, 64)
        found = super().leaf(bits)
        if "launch_word" in (self.lines or [""])[-1]:  # these are not in loops
            self.before.append(self.lines[-1])
            self.lines[-1] = ""
        return found

    def tree(self, bits: int, depth: int) -> str:
        known = [name for name, width in self.widths.items() if width == bits]
        if known and self.random.random() < 0.2:  # a value with several uses
            return self.random.choice(known)
        return super().tree(bits, depth)

    def text(self) -> str:
        """Returns the loop, and the operation that raises the flag."""
        return "\n".join(
            [
                *self.before,
                f"  %step = arith.constant {self.step} : i32",
                "  %no = arith.constant false",
                "  %found:4 = scf.for %iv = %arg1 to %arg0 step %step iter_args("
                "%wide = %arg2, %narrow = %arg1, %last = %arg2, %bit = %no) -> (i64, i32, i64, i1) : i32 {",
                *self.lines,
                f"  %next = arith.constant {self.wide} : i64",
                "  %wider = arith.addi %wide, %next : i64",
                f"  %more = arith.constant {self.narrow} : i32",
                "  %most = arith.addi %more, %arg0 : i32",
                "  %narrower = arith.addi %most, %narrow : i32",
                f"  %or = arith.ori %bit, {self.condition} : i1",
                "  scf.yield %wider, %narrower, %wide, %or : i64, i32, i64, i1",
                "  }",
                '  probe.raise %found#3, "bounds"',
            ]
        )


LOOPS = range(24)


@functools.cache
def loops() -> list[str]:
    """Returns the kernels with loops, from one run."""
    return kernels_of([LoopBody(seed, 0).text() for seed in LOOPS])


@pytest.mark.parametrize("seed", LOOPS)
def test_random_conditions_of_iterations(seed: int) -> None:
    """Each iteration is that of one thread of the first warp, and of the loop nothing is left."""
    body = LoopBody(seed, 0)
    kernel, before = loops()[seed], [*body.slot]
    assert "scf.for" not in kernel
    wrong = [(one := LoopBody(seed, turn)).values[one.condition] for turn in range(body.trips)]
    votes = [runs(kernel, body, thread) for thread in range(34)]
    assert votes == [body.has_slot and thread < 32 and any(wrong[thread::32]) for thread in range(34)]
    assert body.slot == before
    for thread in range(34):
        runs(kernel, body, thread, is_any=any(votes))
    assert body.slot[WORDS:] == [before[WORDS] + any(votes), 0]


def test_each_iteration_is_looked_at_behind_the_loop() -> None:
    """One iteration is wrong: the thread that votes is the one whose turn it is."""
    condition = """  %at = arith.trunci %arg2 : i64 to i32
  %is = arith.cmpi eq, %iv, %at : i32
  %or = arith.ori %bit, %is : i1"""
    text = re.sub(r"  %or = .*", condition, LoopBody(0, 0).text())
    (kernel,) = kernels_of([re.sub(r"constant \d+ : i32\n  %no", "constant 3 : i32\n  %no", text)])
    assert "scf.for" not in kernel
    for turn in (0, 5, 31, 32, 63, 64, 69, 70):
        body = LoopBody(0, 0)
        body.slot[0], body.has_slot = MAGIC, True
        body.arguments |= {"%arg0": -4 + 3 * 70, "%arg1": -4, "%arg2": -4 + 3 * turn}
        assert [thread for thread in range(33) if runs(kernel, body, thread)] == ([turn % 32] if turn < 70 else [])


def test_addresses_of_iterations_behind_the_loop() -> None:
    """A pointer moves by elements of four bytes."""
    condition = """  %moved = tt.addptr %arg3, %iv : !tt.ptr<f32>, i32
  %address = tt.ptr_to_int %moved : !tt.ptr<f32> -> i64
  %is = arith.cmpi eq, %address, %arg2 : i64
  %or = arith.ori %bit, %is : i1"""
    (kernel,) = kernels_of([re.sub(r"  %or = .*", condition, LoopBody(0, 0).text())])
    body = LoopBody(0, 0)
    body.slot[0], body.has_slot = MAGIC, True
    body.arguments |= {"%arg0": 8, "%arg1": 7, "%arg3": 2**40, "%arg2": 2**40 + 28}
    assert runs(kernel, body, 0)
    body.arguments["%arg2"] -= 1
    assert not runs(kernel, body, 0)


USED_TWICE = {
    "through one operand and as the other": """  %a = arith.addi %iv, %arg0 : i32
  %m = arith.muli %a, %arg1 : i32
  %s = arith.addi %m, %a : i32
  %is = arith.cmpi slt, %s, %arg1 : i32
  %or = arith.ori %bit, %is : i1""",
    "as both operands": """  %a = arith.addi %iv, %arg0 : i32
  %q = arith.muli %a, %a : i32
  %is = arith.cmpi slt, %q, %arg1 : i32
  %or = arith.ori %bit, %is : i1""",
    "as two terms": """  %is = arith.cmpi slt, %iv, %arg0 : i32
  %one = arith.ori %bit, %is : i1
  %or = arith.ori %one, %is : i1""",
}


@pytest.mark.parametrize("condition", USED_TWICE.values(), ids=USED_TWICE)
def test_values_that_are_used_twice(condition: str) -> None:
    (kernel,) = kernels_of([re.sub(r"  %or = .*", condition, LoopBody(0, 0).text())])
    assert "scf.for" not in kernel


def test_a_bit_that_something_else_reads_stays() -> None:
    condition = """  %is = arith.cmpi slt, %iv, %arg0 : i32
  %seen = arith.extui %bit : i1 to i32
  tt.store %arg5, %seen : !tt.ptr<i32>
  %or = arith.ori %bit, %is : i1"""
    text = re.sub(r"  %or = .*", condition, LoopBody(0, 0).text())
    pointer = "  %arg5 = tt.bitcast %arg3 : !tt.ptr<f32> -> !tt.ptr<i32>\n"
    (kernel,) = kernels_of([pointer + text])
    assert "scf.for" in kernel
    assert "arith.ori" in kernel


@pytest.mark.parametrize("offset", ["i16", "i8"])
def test_offsets_that_registers_do_not_have(offset: str) -> None:
    """The address is an operand of the assembly."""
    body = f"""  %narrow = arith.trunci %arg0 : i32 to {offset}
  %moved = tt.addptr %arg3, %narrow : !tt.ptr<f32>, {offset}
  %address = tt.ptr_to_int %moved : !tt.ptr<f32> -> i64
  %is = arith.cmpi slt, %address, %arg2 : i64
  probe.raise %is, "bounds"
"""
    (kernel,) = kernels_of([body])
    (moved,) = re.findall(rf"(%\w+) = tt.addptr .* : !tt.ptr<f32>, {offset}", kernel)
    assert re.search(rf"inline_asm.*{moved}\b|ptr_to_int {moved}\b", kernel)


def test_conditions_behind_loops() -> None:
    """What is wrong outside of loops is computed by one thread at the end, and no launch word is read before it."""
    text = LoopBody(1, 0).text()
    first = """
  %low = probe.launch_word 9 {otherwise = 5 : i64} : i64
  %is = arith.cmpi slt, %low, %arg2 : i64
  probe.raise %is, "bounds"
"""
    (kernel,) = kernels_of([first + text])
    for word, wanted in ((3, 1), (4, 0), (5, 0)):
        for thread in range(2):
            body = LoopBody(1, 0)
            body.has_slot, body.trips = True, 0
            body.arguments |= {"%arg2": 4, "%arg0": 0, "%arg1": 0}
            body.slot[0], body.slot[9] = MAGIC, word
            before = [*body.slot]
            runs(kernel, body, thread)
            assert body.slot == [*before[:WORDS], wanted * (thread == 0), 0]


@pytest.mark.parametrize(
    "line",
    ["  %wider = arith.addi %wide, %last : i64", "  %wider = arith.muli %wide, %next : i64"],
    ids=["another number each time", "a product"],
)
def test_loops_whose_values_are_not_known_keep_the_bit(line: str) -> None:
    text = LoopBody(0, 0).text()
    text = re.sub("  %wider = .*", line, text)
    text = re.sub(r"  %or = .*", "  %is = arith.cmpi slt, %wide, %arg2 : i64\n  %or = arith.ori %bit, %is : i1", text)
    (kernel,) = kernels_of([text])
    assert re.search(r"scf\.for .* i1\)", kernel)
    assert len(assemblies_in(kernel)) == 2


def test_ptxas_knows_the_instructions_of_loops(tmp_path: Path) -> None:
    translate(loops(), tmp_path)
