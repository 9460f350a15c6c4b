// SPDX-License-Identifier: Apache-2.0
//
// Reports launches in which no program ends while others have not started.

#ifndef TRITON_EXT_CPU_WATCH_H
#define TRITON_EXT_CPU_WATCH_H

#include "Job.h"

namespace triton_ext::cpu {

/// Has a thread of the process look at `job` from time to time while this
/// object lives, if `job.launch.spinSeconds` is not 0. If all threads of the
/// launch are in programs that do not end, and there are programs that have not
/// started, one line on standard error names both: a program may wait for one
/// that cannot start.
class Watch {
public:
  explicit Watch(Job &job);
  ~Watch();
  Watch(const Watch &) = delete;
  Watch &operator=(const Watch &) = delete;

private:
  Job &job;
  bool isWatched = false;
};

/// Lists a thread that runs programs of a watched launch while this object
/// lives.
class Watched {
public:
  explicit Watched(Running &thread);
  ~Watched();
  Watched(const Watched &) = delete;
  Watched &operator=(const Watched &) = delete;

private:
  Running &thread;
  bool isListed = false;
};

} // namespace triton_ext::cpu

#endif // TRITON_EXT_CPU_WATCH_H
