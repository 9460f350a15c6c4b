// SPDX-License-Identifier: Apache-2.0
//
// Accesses are scalar, contiguous, permuted within a window, or gathered.
//
// Volatile loads are scalar, one for each lane whose mask is on, in row-major
// order. The reason is that LLVM has neither masked volatile loads nor volatile
// gathers, and may split a volatile load of a vector in any way.

#include "MemoryAccess.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

/// Returns the number of elements from the lowest to the highest address of the
/// lanes, which may be in any order; 0 if the distances between lanes are not
/// multiples of the element size.
static int64_t windowOf(ArrayRef<int64_t> pattern, int64_t bytes) {
  auto [low, high] = std::minmax_element(pattern.begin(), pattern.end());
  for (int64_t p : pattern)
    if ((p - *low) % bytes != 0)
      return 0;
  return (*high - *low) / bytes + 1;
}

/// Returns whether one load of the window and a shuffle are better than a
/// gather. They are for up to two registers, which one x86 instruction
/// shuffles.
static bool isSmall(int64_t window, int lanes) {
  return window && window <= 2 * lanes;
}

/// Emits a scalar load. LLVM neither removes, repeats nor moves a volatile one.
/// A volatile load also acquires: later accesses stay behind it. This costs
/// nothing on x86. By the specification, a volatile load on a GPU is relaxed.
/// But with a relaxed load, LLVM could move loads of data in front of the loop
/// that waits for their flag, which no GPU does.
static Value loadScalar(LaneBuilder &b, Type type, Value ptr, bool isVolatile) {
  unsigned align = bytesOf(type);
  if (!isVolatile)
    return LLVM::LoadOp::create(b, type, ptr, align);
  // Atomic accesses need whole bytes, so an i1 is loaded as i8.
  Type memory = type.isInteger(1) ? Type(b.getI8Type()) : type;
  Value value = LLVM::LoadOp::create(b, memory, ptr, align, /*isVolatile=*/true,
                                     /*isNonTemporal=*/false,
                                     /*isInvariant=*/false,
                                     /*isInvariantGroup=*/false,
                                     LLVM::AtomicOrdering::acquire);
  if (memory != type)
    value = arith::TruncIOp::create(b, type, value);
  return value;
}

/// Returns whether the mask is known to be on in all lanes.
static bool isOn(const Lanes &mask) {
  return mask.isUniform() && matchPattern(mask.base, m_One());
}

Lanes MemoryAccess::load(Type element, const Lanes &ptr, const Lanes *mask,
                         const Lanes *other, bool isVolatile) {
  int64_t bytes = bytesOf(element);
  int n = b.lanes();
  unsigned align = bytes;
  assert((!isVolatile || n == 1) && "more than one lane for a volatile load");
  if (mask && isOn(*mask))
    mask = nullptr;
  // All lanes have the same address and the same mask: one scalar load.
  if (ptr.isUniform() && (!mask || mask->isUniform())) {
    if (!mask)
      return Lanes::uniform(loadScalar(b, element, ptr.base, isVolatile));
    bool scalarOther = !other || other->isUniform();
    Type type = scalarOther ? element : Type(VectorType::get(n, element));
    Value otherwise = !other ? Value(LLVM::ZeroOp::create(b, element))
                             : (scalarOther ? other->base : b.toVector(*other));
    auto branch = scf::IfOp::create(b, TypeRange{type}, mask->base, true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Value loaded = loadScalar(b, element, ptr.base, isVolatile);
    if (!scalarOther)
      loaded = b.splat(loaded, n);
    scf::YieldOp::create(b, loaded);
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, otherwise);
    return scalarOther ? Lanes::uniform(branch.getResult(0))
                       : Lanes::vector(branch.getResult(0));
  }
  auto type = VectorType::get(n, element);
  int64_t window = ptr.isPattern() ? windowOf(ptr.pattern, bytes) : 0;
  if (ptr.holds) {
    bool isVector =
        isContiguous(ptr.pattern, bytes) || (!mask && isSmall(window, n));
    if (!isVector)
      return load(element, Lanes::vector(ptr.exact), mask, other);
    auto branch = scf::IfOp::create(b, TypeRange{type}, ptr.holds, true);
    Lanes pattern = ptr;
    pattern.exact = pattern.holds = {};
    auto fill = [&](Block *block, const Lanes &at) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(block);
      scf::YieldOp::create(
          b, ValueRange{b.toVector(load(element, at, mask, other))});
    };
    fill(branch.thenBlock(), pattern);
    fill(branch.elseBlock(), Lanes::vector(ptr.exact));
    return Lanes::vector(branch.getResult(0));
  }
  auto through = [&]() -> Value {
    return other ? b.toVector(*other) : Value(LLVM::ZeroOp::create(b, type));
  };
  if (ptr.isPattern() && isContiguous(ptr.pattern, bytes)) {
    Value address = ptr.base;
    if (ptr.pattern[0])
      address = b.offset(address, b.constant(b.getI64Type(), ptr.pattern[0]));
    if (!mask)
      return Lanes::vector(LLVM::LoadOp::create(b, type, address, align));
    if (mask->isUniform()) {
      Value otherwise = through();
      auto branch = scf::IfOp::create(b, TypeRange{type}, mask->base, true);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(branch.thenBlock());
      scf::YieldOp::create(
          b, ValueRange{LLVM::LoadOp::create(b, type, address, align)});
      b.setInsertionPointToStart(branch.elseBlock());
      scf::YieldOp::create(b, otherwise);
      return Lanes::vector(branch.getResult(0));
    }
    return Lanes::vector(
        LLVM::MaskedLoadOp::create(b, type, address, b.toVector(*mask),
                                   through(), b.getI32IntegerAttr(align)));
  }
  if (!mask && isSmall(window, n)) {
    int64_t low = *llvm::min_element(ptr.pattern);
    Value address = ptr.base;
    if (low)
      address = b.offset(address, b.constant(b.getI64Type(), low));
    Value all = LLVM::LoadOp::create(b, VectorType::get(window, element),
                                     address, align);
    SmallVector<int32_t> order;
    for (int64_t p : ptr.pattern)
      order.push_back((p - low) / bytes);
    return Lanes::vector(
        b.shuffle(all, LLVM::PoisonOp::create(b, all.getType()), order));
  }
  Value condition = mask ? b.toVector(*mask)
                         : b.constant(VectorType::get(n, b.getI1Type()), 1);
  return Lanes::vector(LLVM::masked_gather::create(
      b, type, b.toVector(ptr), condition, ValueRange{through()},
      b.getI32IntegerAttr(align)));
}

void MemoryAccess::store(Type element, const Lanes &ptr, const Lanes &value,
                         const Lanes *mask) {
  int64_t bytes = bytesOf(element);
  int n = b.lanes();
  unsigned align = bytes;
  if (mask && isOn(*mask))
    mask = nullptr;
  if (n == 1 ||
      (ptr.isUniform() && value.isUniform() && (!mask || mask->isUniform()))) {
    auto write = [&] {
      LLVM::StoreOp::create(b, b.toScalar(value), b.toScalar(ptr), align);
    };
    if (!mask)
      return write();
    auto branch = scf::IfOp::create(b, b.toScalar(*mask), false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    return write();
  }
  if (ptr.holds) {
    if (!isContiguous(ptr.pattern, bytes))
      return store(element, Lanes::vector(ptr.exact), value, mask);
    auto branch = scf::IfOp::create(b, ptr.holds, /*withElseRegion=*/true);
    Lanes contiguous = ptr;
    contiguous.exact = contiguous.holds = {};
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    store(element, contiguous, value, mask);
    b.setInsertionPointToStart(branch.elseBlock());
    return store(element, Lanes::vector(ptr.exact), value, mask);
  }
  if (ptr.isPattern() && isContiguous(ptr.pattern, bytes)) {
    Value address = ptr.base;
    if (ptr.pattern[0])
      address = b.offset(address, b.constant(b.getI64Type(), ptr.pattern[0]));
    if (mask && mask->isUniform()) {
      Value all = b.toVector(value);
      b.ifTrue(mask->base,
               [&] { LLVM::StoreOp::create(b, all, address, align); });
      return;
    }
    if (!mask)
      LLVM::StoreOp::create(b, b.toVector(value), address, align);
    else
      LLVM::MaskedStoreOp::create(b, b.toVector(value), address,
                                  b.toVector(*mask),
                                  b.getI32IntegerAttr(align));
    return;
  }
  Value condition = mask ? b.toVector(*mask)
                         : b.constant(VectorType::get(n, b.getI1Type()), 1);
  LLVM::masked_scatter::create(b, b.toVector(value), b.toVector(ptr), condition,
                               b.getI32IntegerAttr(align));
}

//===----------------------------------------------------------------------===//
// Scratch memory
//===----------------------------------------------------------------------===//

/// Returns whether `type` is an integer of fewer than 8 bits, such as i1, which
/// takes a byte in scratch memory.
static bool isPartOfByte(Type type) {
  return type.isInteger() && type.getIntOrFloatBitWidth() < 8;
}

Buffer Scratch::allocate(Type element, ArrayRef<int64_t> shape) {
  // Buffers start at cache lines, so that aligned lanes do not cross a line.
  constexpr int64_t alignment = 64;
  int64_t size = bytesOf(element);
  for (int64_t extent : shape)
    size *= extent;
  Value ptr = b.offset(base, b.constant(b.getI64Type(), bytes));
  bytes += llvm::alignTo(size, alignment);
  return {ptr, element, llvm::to_vector<4>(shape)};
}

Lanes Scratch::address(const Buffer &buffer, const Coords &coords) {
  Lanes linear = Lanes::uniform(b.zero());
  int64_t stride = 1;
  for (int i = buffer.shape.size() - 1; i >= 0; --i) {
    if (buffer.shape[i] > 1)
      linear = arithmetic.add(linear, arithmetic.scale(coords[i], stride));
    stride *= buffer.shape[i];
  }
  linear = arithmetic.scale(linear, bytesOf(buffer.element));
  if (linear.vec)
    return Lanes::vector(LLVM::GEPOp::create(
        b, like(linear.vec, buffer.ptr.getType()), b.getI8Type(), buffer.ptr,
        ArrayRef<LLVM::GEPArg>{linear.vec}));
  linear.base = b.offset(buffer.ptr, linear.base);
  return linear;
}

Lanes Scratch::load(const Buffer &buffer, const Coords &coords) {
  Lanes address = this->address(buffer, coords);
  if (!isPartOfByte(buffer.element))
    return memory.load(buffer.element, address, nullptr, nullptr);
  Lanes bytes = memory.load(b.getI8Type(), address, nullptr, nullptr);
  Value value = b.toScalar(bytes);
  value = arith::TruncIOp::create(b, like(value, buffer.element), value);
  return bytes.vec ? Lanes::vector(value) : Lanes::uniform(value);
}

void Scratch::store(const Buffer &buffer, const Coords &coords,
                    const Lanes &value) {
  Lanes address = this->address(buffer, coords);
  if (!isPartOfByte(buffer.element))
    return memory.store(buffer.element, address, value, nullptr);
  Value bits = b.compact(value);
  bits = arith::ExtUIOp::create(b, like(bits, b.getI8Type()), bits);
  memory.store(b.getI8Type(), address, Lanes::of(bits), nullptr);
}
