// SPDX-License-Identifier: Apache-2.0
//
// Describes the accesses to memory of a kernel.

#include "Operations.h"
#include "Unfilled.h"
#include "Walk.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::intensity;
namespace tt = mlir::triton;
namespace json = llvm::json;

/// The bytes that an element takes in memory.
static int64_t bytesOf(Type element) {
  if (isa<tt::PointerType>(element))
    return 8;
  return llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

static json::Array shapeOf(Type type) {
  json::Array shape;
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    for (int64_t size : tensor.getShape())
      shape.push_back(size);
  return shape;
}

void Walk::pointers(Operation *op, StringRef what, Value pointer, Value mask,
                    Scope *scope, json::Array &items) {
  Type type = pointer.getType();
  json::Object found = item(what, op->getLoc());
  found["bytes"] = bytesOf(
      cast<tt::PointerType>(getElementTypeOrSelf(type)).getPointeeType());
  found["shape"] = shapeOf(type);
  if (mask)
    found["mask"] = slice.get(mask, lanesOf(mask.getType()), scope);
  if (auto load = dyn_cast<tt::LoadOp>(op)) {
    json::Array dimensions;
    for (int64_t dimension : unfilled(load))
      dimensions.push_back(dimension);
    if (!dimensions.empty())
      found["unfilled"] = std::move(dimensions);
  }
  if (auto address = slice.address(pointer, lanesOf(type), scope)) {
    found["argument"] = address->argument;
    found["offset"] = address->offset;
  }
  items.push_back(std::move(found));
}

/// Returns the condition under which an element of the box at `at` lies inside
/// of the tensor.
int Walk::inside(Value descriptor, OperandRange at, Scope *scope) {
  SmallVector<int> sizes, starts;
  for (auto [i, index] : llvm::enumerate(at)) {
    sizes.push_back(slice.sizeOf(descriptor, i, scope));
    starts.push_back(slice.get(index, {}, scope));
  }
  return slice.insideOf(sizes, starts);
}

void Walk::descriptor(Operation *op, StringRef what, Value descriptor,
                      OperandRange at, Scope *scope, json::Array &items) {
  auto box = cast<tt::TensorDescType>(descriptor.getType()).getBlockType();
  json::Object found = item(what, op->getLoc());
  found["bytes"] = bytesOf(box.getElementType());
  found["shape"] = shapeOf(box);
  found["mask"] = inside(descriptor, at, scope);
  SmallVector<int> starts;
  for (Value index : at)
    starts.push_back(slice.get(index, {}, scope));
  std::optional<int> given = slice.argumentOf(descriptor, scope);
  found["descriptor"] = given ? "given" : "made";
  if (given) {
    found["given"] = *given;
    found["at"] = json::Array(starts);
  }
  if (auto address = slice.elementOf(descriptor, starts, scope))
    found["element"] = json::Object{{"argument", address->argument},
                                    {"offset", address->offset}};
  items.push_back(std::move(found));
}

/// Describes the addition of a reduction into a descriptor of floats, which
/// each element inside of the tensor does.
void Walk::summed(tt::DescriptorReduceOp reduce, Scope *scope,
                  json::Array &items) {
  Type type = reduce.getSrc().getType();
  if (reduce.getKind() != tt::DescriptorReduceKind::ADD ||
      !isa<FloatType>(getElementTypeOrSelf(type)))
    return;
  json::Object found = item("flops", reduce.getLoc());
  found["kind"] = "add";
  found["type"] = typeName(type);
  found["count"] = 1;
  found["shape"] = shapeOf(reduce.getDesc().getType().getBlockType());
  found["mask"] = inside(reduce.getDesc(), reduce.getIndices(), scope);
  items.push_back(std::move(found));
}

/// Describes an access to whole rows whose numbers are data: some of them may
/// lie outside of the tensor, and are then not accessed.
void Walk::rows(Operation *op, StringRef what, Type type, json::Array &items) {
  json::Object found = item(what, op->getLoc());
  found["bytes"] = bytesOf(getElementTypeOrSelf(type));
  found["shape"] = shapeOf(type);
  found["mask"] = slice.unknown(op->getLoc(), "rows whose numbers are data", 1);
  found["descriptor"] = "made";
  items.push_back(std::move(found));
}

/// Describes the addition of an atomic operation on floats, which each element
/// in the mask does.
void Walk::masked(tt::AtomicRMWOp atomic, Scope *scope, json::Array &items) {
  if (atomic.getAtomicRmwOp() != tt::RMWOp::FADD)
    return;
  json::Object found = item("flops", atomic.getLoc());
  found["kind"] = "add";
  found["type"] = typeName(atomic.getVal().getType());
  found["count"] = 1;
  found["shape"] = shapeOf(atomic.getVal().getType());
  if (Value mask = atomic.getMask())
    found["mask"] = slice.get(mask, lanesOf(mask.getType()), scope);
  items.push_back(std::move(found));
}

/// Describes what a kernel promises about an integer, as `tl.multiple_of` and
/// `tl.assume` do.
void Walk::promises(Operation *op, Scope *scope, json::Array &items) {
  if (op->getName().getStringRef() == "llvm.intr.assume") {
    json::Object found = item("assume", op->getLoc());
    found["condition"] = slice.get(op->getOperand(0), {}, scope);
    return items.push_back(std::move(found));
  }
  if (op->getNumResults() != 1)
    return;
  Value value = op->getResult(0);
  if (!getElementTypeOrSelf(value).isIntOrIndex())
    return;
  json::Object found = item("hint", op->getLoc());
  for (StringRef name : {"tt.divisibility", "tt.contiguity", "tt.constancy"})
    if (auto given = op->getAttrOfType<DenseIntElementsAttr>(name)) {
      json::Array values;
      for (const APInt &one : given.getValues<APInt>())
        values.push_back(one.getSExtValue());
      found[name.drop_front(3)] = std::move(values);
    }
  if (found.size() == 3)
    return; // what, line and column
  found["shape"] = shapeOf(value.getType());
  found["value"] = slice.get(value, lanesOf(value.getType()), scope);
  items.push_back(std::move(found));
}

/// Describes an access to memory. Returns whether `op` is one.
bool Walk::access(Operation *op, Scope *scope, json::Array &items) {
  return TypeSwitch<Operation *, bool>(op)
      .Case<tt::LoadOp, tt::AtomicLoadOp>([&](auto load) {
        pointers(op, "load", load.getPtr(), load.getMask(), scope, items);
        return true;
      })
      .Case<tt::StoreOp, tt::AtomicStoreOp>([&](auto store) {
        pointers(op, "store", store.getPtr(), store.getMask(), scope, items);
        return true;
      })
      .Case([&](tt::AtomicRMWOp atomic) {
        for (StringRef what : {"load", "store"})
          pointers(op, what, atomic.getPtr(), atomic.getMask(), scope, items);
        masked(atomic, scope, items);
        return true;
      })
      .Case([&](tt::AtomicCASOp atomic) {
        for (StringRef what : {"load", "store"})
          pointers(op, what, atomic.getPtr(), nullptr, scope, items);
        return true;
      })
      .Case([&](tt::DescriptorLoadOp load) {
        descriptor(op, "load", load.getDesc(), load.getIndices(), scope, items);
        return true;
      })
      .Case([&](tt::DescriptorStoreOp store) {
        descriptor(op, "store", store.getDesc(), store.getIndices(), scope,
                   items);
        return true;
      })
      .Case([&](tt::DescriptorReduceOp reduce) {
        for (StringRef what : {"load", "store"})
          descriptor(op, what, reduce.getDesc(), reduce.getIndices(), scope,
                     items);
        summed(reduce, scope, items);
        return true;
      })
      .Case([&](tt::DescriptorGatherOp gather) {
        rows(op, "load", gather.getResult().getType(), items);
        return true;
      })
      .Case([&](tt::DescriptorScatterOp scatter) {
        rows(op, "store", scatter.getSrc().getType(), items);
        return true;
      })
      .Default(false);
}
