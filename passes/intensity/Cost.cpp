// SPDX-License-Identifier: Apache-2.0
//
// The memory accesses and the FLOPs of a function as a tree of loops and
// branches.

#include "Cost.h"

#include "Operations.h"
#include "Walk.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::intensity;
namespace tt = mlir::triton;
namespace json = llvm::json;
using Kind = Scope::Kind;

/// How often a block may be described: code behind two branches is described
/// once for each, so early returns in a row could grow exponentially.
static constexpr int mostBlocks = 500;

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
  json::Object found{
      {"kernel", kernel.getName()},        {"line", lineOf(kernel.getLoc())},
      {"arguments", std::move(arguments)}, {"nodes", slice.takeNodes()},
      {"places", slice.takePlaces()},      {"body", std::move(body)}};
  if (slice.keepsNames)
    found["variables"] = slice.takeVariables();
  return found;
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
  promises(op, scope, items);
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
    return jump(branch.getDest(), branch.getDestOperands(), scope, items);
  if (auto branch = dyn_cast<cf::CondBranchOp>(op)) {
    json::Array then, otherwise;
    jump(branch.getTrueDest(), branch.getTrueDestOperands(), scope, then);
    jump(branch.getFalseDest(), branch.getFalseDestOperands(), scope,
         otherwise);
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
  Computation computed =
      op->getNumRegions() ? Computation() : computationOf(op);
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
  auto callee = SymbolTable::lookupNearestSymbolFrom<tt::FuncOp>(
      call, call.getCalleeAttr());
  bool isRecursive =
      callee && llvm::is_contained(active, callee.getOperation());
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
  // Triton's front end writes a block behind each return, which nothing
  // reaches.
  Operation *last = callee.getBody().front().getTerminator();
  for (auto [i, result] : llvm::enumerate(call.getResults())) {
    Scope::Binding &binding = scope->bindings[result];
    binding.why = "a result of a function with several returns";
    if (!isa<tt::ReturnOp>(last))
      continue;
    binding.kind = Kind::Alias;
    binding.value = last->getOperand(i);
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

json::Object intensity::describe(tt::FuncOp kernel, bool keepsNames) {
  return Walk(kernel, keepsNames).run();
}
