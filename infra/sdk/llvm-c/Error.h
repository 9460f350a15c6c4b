// SPDX-License-Identifier: Apache-2.0
//
// Stand-in for LLVM's C API header of this name, for LLVM installs that lack
// include/llvm-c: the handle that llvm/Support/Error.h converts to and from.

#ifndef LLVM_C_ERROR_H
#define LLVM_C_ERROR_H

typedef struct LLVMOpaqueError *LLVMErrorRef;

#endif // LLVM_C_ERROR_H
