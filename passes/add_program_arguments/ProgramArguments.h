// SPDX-License-Identifier: Apache-2.0
//
// The function behind the pass, for other passes that offer it as an option.

#ifndef TRITON_EXT_ADDPROGRAMARGUMENTS_PROGRAMARGUMENTS_H
#define TRITON_EXT_ADDPROGRAMARGUMENTS_PROGRAMARGUMENTS_H

namespace mlir {
class ModuleOp;
namespace triton_ext::add_program_arguments {
/// Adds the numbers and the ids of programs to the arguments of each function
/// that has a body, unless it has them already.
__attribute__((visibility("default"))) void
addProgramArguments(ModuleOp module);
} // namespace triton_ext::add_program_arguments
} // namespace mlir

#endif // TRITON_EXT_ADDPROGRAMARGUMENTS_PROGRAMARGUMENTS_H
