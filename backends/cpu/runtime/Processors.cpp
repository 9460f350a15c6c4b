// SPDX-License-Identifier: Apache-2.0
//
// How many threads a launch can use.

#include "Job.h"

#include <algorithm>
#include <sched.h>
#include <thread>

using namespace triton_ext::cpu;

int triton_ext::cpu::processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    return std::max(1, CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

int triton_ext::cpu::mostThreads() {
  // All threads share the address space and the mappings of the process. A
  // large machine can make 30,000 threads, which leave none of these for the
  // rest of the process.
  static const int most = std::max(1024, 4 * processors());
  return most;
}
