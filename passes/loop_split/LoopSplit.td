// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def LoopSplitPass : Pass<"triton-ext-loop-split", "::mlir::ModuleOp"> {
  let summary = "Split loops where a condition on the induction variable changes";
  let description = [{
    If a branch, a select or a mask in an `scf.for` depends on a comparison of the
    induction variable with a loop-invariant value, the loop becomes two or more
    loops, one after the other, in which the comparison is constant:

    ```mlir
    scf.for %i = %c0 to %n step %c1 : i32 {
      %early = arith.cmpi slt, %i, %m : i32
      scf.if %early { A } else { B }
    }
    // becomes, with %mid the smaller of %n and %m, but not less than 0
    scf.for %i = %c0 to %mid step %c1 : i32 { A }
    scf.for %i = %mid to %n step %c1 : i32 { B }
    ```

    **Conditions.** The predicate may be any integer predicate, signed or
    unsigned, with the operands in either order; `eq` and `ne` give three loops.
    One operand is an affine expression of the induction variable: sums and
    differences with invariants, products with constants, `extsi`, `extui`,
    `trunci` and `index_cast`. The bounds, the step and the other operand may have
    any values: nothing overflows, even at the ends of the types' ranges.

    **Masks.** For a comparison of tensors, such as `iv + range < n`, one loop does
    the iterations in which it is true for all elements. The other loop keeps the
    comparison, also where it is false for all elements; `false-masks` splits off
    these iterations, too. A mask inside of a branch that depends on the induction
    variable stays, because the branch already limits it to where it is needed.

    **Trip counts.** A second loop fills its software pipeline anew, which takes
    longer than computing masks if the loop runs for a few iterations. With
    `min-trips=n`, a mask is split off only where that leaves at least `n`
    iterations without it. If the number is not known at compile time, the kernel
    decides when it runs.

    **Guards.** With `guard=true`, a loop is not split for a mask that a select
    depends on. The select goes into a branch instead, which is taken only in
    iterations in which the mask is not true for all elements:

    ```mlir
    %r = scf.if %whole { yield %x } else { yield (select %mask, %x, %y) }
    ```

    **Cost model.** Each further loop fills a software pipeline anew, and ptxas
    needs some registers more. So a loop that Triton pipelines, which is one with a
    matrix product or with `tt.num_stages`, is split only where that pays:

    - for masks of accesses that become wider without them, because a mask that may
      change between neighbours makes each of them an access of its own. A mask that
      does not is a predicate of an instruction that is needed anyway;
    - for branches, and for selects of tensors, if the pipeline begins anew no more
      than `max-refills` times, and if the tiles that are alive at the same time
      take no more than `max-registers` registers of a thread. If constants tell in
      how many iterations they disappear, these are `split-trips` or more.

    Otherwise branches stay, and selects go into a branch as with `guard`, unless
    constants tell that they disappear from less than `guard-trips` iterations.

    Other loops, and all loops on a CPU, are split wherever it is possible. With
    `cost-model=false`, pipelined ones are, too. A pipeline of `tx.Pipeline` gives
    `num-warps` and `threads-per-warp` the values of the launch. In `triton-ext-opt`
    they are options; registers are not estimated without them.

    **Wrapping.** The first of the two loops is right even if the affine
    expression wraps. In the second loop, the comparison is replaced only if the
    expression provably does not wrap. The proof uses known bounds, and the flags
    `nsw` and `nuw` if every iteration branches on the comparison. Otherwise a
    value that wraps is poison, on which nothing may depend, so that the flags
    prove nothing.

    **Splitting as by hand.** Being right for all values costs selects and
    comparisons in front of the loops. Code that is split by hand assumes that
    nothing wraps, that program ids are not negative, and that a block ends behind
    its beginning. With `no-wrap=true` the pass assumes this, too: no integer in
    the kernel exceeds half of its type's range. A loop whose bounds are multiples
    of its step is then split as by hand, such as this one for causal attention,

    ```mlir
    scf.for %i = %c0 to %end step %c64 { scf.if (%i >= %first) { A } else { B } }
    // becomes, with %first = 128 * program_id and %end = %first + 128
    scf.for %i = %c0 to %first step %c64 { B }
    scf.for %i = %first to %end step %c64 { A }
    ```

    and the place where a mask becomes true is used before the place where it
    becomes false again.

    **Order.** Outer loops come first, and in each loop the conditions in program
    order. Of the loops that one loop has become, the one with the fewest conditions
    left is split further. A loop is not split for a comparison that no branch,
    select or mask depends on. All loops keep the attributes of the loop that they
    come from, and get the attribute `triton_ext.split`, with which they are not
    split again. `scf.while` is left untouched.

    **Remarks.** The reasons why a loop was split, or was not, go to MLIR's remark
    engine. `tx.describe` shows them, as does `triton-ext-opt` with
    `-Rpass=loop-split` or `-Rpass-missed=loop-split`; `-Rpass-analysis=loop-split`
    adds comparisons that the analysis did not understand and that nothing depends
    on.
  }];
  let options = [
    Option<"maxSplits", "max-splits", "uint32_t", /*default=*/"2",
           "The largest number of loops that one loop may become, without the first">,
    Option<"maxGrowth", "max-growth", "uint32_t", /*default=*/"1000",
           "The largest number of operations that splitting one loop may add">,
    Option<"falseMasks", "false-masks", "bool", /*default=*/"false",
           "Also split off iterations in which a mask is false everywhere">,
    Option<"minTrips", "min-trips", "uint32_t", /*default=*/"1",
           "If a mask is known in fewer iterations than this, the loop that keeps the mask does all iterations">,
    Option<"guard", "guard", "bool", /*default=*/"false",
           "Put selects under masks into a branch instead of splitting the loop for them">,
    Option<"noWrap", "no-wrap", "bool", /*default=*/"false",
           "Assume that no integer in the kernel exceeds half of its type's range, as code split by hand assumes">,
    Option<"costModel", "cost-model", "bool", /*default=*/"true",
           "Split a pipelined loop only if the cost model expects a gain; if false, split wherever it is possible">,
    Option<"splitTrips", "split-trips", "uint32_t", /*default=*/"8",
           "Cost model: split for a select or branch only if it disappears from at least this many iterations, as far as constants tell">,
    Option<"guardTrips", "guard-trips", "uint32_t", /*default=*/"2",
           "Cost model: put a select into a branch only if its mask is known in at least this many iterations, as far as constants tell">,
    Option<"maxRefills", "max-refills", "uint32_t", /*default=*/"1",
           "Cost model: how often splitting for selects and branches may start the pipeline of a loop anew">,
    Option<"maxRegisters", "max-registers", "uint32_t", /*default=*/"160",
           "Cost model: split for selects and branches only if the tiles of the loop take at most this many registers of a thread">,
    Option<"numWarps", "num-warps", "uint32_t", /*default=*/"0",
           "Cost model: the number of warps of a program; if 0, that of the launch">,
    Option<"threadsPerWarp", "threads-per-warp", "uint32_t", /*default=*/"0",
           "Cost model: the number of threads of a warp; if 0, that of the target">,
  ];
}
