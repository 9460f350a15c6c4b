// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def MarkLoopsPass : Pass<"triton-ext-mark-loops"> {
  let summary = "Name the header of each loop by the loop's depth";
}
