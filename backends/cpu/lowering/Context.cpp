// SPDX-License-Identifier: Apache-2.0
//
// Errors, and the declarations and constants that the lowering adds to the
// module.

#include "Context.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

// Here, because whoever includes the header would compile the maps' functions.
LoweringContext::LoweringContext(triton::FuncOp function, ModuleOp module,
                                 Target target)
    : function(function), module(module), target(target),
      b(function.getLoc(), module) {}
LoweringContext::~LoweringContext() = default;

Value LoweringContext::error(Operation *op, const Twine &message) {
  if (!failed) {
    std::string text = message.str();
    if (!StringRef(text).ends_with(")"))
      text += " (use other operations of triton.language, or run the kernel on "
              "a GPU)";
    op->emitError() << "'" << op->getName() << "': " << text;
  }
  failed = true;
  Type type = op->getNumResults() ? loweredType(op->getResult(0).getType())
                                  : Type(b.getI1Type());
  return LLVM::PoisonOp::create(b, type);
}

Value LoweringContext::scalar(Value value) {
  if (Value scalar = scalars.lookup(value))
    return scalar;
  if (Operation *op = value.getDefiningOp())
    return error(op, "a scalar that is used before it is computed");
  llvm_unreachable("a block argument that was not lowered");
}

void LoweringContext::declareFunction(StringRef name, Type result,
                                      ArrayRef<Type> arguments) {
  if (name == function.getName())
    error(current, "a kernel cannot have the name of the C library's '" + name +
                       "', which it calls (rename it)");
  if (failed || module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(module.getBody());
  Type returned =
      result ? result : Type(LLVM::LLVMVoidType::get(b.getContext()));
  // The declaration gets the location of the function: debug information needs
  // a line of a file, which not every operation has.
  LLVM::LLVMFuncOp::create(b, function.getLoc(), name,
                           LLVM::LLVMFunctionType::get(returned, arguments));
}

Value LoweringContext::globalString(StringRef text) {
  return globalBytes("text", text.str() + '\0', /*alignment=*/1);
}

Value LoweringContext::globalBytes(StringRef kind, const std::string &content,
                                   int alignment) {
  std::string &name = constants[{kind.str(), content}];
  if (name.empty()) {
    name =
        (function.getName() + "." + kind + "." + Twine(constants.size())).str();
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    // The global gets the location of the function: debug information cannot
    // represent a global inside an inlined function.
    LLVM::GlobalOp::create(
        b, function.getLoc(),
        LLVM::LLVMArrayType::get(b.getI8Type(), content.size()), true,
        LLVM::Linkage::Internal, name, b.getStringAttr(content), alignment);
  }
  return LLVM::AddressOfOp::create(
      b, LLVM::LLVMPointerType::get(b.getContext()), name);
}
