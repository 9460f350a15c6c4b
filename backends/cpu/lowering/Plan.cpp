// SPDX-License-Identifier: Apache-2.0
//
// What is put into scratch memory and what is computed where it is needed.
// Values are visited from their uses back to their definitions, so that each
// knows which operations will ask for it, and at how many coordinates.

#include "Lowering.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

bool mlir::triton_ext::cpu::isSmallReduce(triton::ReduceOp op) {
  auto type = op.getInputTypes()[0];
  return type.getRank() > 1 && type.getDimSize(op.getAxis()) <= 4;
}

bool mlir::triton_ext::cpu::isRoot(Operation *op) {
  if (auto reduce = dyn_cast<triton::ReduceOp>(op))
    return !isSmallReduce(reduce);
  return isa<triton::ScanOp, triton::DotOp, triton::DotScaledOp,
             triton::HistogramOp, triton::AtomicRMWOp, triton::AtomicCASOp,
             triton::AtomicLoadOp, triton::AtomicPollOp,
             triton::MapElementwiseOp, scf::ForOp, scf::IfOp, scf::WhileOp>(op);
}

int64_t mlir::triton_ext::cpu::pointeeBytes(Type type) {
  auto pointer = cast<triton::PointerType>(getElementTypeOrSelf(type));
  Type pointee = pointer.getPointeeType();
  if (isa<triton::PointerType>(pointee))
    return 8;
  return std::max<int64_t>(1, pointee.getIntOrFloatBitWidth() / 8);
}

bool mlir::triton_ext::cpu::isVolatile(triton::LoadOp load) {
  // Not by its cache modifier: Triton's passes move such loads, by its words
  // "cache policies [...] have no memory-ordering semantics".
  return load.getIsVolatile();
}

bool mlir::triton_ext::cpu::isBarrier(Operation *op) {
  StringRef name = op->getName().getStringRef();
  return name == "ttg.barrier" || name == "ttg.local_barrier" ||
         name == "gpu.barrier";
}

/// Whether a load must not move across `op`: it may write memory that the load
/// sees, or orders accesses.
static bool writesMemory(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        if (isa<triton::StoreOp, triton::AtomicRMWOp, triton::AtomicCASOp,
                triton::AtomicLoadOp, triton::AtomicStoreOp,
                triton::AtomicPollOp, triton::CallOp>(inner) ||
            isBarrier(inner))
          return WalkResult::interrupt();
        // What was read before a flag was looked at stays before.
        if (auto load = dyn_cast<triton::LoadOp>(inner);
            load && isVolatile(load))
          return WalkResult::interrupt();
        return WalkResult::advance();
      })
      .wasInterrupted();
}

static size_t rootView(Operation *op, int slot = 0) {
  return llvm::hash_combine(op, slot);
}

static Operation *ancestorIn(Block *block, Operation *op) {
  return block->findAncestorOpInBlock(*op);
}

Plan::Plan(triton::FuncOp func) {
  std::function<void(Block &)> visitBlock = [&](Block &block) {
    for (Operation &op : llvm::reverse(block)) {
      for (Value result : op.getResults())
        if (isa<RankedTensorType>(result.getType()))
          visit(result);
      if (isa<triton::ReduceOp, triton::ScanOp>(op))
        continue;
      for (Region &region : op.getRegions())
        for (Block &inner : llvm::reverse(region))
          visitBlock(inner);
    }
    for (Value argument : block.getArguments())
      if (isa<RankedTensorType>(argument.getType()))
        visit(argument);
  };
  for (Block &block : llvm::reverse(func.getBody()))
    visitBlock(block);
}

ArrayRef<RootUse> Plan::uses(Value tensor) const {
  auto it = useMap.find(tensor);
  return it == useMap.end() ? ArrayRef<RootUse>() : ArrayRef(it->second);
}

void Plan::addUses(Value tensor, OpOperand &use) {
  Operation *user = use.getOwner();
  SmallVector<RootUse> found;
  if (isRoot(user) || user->getNumResults() == 0 ||
      llvm::none_of(user->getResultTypes(),
                    [](Type type) { return isa<RankedTensorType>(type); })) {
    int slot = 0;
    if (isa<triton::DotOp, triton::DotScaledOp>(user))
      slot = use.getOperandNumber() == 2 ? 0 : use.getOperandNumber() + 1;
    else if (user->hasTrait<OpTrait::IsTerminator>() ||
             isa<scf::ForOp, scf::WhileOp>(user))
      slot = use.getOperandNumber();
    found.push_back({user, rootView(user, slot), false});
  } else {
    for (Value result : user->getResults()) {
      if (stored.contains(result))
        found.push_back({user, rootView(user), false});
      else
        llvm::append_range(found, uses(result));
    }
    // The same coordinates after every elementwise operation, others after the
    // operations that rearrange.
    size_t map = 0;
    bool replicates = false;
    int64_t slots = 1;
    llvm::TypeSwitch<Operation *>(user)
        .Case([&](triton::BroadcastOp op) {
          map = llvm::hash_combine(1, op.getType().getAsOpaquePointer());
          replicates = true;
        })
        .Case([&](triton::ExpandDimsOp op) {
          map = llvm::hash_combine(2, op.getAxis());
        })
        .Case([&](triton::TransOp op) {
          map = llvm::hash_combine(
              3, llvm::hash_combine_range(op.getOrder().begin(),
                                          op.getOrder().end()));
        })
        .Case([&](triton::ReshapeOp op) {
          map = llvm::hash_combine(4, op.getType().getAsOpaquePointer());
        })
        .Case([&](triton::ReduceOp op) {
          map = llvm::hash_combine(5, op.getAxis());
          slots = op.getInputTypes()[0].getDimSize(op.getAxis());
        })
        .Case<triton::JoinOp, triton::CatOp, triton::SplitOp, triton::GatherOp>(
            [&](Operation *op) { map = llvm::hash_combine(6, op); });
    if (map) {
      SmallVector<RootUse> mapped;
      for (int64_t slot = 0; slot < slots; ++slot)
        for (RootUse inner : found) {
          inner.view = llvm::hash_combine(inner.view, map, slot);
          inner.replicated |= replicates;
          mapped.push_back(inner);
        }
      found = mapped;
    }
  }
  SmallVector<RootUse> &all = useMap[tensor];
  for (RootUse inner : found) {
    auto known = llvm::find_if(all, [&](const RootUse &other) {
      return other.root == inner.root && other.view == inner.view;
    });
    if (known == all.end())
      all.push_back(inner);
    else
      known->replicated |= inner.replicated;
  }
}

void Plan::visit(Value tensor) {
  useMap[tensor];
  for (OpOperand &use : tensor.getUses())
    addUses(tensor, use);
  Operation *op = tensor.getDefiningOp();
  if (!op || isRoot(op))
    return;
  if (mustStore(tensor))
    stored.insert(tensor);
}

bool Plan::mustStore(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  for (Operation *user : tensor.getUsers())
    if (auto gather = dyn_cast<triton::GatherOp>(user);
        gather && gather.getSrc() == tensor)
      return true;
  if (auto load = dyn_cast<triton::LoadOp>(op); load && !loadMayMove(load))
    return true;
  bool replicated = false;
  DenseSet<size_t> views;
  for (const RootUse &use : uses(tensor)) {
    views.insert(use.view);
    replicated |= use.replicated;
    Operation *top = ancestorIn(op->getBlock(), use.root);
    for (Operation *at = use.root; at && top && at != top;
         at = at->getParentOp())
      replicated |= isa<scf::ForOp, scf::WhileOp>(at->getParentOp());
  }
  int price = cost(tensor);
  return (views.size() > 1 && price > 6) || (replicated && price > 8);
}

int Plan::cost(Value value) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  if (!tensor)
    return 0;
  Operation *op = value.getDefiningOp();
  if (!op || isRoot(op) || stored.contains(value))
    return 2;
  if (auto it = costs.find(value); it != costs.end())
    return it->second;
  StringRef name = op->getName().getStringRef();
  int own = 1;
  bool onlyMoves =
      isa<triton::SplatOp, triton::BroadcastOp, triton::ExpandDimsOp,
          triton::TransOp, triton::MakeRangeOp, arith::ConstantOp>(op);
  DenseElementsAttr dense;
  if (matchPattern(op, m_Constant(&dense)) && !dense.isSplat())
    own = 2;
  else if (onlyMoves)
    own = 0;
  else if (isa<triton::LoadOp>(op))
    own = 4;
  else if (isa<triton::ReshapeOp, triton::JoinOp, triton::CatOp,
               triton::SplitOp>(op))
    own = 2;
  else if (isa<triton::ExternElementwiseOp>(op))
    own = 30;
  else if (name.starts_with("math.") || name == "arith.remf")
    own = name == "math.absf" || name == "math.fma" || name == "math.floor" ||
                  name == "math.ceil"
              ? 1
              : 16;
  else if (name.starts_with("arith.div") || name.starts_with("arith.rem") ||
           isa<triton::PreciseDivFOp, triton::PreciseSqrtOp>(op))
    own = 8;
  else if (isa<triton::FpToFpOp, triton::GatherOp>(op))
    own = 5;
  int total = own;
  if (!isa<triton::LoadOp>(op))
    for (Value operand : op->getOperands())
      total = std::min(1000, total + cost(operand));
  else if (cost(op->getOperand(0)) >= 16) // addresses that are dear themselves
    total += cost(op->getOperand(0));
  if (auto reduce = dyn_cast<triton::ReduceOp>(op))
    total = std::min<int64_t>(
        1000, total * reduce.getInputTypes()[0].getDimSize(reduce.getAxis()));
  return costs[value] = total;
}

/// The kernel's argument that a pointer is made from; null if unknown.
static Value pointerRoot(Value pointer) {
  while (Operation *op = pointer.getDefiningOp()) {
    if (!isa<triton::AddPtrOp, triton::SplatOp, triton::BroadcastOp,
             triton::ExpandDimsOp, triton::BitcastOp, triton::TransOp,
             triton::ReshapeOp>(op))
      return {};
    pointer = op->getOperand(0);
  }
  auto argument = cast<BlockArgument>(pointer);
  if (isa<triton::FuncOp>(argument.getOwner()->getParentOp()))
    return pointer;
  if (auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
      loop && argument.getArgNumber() > 0) {
    Value init = loop.getInitArgs()[argument.getArgNumber() - 1];
    Value next = loop.getYieldedValues()[argument.getArgNumber() - 1];
    while (auto add = next.getDefiningOp<triton::AddPtrOp>())
      next = add.getPtr();
    if (next == pointer)
      return pointerRoot(init);
  }
  return {};
}

/// Whether the load may happen where its value is needed instead of where it
/// stands: nothing that writes lies between, and a store that needs the value
/// writes what was read, lane by lane, or through another argument.
bool Plan::loadMayMove(triton::LoadOp load) {
  if (isVolatile(load))
    return false;
  Block *block = load->getBlock();
  for (const RootUse &use : uses(load.getResult())) {
    Operation *end = ancestorIn(block, use.root);
    if (!end)
      return false;
    for (Operation *op = load->getNextNode(); op != end; op = op->getNextNode())
      if (writesMemory(op))
        return false;
    if (end != use.root) {
      if (writesMemory(end))
        return false;
      continue;
    }
    if (auto store = dyn_cast<triton::StoreOp>(end)) {
      if (use.view != rootView(end))
        return false;
      if (store.getPtr() == load.getPtr())
        continue;
      Value from = pointerRoot(load.getPtr()), to = pointerRoot(store.getPtr());
      if (!from || !to || from == to)
        return false;
    } else if (writesMemory(end)) {
      return false;
    }
  }
  return true;
}

ArrayRef<std::optional<int64_t>> Plan::strides(Value tensor) {
  if (auto it = strideMap.find(tensor); it != strideMap.end())
    return it->second;
  auto type = cast<RankedTensorType>(tensor.getType());
  using Strides = SmallVector<std::optional<int64_t>>;
  Strides result(type.getRank(), std::nullopt);
  auto of = [&](Value v) {
    ArrayRef<std::optional<int64_t>> s = strides(v);
    return Strides(s.begin(), s.end());
  };
  // Differences of integers wrap around as the integers do.
  auto wrap = [&](uint64_t stride) {
    auto integer = dyn_cast<IntegerType>(type.getElementType());
    return llvm::SignExtend64(stride, integer ? integer.getWidth() : 64);
  };
  if (Operation *op = tensor.getDefiningOp(); op && !isRoot(op)) {
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](triton::SplatOp) { result.assign(type.getRank(), 0); })
        .Case([&](arith::ConstantOp constant) {
          auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
          if (dense && dense.isSplat())
            result.assign(type.getRank(), 0);
        })
        .Case([&](triton::MakeRangeOp) { result.assign(1, 1); })
        .Case([&](triton::ExpandDimsOp expand) {
          result = of(expand.getSrc());
          result.insert(result.begin() + expand.getAxis(), 0);
        })
        .Case([&](triton::BroadcastOp broadcast) {
          result = of(broadcast.getSrc());
          for (auto [i, size] :
               llvm::enumerate(broadcast.getSrc().getType().getShape()))
            if (size == 1)
              result[i] = 0;
        })
        .Case([&](triton::TransOp trans) {
          Strides from = of(trans.getSrc());
          for (auto [i, d] : llvm::enumerate(trans.getOrder()))
            result[i] = from[d];
        })
        .Case<arith::AddIOp, arith::SubIOp, triton::AddPtrOp>([&](auto add) {
          Strides l = of(add->getOperand(0)), r = of(add->getOperand(1));
          int64_t sign = isa<arith::SubIOp>(add) ? -1 : 1;
          for (int i = 0; i < type.getRank(); ++i)
            if (l[i] && r[i])
              result[i] = wrap(uint64_t(*l[i]) + sign * uint64_t(*r[i]));
        })
        .Case([&](arith::MulIOp mul) {
          Strides l = of(mul.getLhs()), r = of(mul.getRhs());
          APInt number;
          DenseIntElementsAttr dense;
          for (int i = 0; i < type.getRank(); ++i) {
            if (l[i] == 0 && r[i] == 0)
              result[i] = 0;
            else if (l[i] && matchPattern(mul.getRhs(), m_Constant(&dense)) &&
                     dense.isSplat())
              result[i] = wrap(uint64_t(*l[i]) *
                               dense.getSplatValue<APInt>().getSExtValue());
          }
        })
        .Case<arith::ExtSIOp, arith::ExtUIOp>([&](Operation *op) {
          // Most groups of lanes do not wrap around.
          result = of(op->getOperand(0));
        })
        .Case([&](arith::TruncIOp trunc) {
          for (auto [i, s] : llvm::enumerate(of(trunc.getIn())))
            if (s)
              result[i] = wrap(*s);
        })
        .Case([&](triton::BitcastOp cast) {
          int64_t from = 1, to = 1;
          if (isa<triton::PointerType>(type.getElementType())) {
            from = pointeeBytes(cast.getSrc().getType());
            to = pointeeBytes(type);
          }
          bool isFloat = isa<FloatType>(type.getElementType());
          for (auto [i, s] : llvm::enumerate(of(cast.getSrc())))
            if (s && *s * from % to == 0 && (*s == 0 || !isFloat))
              result[i] = *s * from / to;
        })
        .Case<arith::RemSIOp, arith::RemUIOp>([&](Operation *op) {
          // Most groups of lanes stay in one piece.
          result = of(op->getOperand(0));
        })
        .Default([&](Operation *op) {
          // Equal operands give equal results.
          if (!op->hasTrait<OpTrait::Elementwise>() || !isMemoryEffectFree(op))
            return;
          result.assign(type.getRank(), 0);
          for (Value operand : op->getOperands()) {
            auto other = dyn_cast<RankedTensorType>(operand.getType());
            if (!other)
              continue;
            if (other.getShape() != type.getShape()) {
              result.assign(type.getRank(), std::nullopt);
              return;
            }
            for (auto [i, s] : llvm::enumerate(of(operand)))
              if (s != 0)
                result[i] = std::nullopt;
          }
        });
  }
  return strideMap[tensor] = result;
}

void Plan::vote(Value value, ArrayRef<int> dims, MutableArrayRef<int64_t> votes,
                DenseSet<Value> &seen) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !seen.insert(value).second || seen.size() > 500)
    return;
  auto add = [&](int dim, int64_t weight) {
    if (dims[dim] >= 0 && type.getDimSize(dim) > 1)
      votes[dims[dim]] += weight;
  };
  Operation *op = value.getDefiningOp();
  if (!op || isRoot(op) || stored.contains(value)) {
    for (int i = type.getRank() - 1; i >= 0; --i)
      if (type.getDimSize(i) > 1) {
        add(i, 2);
        break;
      }
    return;
  }
  SmallVector<int> inner(dims);
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](triton::LoadOp load) {
        for (auto [i, stride] : llvm::enumerate(strides(load.getPtr())))
          if (stride == 1 || stride == -1)
            add(i, 4);
      })
      .Case([&](triton::ExpandDimsOp expand) {
        inner.erase(inner.begin() + expand.getAxis());
        vote(expand.getSrc(), inner, votes, seen);
      })
      .Case([&](triton::TransOp trans) {
        for (auto [i, d] : llvm::enumerate(trans.getOrder()))
          inner[d] = dims[i];
        vote(trans.getSrc(), inner, votes, seen);
      })
      .Case<triton::ReshapeOp, triton::JoinOp, triton::CatOp, triton::SplitOp,
            triton::ReduceOp, triton::SplatOp>([](auto) {})
      .Default([&](Operation *op) {
        for (Value operand : op->getOperands())
          if (auto other = dyn_cast<RankedTensorType>(operand.getType());
              other && other.getRank() == type.getRank())
            vote(operand, inner, votes, seen);
      });
}

int Plan::contiguousDim(Value tensor, ArrayRef<Value> others) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> votes(type.getRank(), 0);
  SmallVector<int> dims = llvm::to_vector(llvm::seq<int>(0, type.getRank()));
  DenseSet<Value> seen;
  vote(tensor, dims, votes, seen);
  for (Value other : others)
    vote(other, dims, votes, seen);
  if (isa<triton::PointerType>(type.getElementType()))
    for (auto [i, stride] : llvm::enumerate(strides(tensor)))
      if ((stride == 1 || stride == -1) && type.getDimSize(i) > 1)
        votes[i] += 6;
  int best = type.getRank() - 1;
  for (int i = type.getRank() - 1; i >= 0; --i)
    if (votes[i] > votes[best])
      best = i;
  return best;
}
