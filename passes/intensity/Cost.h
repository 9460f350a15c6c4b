// SPDX-License-Identifier: Apache-2.0
//
// The memory accesses and the FLOPs of a function as a tree of loops and
// branches, in JSON. Analyses; changes nothing.

#ifndef TRITON_EXT_INTENSITY_COST_H
#define TRITON_EXT_INTENSITY_COST_H

#include "Slice.h"

#include "triton/Dialect/Triton/IR/Dialect.h"

namespace mlir::triton_ext::intensity {

/// Returns the description of a kernel:
///
///   {"kernel": name, "line": ..., "arguments": [{"name", "type"}],
///    "nodes": [expressions, each with the numbers of earlier ones as
///    operands], "places": [where each node is computed], "body": [items]}
///
/// and, if it `keepsNames`, "variables": [[name, node, where it is assigned]].
///
/// An item has "what", "line" and "column", and for each "what":
///
///   load, store    "bytes" of an element, "shape", "mask" (a node; absent: all
///                  elements), "argument" and "offset" (a node) of the address;
///                  "descriptor" (given or made) if it is accessed by one; then
///                  the address is in "element", if the kernel makes it,
///                  else "given" is the argument and "at" has the indices;
///                  "unfilled": the dimensions that `unfilled` returns, if any
///   hint           "shape", "value" (a node), "divisibility", "contiguity" and
///                  "constancy" as far as they are promised
///   assume         "condition"
///   flops          "kind", "type", "count"; if it depends on a mask "shape"
///   and
///                  "mask", and "count" is that of one element
///   loop           "loop" (its number), "lower", "upper", "step", "unsigned",
///                  "body"
///   while          "before", "after": the bodies of its two regions
///   if             "condition", "then", "else"
///   times          "count", "body"
///   unknown        "why", "of": "flops" or "all"
llvm::json::Object describe(triton::FuncOp kernel, bool keepsNames);

} // namespace mlir::triton_ext::intensity

#endif // TRITON_EXT_INTENSITY_COST_H
