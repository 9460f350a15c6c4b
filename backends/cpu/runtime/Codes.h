// SPDX-License-Identifier: Apache-2.0
//
// The codes of programs and locks in words of the shadow for races. They are
// those that passes/sanitizer/ShadowRaces.cpp computes in kernels for GPUs, and
// passes/sanitizer/api/_partners.py on the host; RATIONALE.md there describes
// them.

#ifndef TRITON_EXT_CPU_CODES_H
#define TRITON_EXT_CPU_CODES_H

#include <cstdint>

namespace triton_ext::cpu {

/// Returns the code of a program or a lock, of so many bits. The salt chooses
/// the hash.
uint64_t codeOf(uint64_t number, int bits, int salt);

} // namespace triton_ext::cpu

#endif // TRITON_EXT_CPU_CODES_H
