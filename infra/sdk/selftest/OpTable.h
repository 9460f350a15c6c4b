// SPDX-License-Identifier: Apache-2.0
//
// checkOps<Ops...>() compares all op classes of a dialect with the ops that
// libtriton registered under the same names: traits, interfaces, size of the
// properties and names of the attributes. It only reads, so no difference can
// make it crash.

#ifndef TRITON_EXT_SELFTEST_OPTABLE_H
#define TRITON_EXT_SELFTEST_OPTABLE_H

#include "Guard.h"
#include "Report.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OpDefinition.h"

namespace triton_ext::selftest {
namespace op_table {

/// An op as the headers describe it.
struct OpView {
  llvm::StringRef name;
  mlir::TypeID id;
  int propertyBytes;
  llvm::ArrayRef<llvm::StringRef> attributes;
  llvm::ArrayRef<mlir::TypeID> traits;
  llvm::ArrayRef<mlir::TypeID> interfaces; // null for traits without one
  llvm::ArrayRef<llvm::StringRef (*)()> traitNames;
  bool isGuarded;
};

/// Reports how `view` compares with the op that libtriton registered.
void checkOp(Report &report, mlir::MLIRContext &context, const OpView &view);

struct AnyOp;

/// Instantiated for one op only, because a trait has the same name for all.
template <template <typename> class Trait> llvm::StringRef traitName() {
  return llvm::getTypeName<Trait<AnyOp>>();
}

template <typename T> mlir::TypeID interfaceId() {
  if constexpr (requires { T::getInterfaceID(); })
    return T::getInterfaceID();
  else
    return mlir::TypeID::get<void>();
}

template <typename OpT, template <typename> class... Traits>
void checkOp(Report &report, mlir::MLIRContext &context,
             const mlir::Op<OpT, Traits...> *) {
  using Properties =
      typename OpT::template InferredProperties<OpT>; // as Op's own Model does
  constexpr bool isEmpty = std::is_same_v<Properties, mlir::EmptyProperties>;
  mlir::TypeID traits[] = {mlir::TypeID::get<Traits>()...};
  mlir::TypeID interfaces[] = {interfaceId<Traits<OpT>>()...};
  llvm::StringRef (*names[])() = {traitName<Traits>...};
  checkOp(report, context,
          {OpT::getOperationName(), mlir::TypeID::get<OpT>(),
           isEmpty ? 0 : int(sizeof(Properties)), OpT::getAttributeNames(),
           traits, interfaces, names, isGuarded<OpT>});
}

} // namespace op_table

/// Checks each of `Ops`; their dialects must be loaded in `context`.
template <typename... Ops>
void checkOps(Report &report, mlir::MLIRContext &context) {
  void (*checks[])(Report &, mlir::MLIRContext &) = {
      [](Report &report, mlir::MLIRContext &context) {
        op_table::checkOp(report, context, static_cast<Ops *>(nullptr));
      }...};
  for (auto *check : checks)
    check(report, context);
}

} // namespace triton_ext::selftest

#endif // TRITON_EXT_SELFTEST_OPTABLE_H
