# SPDX-License-Identifier: Apache-2.0
"""Loops that random programs seldom reach. The pass once split each of them incorrectly, or might."""

from __future__ import annotations

from support.loop_split.programs import Program

_P = 1000  # the address

#: The `nuw` of an operation that is computed only where it holds does not hold in the first iteration.
FLAG_IN_A_BRANCH = Program(
    """
tt.func public @flag_in_a_branch(%p: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c10 = arith.constant 10 : i32
  %c20 = arith.constant 20 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %tens = arith.divui %i, %c10 : i32
    %late = arith.cmpi ne, %tens, %c0 : i32
    scf.if %late {
      %x = arith.subi %i, %c10 overflow<nuw> : i32
      %cond = arith.cmpi ult, %x, %c20 : i32
      scf.if %cond {
        tt.store %p, %x : !tt.ptr<i32>
      }
    }
  }
  tt.return
}""",
    [[_P, n] for n in (0, 5, 10, 15, 30, 40)],
)

#: Nor does the `nuw` of an operation on which only a select depends.
FLAG_OF_A_SELECT = Program(
    """
tt.func public @flag_of_a_select(%p: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c10 = arith.constant 10 : i32
  %c20 = arith.constant 20 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %x = arith.subi %i, %c10 overflow<nuw> : i32
    %cond = arith.cmpi ult, %x, %c20 : i32
    %y = arith.select %cond, %c1, %c0 : i32
    %late = arith.cmpi uge, %i, %c10 : i32
    scf.if %late {
      tt.store %p, %y : !tt.ptr<i32>
    }
  }
  tt.return
}""",
    [[_P, n] for n in (0, 5)],
)

#: In i1, 1 and -1 are the same number.
ONE_BIT = Program(
    """
tt.func public @one_bit(%p: !tt.ptr<i32>, %b: i1) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c7 = arith.constant 7 : i32
  %true = arith.constant true
  scf.for %i = %c0 to %c2 step %c1 : i32 {
    %bit = arith.trunci %i : i32 to i1
    %below = arith.cmpi ult, %bit, %true : i1
    scf.if %below {
      tt.store %p, %i : !tt.ptr<i32>
    } else {
      tt.store %p, %c7 : !tt.ptr<i32>
    }
    %same = arith.cmpi eq, %bit, %b : i1
    scf.if %same {
      tt.store %p, %i : !tt.ptr<i32>
    } else {
      tt.store %p, %c7 : !tt.ptr<i32>
    }
  }
  tt.return
}""",
    [[_P, 0], [_P, 1]],
)

#: An operation in a branch may wrap in the place to which it is moved.
GUARDED_PRODUCT = Program(
    """
tt.func public @guarded_product(%p: !tt.ptr<i32>, %n: i32, %a: i32, %q: i32) {
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : i32
  %c7 = arith.constant 7 : i32
  %c1024 = arith.constant 1024 : i32
  %range = tt.make_range {start = 0 : i32, end = 4 : i32} : tensor<4xi32>
  %zero = arith.constant dense<0> : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
  %am = arith.maxsi %a, %c0 : i32
  %nm = arith.maxsi %n, %c0 : i32
  %is = arith.cmpi ne, %q, %c0 : i32
  %end = arith.muli %nm, %c4 : i32
  scf.for %i = %c0 to %end step %c4 : i32 {
    tt.store %p, %i : !tt.ptr<i32>
    scf.if %is {
      %e = arith.muli %am, %c1024 : i32
      %es = tt.splat %e : i32 -> tensor<4xi32>
      %at = tt.splat %i : i32 -> tensor<4xi32>
      %o = arith.addi %at, %range : tensor<4xi32>
      %mask = arith.cmpi slt, %o, %es : tensor<4xi32>
      %s = arith.select %mask, %o, %zero : tensor<4xi1>, tensor<4xi32>
      tt.store %ps, %s : tensor<4x!tt.ptr<i32>>
      %cond = arith.cmpi slt, %i, %e : i32
      scf.if %cond {
        tt.store %p, %c7 : !tt.ptr<i32>
      }
    }
  }
  tt.return
}""",
    [[_P, n, a, q] for n in (0, 1, 3, 10) for a in (0, 1, 1 << 21, (1 << 21) + 1) for q in (0, 1)],
)

#: A select has two masks, and lanes on the other side of the comparison.
WINDOW = Program(
    """
tt.func public @window(%p: !tt.ptr<i32>, %n: i32, %first: i32, %last: i32) {
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : i32
  %range = tt.make_range {start = 0 : i32, end = 4 : i32} : tensor<4xi32>
  %zero = arith.constant dense<0> : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
  %end = arith.muli %n, %c4 : i32
  scf.for %i = %c0 to %end step %c4 : i32 {
    %at = tt.splat %i : i32 -> tensor<4xi32>
    %lanes = arith.addi %at, %range : tensor<4xi32>
    %from = tt.splat %first : i32 -> tensor<4xi32>
    %to = tt.splat %last : i32 -> tensor<4xi32>
    %above = arith.cmpi sgt, %lanes, %from : tensor<4xi32>
    %below = arith.cmpi sle, %lanes, %to : tensor<4xi32>
    %inside = arith.andi %above, %below : tensor<4xi1>
    %s = arith.select %inside, %lanes, %zero : tensor<4xi1>, tensor<4xi32>
    tt.store %ps, %s : tensor<4x!tt.ptr<i32>>
    %others = arith.addi %from, %range : tensor<4xi32>
    %behind = arith.cmpi sgt, %at, %others : tensor<4xi32>
    %t = arith.select %behind, %lanes, %zero : tensor<4xi1>, tensor<4xi32>
    tt.store %ps, %t : tensor<4x!tt.ptr<i32>>
  }
  tt.return
}""",
    [[_P, n, first, last] for n in (0, 1, 9) for first in (-3, 4, 5, 14) for last in (-1, 6, 13, 50)],
)

#: A condition that does not split the loop is not folded either; otherwise a second run of the pass would differ.
LEFT_ALONE = Program(
    """
tt.func public @left_alone(%p: !tt.ptr<i32>, %n: i32) {
  %lower = arith.constant -2147483644 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %lower to %n step %c1 : i32 {
    %minus2 = arith.constant -2 : i32
    %x = arith.muli %i, %minus2 : i32
    %minus7 = arith.constant -7 : i32
    %y = arith.addi %minus7, %x : i32
    %c100 = arith.constant 100 : i32
    %z = arith.subi %c100, %y : i32
    %c115 = arith.constant 115 : i32
    %cond = arith.cmpi slt, %z, %c115 : i32
    %s = arith.select %cond, %i, %c1 : i32
    tt.store %p, %s : !tt.ptr<i32>
  }
  tt.return
}""",
    [[_P, -2147483644 + trips] for trips in (0, 1, 2, 5, 20)],
)


def _extended(name: str, lower: int, upper: int, predicate: str) -> Program:
    return Program(
        f"""
tt.func public @{name}(%p: !tt.ptr<i32>, %n: i64) {{
  %lower = arith.constant {lower} : i32
  %upper = arith.constant {upper} : i32
  %c4 = arith.constant 4 : i32
  %zero = arith.constant dense<0> : tensor<4xi32>
  %range = tt.make_range {{start = 0 : i32, end = 4 : i32}} : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
  %ns = tt.splat %n : i64 -> tensor<4xi64>
  scf.for %i = %lower to %upper step %c4 : i32 {{
    %at = tt.splat %i : i32 -> tensor<4xi32>
    %o = arith.addi %at, %range : tensor<4xi32>
    %e = arith.extsi %o : tensor<4xi32> to tensor<4xi64>
    %mask = arith.cmpi {predicate}, %e, %ns : tensor<4xi64>
    %s = arith.select %mask, %o, %zero : tensor<4xi1>, tensor<4xi32>
    tt.store %ps, %s : tensor<4x!tt.ptr<i32>>
  }}
  tt.return
}}""",
        [[_P, n] for n in (lower - 1, lower, lower + 5, upper - 1, upper, upper + 4, -(1 << 40), 1 << 40)],
    )


PROGRAMS = [
    FLAG_IN_A_BRANCH,
    FLAG_OF_A_SELECT,
    ONE_BIT,
    GUARDED_PRODUCT,
    WINDOW,
    LEFT_ALONE,
    _extended("extended", -6, 30, "slt"),
    _extended("extended_at_the_end", (1 << 31) - 10, (1 << 31) - 1, "sgt"),  # the last lanes wrapped before
]
