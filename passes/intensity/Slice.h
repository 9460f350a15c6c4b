// SPDX-License-Identifier: Apache-2.0
//
// The integers of a kernel on which its masks, trip counts and branches depend,
// as a graph of expressions in JSON. Analyses; changes nothing.

#ifndef TRITON_EXT_INTENSITY_SLICE_H
#define TRITON_EXT_INTENSITY_SLICE_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/JSON.h"

#include <map>
#include <memory>

namespace mlir::triton_ext::intensity {

/// Returns the location in the user's code; null if it is unknown. For code in
/// Triton's own library, such as tl.sum, it is the location of the call.
FileLineColLoc placeOf(Location loc);

/// Returns "file:line" of `placeOf`; empty if it is unknown.
std::string lineOf(Location loc);

/// For each dimension of a tensor, the dimension of the described access that
/// it runs over, or -1 for the index 0 of a dimension of one element.
using Lanes = SmallVector<int, 4>;

/// The lanes of a tensor of this type, one for each dimension.
Lanes lanesOf(Type type);

/// One activation of a function or of one of its blocks: the values of the
/// block's arguments. The same function may be called with different arguments.
struct Scope {
  enum class Kind { Alias, Argument, Induction, Carried, Unknown };
  struct Binding {
    Kind kind = Kind::Unknown;
    Value value;                  // Alias: the value that it is
    const Scope *scope = nullptr; // Alias: where that value is defined
    int number = 0;               // of the argument, or of the loop
    std::string why;              // Unknown
  };

  const Scope *outer = nullptr;
  DenseMap<Value, Binding> bindings;

  const Binding *lookup(Value value) const;
};

/// An address: an argument of the kernel, and the offset from it, in elements.
struct Address {
  unsigned argument;
  int offset;
};

class Slice {
public:
  /// Whether to remember which nodes the variables of the source are.
  bool keepsNames = false;

  /// Returns the number of the expression of `value`, or of its element at
  /// `lanes`. A value that cannot be expressed becomes an expression "unknown"
  /// that says why.
  int get(Value value, ArrayRef<int> lanes, const Scope *scope);
  /// Returns the address of a pointer, or of an element of a tensor of
  /// pointers; nullopt if it is not found.
  std::optional<Address> address(Value pointer, ArrayRef<int> lanes,
                                 const Scope *scope);
  /// Returns the condition under which an element of a box at `at` lies inside
  /// of a tensor of `shape`.
  int insideOf(ArrayRef<int> shape, ArrayRef<int> at);
  /// Returns the number of the expression for the size of a dimension of a
  /// descriptor.
  int sizeOf(Value descriptor, unsigned dimension, const Scope *scope);
  /// Returns the number of the kernel's argument that is this descriptor;
  /// nullopt if it is not an argument.
  std::optional<int> argumentOf(Value descriptor, const Scope *scope);
  /// Returns the address of an element of the box at `at` of a descriptor that
  /// the kernel makes; nullopt if it is not found.
  std::optional<Address> elementOf(Value descriptor, ArrayRef<int> at,
                                   const Scope *scope);
  /// Returns the number of an expression that says why a value of `width` bits
  /// is unknown.
  int unknown(Location loc, StringRef why, int width = 64);
  /// Gives the next loop a number.
  int addLoop() { return loops++; }

  llvm::json::Array takeNodes() { return std::move(nodes); }
  /// Returns "file:line:column" of each node, where the kernel computes it
  /// first; empty for a node that the kernel has no operation for.
  llvm::json::Array takePlaces() { return std::move(places); }
  /// Returns [name, node, "file:line" of the assignment] of each variable.
  llvm::json::Array takeVariables() { return std::move(variables); }

private:
  int add(llvm::json::Array node, std::optional<Location> loc = {});
  int add(std::initializer_list<llvm::json::Value> node,
          std::optional<Location> loc = {}) {
    return add(llvm::json::Array(node), loc);
  }
  int constant(int64_t value);
  void keepName(Value value, int node);
  int define(Value value, ArrayRef<int> lanes, const Scope *scope);
  int bound(const Scope::Binding &binding, Value value, ArrayRef<int> lanes,
            const Scope *scope);
  int carried(scf::ForOp loop, unsigned index, int count, ArrayRef<int> lanes,
              const Scope *scope);
  /// Returns the lanes of the operand of a change of shape; nullopt if they are
  /// not lanes of the result.
  static std::optional<Lanes> through(Operation *op, ArrayRef<int> lanes);
  /// Returns whether `value` is the same in all iterations: no operation that
  /// it is computed from reads memory or depends on what the loop carries.
  static bool isInvariant(Value value, scf::ForOp loop, int depth = 16);

  llvm::json::Array nodes, places, variables;
  std::map<std::string, int> numbers; // of nodes, by their text
  std::map<std::tuple<void *, SmallVector<int, 4>, const Scope *>, int> known;
  int loops = 0;
};

} // namespace mlir::triton_ext::intensity

#endif // TRITON_EXT_INTENSITY_SLICE_H
