// SPDX-License-Identifier: Apache-2.0
//
// A fault in a kernel ends the launch with an error.

#ifndef TRITON_EXT_CPU_FAULT_H
#define TRITON_EXT_CPU_FAULT_H

#include "Job.h"

#include <csignal>
#include <string_view>

namespace triton_ext::cpu {

/// Called in the handler of the signal `name`, with the interrupted `context`.
/// If the signal is a wrong access by the code of a kernel, changes the context
/// so that the thread leaves the kernel and the launch fails when the handler
/// returns, and returns true. Else changes nothing and returns false.
bool leaveKernel(const siginfo_t &info, std::string_view name, void *context);

} // namespace triton_ext::cpu

#endif // TRITON_EXT_CPU_FAULT_H
