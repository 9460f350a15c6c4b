// SPDX-License-Identifier: Apache-2.0
//
// Makes calls of kernels return from time to time.

#ifndef TRITON_EXT_CPU_TICKER_H
#define TRITON_EXT_CPU_TICKER_H

#include <atomic>
#include <condition_variable>
#include <mutex>

namespace triton_ext::cpu {

/// A thread that makes kernel calls return every 20 ms while a call runs
/// several programs. A call needs this even after short programs: its next ones
/// may be long.
class Ticker {
public:
  /// Starts ticking and returns the ticker, on which the caller must call
  /// `leave`. Returns null if the ticker cannot run.
  static Ticker *enter();
  void leave() { users.fetch_sub(1); }

private:
  void loop();

  std::mutex mutex;
  std::condition_variable wake;
  std::atomic<int> users{0};
  std::atomic<bool> sleeps{false};
};

} // namespace triton_ext::cpu

#endif // TRITON_EXT_CPU_TICKER_H
