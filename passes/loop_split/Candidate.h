// SPDX-License-Identifier: Apache-2.0
//
// The places where a loop can be split, and which of them comes first.

#ifndef TRITON_EXT_LOOPSPLIT_CANDIDATE_H
#define TRITON_EXT_LOOPSPLIT_CANDIDATE_H

#include "Assumptions.h"

namespace mlir::triton_ext::loop_split {

/// One place to split a loop: all conditions that change there.
struct Candidate {
  SmallVector<Condition> conditions;
  Side side = Side::Lead;
};

/// Returns the first place where it is of use to split the loop with these
/// conditions. Places where a mask becomes true come before those where it
/// becomes false, which are returned only with `falseMasks`. `noWrap` is the
/// option of the pass.
std::optional<Candidate> choose(ArrayRef<Condition> conditions, bool noWrap,
                                bool falseMasks);

} // namespace mlir::triton_ext::loop_split

#endif // TRITON_EXT_LOOPSPLIT_CANDIDATE_H
