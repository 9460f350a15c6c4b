// SPDX-License-Identifier: Apache-2.0
//
// What only Triton knows of functions: numbers of programs, which become
// arguments, and attributes.

#include "Lowering.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

using namespace mlir;
namespace tt = mlir::triton;

/// Numbers of programs along x, y and z, and then the program's own.
static constexpr unsigned kNumArguments = 6;

static void addArguments(func::FuncOp function) {
  SmallVector<Type> inputs(function.getFunctionType().getInputs());
  Type i32 = IntegerType::get(function.getContext(), 32);
  for (unsigned i = 0; i < kNumArguments; ++i) {
    inputs.push_back(i32);
    function.getBody().addArgument(i32, function.getLoc());
  }
  if (ArrayAttr attributes = function.getArgAttrsAttr()) {
    SmallVector<Attribute> list(attributes.getValue());
    list.append(kNumArguments, DictionaryAttr::get(function.getContext()));
    function.setArgAttrsAttr(ArrayAttr::get(function.getContext(), list));
  }
  function.setFunctionType(FunctionType::get(
      function.getContext(), inputs, function.getFunctionType().getResults()));
}

/// Replaces what asks for numbers by the arguments, and hands them to calls.
static void useArguments(func::FuncOp function, SymbolTable &symbols) {
  ValueRange arguments =
      ValueRange(function.getArguments()).take_back(kNumArguments);
  SmallVector<Operation *> asking;
  function.walk([&](Operation *op) {
    if (auto call = dyn_cast<func::CallOp>(op)) {
      auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
      if (callee && !callee.isExternal())
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

void mlir::triton_ext::lower_linalg_ext::passPrograms(ModuleOp module) {
  SmallVector<func::FuncOp> functions;
  for (func::FuncOp function : module.getOps<func::FuncOp>())
    if (!function.isExternal())
      functions.push_back(function);
  for (func::FuncOp function : functions)
    addArguments(function);
  SymbolTable symbols(module);
  for (func::FuncOp function : functions)
    useArguments(function, symbols);
}

/// Those of a list that are not Triton's; no list stays none.
static DictionaryAttr withoutTriton(DictionaryAttr attributes) {
  if (!attributes)
    return attributes;
  SmallVector<NamedAttribute> kept;
  for (NamedAttribute attribute : attributes)
    if (!attribute.getName().getValue().starts_with("tt."))
      kept.push_back(attribute);
  return DictionaryAttr::get(attributes.getContext(), kept);
}

void mlir::triton_ext::lower_linalg_ext::dropAttributes(ModuleOp module) {
  module.walk([](Operation *op) {
    op->setDiscardableAttrs(withoutTriton(op->getDiscardableAttrDictionary()));
    auto function = dyn_cast<func::FuncOp>(op);
    if (!function)
      return;
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      function.setArgAttrs(i, withoutTriton(function.getArgAttrDict(i)));
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      function.setResultAttrs(i, withoutTriton(function.getResultAttrDict(i)));
  });
}
