// SPDX-License-Identifier: Apache-2.0
//
// Expresses integers. Addresses.cpp expresses pointers and descriptors.

#include "Slice.h"

#include "analysis/Dimensions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::intensity;
namespace tt = mlir::triton;

Lanes intensity::lanesOf(Type type) {
  Lanes lanes;
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    for (auto [i, size] : llvm::enumerate(tensor.getShape()))
      lanes.push_back(size == 1 ? -1 : i);
  return lanes;
}

const Scope::Binding *Scope::lookup(Value value) const {
  for (const Scope *scope = this; scope; scope = scope->outer) {
    auto found = scope->bindings.find(value);
    if (found != scope->bindings.end())
      return &found->second;
  }
  return nullptr;
}

int Slice::add(llvm::json::Array node, std::optional<Location> loc) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << llvm::json::Value(llvm::json::Array(node));
  auto [found, isNew] = numbers.try_emplace(text, nodes.size());
  if (isNew) {
    nodes.push_back(std::move(node));
    FileLineColLoc place = loc ? placeOf(*loc) : FileLineColLoc();
    places.push_back(
        place ? (lineOf(place) + ":" + Twine(place.getColumn())).str() : "");
  }
  return found->second;
}

int Slice::unknown(Location loc, StringRef why, int width) {
  return add(
      {"unknown", why.str(), lineOf(loc), width}); // JSON would only refer
}

int Slice::constant(int64_t value) { return add({"constant", value}); }

/// The bits of an integer, or of the elements of a tensor; 64 for `index` and
/// pointers.
static int widthOf(Value value) {
  Type type = getElementTypeOrSelf(value);
  return type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 64;
}

std::optional<Lanes> Slice::through(Operation *op, ArrayRef<int> lanes) {
  Lanes result;
  if (isa<tt::SplatOp, tt::UnsplatOp>(op))
    return lanesOf(op->getOperand(0).getType());
  if (auto expand = dyn_cast<tt::ExpandDimsOp>(op)) {
    for (auto [i, lane] : llvm::enumerate(lanes))
      if (i != expand.getAxis())
        result.push_back(lane);
    return result;
  }
  if (auto broadcast = dyn_cast<tt::BroadcastOp>(op)) {
    for (auto [size, lane] :
         llvm::zip(analysis::shapeOf(broadcast.getSrc()), lanes))
      result.push_back(size == 1 ? -1 : lane);
    return result;
  }
  if (auto trans = dyn_cast<tt::TransOp>(op)) {
    result.resize(lanes.size());
    for (auto [i, from] : llvm::enumerate(trans.getOrder()))
      result[from] = lanes[i];
    return result;
  }
  auto reshape = cast<tt::ReshapeOp>(op);
  auto matched =
      analysis::matchDimensions(analysis::shapeOf(reshape.getResult()),
                                analysis::shapeOf(reshape.getSrc()));
  // A reshape that may reorder elements says nothing about their positions.
  if (!matched || reshape.getAllowReorder())
    return std::nullopt;
  for (std::optional<unsigned> from : *matched)
    result.push_back(from ? lanes[*from] : -1);
  return result;
}

int Slice::get(Value value, ArrayRef<int> lanes, const Scope *scope) {
  auto key = std::make_tuple(value.getAsOpaquePointer(),
                             SmallVector<int, 4>(lanes), scope);
  auto found = known.find(key);
  if (found != known.end())
    return found->second;
  const Scope::Binding *binding = scope->lookup(value);
  int result = binding ? bound(*binding, value, lanes, scope)
                       : define(value, lanes, scope);
  known[key] = result;
  if (keepsNames)
    keepName(value, result);
  return result;
}

int Slice::bound(const Scope::Binding &binding, Value value,
                 ArrayRef<int> lanes, const Scope *scope) {
  switch (binding.kind) {
  case Scope::Kind::Alias:
    return get(binding.value, lanes, binding.scope);
  case Scope::Kind::Argument:
    if (!value.getType().isIntOrIndex())
      return unknown(value.getLoc(), "an argument that is not an integer",
                     widthOf(value));
    return add({"argument", binding.number});
  case Scope::Kind::Induction: {
    auto loop =
        cast<scf::ForOp>(cast<BlockArgument>(value).getOwner()->getParentOp());
    int width = widthOf(value);
    int advance = add({"muli", width, add({"iteration", binding.number}),
                       get(loop.getStep(), {}, scope)});
    return add({"addi", width, get(loop.getLowerBound(), {}, scope), advance},
               loop.getLoc());
  }
  case Scope::Kind::Carried: {
    auto argument = cast<BlockArgument>(value);
    auto loop = cast<scf::ForOp>(argument.getOwner()->getParentOp());
    return carried(loop, argument.getArgNumber() - loop.getNumInductionVars(),
                   add({"iteration", binding.number}), lanes, scope);
  }
  case Scope::Kind::Unknown:
    return unknown(value.getLoc(), binding.why, widthOf(value));
  }
  llvm_unreachable("all kinds are above");
}

bool Slice::isInvariant(Value value, scf::ForOp loop, int depth) {
  if (loop.isDefinedOutsideOfLoop(value))
    return true;
  Operation *op = value.getDefiningOp();
  return depth > 0 && op && op->getNumRegions() == 0 &&
         isMemoryEffectFree(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return isInvariant(operand, loop, depth - 1);
         });
}

/// Returns the value that a loop carries after `count` iterations: its initial
/// value plus `count` times what each iteration adds.
int Slice::carried(scf::ForOp loop, unsigned index, int count,
                   ArrayRef<int> lanes, const Scope *scope) {
  Value argument = loop.getRegionIterArg(index);
  Value next = loop.getBody()->getTerminator()->getOperand(index);
  Value first = loop.getInitArgs()[index];
  if (next == argument)
    return get(first, lanes, scope);
  Operation *op = next.getDefiningOp();
  if (!op || !isa<arith::AddIOp, arith::SubIOp>(op))
    return unknown(loop.getLoc(), "a loop-carried value", widthOf(argument));
  bool isSecond = op->getOperand(1) == argument;
  Value step = op->getOperand(isSecond ? 0 : 1);
  if (op->getOperand(isSecond ? 1 : 0) != argument || step == argument ||
      (isSecond && isa<arith::SubIOp>(op)) || !isInvariant(step, loop))
    return unknown(loop.getLoc(), "a loop-carried value", widthOf(argument));
  int width = widthOf(next);
  int advance =
      add({"muli", width, count, get(step, lanes, scope)}, op->getLoc());
  return add({isa<arith::AddIOp>(op) ? "addi" : "subi", width,
              get(first, lanes, scope), advance},
             op->getLoc());
}

/// The operations that are one expression of their operands.
static bool isArithmetic(Operation *op) {
  return isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::DivSIOp,
             arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::MinSIOp,
             arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp, arith::AndIOp,
             arith::OrIOp, arith::XOrIOp, arith::ShLIOp, arith::ShRSIOp,
             arith::ShRUIOp, arith::CeilDivSIOp, arith::FloorDivSIOp,
             arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp,
             arith::IndexCastOp, arith::IndexCastUIOp>(op);
}

int Slice::define(Value value, ArrayRef<int> lanes, const Scope *scope) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return unknown(value.getLoc(), "an argument of a region", widthOf(value));
  if (!getElementTypeOrSelf(value).isIntOrIndex())
    return unknown(op->getLoc(), "a value that is not an integer",
                   widthOf(value));
  auto operand = [&](unsigned i) {
    Value of = op->getOperand(i);
    bool isTensor = isa<RankedTensorType>(of.getType());
    return get(of, isTensor ? lanes : ArrayRef<int>(), scope);
  };
  if (isArithmetic(op)) {
    llvm::json::Array node{op->getName().stripDialect(), widthOf(value)};
    // For a cast, the width of its operand counts.
    if (op->getNumOperands() == 1)
      node.push_back(widthOf(op->getOperand(0)));
    for (unsigned i = 0; i < op->getNumOperands(); ++i)
      node.push_back(operand(i));
    return add(std::move(node), op->getLoc());
  }
  // A cast between signed and unsigned integers.
  if (isa<arith::BitcastOp>(op) &&
      getElementTypeOrSelf(op->getOperand(0)).isIntOrIndex())
    return operand(0);
  if (isa<tt::SplatOp, tt::UnsplatOp, tt::ExpandDimsOp, tt::BroadcastOp,
          tt::TransOp, tt::ReshapeOp>(op)) {
    std::optional<Lanes> inner = through(op, lanes);
    return inner ? get(op->getOperand(0), *inner, scope)
                 : unknown(op->getLoc(), "a reshape", widthOf(value));
  }
  return TypeSwitch<Operation *, int>(op)
      .Case([&](arith::ConstantOp c) {
        Attribute attribute = c.getValue();
        if (auto splat = dyn_cast<SplatElementsAttr>(attribute))
          attribute = splat.getSplatValue<Attribute>();
        auto number = dyn_cast<IntegerAttr>(attribute);
        if (!number || number.getValue().getSignificantBits() > 64)
          return unknown(op->getLoc(), "a table of constants", widthOf(value));
        return constant(widthOf(value) == 1 ? number.getValue().getZExtValue()
                                            : number.getValue().getSExtValue());
      })
      .Case([&](arith::CmpIOp c) {
        return add({"cmpi", widthOf(c.getLhs()),
                    arith::stringifyCmpIPredicate(c.getPredicate()), operand(0),
                    operand(1)},
                   op->getLoc());
      })
      .Case([&](arith::SelectOp) {
        return add(
            {"select", widthOf(value), operand(0), operand(1), operand(2)});
      })
      .Case([&](tt::MakeRangeOp range) {
        int start = constant(range.getStartAttr().getInt());
        if (lanes[0] < 0)
          return start;
        return add({"addi", 32, start, add({"lane", lanes[0]})});
      })
      .Case([&](tt::GetProgramIdOp id) {
        return add({"program", id.getAxisAsInt()});
      })
      .Case([&](tt::GetNumProgramsOp id) {
        return add({"programs", id.getAxisAsInt()});
      })
      .Case([&](scf::IfOp choice) {
        unsigned i = cast<OpResult>(value).getResultNumber();
        return add({"select", widthOf(value),
                    get(choice.getCondition(), {}, scope),
                    get(choice.thenYield().getOperand(i), lanes, scope),
                    get(choice.elseYield().getOperand(i), lanes, scope)});
      })
      .Case([&](scf::ForOp loop) {
        const Scope::Binding *binding = scope->lookup(loop.getInductionVar());
        if (!binding)
          return unknown(op->getLoc(), "a loop that was not followed",
                         widthOf(value));
        return carried(loop, cast<OpResult>(value).getResultNumber(),
                       add({"trips", binding->number}), lanes, scope);
      })
      .Case<tt::LoadOp, tt::DescriptorLoadOp, tt::AtomicRMWOp, tt::AtomicCASOp,
            tt::AtomicLoadOp>([&](auto) {
        return unknown(op->getLoc(), "data from memory", widthOf(value));
      })
      .Default([&](Operation *) {
        return unknown(op->getLoc(),
                       ("a value of " + op->getName().getStringRef()).str(),
                       widthOf(value));
      });
}
