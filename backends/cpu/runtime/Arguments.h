// SPDX-License-Identifier: Apache-2.0
//
// The arguments of a launch.

#ifndef TRITON_EXT_CPU_ARGUMENTS_H
#define TRITON_EXT_CPU_ARGUMENTS_H

#include "StableAbi.h"

#include <cstdint>
#include <vector>

namespace triton_ext::cpu {

/// Unpacks the argument `name` into `slots`; `kind` points to its letter:
/// c(onstexpr, skipped), p(ointer), r (pointer that the kernel only reads
/// through), b(ool), i(nteger), f(p32), d (fp64), h (fp16), e (bf16); "(" and
/// ")" are around the elements of a tuple. Returns a pointer to the letter
/// behind it. On failure, sets a Python error and returns null.
const char *unpack(const char *kind, PyObject *object, const char *name,
                   std::vector<uint64_t> &slots);

} // namespace triton_ext::cpu

#endif // TRITON_EXT_CPU_ARGUMENTS_H
