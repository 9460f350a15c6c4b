// SPDX-License-Identifier: Apache-2.0
//
// Makes the numbers and ids of programs arguments of functions. Declarations,
// and functions that have these arguments already, are left untouched.

#include "ProgramArguments.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

#define DEBUG_TYPE "triton-ext-add-program-arguments"

namespace mlir::triton_ext::add_program_arguments {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_ADDPROGRAMARGUMENTSPASS
#include "AddProgramArguments.h.inc"
} // namespace mlir::triton_ext::add_program_arguments

using namespace mlir;
namespace tt = mlir::triton;

/// The numbers of programs along x, y and z, then the ids along x, y and z.
static constexpr unsigned kNumArguments = 6;

/// Marks the arguments, so that they are not added twice.
static constexpr StringRef kMark = "tt.program_argument";

static bool hasArguments(func::FuncOp function) {
  unsigned count = function.getNumArguments();
  return count >= kNumArguments && function.getArgAttr(count - 1, kMark);
}

static void addArguments(func::FuncOp function) {
  SmallVector<Type> inputs(function.getFunctionType().getInputs());
  unsigned first = inputs.size();
  Type i32 = IntegerType::get(function.getContext(), 32);
  inputs.append(kNumArguments, i32);
  for (unsigned i = 0; i < kNumArguments; ++i)
    function.getBody().addArgument(i32, function.getLoc());
  if (ArrayAttr attributes = function.getArgAttrsAttr()) {
    SmallVector<Attribute> list(attributes.getValue());
    list.append(kNumArguments, DictionaryAttr::get(function.getContext()));
    function.setArgAttrsAttr(ArrayAttr::get(function.getContext(), list));
  }
  function.setFunctionType(FunctionType::get(
      function.getContext(), inputs, function.getFunctionType().getResults()));
  for (unsigned i = first; i < inputs.size(); ++i)
    function.setArgAttr(i, kMark, UnitAttr::get(function.getContext()));
}

/// Replaces operations that ask for numbers and ids by the arguments, and
/// passes the arguments to calls of functions that have just got them.
static void useArguments(func::FuncOp function, SymbolTable &symbols,
                         const DenseSet<Operation *> &added) {
  ValueRange arguments =
      ValueRange(function.getArguments()).take_back(kNumArguments);
  SmallVector<Operation *> asking;
  function.walk([&](Operation *op) {
    if (auto call = dyn_cast<func::CallOp>(op)) {
      auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
      if (added.contains(callee))
        call.getOperandsMutable().append(arguments);
    } else if (auto number = dyn_cast<tt::GetNumProgramsOp>(op)) {
      number.replaceAllUsesWith(arguments[number.getAxisAsInt()]);
      asking.push_back(op);
    } else if (auto id = dyn_cast<tt::GetProgramIdOp>(op)) {
      id.replaceAllUsesWith(arguments[3 + id.getAxisAsInt()]);
      asking.push_back(op);
    }
  });
  for (Operation *op : asking)
    op->erase();
}

void mlir::triton_ext::add_program_arguments::addProgramArguments(
    ModuleOp module) {
  SmallVector<func::FuncOp> functions;
  DenseSet<Operation *> added;
  for (func::FuncOp function : module.getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    functions.push_back(function);
    if (hasArguments(function))
      continue;
    addArguments(function);
    added.insert(function);
  }
  SymbolTable symbols(module);
  for (func::FuncOp function : functions)
    useArguments(function, symbols, added);
}

namespace {
struct AddProgramArgumentsPass
    : mlir::triton_ext::add_program_arguments::impl::
          AddProgramArgumentsPassBase<AddProgramArgumentsPass> {
  using AddProgramArgumentsPassBase::AddProgramArgumentsPassBase;

  void runOnOperation() override {
    mlir::triton_ext::add_program_arguments::addProgramArguments(
        getOperation());
  }
};
} // namespace
