// SPDX-License-Identifier: Apache-2.0
//
// Loads and stores of lanes: scalar, contiguous, permuted within a window, or
// gathered. A lane whose mask is off never touches memory.
//
// Volatile loads are scalar, one for each lane whose mask is on, in row-major
// order: LLVM has neither masked nor gathering volatile loads, and splits a
// volatile load of a vector as it likes.

#include "Lowering.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

static int64_t bytesOf(Type type) {
  return isa<LLVM::LLVMPointerType>(type)
             ? 8
             : std::max<int64_t>(1, type.getIntOrFloatBitWidth() / 8);
}

/// Whether lane i lies i elements after lane 0.
static bool isContiguous(ArrayRef<int64_t> pattern, int64_t bytes) {
  for (auto [i, p] : llvm::enumerate(pattern))
    if (p - pattern.front() != int64_t(i) * bytes)
      return false;
  return true;
}

/// Returns the number of elements from the lowest to the highest lane: a small
/// window is one load and a shuffle. 0 if lanes are not whole elements apart.
/// The order of the lanes does not matter.
static int64_t windowOf(ArrayRef<int64_t> pattern, int64_t bytes) {
  auto [low, high] = std::minmax_element(pattern.begin(), pattern.end());
  for (int64_t p : pattern)
    if ((p - *low) % bytes != 0)
      return 0;
  return (*high - *low) / bytes + 1;
}

/// A scalar load. LLVM neither removes, repeats nor moves a volatile one, and
/// what stands behind it stays there: it acquires, which is free on x86.
/// Relaxed, as on a GPU by the letter, would let LLVM move the loads of the
/// data in front of the loop that waits for their flag; a GPU keeps their
/// order.
static Value loadScalar(ImplicitLocOpBuilder &b, Type type, Value ptr,
                        bool isVolatile) {
  unsigned align = bytesOf(type);
  if (!isVolatile)
    return LLVM::LoadOp::create(b, type, ptr, align);
  // Atomic accesses are of whole bytes.
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

Lanes Lowering::loadLanes(Type element, const Lanes &ptr, const Lanes *mask,
                          const Lanes *other, bool isVolatile) {
  int64_t bytes = bytesOf(element);
  int n = scope->lanes;
  unsigned align = bytes;
  assert((!isVolatile || n == 1) && "more than one lane for a volatile load");
  // One address, and one answer to whether it is read.
  if (ptr.isUniform() && (!mask || mask->isUniform())) {
    if (!mask)
      return Lanes::uniform(loadScalar(b, element, ptr.base, isVolatile));
    bool scalarOther = !other || other->isUniform();
    Type type = scalarOther ? element : Type(VectorType::get(n, element));
    Value otherwise = !other ? Value(LLVM::ZeroOp::create(b, element))
                             : (scalarOther ? other->base : toVector(*other));
    auto branch = scf::IfOp::create(b, TypeRange{type}, mask->base, true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Value loaded = loadScalar(b, element, ptr.base, isVolatile);
    if (!scalarOther)
      loaded = splat(loaded, n);
    scf::YieldOp::create(b, loaded);
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, otherwise);
    return scalarOther ? Lanes::uniform(branch.getResult(0))
                       : Lanes::vector(branch.getResult(0));
  }
  auto type = VectorType::get(n, element);
  int64_t window = ptr.isPattern() ? windowOf(ptr.pattern, bytes) : 0;
  if (ptr.holds) {
    bool isVector = isContiguous(ptr.pattern, bytes) ||
                    (!mask && window && window <= 2 * n);
    if (!isVector)
      return loadLanes(element, Lanes::vector(ptr.exact), mask, other);
    auto branch = scf::IfOp::create(b, TypeRange{type}, ptr.holds, true);
    Lanes pattern = ptr;
    pattern.exact = pattern.holds = {};
    auto fill = [&](Block *block, const Lanes &at) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(block);
      scf::YieldOp::create(
          b, ValueRange{toVector(loadLanes(element, at, mask, other))});
    };
    fill(branch.thenBlock(), pattern);
    fill(branch.elseBlock(), Lanes::vector(ptr.exact));
    return Lanes::vector(branch.getResult(0));
  }
  auto through = [&]() -> Value {
    return other ? toVector(*other) : Value(LLVM::ZeroOp::create(b, type));
  };
  if (ptr.isPattern() && isContiguous(ptr.pattern, bytes)) {
    Value address = ptr.base;
    if (ptr.pattern[0])
      address = offset(address, constant(b.getI64Type(), ptr.pattern[0]));
    if (!mask)
      return Lanes::vector(LLVM::LoadOp::create(b, type, address, align));
    return Lanes::vector(
        LLVM::MaskedLoadOp::create(b, type, address, toVector(*mask), through(),
                                   b.getI32IntegerAttr(align)));
  }
  if (!mask && window && window <= 2 * n) {
    int64_t low = *llvm::min_element(ptr.pattern);
    Value address = ptr.base;
    if (low)
      address = offset(address, constant(b.getI64Type(), low));
    Value all = LLVM::LoadOp::create(b, VectorType::get(window, element),
                                     address, align);
    SmallVector<int32_t> order;
    for (int64_t p : ptr.pattern)
      order.push_back((p - low) / bytes);
    return Lanes::vector(
        shuffle(all, LLVM::PoisonOp::create(b, all.getType()), order));
  }
  Value condition =
      mask ? toVector(*mask) : constant(VectorType::get(n, b.getI1Type()), 1);
  return Lanes::vector(LLVM::masked_gather::create(
      b, type, toVector(ptr), condition, ValueRange{through()},
      b.getI32IntegerAttr(align)));
}

void Lowering::storeLanes(Type element, const Lanes &ptr, const Lanes &value,
                          const Lanes *mask) {
  int64_t bytes = bytesOf(element);
  int n = scope->lanes;
  unsigned align = bytes;
  if (n == 1 ||
      (ptr.isUniform() && value.isUniform() && (!mask || mask->isUniform()))) {
    auto write = [&] {
      LLVM::StoreOp::create(b, toScalar(value), toScalar(ptr), align);
    };
    if (!mask)
      return write();
    auto branch = scf::IfOp::create(b, toScalar(*mask), false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    return write();
  }
  if (ptr.holds) {
    if (!isContiguous(ptr.pattern, bytes))
      return storeLanes(element, Lanes::vector(ptr.exact), value, mask);
    auto branch = scf::IfOp::create(b, ptr.holds, /*withElseRegion=*/true);
    Lanes contiguous = ptr;
    contiguous.exact = contiguous.holds = {};
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    storeLanes(element, contiguous, value, mask);
    b.setInsertionPointToStart(branch.elseBlock());
    return storeLanes(element, Lanes::vector(ptr.exact), value, mask);
  }
  if (ptr.isPattern() && isContiguous(ptr.pattern, bytes)) {
    Value address = ptr.base;
    if (ptr.pattern[0])
      address = offset(address, constant(b.getI64Type(), ptr.pattern[0]));
    if (!mask)
      LLVM::StoreOp::create(b, toVector(value), address, align);
    else
      LLVM::MaskedStoreOp::create(b, toVector(value), address, toVector(*mask),
                                  b.getI32IntegerAttr(align));
    return;
  }
  Value condition =
      mask ? toVector(*mask) : constant(VectorType::get(n, b.getI1Type()), 1);
  LLVM::masked_scatter::create(b, toVector(value), toVector(ptr), condition,
                               b.getI32IntegerAttr(align));
}

/// Whether computing `tensor` takes no more simple operations than it has
/// loads: then the loop waits for memory.
bool Lowering::isBoundByMemory(Value tensor) {
  SmallVector<Value> pending = {tensor};
  DenseSet<Value> seen;
  int loads = 0, computed = 0;
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    Operation *op = value.getDefiningOp();
    if (!op || plan.isStored(value) || isa<triton::LoadOp>(op)) {
      ++loads;
      continue;
    }
    StringRef name = op->getName().getStringRef();
    if (name.starts_with("math.") || name.starts_with("arith.div") ||
        isa<triton::ExternElementwiseOp>(op))
      return false;
    if (!isa<arith::ConstantOp, triton::SplatOp, triton::BroadcastOp,
             triton::ExpandDimsOp, triton::TransOp, triton::ReshapeOp>(op))
      ++computed;
    llvm::append_range(pending, op->getOperands());
  }
  return computed <= loads;
}

void Lowering::lowerStore(triton::StoreOp op) {
  auto write = [&](const Coords &coords) {
    Lanes ptr = eval(op.getPtr(), coords), mask;
    if (op.getMask())
      mask = eval(op.getMask(), coords);
    // A lane that is off is not computed either, where that is one branch.
    Lanes value = eval(op.getValue(), coords);
    storeLanes(convert(op.getValue().getType()), ptr, value,
               mask ? &mask : nullptr);
  };
  auto type = dyn_cast<RankedTensorType>(op.getPtr().getType());
  if (!type)
    return withScope(1, [&] { write({}); });
  // Measured on AMD's Zen 4 (add of 2^24 floats, one thread and two): vectors
  // of 32 bytes stream an eighth faster than those of 64.
  int lanes = 16;
  if (isBoundByMemory(op.getValue()))
    lanes =
        std::max<int64_t>(4, 32 / bytesOf(convert(op.getValue().getType())));
  SmallVector<Value> others = {op.getValue()};
  forTile(type.getShape(), plan.contiguousDim(op.getPtr(), others), write,
          std::min(lanes, 16));
}

static LLVM::AtomicOrdering ordering(triton::MemSemantic semantic) {
  switch (semantic) {
  case triton::MemSemantic::RELAXED:
    return LLVM::AtomicOrdering::monotonic;
  case triton::MemSemantic::ACQUIRE:
    return LLVM::AtomicOrdering::acquire;
  case triton::MemSemantic::RELEASE:
    return LLVM::AtomicOrdering::release;
  case triton::MemSemantic::ACQUIRE_RELEASE:
    return LLVM::AtomicOrdering::acq_rel;
  }
  return LLVM::AtomicOrdering::acq_rel;
}

static LLVM::AtomicBinOp binaryOp(triton::RMWOp op) {
  using Bin = LLVM::AtomicBinOp;
  switch (op) {
  case triton::RMWOp::AND:
    return Bin::_and;
  case triton::RMWOp::OR:
    return Bin::_or;
  case triton::RMWOp::XOR:
    return Bin::_xor;
  case triton::RMWOp::ADD:
    return Bin::add;
  case triton::RMWOp::FADD:
    return Bin::fadd;
  case triton::RMWOp::MAX:
    return Bin::max;
  case triton::RMWOp::MIN:
    return Bin::min;
  case triton::RMWOp::UMAX:
    return Bin::umax;
  case triton::RMWOp::UMIN:
    return Bin::umin;
  case triton::RMWOp::XCHG:
    return Bin::xchg;
  }
  return Bin::xchg;
}

/// An atomic operation on bf16, which has no arithmetic: computes in f32 and
/// tries to exchange, until nobody else came between. Returns the old bits.
Value Lowering::updateBrainFloat(triton::AtomicRMWOp op, Value ptr,
                                 Value value) {
  Type i16 = b.getI16Type(), f32 = b.getF32Type(), bf16 = b.getBF16Type();
  Value operand = convertFloat(op, value, bf16, f32, false);
  Value first = LLVM::LoadOp::create(b, i16, ptr, 2, false, false, false, false,
                                     LLVM::AtomicOrdering::monotonic);
  auto loop = scf::WhileOp::create(b, TypeRange{i16}, ValueRange{first});
  OpBuilder::InsertionGuard guard(b);
  Block *before = b.createBlock(&loop.getBefore());
  Value old = before->addArgument(i16, op.getLoc());
  Value wide = convertFloat(op, old, bf16, f32, false), next;
  switch (op.getAtomicRmwOp()) {
  case triton::RMWOp::FADD:
    next = arith::AddFOp::create(b, wide, operand);
    break;
  case triton::RMWOp::MAX:
    next = intrinsic("llvm.maxnum", f32, {wide, operand});
    break;
  case triton::RMWOp::MIN:
    next = intrinsic("llvm.minnum", f32, {wide, operand});
    break;
  default:
    next = operand;
    error(op, "this atomic operation is not supported on the CPU for bf16");
  }
  auto order = ordering(op.getSem());
  Value pair = LLVM::AtomicCmpXchgOp::create(
      b, ptr, old, convertFloat(op, next, f32, bf16, false), order,
      LLVM::AtomicOrdering::monotonic, "", 2);
  Value done = LLVM::ExtractValueOp::create(b, pair, ArrayRef<int64_t>{1});
  Value again = arith::XOrIOp::create(b, done, constant(b.getI1Type(), 1));
  Value found = LLVM::ExtractValueOp::create(b, pair, ArrayRef<int64_t>{0});
  scf::ConditionOp::create(b, again, ValueRange{found});
  Block *after = b.createBlock(&loop.getAfter());
  scf::YieldOp::create(b, ValueRange{after->addArgument(i16, op.getLoc())});
  return loop.getResult(0);
}

void Lowering::lowerAtomic(Operation *op) {
  Value pointer = op->getOperand(0);
  auto tensor = dyn_cast<RankedTensorType>(pointer.getType());
  Type element = op->getNumResults() ? convert(op->getResult(0).getType())
                                     : convert(op->getOperand(1).getType());
  std::optional<Buffer> result;
  if (tensor && op->getNumResults() && !op->getResult(0).use_empty())
    result = allocate(element, tensor.getShape());

  // Lane by lane, in order.
  auto one = [&](const Coords &coords) {
    auto scalar = [&](Value v) { return toScalar(eval(v, coords)); };
    Value ptr = scalar(pointer);
    auto guarded = [&](Value maskOperand,
                       llvm::function_ref<Value()> body) -> Value {
      if (!maskOperand)
        return body();
      bool hasResult = op->getNumResults();
      auto branch =
          scf::IfOp::create(b, hasResult ? TypeRange{element} : TypeRange{},
                            scalar(maskOperand), hasResult);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(branch.thenBlock());
      Value value = body();
      if (!hasResult)
        return {};
      scf::YieldOp::create(b, value);
      b.setInsertionPointToStart(branch.elseBlock());
      scf::YieldOp::create(b, Value(LLVM::ZeroOp::create(b, element)));
      return branch.getResult(0);
    };
    Value old;
    unsigned align = bytesOf(element);
    if (auto rmw = dyn_cast<triton::AtomicRMWOp>(op)) {
      Value value = scalar(rmw.getVal());
      auto kind = rmw.getAtomicRmwOp();
      bool isBrain = getElementTypeOrSelf(rmw.getVal().getType()).isBF16() &&
                     kind != triton::RMWOp::XCHG;
      old = guarded(rmw.getMask(), [&]() -> Value {
        if (isBrain)
          return updateBrainFloat(rmw, ptr, value);
        LLVM::AtomicBinOp bin = binaryOp(kind);
        if (isa<FloatType>(element)) {
          if (kind == triton::RMWOp::MAX)
            bin = LLVM::AtomicBinOp::fmax;
          else if (kind == triton::RMWOp::MIN)
            bin = LLVM::AtomicBinOp::fmin;
        }
        return LLVM::AtomicRMWOp::create(b, bin, ptr, value,
                                         ordering(rmw.getSem()), "", align);
      });
    } else if (auto cas = dyn_cast<triton::AtomicCASOp>(op)) {
      Value expected = scalar(cas.getCmp()), value = scalar(cas.getVal());
      Type bits = element;
      if (isa<FloatType>(element)) {
        bits = b.getIntegerType(element.getIntOrFloatBitWidth());
        expected = LLVM::BitcastOp::create(b, bits, expected);
        value = LLVM::BitcastOp::create(b, bits, value);
      }
      auto order = ordering(cas.getSem());
      auto failure = order == LLVM::AtomicOrdering::release ||
                             order == LLVM::AtomicOrdering::monotonic
                         ? LLVM::AtomicOrdering::monotonic
                         : LLVM::AtomicOrdering::acquire;
      Value pair = LLVM::AtomicCmpXchgOp::create(b, ptr, expected, value, order,
                                                 failure, "", align);
      old = LLVM::ExtractValueOp::create(b, pair, ArrayRef<int64_t>{0});
      if (bits != element)
        old = LLVM::BitcastOp::create(b, element, old);
    } else if (auto load = dyn_cast<triton::AtomicLoadOp>(op)) {
      old = guarded(load.getMask(), [&]() -> Value {
        return LLVM::LoadOp::create(b, element, ptr, align, false, false, false,
                                    false, ordering(load.getSem()));
      });
    } else if (auto store = dyn_cast<triton::AtomicStoreOp>(op)) {
      Value value = scalar(store.getValue());
      guarded(store.getMask(), [&]() -> Value {
        LLVM::StoreOp::create(b, value, ptr, align, false, false, false,
                              ordering(store.getSem()));
        return {};
      });
    } else {
      error(op, "this atomic operation is not supported on the CPU (use "
                "tl.atomic_cas in a loop)");
    }
    if (!tensor && op->getNumResults())
      scalars[op->getResult(0)] = old;
    if (result)
      storeBuffer(*result, coords, Lanes::uniform(old));
  };
  if (!tensor)
    return withScope(1, [&] { one({}); });
  forTile(tensor.getShape(), tensor.getRank() - 1, one, /*maxLanes=*/1);
  if (result)
    buffers[op->getResult(0)] = *result;
}

/// Waits in the runtime, element by element, for one budget of time.
void Lowering::lowerPoll(triton::AtomicPollOp op) {
  Type i1 = b.getI1Type(), i32 = b.getI32Type(), i64 = b.getI64Type();
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  runtimeFunction("triton_ext_cpu_clock", i64, {});
  runtimeFunction("triton_ext_cpu_poll", i32, {pointer, i64, i32, i64, i64});
  Value start = LLVM::CallOp::create(b, TypeRange{i64}, "triton_ext_cpu_clock",
                                     ValueRange())
                    .getResult();
  // Without a timeout: 584 years.
  Value budget =
      op.getTimeout() ? scalars.lookup(op.getTimeout()) : constant(i64, -1);
  auto tensor = dyn_cast<RankedTensorType>(op.getPtr().getType());
  std::optional<Buffer> result;
  if (tensor && !op.getResult().use_empty())
    result = allocate(i1, tensor.getShape());
  auto one = [&](const Coords &coords) {
    Value ptr = toScalar(eval(op.getPtr(), coords));
    Value expected = toScalar(eval(op.getExpected(), coords));
    int64_t bytes = bytesOf(expected.getType());
    if (bytes < 8)
      expected = arith::ExtUIOp::create(b, i64, expected);
    // The function acquires, which relaxed polls do not ask for and which is
    // free on x86.
    Value found =
        LLVM::CallOp::create(
            b, TypeRange{i32}, "triton_ext_cpu_poll",
            ValueRange{ptr, expected, constant(i32, bytes), start, budget})
            .getResult();
    found = arith::TruncIOp::create(b, i1, found);
    if (!tensor)
      scalars[op.getResult()] = found;
    if (result)
      storeBuffer(*result, coords, Lanes::uniform(found));
  };
  if (!tensor)
    return withScope(1, [&] { one({}); });
  forTile(tensor.getShape(), tensor.getRank() - 1, one, /*maxLanes=*/1);
  if (result)
    buffers[op.getResult()] = *result;
}

Value Lowering::runtimeFunction(StringRef name, Type result,
                                ArrayRef<Type> arguments) {
  if (name == func.getName())
    error(current, "a kernel cannot have the name of the C library's '" + name +
                       "', which it calls (rename it)");
  if (hasFailed || module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return {};
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(module.getBody());
  Type returned =
      result ? result : Type(LLVM::LLVMVoidType::get(b.getContext()));
  // Debug information wants a line of a file, which not every operation has.
  LLVM::LLVMFuncOp::create(b, func.getLoc(), name,
                           LLVM::LLVMFunctionType::get(returned, arguments));
  return {};
}

Value Lowering::globalString(StringRef text) {
  return globalBytes("text", text.str() + '\0', /*alignment=*/1);
}

/// The address of a constant in the library, one for equal contents. Its name
/// is the same in every process.
Value Lowering::globalBytes(StringRef kind, const std::string &content,
                            int alignment) {
  std::string &name = constants[(kind + content).str()];
  if (name.empty()) {
    name = (func.getName() + "." + kind + "." + Twine(constants.size())).str();
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    // Of the function: debug information cannot place it inside of an inlined
    // one.
    LLVM::GlobalOp::create(
        b, func.getLoc(),
        LLVM::LLVMArrayType::get(b.getI8Type(), content.size()), true,
        LLVM::Linkage::Internal, name, b.getStringAttr(content), alignment);
  }
  return LLVM::AddressOfOp::create(
      b, LLVM::LLVMPointerType::get(b.getContext()), name);
}

static std::string where(Location location) {
  std::string text;
  location->walk([&](Location inner) {
    auto file = dyn_cast<FileLineColLoc>(inner);
    if (!file)
      return WalkResult::advance();
    text = (file.getFilename().strref() + ":" + Twine(file.getLine())).str();
    return WalkResult::interrupt();
  });
  return text;
}

void Lowering::refuse(Value condition, Location location, StringRef message) {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  Type i32 = b.getI32Type();
  runtimeFunction("triton_ext_cpu_assert_failed", {},
                  {pointer, pointer, i32, i32, i32});
  auto branch = scf::IfOp::create(b, condition, false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  LLVM::CallOp::create(b, TypeRange(), "triton_ext_cpu_assert_failed",
                       ValueRange{globalString(message),
                                  globalString(where(location)), programIds[0],
                                  programIds[1], programIds[2]});
}

void Lowering::lowerAssert(triton::AssertOp op) {
  auto check = [&](const Coords &coords) {
    Lanes condition = eval(op.getCondition(), coords);
    Value holds = condition.isUniform()
                      ? condition.base
                      : intrinsic("llvm.vector.reduce.and", b.getI1Type(),
                                  {toVector(condition)});
    refuse(arith::XOrIOp::create(b, holds, constant(b.getI1Type(), 1)),
           op.getLoc(), op.getMessage().str());
  };
  auto type = dyn_cast<RankedTensorType>(op.getCondition().getType());
  if (!type)
    return withScope(1, [&] { check({}); });
  forTile(type.getShape(), plan.contiguousDim(op.getCondition()), check);
}

/// One call for each operand: prefix, number of the operand, program, shape,
/// kind of element, and the elements.
void Lowering::lowerPrint(triton::PrintOp op) {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  runtimeFunction("triton_ext_cpu_print", {},
                  {pointer, i32, i32, i32, i32, pointer, i32, pointer, i64});
  auto isBits = [](Type type) {
    auto floating = dyn_cast<FloatType>(type);
    return floating && floating.getWidth() == 8;
  };
  auto call = [&](int index, const Buffer &buffer, Type type, bool isSigned) {
    std::string shape;
    for (int64_t size : buffer.shape)
      shape += std::to_string(size) + " ";
    // 8-bit floats are printed as their bits, as on a GPU.
    std::string kind = isa<triton::PointerType>(type)                    ? "p"
                       : type.isBF16()                                   ? "b"
                       : isa<FloatType>(type) && !isBits(type)           ? "f"
                       : isSigned && !type.isInteger(1) && !isBits(type) ? "i"
                                                                         : "u";
    if (op.getHex())
      kind += type.isInteger(1) ? "x1" : "x";
    int64_t bytes = bytesOf(buffer.element);
    withScope(1, [&] {
      LLVM::CallOp::create(
          b, TypeRange(), "triton_ext_cpu_print",
          ValueRange{globalString(op.getPrefix()), constant(i32, index),
                     programIds[0], programIds[1], programIds[2],
                     globalString(kind), constant(i32, bytes), buffer.ptr,
                     LLVM::PtrToIntOp::create(b, i64, globalString(shape))});
    });
  };
  if (op.getArgs().empty())
    call(-2, {Value(LLVM::ZeroOp::create(b, pointer)), b.getI8Type(), {}},
         b.getI8Type(), false);
  for (auto [i, value] : llvm::enumerate(op.getArgs())) {
    Type type = getElementTypeOrSelf(value.getType());
    auto tensor = dyn_cast<RankedTensorType>(value.getType());
    Buffer buffer = allocate(convert(type),
                             tensor ? tensor.getShape() : ArrayRef<int64_t>());
    if (tensor)
      materialize(value, buffer);
    else
      withScope(1, [&] {
        storeBuffer(buffer, {}, Lanes::uniform(scalars.lookup(value)));
      });
    call(op.getArgs().size() > 1 ? int(i) : -1, buffer, type,
         op.getIsSigned()[i]);
  }
}
