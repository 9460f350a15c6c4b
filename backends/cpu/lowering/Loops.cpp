// SPDX-License-Identifier: Apache-2.0
//
// Loops over tiles, one register-sized group of lanes at a time, and the
// scratch memory that they leave their results in.

#include "Lowering.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

SmallVector<Value> Lowering::forLoop(
    int64_t from, int64_t to, int64_t step, ValueRange inits,
    llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  Type i64 = b.getI64Type();
  if (from >= to)
    return inits;
  if (from + step >= to)
    return body(constant(i64, from), inits);
  auto loop = scf::ForOp::create(b, constant(i64, from), constant(i64, to),
                                 constant(i64, step), inits);
  OpBuilder::InsertionGuard guard(b);
  Block *block = loop.getBody();
  bool hasYield = !block->empty();
  b.setInsertionPointToStart(block);
  SmallVector<Value> next =
      body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!hasYield)
    scf::YieldOp::create(b, next);
  return loop.getResults();
}

void Lowering::forTile(ArrayRef<int64_t> shape, int vectorDim, Body body,
                       int maxLanes) {
  int rank = shape.size();
  int64_t total = 1;
  for (int64_t size : shape)
    total *= size;
  int lanes = std::min<int64_t>(maxLanes, total);
  if (rank > 0 && (lanes == 1 || shape[vectorDim] >= lanes)) {
    Coords coords(rank);
    std::function<void(int)> nest = [&](int dim) {
      if (dim == vectorDim)
        return nest(dim + 1);
      bool innermost = dim >= rank;
      int at = innermost ? vectorDim : dim;
      forLoop(0, shape[at], innermost ? lanes : 1, ValueRange(),
              [&](Value iv, ValueRange) -> SmallVector<Value> {
                coords[at] = Lanes::uniform(iv);
                if (!innermost) {
                  nest(dim + 1);
                  return {};
                }
                if (lanes > 1)
                  coords[at].pattern =
                      llvm::to_vector<4>(llvm::seq<int64_t>(0, lanes));
                withScope(lanes, [&] { body(coords); });
                return {};
              });
    };
    nest(0);
    return;
  }
  // Small dimensions: one loop over all elements in order, lanes across them.
  forLoop(0, total, lanes, ValueRange(),
          [&](Value iv, ValueRange) -> SmallVector<Value> {
            withScope(lanes, [&] {
              Coords coords(rank);
              int64_t stride = 1;
              for (int i = rank - 1; i >= 0; --i) {
                int64_t size = shape[i];
                if (size == 1) {
                  coords[i] = Lanes::uniform(scope->zero);
                  continue;
                }
                Value base = scope->zero;
                if (stride * size > lanes) {
                  base = iv;
                  if (stride > 1)
                    base = b.createOrFold<arith::ShRUIOp>(
                        base, constant(b.getI64Type(), llvm::Log2_64(stride)));
                  base = b.createOrFold<arith::AndIOp>(
                      base, constant(b.getI64Type(), size - 1));
                }
                coords[i] = Lanes::uniform(base);
                for (int l = 0; l < lanes; ++l)
                  coords[i].pattern.push_back(l / stride % size);
                coords[i] = normalize(coords[i]);
                stride *= size;
              }
              body(coords);
            });
            return {};
          });
}

Buffer Lowering::allocate(Type element, ArrayRef<int64_t> shape) {
  int64_t bytes =
      isa<LLVM::LLVMPointerType>(element)
          ? 8
          : std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8);
  for (int64_t size : shape)
    bytes *= size;
  Value ptr = offset(scratch, constant(b.getI64Type(), scratchSize));
  scratchSize += llvm::alignTo(bytes, 64);
  return {ptr, element, llvm::to_vector<4>(shape)};
}

/// Scratch memory for `tensor`: that of the loop's value which it will become,
/// if nothing needs the old one any more.
Buffer Lowering::allocateFor(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (std::optional<Buffer> buffer = yieldTarget(tensor))
    return *buffer;
  return allocate(convert(type), type.getShape());
}

std::optional<Buffer> Lowering::yieldTarget(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
  if (!loop)
    return std::nullopt;
  std::optional<unsigned> position;
  for (OpOperand &use : tensor.getUses()) {
    if (use.getOwner() != loop.getBody()->getTerminator())
      continue;
    if (position)
      return std::nullopt;
    position = use.getOperandNumber();
  }
  if (!position)
    return std::nullopt;
  Value carried = loop.getRegionIterArg(*position);
  auto it = buffers.find(carried);
  if (it == buffers.end())
    return std::nullopt;
  for (const RootUse &use : plan.uses(carried)) {
    Operation *user = loop.getBody()->findAncestorOpInBlock(*use.root);
    if (!user)
      return std::nullopt;
    bool inPlace = user == op && use.root == op &&
                   !isa<triton::ReduceOp, triton::ScanOp>(op) &&
                   use.view == size_t(llvm::hash_combine(op, 0));
    if (!inPlace && !user->isBeforeInBlock(op))
      return std::nullopt;
  }
  return it->second;
}

void Lowering::materialize(Value tensor, const Buffer &buffer, int maxLanes) {
  auto write = [&](const Coords &coords) {
    storeBuffer(buffer, coords, eval(tensor, coords));
  };
  forTile(buffer.shape, plan.contiguousDim(tensor), write, maxLanes);
}

void Lowering::copy(const Buffer &from, const Buffer &to) {
  if (from.ptr == to.ptr)
    return;
  forTile(to.shape, to.shape.size() - 1, [&](const Coords &coords) {
    storeBuffer(to, coords, loadBuffer(from, coords));
  });
}
