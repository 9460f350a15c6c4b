// SPDX-License-Identifier: Apache-2.0
//
// For pipelines that declare the pass, and for passes with an option that does
// the same.

#ifndef TRITON_EXT_ADDPROGRAMARGUMENTS_H
#define TRITON_EXT_ADDPROGRAMARGUMENTS_H

#include <memory>

namespace mlir {
class ModuleOp;
class Pass;
namespace triton_ext::add_program_arguments {
__attribute__((visibility("default"))) std::unique_ptr<Pass>
createAddProgramArgumentsPass();

/// Numbers of programs as arguments of every function that has a body, unless
/// it has them already.
__attribute__((visibility("default"))) void
addProgramArguments(ModuleOp module);
} // namespace triton_ext::add_program_arguments
} // namespace mlir

#endif // TRITON_EXT_ADDPROGRAMARGUMENTS_H
