// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def LoopSplitPass : Pass<"triton-ext-loop-split", "::mlir::ModuleOp"> {
  let summary = "Split loops where a condition on the induction variable changes";
  let description = [{
    An `scf.for` in which a comparison of the induction variable with something
    loop-invariant decides about a branch, a select or a mask becomes two loops
    or more, one after the other, in which the comparison is constant:

    ```mlir
    scf.for %i = %c0 to %n step %c1 : i32 {
      %early = arith.cmpi slt, %i, %m : i32
      scf.if %early { A } else { B }
    }
    // becomes, with %mid the smaller of %n and %m, but not less than 0
    scf.for %i = %c0 to %mid step %c1 : i32 { A }
    scf.for %i = %mid to %n step %c1 : i32 { B }
    ```

    **Conditions.** All integer predicates, signed and unsigned, with the
    operands in either order; `eq` and `ne` give three loops. What is compared
    is affine in the induction variable: sums and differences with invariants,
    products with constants, through `extsi`, `extui`, `trunci` and
    `index_cast`. Lower and upper bound, step, and what it is compared with may
    be any values; nothing overflows at the extremes of the types.

    **Masks.** For a comparison of tensors, such as `iv + range < n`, the loop
    is split where it is true for all elements. The other loop keeps it. (So do
    loops of iterations in which it is false for all; `false-masks` splits them
    off, too.) A mask inside of a branch that depends on the induction variable
    stays: it is computed only where it was thought to be needed.

    **Trip counts.** A second loop fills its software pipeline anew, which takes
    longer than masks if it runs for a few iterations. With `min-trips=n`, a
    mask is split off only where that leaves at least `n` iterations without it;
    this is decided when the kernel runs, if it is not known before.

    **Guards.** With `guard=true`, a loop is not split for a mask that a select
    depends on. The select goes into a branch, which only the iterations take in
    which the mask is not true everywhere:

    ```mlir
    %r = scf.if %whole { yield %x } else { yield (select %mask, %x, %y) }
    ```

    **Wrapping.** The first of the two loops is right even if the affine
    function wraps. In the second, the comparison is replaced if the function
    provably does not wrap, otherwise it stays. What proves that are bounds that
    are known, and `nsw` and `nuw` where every iteration branches on the
    comparison: elsewhere what wraps is poison that nothing needs to depend on.

    **By hand.** All that costs selects and comparisons in front of the loops.
    Who splits a loop by hand takes for granted that nothing wraps, that no
    program has a negative number, and that a block ends behind where it begins.
    With `no-wrap=true` so does the pass: integers of the kernel are taken to use
    at most half of the range of their type. A loop whose bounds are multiples of
    its step is split as by hand then, such as this one for causal attention,

    ```mlir
    scf.for %i = %c0 to %end step %c64 { scf.if (%i >= %first) { A } else { B } }
    // becomes, with %first = 128 * program_id and %end = %first + 128
    scf.for %i = %c0 to %first step %c64 { B }
    scf.for %i = %first to %end step %c64 { A }
    ```

    and where a mask becomes true comes before where it ceases to be.

    **Which.** Outer loops first, in each the conditions in program order; of
    the loops that come of one, the one with the fewest conditions left is split
    further. A comparison that no branch, select or mask depends on is no reason
    to split. Attributes are kept on all loops, which get the attribute
    `triton_ext.split` and are not split again. `scf.while` is left alone.

    **Remarks.** Why a loop was or was not split goes to MLIR's remark engine:
    `tx.describe` shows it, and `triton-ext-opt` with `-Rpass=loop-split` or
    `-Rpass-missed=loop-split`; with `-Rpass-analysis=loop-split` also what the
    analysis did not understand where nothing depends on it.
  }];
  let options = [
    Option<"maxSplits", "max-splits", "uint32_t", /*default=*/"2",
           "How many loops one loop may be split into, beyond the first">,
    Option<"maxGrowth", "max-growth", "uint32_t", /*default=*/"1000",
           "How many operations splitting one loop may add, at most">,
    Option<"falseMasks", "false-masks", "bool", /*default=*/"false",
           "Also split off iterations in which a mask is false everywhere">,
    Option<"minTrips", "min-trips", "uint32_t", /*default=*/"1",
           "In how many iterations a mask has to be constant; with less, the loop that keeps it does all">,
    Option<"guard", "guard", "bool", /*default=*/"false",
           "Leave loops whole for masks of selects, which go into a branch">,
    Option<"noWrap", "no-wrap", "bool", /*default=*/"false",
           "Take integers to use at most half of the range of their type, as who splits by hand does">,
  ];
}
