// SPDX-License-Identifier: Apache-2.0
//
// Runs passes on a file, for the command line and for programs.

#ifndef TRITON_EXT_OPT_RUN_H
#define TRITON_EXT_OPT_RUN_H

#include "Options.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Support/Timing.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstring>

namespace mlir::triton_ext {

/// The current activity of the child, for the message about a crash. It is in
/// memory that the child shares with the parent.
struct Progress {
  void set(const Twine &what) {
    SmallString<256> text;
    StringRef name = what.toStringRef(text).take_front(sizeof(activity) - 1);
    memcpy(activity, name.data(), name.size());
    activity[name.size()] = 0;
  }

  char activity[512];
};

/// The work on each piece of input.
struct Job {
  DialectRegistry &registry;
  /// Adds the passes; writes errors to `errors`.
  std::function<LogicalResult(PassManager &, raw_ostream &errors)> addPasses;
  raw_ostream &errors;
  /// Null for the API, which has no command line.
  const Options *options = nullptr;
  const PassOptions *passOptions = nullptr;
  Progress *progress = nullptr;
};

/// Runs the job on one piece of input and writes the result to `os`.
LogicalResult runPiece(std::unique_ptr<llvm::MemoryBuffer> buffer,
                       const Job &job, raw_ostream &os, TimingScope &timing);

/// Runs the job, which has options, on the pieces of `input` and appends their
/// results to `output`.
LogicalResult runPieces(std::unique_ptr<llvm::MemoryBuffer> input,
                        const Job &job, std::string &output,
                        TimingScope &timing);

} // namespace mlir::triton_ext

#endif // TRITON_EXT_OPT_RUN_H
