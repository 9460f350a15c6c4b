// SPDX-License-Identifier: Apache-2.0
//
// Interfaces in use: parsed ops are cast to the interface and its methods are
// called, which goes through a table of functions that libtriton filled in.

#include "Dialects.h"
#include "Report.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/CastInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace triton_ext::selftest;

static constexpr const char *core = R"(
func.func private @callee(i32) -> i32
func.func @f(%a: i32, %n: index, %c: i1) -> i64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> (i32) {
    %y = func.call @callee(%x) : (i32) -> i32
    scf.yield %y : i32
  }
  %s = scf.if %c -> i32 {
    scf.yield %r : i32
  } else {
    scf.yield %a : i32
  }
  %t = arith.extsi %s : i32 to i64
  %u = arith.addi %t, %t : i64
  cf.cond_br %c, ^bb1(%u : i64), ^bb2
^bb1(%v : i64):
  return %v : i64
^bb2:
  return %t : i64
})";

/// The first op called `name` below `root`.
static Operation *find(Operation *root, StringRef name) {
  Operation *found = nullptr;
  root->walk([&](Operation *op) {
    if (op->getName().getStringRef() != name)
      return WalkResult::advance();
    found = op;
    return WalkResult::interrupt();
  });
  return found;
}

static Part interfaces(Phase::Run, [](Report &report) {
  Context context(loadCore);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(core, &context);
  const char *group = "interfaces";
  report.check(group, "parsed", [&](std::string &) { return bool(module); });
  if (!module)
    return;

  // The interface is the parameter of `body`, which calls `method` on `op`.
  auto call = [&](const char *op, const char *method, auto want, auto body) {
    using Body = llvm::function_traits<decltype(body)>;
    using Interface = typename Body::template arg_t<0>;
    auto interface = dyn_cast_or_null<Interface>(find(*module, op));
    std::string name = std::string(op) + " " + method;
    if (interface)
      report.equal(group, name, want,
                   [&] { return decltype(want)(body(interface)); });
    else
      report.check(group, name, [](std::string &detail) {
        detail = "the op does not implement the interface";
        return false;
      });
  };

  call("scf.for", "LoopLike.getLoopRegions", 1,
       [](LoopLikeOpInterface op) { return op.getLoopRegions().size(); });
  call("scf.for", "LoopLike.getInits", 1,
       [](LoopLikeOpInterface op) { return op.getInits().size(); });
  call("scf.for", "LoopLike.getRegionIterArgs", 1,
       [](LoopLikeOpInterface op) { return op.getRegionIterArgs().size(); });
  call("scf.for", "LoopLike.getSingleInductionVar", 1,
       [](LoopLikeOpInterface op) {
         return op.getSingleInductionVar()->getType().isIndex();
       });
  call("scf.for", "LoopLike.getYieldedValues", 1, [](LoopLikeOpInterface op) {
    return op.getYieldedValues()[0].getDefiningOp<CallOpInterface>() != nullptr;
  });
  call("scf.for", "LoopLike.isDefinedOutsideOfLoop", 1,
       [](LoopLikeOpInterface op) {
         return op.isDefinedOutsideOfLoop(op->getOperand(0)) &&
                !op.isDefinedOutsideOfLoop(*op.getSingleInductionVar());
       });
  call("scf.for", "LoopLike.getLoopResults", 1,
       [](LoopLikeOpInterface op) { return op.getLoopResults()->size(); });
  call("scf.for", "RegionBranch.hasLoop", 1,
       [](RegionBranchOpInterface op) { return op.hasLoop(); });
  call("scf.if", "RegionBranch.getSuccessorRegions", 2,
       [](RegionBranchOpInterface op) {
         SmallVector<RegionSuccessor> regions;
         op.getSuccessorRegions(RegionBranchPoint::parent(), regions);
         return regions.size();
       });
  call("scf.yield", "RegionBranchTerminator.getMutableSuccessorOperands", 1,
       [](RegionBranchTerminatorOpInterface op) {
         return op.getMutableSuccessorOperands(op->getParentOp()).size();
       });
  call("cf.cond_br", "Branch.getSuccessorOperands", 1,
       [](BranchOpInterface op) { return op.getSuccessorOperands(0).size(); });
  call("cf.cond_br", "Branch.getSuccessorBlockArgument", 1,
       [](BranchOpInterface op) {
         return op.getSuccessorBlockArgument(1) ==
                op->getSuccessor(0)->getArgument(0);
       });
  call("func.call", "Call.getCallableForCallee", std::string("callee"),
       [](CallOpInterface op) {
         return cast<SymbolRefAttr>(op.getCallableForCallee())
             .getRootReference()
             .str();
       });
  call("func.call", "Call.getArgOperands", 1,
       [](CallOpInterface op) { return op.getArgOperands().size(); });
  call("func.call", "Call.resolveCallable", 1, [](CallOpInterface op) {
    return isa_and_nonnull<FunctionOpInterface>(op.resolveCallable());
  });
  call("func.func", "Symbol.getName", std::string("callee"),
       [](SymbolOpInterface op) { return op.getName().str(); });
  call("func.func", "Symbol.isPrivate", 1,
       [](SymbolOpInterface op) { return op.isPrivate(); });
  call("func.func", "Symbol.setVisibility", 1, [](SymbolOpInterface op) {
    op.setVisibility(SymbolTable::Visibility::Nested);
    bool nested = op.isNested();
    op.setVisibility(SymbolTable::Visibility::Private);
    return nested && op.isPrivate();
  });
  call("func.func", "Function.isDeclaration", 1,
       [](FunctionOpInterface op) { return op.isDeclaration(); });
  call("func.func", "Function.getArgumentTypes", 1,
       [](FunctionOpInterface op) { return op.getArgumentTypes().size(); });
  call("func.func", "Function.getResultTypes", 1, [](FunctionOpInterface op) {
    return op.getResultTypes()[0].isInteger(32);
  });
  call("func.func", "Function.setArgAttr", std::string("x"),
       [](FunctionOpInterface op) {
         op.setArgAttr(0, "t.a", StringAttr::get(op->getContext(), "x"));
         return op.getArgAttrOfType<StringAttr>(0, "t.a").str();
       });
  call("func.func", "Callable.getArgumentTypes", 1,
       [](CallableOpInterface op) { return op.getArgumentTypes().size(); });
  call("arith.addi", "InferType.inferReturnTypes", 1,
       [](InferTypeOpInterface op) {
         SmallVector<Type> types;
         return succeeded(op.inferReturnTypes(
                    op->getContext(), op->getLoc(), op->getOperands(),
                    op->getAttrDictionary(), op->getPropertiesStorage(),
                    op->getRegions(), types)) &&
                types.size() == 1 && types[0].isInteger(64);
       });
  call("arith.addi", "InferIntRange.inferResultRanges", 7,
       [](InferIntRangeInterface op) {
         ConstantIntRanges range =
             ConstantIntRanges::constant(APInt(64, 2)); // 2 + 5
         ConstantIntRanges other = ConstantIntRanges::constant(APInt(64, 5));
         uint64_t sum = 0;
         op.inferResultRanges({range, other},
                              [&](Value, const ConstantIntRanges &result) {
                                sum = result.umin().getZExtValue();
                              });
         return sum;
       });
  call("arith.addi", "MemoryEffect.getEffects", 0,
       [](MemoryEffectOpInterface op) {
         SmallVector<MemoryEffects::EffectInstance> effects;
         op.getEffects(effects);
         return effects.size();
       });
  call("arith.addi", "ConditionallySpeculatable.getSpeculatability", 1,
       [](ConditionallySpeculatable op) {
         return op.getSpeculatability() == Speculation::Speculatable;
       });
  call("arith.extsi", "Cast.areCastCompatible", 1, [](CastOpInterface op) {
    return op.areCastCompatible(op->getOperandTypes(), op->getResultTypes());
  });
  report.check(group, "isPure agrees on arith.addi, denies func.call",
               [&](std::string &) {
                 return isPure(find(*module, "arith.addi")) &&
                        !isMemoryEffectFree(find(*module, "func.call"));
               });
  report.check(group, "m_Constant matches arith.constant", [&](std::string &) {
    APInt value;
    return matchPattern(find(*module, "arith.constant")->getResult(0),
                        m_ConstantInt(&value)) &&
           value == 0;
  });
});
