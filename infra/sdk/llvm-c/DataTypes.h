// SPDX-License-Identifier: Apache-2.0
//
// Stand-in for LLVM's C API header of this name, for LLVM installs that lack
// include/llvm-c: the integer types and their limits, which every C library on
// Triton's platforms defines.

#ifndef LLVM_C_DATATYPES_H
#define LLVM_C_DATATYPES_H

#include <inttypes.h>
#include <stdint.h>
#include <sys/types.h>

#endif // LLVM_C_DATATYPES_H
