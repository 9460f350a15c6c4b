// SPDX-License-Identifier: Apache-2.0
//
// Expresses where an access lies: the addresses of pointers, and the elements
// of a descriptor's box that lie inside of its tensor.

#include "Slice.h"

#include "triton/Dialect/Triton/IR/Dialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton_ext::intensity;
namespace tt = mlir::triton;

std::optional<Address> Slice::address(Value pointer, ArrayRef<int> lanes,
                                      const Scope *scope) {
  auto plus = [&](std::optional<Address> base,
                  int offset) -> std::optional<Address> {
    if (!base)
      return std::nullopt;
    return Address{base->argument,
                   add({"addi", 64, base->offset, offset}, pointer.getLoc())};
  };
  if (const Scope::Binding *binding = scope->lookup(pointer)) {
    if (binding->kind == Scope::Kind::Alias)
      return address(binding->value, lanes, binding->scope);
    if (binding->kind == Scope::Kind::Argument)
      return Address{unsigned(binding->number), constant(0)};
    if (binding->kind != Scope::Kind::Carried)
      return std::nullopt;
    auto argument = cast<BlockArgument>(pointer);
    auto loop = cast<scf::ForOp>(argument.getOwner()->getParentOp());
    unsigned index = argument.getArgNumber() - loop.getNumInductionVars();
    auto next = loop.getBody()
                    ->getTerminator()
                    ->getOperand(index)
                    .getDefiningOp<tt::AddPtrOp>();
    if (!next || next.getPtr() != pointer ||
        !isInvariant(next.getOffset(), loop))
      return std::nullopt;
    int advance = add({"muli", 64, add({"iteration", binding->number}),
                       get(next.getOffset(), lanes, scope)});
    return plus(address(loop.getInitArgs()[index], lanes, scope), advance);
  }
  Operation *op = pointer.getDefiningOp();
  if (auto sum = dyn_cast_or_null<tt::AddPtrOp>(op))
    return plus(address(sum.getPtr(), lanes, scope),
                get(sum.getOffset(), lanes, scope));
  // A cast to elements of the same size, such as those of atomic operations on
  // floats, or of a load of booleans: an i1 is a byte, and is loaded as i8.
  if (auto cast = dyn_cast_or_null<tt::BitcastOp>(op)) {
    auto bytes = [](Value value) -> unsigned {
      auto type = dyn_cast<tt::PointerType>(getElementTypeOrSelf(value));
      return type && type.getPointeeType().isIntOrFloat()
                 ? llvm::divideCeil(
                       type.getPointeeType().getIntOrFloatBitWidth(), 8)
                 : 0;
    };
    if (bytes(cast.getSrc()) && bytes(cast.getSrc()) == bytes(cast.getResult()))
      return address(cast.getSrc(), lanes, scope);
  }
  if (isa_and_nonnull<tt::SplatOp, tt::ExpandDimsOp, tt::BroadcastOp,
                      tt::TransOp, tt::ReshapeOp>(op))
    if (std::optional<Lanes> inner = through(op, lanes))
      return address(op->getOperand(0), *inner, scope);
  return std::nullopt;
}

int Slice::sizeOf(Value descriptor, unsigned dimension, const Scope *scope) {
  const Scope::Binding *binding = scope->lookup(descriptor);
  if (binding && binding->kind == Scope::Kind::Alias)
    return sizeOf(binding->value, dimension, binding->scope);
  if (binding && binding->kind == Scope::Kind::Argument)
    return add({"size", binding->number, dimension});
  auto made = descriptor.getDefiningOp<tt::MakeTensorDescOp>();
  if (!made)
    return unknown(descriptor.getLoc(), "a descriptor that was not found");
  return get(made.getShape()[dimension], {}, scope);
}

std::optional<int> Slice::argumentOf(Value descriptor, const Scope *scope) {
  const Scope::Binding *binding = scope->lookup(descriptor);
  if (binding && binding->kind == Scope::Kind::Alias)
    return argumentOf(binding->value, binding->scope);
  if (binding && binding->kind == Scope::Kind::Argument)
    return binding->number;
  return std::nullopt;
}

std::optional<Address> Slice::elementOf(Value descriptor, ArrayRef<int> at,
                                        const Scope *scope) {
  const Scope::Binding *binding = scope->lookup(descriptor);
  if (binding)
    return binding->kind == Scope::Kind::Alias
               ? elementOf(binding->value, at, binding->scope)
               : std::nullopt;
  auto made = descriptor.getDefiningOp<tt::MakeTensorDescOp>();
  std::optional<Address> result;
  if (made)
    result = address(made.getBase(), {}, scope);
  if (!result)
    return std::nullopt;
  for (auto [i, stride] : llvm::enumerate(made.getStrides())) {
    int index = add({"addi", 64, at[i], add({"lane", i})});
    int offset = add({"muli", 64, index, get(stride, {}, scope)});
    result->offset =
        add({"addi", 64, result->offset, offset}, descriptor.getLoc());
  }
  return result;
}

int Slice::insideOf(ArrayRef<int> shape, ArrayRef<int> at) {
  int result = constant(1), zero = constant(0);
  for (auto [i, size] : llvm::enumerate(shape)) {
    int index = add({"addi", 64, at[i], add({"lane", i})});
    result = add({"andi", 1, result, add({"cmpi", 64, "sge", index, zero})});
    result = add({"andi", 1, result, add({"cmpi", 64, "slt", index, size})});
  }
  return result;
}
