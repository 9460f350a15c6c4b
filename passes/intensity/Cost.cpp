// SPDX-License-Identifier: Apache-2.0
//
// The memory accesses and the FLOPs of a function as a tree of loops and
// branches.

#include "Cost.h"

#include "Operations.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::intensity;
namespace tt = mlir::triton;
namespace json = llvm::json;
using Kind = Scope::Kind;

/// How often a block may be described: what follows two branches is described
/// once for each, so early returns in a row could grow exponentially.
static constexpr int mostBlocks = 500;

namespace {
class Walk {
public:
  explicit Walk(tt::FuncOp kernel) : kernel(kernel) {}

  json::Object run();

private:
  Scope *enter(const Scope *outer) {
    scopes.push_back(std::make_unique<Scope>());
    scopes.back()->outer = outer;
    return scopes.back().get();
  }

  void region(Region &region, Scope *scope, json::Array &items);
  void block(Block &block, Scope *scope, json::Array &items);
  void jump(Block *to, OperandRange with, const Scope *scope,
            json::Array &items);
  void operation(Operation *op, Scope *scope, json::Array &items);
  void loop(scf::ForOp loop, Scope *scope, json::Array &items);
  void call(tt::CallOp call, Scope *scope, json::Array &items);
  void combine(Operation *op, Region &body, int axis, Scope *scope,
               json::Array &items);
  bool access(Operation *op, Scope *scope, json::Array &items);
  void pointers(Operation *op, StringRef what, Value pointer, Value mask,
                Scope *scope, json::Array &items);
  void descriptor(Operation *op, StringRef what, Value descriptor,
                  OperandRange at, Scope *scope, json::Array &items);
  void rows(Operation *op, StringRef what, Type type, json::Array &items);
  void masked(tt::AtomicRMWOp atomic, Scope *scope, json::Array &items);

  static json::Object item(StringRef what, Location loc) {
    return json::Object{{"what", what}, {"line", lineOf(loc)}};
  }
  static void unknown(Operation *op, StringRef of, const Twine &why,
                      json::Array &items) {
    json::Object found = item("unknown", op->getLoc());
    found["of"] = of;
    found["why"] = why.str();
    items.push_back(std::move(found));
  }
  /// Says that nothing is known of the arguments of a block.
  static void forget(Block &block, Scope *scope, StringRef why) {
    for (Value argument : block.getArguments())
      scope->bindings[argument].why = why.str();
  }

  tt::FuncOp kernel;
  Slice slice;
  std::vector<std::unique_ptr<Scope>> scopes;
  SmallVector<Operation *> active; // calls
  SmallVector<Block *> path;       // blocks on the way to this one
  int blocks = 0;
};
} // namespace

json::Object Walk::run() {
  json::Array arguments;
  Scope *scope = enter(nullptr);
  for (auto [i, argument] : llvm::enumerate(kernel.getArguments())) {
    Scope::Binding &binding = scope->bindings[argument];
    binding.kind = Kind::Argument;
    binding.number = i;
    std::string type;
    llvm::raw_string_ostream(type) << argument.getType();
    json::Object described{{"type", type}};
    if (auto name = dyn_cast<NameLoc>(argument.getLoc()))
      described["name"] = name.getName().getValue();
    arguments.push_back(std::move(described));
  }
  json::Array body;
  region(kernel.getBody(), scope, body);
  return json::Object{{"kernel", kernel.getName()},
                      {"line", lineOf(kernel.getLoc())},
                      {"arguments", std::move(arguments)},
                      {"nodes", slice.takeNodes()},
                      {"body", std::move(body)}};
}

void Walk::region(Region &region, Scope *scope, json::Array &items) {
  if (!region.empty())
    block(region.front(), scope, items);
}

void Walk::block(Block &block, Scope *scope, json::Array &items) {
  if (llvm::is_contained(path, &block) || ++blocks > mostBlocks)
    return unknown(block.getTerminator(), "all",
                   "a loop of blocks, or too many of them", items);
  path.push_back(&block);
  for (Operation &op : block)
    operation(&op, scope, items);
  path.pop_back();
}

void Walk::jump(Block *to, OperandRange with, const Scope *scope,
                json::Array &items) {
  Scope *inner = enter(scope);
  for (auto [argument, value] : llvm::zip(to->getArguments(), with)) {
    Scope::Binding &binding = inner->bindings[argument];
    binding.kind = Kind::Alias;
    binding.value = value;
    binding.scope = scope;
  }
  block(*to, inner, items);
}

void Walk::operation(Operation *op, Scope *scope, json::Array &items) {
  if (access(op, scope, items))
    return;
  if (auto found = dyn_cast<scf::ForOp>(op))
    return loop(found, scope, items);
  if (auto found = dyn_cast<tt::CallOp>(op))
    return call(found, scope, items);
  if (auto choice = dyn_cast<scf::IfOp>(op)) {
    json::Array then, otherwise;
    region(choice.getThenRegion(), scope, then);
    region(choice.getElseRegion(), scope, otherwise);
    json::Object found = item("if", op->getLoc());
    found["condition"] = slice.get(choice.getCondition(), {}, scope);
    found["then"] = std::move(then);
    found["else"] = std::move(otherwise);
    return items.push_back(std::move(found));
  }
  if (auto branch = dyn_cast<cf::BranchOp>(op))
    return jump(branch.getDest(), branch.getDestOperands(), scope,
                items);
  if (auto branch = dyn_cast<cf::CondBranchOp>(op)) {
    json::Array then, otherwise;
    jump(branch.getTrueDest(), branch.getTrueDestOperands(),
         scope, then);
    jump(branch.getFalseDest(), branch.getFalseDestOperands(),
         scope, otherwise);
    json::Object found = item("if", op->getLoc());
    found["condition"] = slice.get(branch.getCondition(), {}, scope);
    found["then"] = std::move(then);
    found["else"] = std::move(otherwise);
    return items.push_back(std::move(found));
  }
  if (auto found = dyn_cast<scf::WhileOp>(op)) {
    forget(found.getBefore().front(), scope, "a value of a while loop");
    forget(found.getAfter().front(), scope, "a value of a while loop");
    json::Array before, after;
    region(found.getBefore(), scope, before);
    region(found.getAfter(), scope, after);
    json::Object described = item("while", op->getLoc());
    described["before"] = std::move(before);
    described["after"] = std::move(after);
    return items.push_back(std::move(described));
  }
  if (auto found = dyn_cast<tt::ReduceOp>(op))
    return combine(op, found.getCombineOp(), found.getAxis(), scope, items);
  if (auto found = dyn_cast<tt::ScanOp>(op))
    return combine(op, found.getCombineOp(), found.getAxis(), scope, items);
  if (auto found = dyn_cast<tt::MapElementwiseOp>(op)) {
    forget(found.getScalarOp().front(), scope, "an element of a tensor");
    json::Array body;
    region(found.getScalarOp(), scope, body);
    json::Object times = item("times", op->getLoc());
    times["count"] = elementsOf(op->getOperand(0).getType()) / found.getPack();
    times["body"] = std::move(body);
    return items.push_back(std::move(times));
  }
  if (op->hasTrait<OpTrait::ReturnLike>() || isa<scf::ConditionOp>(op))
    return;
  Computation computed = op->getNumRegions() ? Computation() : computationOf(op);
  if (!computed.isKnown)
    return unknown(op, isMemoryEffectFree(op) ? "flops" : "all",
                   "'" + op->getName().getStringRef() + "'", items);
  if (!computed.flops)
    return;
  json::Object found = item("flops", op->getLoc());
  found["kind"] = computed.flops->kind;
  found["type"] = computed.flops->type;
  found["count"] = computed.flops->count;
  items.push_back(std::move(found));
}

void Walk::loop(scf::ForOp loop, Scope *scope, json::Array &items) {
  int number = slice.addLoop();
  json::Object found = item("loop", loop.getLoc());
  found["loop"] = number;
  found["lower"] = slice.get(loop.getLowerBound(), {}, scope);
  found["upper"] = slice.get(loop.getUpperBound(), {}, scope);
  found["step"] = slice.get(loop.getStep(), {}, scope);
  found["unsigned"] = loop.getUnsignedCmp();
  Scope::Binding &induction = scope->bindings[loop.getInductionVar()];
  induction.kind = Kind::Induction;
  induction.number = number;
  for (Value argument : loop.getRegionIterArgs()) {
    Scope::Binding &carried = scope->bindings[argument];
    carried.kind = Kind::Carried;
    carried.number = number;
  }
  json::Array body;
  region(loop.getRegion(), scope, body);
  found["body"] = std::move(body);
  items.push_back(std::move(found));
}

void Walk::call(tt::CallOp call, Scope *scope, json::Array &items) {
  auto callee =
      SymbolTable::lookupNearestSymbolFrom<tt::FuncOp>(call, call.getCalleeAttr());
  bool isRecursive = callee && llvm::is_contained(active, callee.getOperation());
  if (!callee || callee.isExternal() || isRecursive) {
    for (Value result : call.getResults())
      scope->bindings[result].why = "a result of a call";
    return unknown(call, "all", "a call that cannot be followed", items);
  }
  Scope *inner = enter(nullptr);
  for (auto [argument, value] :
       llvm::zip(callee.getArguments(), call.getOperands())) {
    Scope::Binding &binding = inner->bindings[argument];
    binding.kind = Kind::Alias;
    binding.value = value;
    binding.scope = scope;
  }
  active.push_back(callee);
  region(callee.getBody(), inner, items);
  active.pop_back();
  bool hasOneBlock = callee.getBody().hasOneBlock();
  for (auto [i, result] : llvm::enumerate(call.getResults())) {
    Scope::Binding &binding = scope->bindings[result];
    binding.why = "a result of a function with several returns";
    if (!hasOneBlock)
      continue;
    binding.kind = Kind::Alias;
    binding.value = callee.getBody().front().getTerminator()->getOperand(i);
    binding.scope = inner;
  }
}

/// Describes a reduction or a scan: n elements along the axis are combined with
/// n - 1 executions of the body.
void Walk::combine(Operation *op, Region &body, int axis, Scope *scope,
                   json::Array &items) {
  forget(body.front(), scope, "an element of a tensor");
  auto type = cast<RankedTensorType>(op->getOperand(0).getType());
  int64_t along = type.getShape()[axis];
  json::Object times = item("times", op->getLoc());
  times["count"] = type.getNumElements() / along * (along - 1);
  json::Array inner;
  region(body, scope, inner);
  times["body"] = std::move(inner);
  items.push_back(std::move(times));
}

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
  if (auto address = slice.address(pointer, lanesOf(type), scope)) {
    found["argument"] = address->argument;
    found["offset"] = address->offset;
  }
  items.push_back(std::move(found));
}

void Walk::descriptor(Operation *op, StringRef what, Value descriptor,
                      OperandRange at, Scope *scope, json::Array &items) {
  auto box = cast<tt::TensorDescType>(descriptor.getType()).getBlockType();
  SmallVector<int> sizes, starts;
  for (auto [i, index] : llvm::enumerate(at)) {
    sizes.push_back(slice.sizeOf(descriptor, i, scope));
    starts.push_back(slice.get(index, {}, scope));
  }
  json::Object found = item(what, op->getLoc());
  found["bytes"] = bytesOf(box.getElementType());
  found["shape"] = shapeOf(box);
  found["mask"] = slice.insideOf(sizes, starts);
  items.push_back(std::move(found));
}

/// Describes an access to whole rows whose numbers are data: some of them may
/// lie outside of the tensor, and are then not accessed.
void Walk::rows(Operation *op, StringRef what, Type type,
                json::Array &items) {
  json::Object found = item(what, op->getLoc());
  found["bytes"] = bytesOf(getElementTypeOrSelf(type));
  found["shape"] = shapeOf(type);
  found["mask"] = slice.unknown(op->getLoc(), "rows whose numbers are data");
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

json::Object intensity::describe(tt::FuncOp kernel) {
  return Walk(kernel).run();
}
