// SPDX-License-Identifier: Apache-2.0
//
// Stand-in for LLVM's C API header of this name, for LLVM installs that lack
// include/llvm-c: the integer types and their limits, as every C library that
// Triton runs on has them.

#ifndef LLVM_C_DATATYPES_H
#define LLVM_C_DATATYPES_H

#include <inttypes.h>
#include <stdint.h>
#include <sys/types.h>

#endif // LLVM_C_DATATYPES_H
