// SPDX-License-Identifier: Apache-2.0
//
// The operation that Python has described, and the callbacks that build it.
// Includes no MLIR headers, so that the callbacks compile fast; see
// Callbacks.cpp.

#ifndef TRITON_EXT_LANGUAGE_LANGUAGE_H
#define TRITON_EXT_LANGUAGE_LANGUAGE_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

class TritonOpBuilder;

namespace mlir {
class Operation;
class Value;
} // namespace mlir

namespace mlir::triton_ext::language {

/// The operation to build next, without its operands.
struct Description {
  std::string operation;
  std::vector<std::pair<std::string, std::string>> attributes;
  bool infersTypes = false;
  std::vector<std::string> types;
  std::vector<int32_t> operandGroups, resultGroups;
  bool hasRegion = false;
};

/// The state that the calls of one thread share.
struct Thread {
  Description description;
  /// The operation that was built last.
  Operation *built = nullptr;
  /// The operation whose results `take` returns and whose region `leave` ends.
  Operation *chosen = nullptr;
  unsigned index = 0;
  std::string terminator;
};
Thread &thisThread();

/// Builds the operation that was described from `operands`, whose first is
/// Triton's slot for what the call returns: the first result. Returns an error
/// or an empty string, as the next two functions do.
std::string tryBuild(TritonOpBuilder &triton, std::vector<Value> &operands);
/// Puts one result of the operation that was built last into the slot.
std::string tryTake(TritonOpBuilder &triton, std::vector<Value> &operands);
/// Ends the region of the chosen operation, verifies the operation, and moves
/// the insertion point behind it.
std::string tryLeave(TritonOpBuilder &triton, std::vector<Value> &operands);

// The same functions as callbacks for Triton. They throw an error as
// std::invalid_argument, which nanobind turns into a ValueError.
void build(TritonOpBuilder &triton, std::vector<Value> &operands);
void take(TritonOpBuilder &triton, std::vector<Value> &operands);
void leave(TritonOpBuilder &triton, std::vector<Value> &operands);

} // namespace mlir::triton_ext::language

#endif // TRITON_EXT_LANGUAGE_LANGUAGE_H
