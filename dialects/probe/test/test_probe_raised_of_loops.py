# SPDX-License-Identifier: Apache-2.0
"""The assembly in which a kernel for NVIDIA raises its flag behind loops: random conditions of iterations, executed."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any

import pytest

from support.probe.ptx import assemblies_in
from support.probe.raised import MAGIC, WORDS, Body, kernels_of, runs, translate, votes_of, wrapped


class LoopBody(Body):
    """Operations of a loop, and what they compute in the iteration `turn`.

    Attributes:
        before: operations in front of the loop.
        trips: how many iterations it has.
        conditions: for which it raises the flag, each by a bit of its own.
    """

    def __init__(
        self, seed: int, turn: int, *, bits: int = 1, is_extreme: bool = False, like: LoopBody | None = None
    ) -> None:
        """Makes a loop.

        Args:
            seed: of its operations.
            turn: the number of the iteration.
            bits: how many bits it carries.
            is_extreme: whether it begins or ends at the limits of i32.
            like: another loop of the kernel, which has the same arguments.
        """
        super().__init__(seed)
        self.before: list[str] = []
        if like is not None:
            lower, upper = like.arguments["%arg1"], like.arguments["%arg0"]
            step = like.step * self.random.choice([1, 2])
            self.trips = len(range(lower, upper, step))
            self.arguments, self.program, self.has_slot = like.arguments, like.program, like.has_slot
            self.slot = like.slot
        elif is_extreme:
            step = self.random.choice([1, 3, 2**29])
            most = self.random.choice([1, 4, 7]) if step == 2**29 else self.random.choice([1, 32, 33])
            lower = self.random.choice([-(2**31), 2**31 - 1 - step * most])
            upper = min(lower + step * most + self.random.choice([0, 1]), 2**31 - 1)
            self.trips = len(range(lower, upper, step))
        else:
            lower, step = self.random.randrange(-9, 10), self.random.choice([1, 3, 64])
            self.trips = self.random.choice([0, 1, 5, 31, 32, 33, 70])
            upper = lower + step * (self.trips - 1) + self.random.randrange(1, step + 1) if self.trips else lower - 7
        self.arguments |= {"%arg0": upper, "%arg1": lower}
        self.step, self.wide, self.narrow = step, self.number(64), self.number(32)
        self.values |= {"%iv": lower + step * turn, "%wide": wrapped(self.arguments["%arg2"] + turn * self.wide, 64)}
        self.values["%narrow"] = wrapped(lower + turn * (self.narrow + upper), 32)
        self.conditions = [self.tree(1, 4) for _ in range(bits)]
        self.condition = self.conditions[0]

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

    def text(self, prefix: str = "") -> str:
        """Returns the loop, and the operations that raise the flag. Names of values begin with `prefix`."""
        more = range(1, len(self.conditions))  # of further bits
        types = "i64, i32, i64" + ", i1" * len(self.conditions)
        text = "\n".join(
            [
                *self.before,
                f"  %step = arith.constant {self.step} : i32",
                "  %no = arith.constant false",
                f"  %found:{3 + len(self.conditions)} = scf.for %iv = %arg1 to %arg0 step %step iter_args("
                "%wide = %arg2, %narrow = %arg1, %last = %arg2, %bit = %no"
                + "".join(f", %bit{i} = %no" for i in more)
                + f") -> ({types}) : i32 {{",
                *self.lines,
                f"  %next = arith.constant {self.wide} : i64",
                "  %wider = arith.addi %wide, %next : i64",
                f"  %more = arith.constant {self.narrow} : i32",
                "  %most = arith.addi %more, %arg0 : i32",
                "  %narrower = arith.addi %most, %narrow : i32",
                f"  %or = arith.ori %bit, {self.condition} : i1",
                *(f"  %or{i} = arith.ori {self.conditions[i]}, %bit{i} : i1" for i in more),
                f"  scf.yield %wider, %narrower, %wide, %or{''.join(f', %or{i}' for i in more)} : {types}",
                "  }",
                *(f'  probe.raise %found#{3 + i}, "bounds"' for i in range(len(self.conditions))),
            ]
        )
        return re.sub(r"%(?!arg\d)(\w+)", rf"%{prefix}\1", text)


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


def expect(kernel: str, bodies: list[list[LoopBody]]) -> None:
    """Expects a kernel of loops to vote and to count as its conditions say; each loop has a body for each iteration."""
    first = bodies[0][0]
    wrong = [
        [bool(one.values[one.conditions[bit]]) for one in loop[: loop[0].trips]]
        for loop in bodies
        for bit in range(len(loop[0].conditions))
    ]
    before, assemblies = [*first.slot], assemblies_in(kernel)
    voting = [i for i, one in enumerate(assemblies) if "vote.sync" in one.text]
    votes = [votes_of(kernel, first, thread, [False] * len(assemblies)) for thread in range(34)]
    own = [[any(of_thread[i]) for of_thread in votes] for i in voting]
    assert own == [[first.has_slot and t < 32 and any(one[t::32]) for t in range(34)] for one in wrong]
    assert first.slot == before
    said = [i in voting and any(own[voting.index(i)]) for i in range(len(assemblies))]
    for thread in range(34):
        votes_of(kernel, first, thread, said)
    assert first.slot[WORDS:] == [before[WORDS] + sum(said), 0]


def bodies_of(seed: int, **options: Any) -> list[LoopBody]:
    """Returns a loop in each of its iterations; in one if it has none."""
    first = LoopBody(seed, 0, **options)
    return [first, *(LoopBody(seed, turn, **options) for turn in range(1, first.trips))]


@functools.cache
def larger() -> list[str]:
    """Returns kernels with two loops, loops with three bits, and loops at the limits of i32, from one run."""
    two = [
        (first := LoopBody(seed, 0)).text() + "\n" + LoopBody(100 + seed, 0, like=first).text("second_")
        for seed in LOOPS
    ]
    bits = [LoopBody(seed, 0, bits=3).text() for seed in LOOPS]
    return kernels_of([*two, *bits, *(LoopBody(seed, 0, is_extreme=True).text() for seed in LOOPS)])


@pytest.mark.parametrize("seed", LOOPS)
def test_random_conditions_of_two_loops(seed: int) -> None:
    kernel, first = larger()[seed], bodies_of(seed)
    assert "scf.for" not in kernel
    expect(kernel, [first, bodies_of(100 + seed, like=first[0])])


@pytest.mark.parametrize("seed", LOOPS)
def test_random_conditions_of_several_bits(seed: int) -> None:
    kernel = larger()[len(LOOPS) + seed]
    assert "scf.for" not in kernel
    expect(kernel, [bodies_of(seed, bits=3)])


@pytest.mark.parametrize("seed", LOOPS)
def test_random_conditions_at_the_limits(seed: int) -> None:
    """The last iteration is behind no number of i32 that the assembly could take for a negative one."""
    kernel, bodies = larger()[2 * len(LOOPS) + seed], bodies_of(seed, is_extreme=True)
    assert {-(2**31), 2**31 - 1} & {*bodies[0].arguments.values()}
    assert "scf.for" not in kernel
    expect(kernel, [bodies])


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


NESTED = """
  %no = arith.constant false
  %one = arith.constant 1 : i32
  %found = scf.for %iv = %arg1 to %arg0 step %one iter_args(%bit = %no) -> (i1) : i32 {
    %inner = scf.for %iw = %iv to %arg0 step %one iter_args(%own = START) -> (i1) : i32 {
      %is = arith.cmpi eq, %iw, %arg1 : i32
      %or = arith.ori %own, %is : i1
      scf.yield %or : i1
    }
    YIELD
  }
  RAISE
"""
INNER = {
    "a term of the outer loop": ("%no", "%all = arith.ori %bit, %inner : i1\n scf.yield %all : i1", "%found"),
    "carried through both": ("%bit", "scf.yield %inner : i1", "%found"),
    "raised in the outer loop": ("%no", 'probe.raise %inner, "bounds"\n scf.yield %bit : i1', ""),
}


@pytest.mark.parametrize("name", INNER)
def test_nested_loops_keep_the_bit(name: str) -> None:
    """The iterations of the inner loop are others in each iteration of the outer one."""
    start, end, raised = INNER[name]
    text = NESTED.replace("START", start).replace("YIELD", end)
    (kernel,) = kernels_of([text.replace("RAISE", f'probe.raise {raised}, "bounds"' if raised else "")])
    assert re.search(r"scf\.for .*i1\)", kernel)
    assert kernel.count("scf.for ") == 2
    assert "arith.cmpi eq" in kernel
    assert len([one for one in assemblies_in(kernel) if "red.relaxed" in one.text]) == 1


def test_ptxas_knows_the_instructions_of_loops(tmp_path: Path) -> None:
    translate([*loops(), *larger()], tmp_path)
