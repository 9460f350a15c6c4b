// SPDX-License-Identifier: Apache-2.0
//
// The walk over a kernel that writes its description; Cost.h says what it is.

#ifndef TRITON_EXT_INTENSITY_WALK_H
#define TRITON_EXT_INTENSITY_WALK_H

#include "Slice.h"

#include "triton/Dialect/Triton/IR/Dialect.h"

namespace mlir::triton_ext::intensity {

/// Describes one kernel.
class Walk {
public:
  Walk(triton::FuncOp kernel, bool keepsNames) : kernel(kernel) {
    slice.keepsNames = keepsNames;
  }

  llvm::json::Object run();

private:
  Scope *enter(const Scope *outer) {
    scopes.push_back(std::make_unique<Scope>());
    scopes.back()->outer = outer;
    return scopes.back().get();
  }

  void region(Region &region, Scope *scope, llvm::json::Array &items);
  void block(Block &block, Scope *scope, llvm::json::Array &items);
  void jump(Block *to, OperandRange with, const Scope *scope,
            llvm::json::Array &items);
  void operation(Operation *op, Scope *scope, llvm::json::Array &items);
  void loop(scf::ForOp loop, Scope *scope, llvm::json::Array &items);
  void call(triton::CallOp call, Scope *scope, llvm::json::Array &items);
  void combine(Operation *op, Region &body, int axis, Scope *scope,
               llvm::json::Array &items);
  bool access(Operation *op, Scope *scope, llvm::json::Array &items);
  void pointers(Operation *op, StringRef what, Value pointer, Value mask,
                Scope *scope, llvm::json::Array &items);
  void descriptor(Operation *op, StringRef what, Value descriptor,
                  OperandRange at, Scope *scope, llvm::json::Array &items);
  int inside(Value descriptor, OperandRange at, Scope *scope);
  void summed(triton::DescriptorReduceOp reduce, Scope *scope,
              llvm::json::Array &items);
  void rows(Operation *op, StringRef what, Type type, llvm::json::Array &items);
  void masked(triton::AtomicRMWOp atomic, Scope *scope,
              llvm::json::Array &items);

  void promises(Operation *op, Scope *scope, llvm::json::Array &items);

  static llvm::json::Object item(StringRef what, Location loc) {
    FileLineColLoc place = placeOf(loc);
    return llvm::json::Object{{"what", what},
                              {"line", lineOf(loc)},
                              {"column", place ? place.getColumn() : 0}};
  }
  static void unknown(Operation *op, StringRef of, const Twine &why,
                      llvm::json::Array &items) {
    llvm::json::Object found = item("unknown", op->getLoc());
    found["of"] = of;
    found["why"] = why.str();
    items.push_back(std::move(found));
  }
  /// Says that nothing is known of the arguments of a block.
  static void forget(Block &block, Scope *scope, StringRef why) {
    for (Value argument : block.getArguments())
      scope->bindings[argument].why = why.str();
  }

  triton::FuncOp kernel;
  Slice slice;
  std::vector<std::unique_ptr<Scope>> scopes;
  SmallVector<Operation *> active; // calls
  SmallVector<Block *> path;       // blocks on the way to this one
  int blocks = 0;
};

} // namespace mlir::triton_ext::intensity

#endif // TRITON_EXT_INTENSITY_WALK_H
