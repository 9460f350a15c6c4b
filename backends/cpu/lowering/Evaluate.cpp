// SPDX-License-Identifier: Apache-2.0
//
// Evaluates a tensor at coordinates: operations that only rearrange become
// other coordinates for their operand, elementwise ones are emitted once per
// scope, and what lies in scratch memory is loaded from there.

#include "Lowering.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

void Lowering::withScope(int lanes, llvm::function_ref<void()> body) {
  Scope inner;
  inner.lanes = lanes;
  Scope *outer = scope;
  scope = &inner;
  inner.zero = constant(b.getI64Type(), 0);
  body();
  scope = outer;
}

Lanes Lowering::eval(Value value, const Coords &coords) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  if (!tensor) {
    if (Value scalar = scalars.lookup(value))
      return Lanes::uniform(scalar);
    if (auto poison = value.getDefiningOp())
      return Lanes::uniform(error(poison, "a scalar that is used before it is "
                                          "computed"));
    llvm_unreachable("a block argument that was not lowered");
  }
  auto key = std::pair(value.getAsOpaquePointer(), coordIds(coords));
  if (auto it = scope->memo.find(key); it != scope->memo.end())
    return it->second;
  Lanes lanes;
  if (auto it = buffers.find(value); it != buffers.end()) {
    lanes = withHint(value, loadBuffer(it->second, coords), coords);
  } else if (Operation *op = value.getDefiningOp()) {
    Location outer = b.getLoc();
    b.setLoc(op->getLoc());
    lanes = evalTensor(op, cast<OpResult>(value), coords);
    lanes = withHint(value, lanes, coords);
    b.setLoc(outer);
  } else {
    lanes =
        Lanes::uniform(error(current, "a tensor as argument of a block or a "
                                      "function is not supported on the CPU"));
  }
  scope->memo[key] = lanes;
  return lanes;
}

Lanes Lowering::evalTensor(Operation *op, OpResult result,
                           const Coords &coords) {
  Type element = convert(result.getType());
  Type i64 = b.getI64Type();
  return llvm::TypeSwitch<Operation *, Lanes>(op)
      .Case([&](triton::SplatOp splat) { return eval(splat.getSrc(), {}); })
      .Case([&](arith::ConstantOp op) { return evalConstant(op, coords); })
      .Case([&](triton::MakeRangeOp range) {
        Lanes lanes = coords[0];
        if (lanes.vec)
          return addLanes(
              Lanes::vector(arith::TruncIOp::create(b, like(lanes.vec, element),
                                                    lanes.vec)),
              Lanes::uniform(constant(element, range.getStartAttr().getInt())));
        lanes.base = b.createOrFold<arith::TruncIOp>(element, lanes.base);
        if (int64_t start = range.getStartAttr().getInt())
          lanes.base = b.createOrFold<arith::AddIOp>(lanes.base,
                                                     constant(element, start));
        return lanes;
      })
      .Case([&](triton::BroadcastOp broadcast) {
        Coords inner = coords;
        auto shape = broadcast.getSrc().getType().getShape();
        for (auto [i, size] : llvm::enumerate(shape))
          if (size == 1)
            inner[i] = Lanes::uniform(scope->zero);
        return eval(broadcast.getSrc(), inner);
      })
      .Case([&](triton::ExpandDimsOp expand) {
        Coords inner = coords;
        inner.erase(inner.begin() + expand.getAxis());
        return eval(expand.getSrc(), inner);
      })
      .Case([&](triton::TransOp trans) {
        Coords inner(coords.size());
        for (auto [i, from] : llvm::enumerate(trans.getOrder()))
          inner[from] = coords[i];
        return eval(trans.getSrc(), inner);
      })
      .Case([&](triton::ReshapeOp reshape) {
        return evalReshape(reshape, coords);
      })
      .Case([&](triton::UnsplatOp unsplat) {
        return eval(unsplat.getSrc(),
                    Coords(unsplat.getSrc().getType().getRank(),
                           Lanes::uniform(scope->zero)));
      })
      .Case([&](triton::SplitOp split) {
        Coords inner = coords;
        inner.push_back(
            Lanes::uniform(constant(i64, result.getResultNumber())));
        return eval(split.getSrc(), inner);
      })
      .Case<triton::JoinOp, triton::CatOp>([&](Operation *op) {
        // Which of the two operands, and where in it.
        Coords inner = coords;
        Lanes which;
        if (isa<triton::JoinOp>(op)) {
          which = inner.pop_back_val();
        } else {
          int64_t size =
              cast<RankedTensorType>(op->getOperand(0).getType()).getDimSize(0);
          auto split = [&](Lanes lanes, bool high) {
            auto part = [&](Value value) -> Value {
              if (high)
                return b.createOrFold<arith::ShRUIOp>(
                    value, constant(value.getType(), llvm::Log2_64(size)));
              return b.createOrFold<arith::AndIOp>(
                  value, constant(value.getType(), size - 1));
            };
            if (!hasDisjointBits(lanes))
              return Lanes::vector(part(toVector(lanes)));
            lanes.base = part(lanes.base);
            for (int64_t &p : lanes.pattern)
              p = high ? p / size : p % size;
            return normalize(lanes);
          };
          which = split(inner[0], true);
          inner[0] = split(coords[0], false);
        }
        APInt number;
        if (which.isUniform() &&
            matchPattern(which.base, m_ConstantInt(&number)))
          return eval(op->getOperand(number.getZExtValue()), inner);
        Lanes lhs = eval(op->getOperand(0), inner);
        Lanes rhs = eval(op->getOperand(1), inner);
        Value choice = which.isUniform() ? which.base : toVector(which);
        Value isRight = arith::CmpIOp::create(
            b, arith::CmpIPredicate::ne, choice, constant(choice.getType(), 0));
        return select(which.isUniform() ? Lanes::uniform(isRight)
                                        : Lanes::vector(isRight),
                      rhs, lhs);
      })
      .Case([&](triton::GatherOp gather) {
        Lanes index = eval(gather.getIndices(), coords);
        int axis = gather.getAxis();
        int64_t size = gather.getSrc().getType().getDimSize(axis);
        auto widen = [&](Value value) {
          Type wide = like(value, i64);
          if (value.getType() != wide)
            value = arith::ExtUIOp::create(b, wide, value);
          // An index out of bounds is the kernel's error, but no crash.
          return Value(
              arith::AndIOp::create(b, value, constant(wide, size - 1)));
        };
        Coords inner = coords;
        inner[axis] = index.isUniform() ? Lanes::uniform(widen(index.base))
                                        : Lanes::vector(widen(toVector(index)));
        return eval(gather.getSrc(), inner);
      })
      .Case([&](triton::LoadOp load) {
        Lanes ptr = eval(load.getPtr(), coords), mask, other;
        if (load.getMask())
          mask = eval(load.getMask(), coords);
        if (load.getOther())
          other = eval(load.getOther(), coords);
        return loadLanes(element, ptr, mask ? &mask : nullptr,
                         other ? &other : nullptr, isVolatile(load));
      })
      .Case([&](triton::ReduceOp reduce) {
        return evalSmallReduce(reduce, result, coords);
      })
      .Default([&](Operation *op) {
        if (op->getNumResults() != 1 || op->getNumRegions())
          return Lanes::uniform(error(op, "not supported on the CPU"));
        SmallVector<Lanes> operands;
        for (Value operand : op->getOperands())
          operands.push_back(eval(
              operand,
              isa<RankedTensorType>(operand.getType()) ? coords : Coords()));
        return elementwise(op, operands);
      });
}

/// tl.max_contiguous: lanes of which the author promises that they are
/// contiguous, also where they were kept in scratch memory.
Lanes Lowering::withHint(Value value, Lanes lanes, const Coords &coords) {
  Operation *op = value.getDefiningOp();
  auto hint =
      op ? op->getAttrOfType<DenseIntElementsAttr>("tt.contiguity") : nullptr;
  Type element = getElementTypeOrSelf(value.getType());
  int64_t step = 1;
  if (isa<triton::PointerType>(element))
    step = pointeeBytes(element);
  else if (!isa<IntegerType>(element))
    return lanes;
  if (!hint || !lanes.vec || hint.size() != int64_t(coords.size()))
    return lanes;
  auto runs = llvm::to_vector(hint.getValues<APInt>());
  for (auto [dim, coord] : llvm::enumerate(coords)) {
    // A group lies in one run if runs start at its multiples, and lanes differ
    // in this dimension alone.
    bool isAlong = coord.isPattern() && hasDisjointBits(coord) &&
                   runs[dim].getSExtValue() > 0 &&
                   runs[dim].getSExtValue() % scope->lanes == 0;
    for (auto [i, p] : llvm::enumerate(coord.pattern))
      isAlong &= p == int64_t(i);
    for (auto [other, lanesThere] : llvm::enumerate(coords))
      isAlong &= other == dim || lanesThere.isUniform();
    if (!isAlong)
      continue;
    Lanes contiguous = Lanes::uniform(extract(lanes.vec, 0));
    for (int i = 0; i < scope->lanes; ++i)
      contiguous.pattern.push_back(i * step);
    if (isa<IntegerType>(element))
      facts.setRoom(contiguous.base, scope->lanes - 1);
    return contiguous;
  }
  return lanes;
}

Lanes Lowering::evalConstant(arith::ConstantOp op, const Coords &coords) {
  Type element = convert(op.getType());
  Attribute value = op.getValue();
  if (auto dense = dyn_cast<DenseElementsAttr>(value)) {
    if (!dense.isSplat())
      return loadBuffer(constantBuffer(op, dense), coords);
    value = dense.getSplatValue<Attribute>();
  }
  if (auto number = dyn_cast<FloatAttr>(value)) {
    if (isa<IntegerType>(element)) // a float that is its bits
      return Lanes::uniform(arith::ConstantOp::create(
          b, b.getIntegerAttr(element, number.getValue().bitcastToAPInt())));
    return Lanes::uniform(arith::ConstantOp::create(b, number));
  }
  if (!isa<IntegerAttr>(value) || !isa<IntegerType>(element))
    return Lanes::uniform(
        error(op, "a constant of this type is not supported on the CPU"));
  return Lanes::uniform(arith::ConstantOp::create(b, cast<IntegerAttr>(value)));
}

/// A table with the elements, which lies in the library beside the code.
Buffer Lowering::constantBuffer(arith::ConstantOp op, DenseElementsAttr dense) {
  Type element = convert(op.getType());
  unsigned bytes = std::max(1u, element.getIntOrFloatBitWidth() / 8);
  std::string content;
  auto append = [&](const APInt &bits) {
    for (unsigned i = 0; i < bytes; ++i)
      content += char(
          bits.extractBitsAsZExtValue(std::min(8u, bits.getBitWidth()), 8 * i));
  };
  if (isa<FloatType>(dense.getElementType())) {
    for (const APFloat &number : dense.getValues<APFloat>())
      append(number.bitcastToAPInt());
  } else {
    for (const APInt &number : dense.getValues<APInt>())
      append(number);
  }
  Value table = globalBytes("table", content, /*alignment=*/64);
  auto shape = cast<RankedTensorType>(op.getType()).getShape();
  return {table, element, llvm::to_vector<4>(shape)};
}

Lanes Lowering::evalReshape(triton::ReshapeOp op, const Coords &coords) {
  auto from = op.getType(), to = op.getSrc().getType();
  // One set of operations for each way to reshape.
  std::string key;
  llvm::raw_string_ostream(key) << from << to;
  SmallVector<int> ids = coordIds(coords);
  for (int id : ids)
    key += "," + std::to_string(id);
  for (auto &[known, inner] : scope->reshaped)
    if (known == key)
      return eval(op.getSrc(), inner);

  Lanes linear = Lanes::uniform(scope->zero);
  int64_t stride = 1;
  for (int i = from.getRank() - 1; i >= 0; --i) {
    if (from.getDimSize(i) > 1)
      linear = addLanes(linear, scaleLanes(coords[i], stride));
    stride *= from.getDimSize(i);
  }
  Coords inner(to.getRank());
  stride = 1;
  bool disjoint = hasDisjointBits(linear);
  for (int i = to.getRank() - 1; i >= 0; --i) {
    int64_t size = to.getDimSize(i);
    auto part = [&](Value value) -> Value {
      if (stride > 1)
        value = b.createOrFold<arith::ShRUIOp>(
            value, constant(value.getType(), llvm::Log2_64(stride)));
      if (i > 0)
        value = b.createOrFold<arith::AndIOp>(
            value, constant(value.getType(), size - 1));
      return value;
    };
    if (size == 1) {
      inner[i] = Lanes::uniform(scope->zero);
    } else if (disjoint) {
      inner[i] = Lanes::uniform(part(linear.base));
      for (int64_t p : linear.pattern)
        inner[i].pattern.push_back(p / stride % size);
      inner[i] = normalize(inner[i]);
    } else {
      inner[i] = Lanes::vector(part(toVector(linear)));
    }
    stride *= size;
  }
  scope->reshaped.emplace_back(key, inner);
  return eval(op.getSrc(), inner);
}

Lanes Lowering::evalSmallReduce(triton::ReduceOp op, OpResult result,
                                const Coords &coords) {
  int axis = op.getAxis();
  int64_t size = op.getInputTypes()[0].getDimSize(axis);
  SmallVector<Lanes> sum;
  for (int64_t i = 0; i < size; ++i) {
    Coords inner = coords;
    inner.insert(inner.begin() + axis,
                 Lanes::uniform(constant(b.getI64Type(), i)));
    SmallVector<Lanes> arguments = sum;
    for (Value src : op.getSrcs())
      arguments.push_back(eval(src, inner));
    sum = i ? evalRegion(op.getCombineOp(), arguments) : arguments;
  }
  SmallVector<int> ids = coordIds(coords);
  for (auto [value, lanes] : llvm::zip(op.getResults(), sum))
    scope->memo[{value.getAsOpaquePointer(), ids}] = lanes;
  return sum[result.getResultNumber()];
}

/// Whether an integer takes a byte in scratch memory without being one: i1, i4.
static bool isPartOfByte(Type type) {
  return type.isInteger() && type.getIntOrFloatBitWidth() < 8;
}

Lanes Lowering::bufferAddress(const Buffer &buffer, const Coords &coords) {
  Type i64 = b.getI64Type();
  Lanes linear = Lanes::uniform(scope->zero);
  int64_t stride = 1;
  for (int i = buffer.shape.size() - 1; i >= 0; --i) {
    if (buffer.shape[i] > 1)
      linear = addLanes(linear, scaleLanes(coords[i], stride));
    stride *= buffer.shape[i];
  }
  int64_t bytes =
      isa<LLVM::LLVMPointerType>(buffer.element)
          ? 8
          : std::max<int64_t>(1, buffer.element.getIntOrFloatBitWidth() / 8);
  linear = scaleLanes(linear, bytes);
  (void)i64;
  if (linear.vec)
    return Lanes::vector(LLVM::GEPOp::create(
        b, like(linear.vec, buffer.ptr.getType()), b.getI8Type(), buffer.ptr,
        ArrayRef<LLVM::GEPArg>{linear.vec}));
  linear.base = offset(buffer.ptr, linear.base);
  return linear;
}

Lanes Lowering::loadBuffer(const Buffer &buffer, const Coords &coords) {
  Lanes address = bufferAddress(buffer, coords);
  if (!isPartOfByte(buffer.element))
    return loadLanes(buffer.element, address, nullptr, nullptr);
  Lanes bytes = loadLanes(b.getI8Type(), address, nullptr, nullptr);
  Value value = toScalar(bytes);
  value = arith::TruncIOp::create(b, like(value, buffer.element), value);
  return bytes.vec ? Lanes::vector(value) : Lanes::uniform(value);
}

void Lowering::storeBuffer(const Buffer &buffer, const Coords &coords,
                           const Lanes &value) {
  Lanes address = bufferAddress(buffer, coords);
  if (!isPartOfByte(buffer.element))
    return storeLanes(buffer.element, address, value, nullptr);
  Value bits = value.isUniform() ? value.base : toVector(value);
  bits = arith::ExtUIOp::create(b, like(bits, b.getI8Type()), bits);
  storeLanes(b.getI8Type(), address,
             value.isUniform() ? Lanes::uniform(bits) : Lanes::vector(bits),
             nullptr);
}
