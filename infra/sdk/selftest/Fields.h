// SPDX-License-Identifier: Apache-2.0
//
// FIELDS(report, context, Op, Name...) compares op properties one by one: the
// inline getter and setter of the headers against the generic attribute that
// libtriton stores and prints. The ops made here have no operands and are never
// verified; only their properties count.

#ifndef TRITON_EXT_SELFTEST_FIELDS_H
#define TRITON_EXT_SELFTEST_FIELDS_H

#include "Guard.h"
#include "Report.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace triton_ext::selftest {

/// Text of an attribute of C++ type `T`; a dialect adds its own with SAMPLE.
template <typename T> inline constexpr const char *sampleText = nullptr;

#define SAMPLE(TYPE, TEXT)                                                     \
  template <> inline constexpr const char *sampleText<TYPE> = TEXT

SAMPLE(mlir::Attribute, "\"any\"");
SAMPLE(mlir::TypedAttr, "7 : i32");
SAMPLE(mlir::IntegerAttr, "7 : i32");
SAMPLE(mlir::BoolAttr, "true");
SAMPLE(mlir::UnitAttr, "unit");
SAMPLE(mlir::StringAttr, "\"text\"");
SAMPLE(mlir::SymbolRefAttr, "@a::@b");
SAMPLE(mlir::FlatSymbolRefAttr, "@f");
SAMPLE(mlir::TypeAttr, "i32");
SAMPLE(mlir::ArrayAttr, "[1, 2]");
SAMPLE(mlir::DictionaryAttr, "{a = 1}");
SAMPLE(mlir::AffineMapAttr, "affine_map<(i)->(i)>");
SAMPLE(mlir::IntegerSetAttr, "affine_set<(i) : (i >= 0)>");
SAMPLE(mlir::DenseIntElementsAttr, "dense<[1, 2]> : tensor<2xi32>");
SAMPLE(mlir::DenseI32ArrayAttr, "array<i32: 1, 2>");
SAMPLE(mlir::DenseI64ArrayAttr, "array<i64: 1, 2>");

/// One attribute of type `T`: parsed, or for an enum made from its first case.
template <typename T> mlir::Attribute sample(mlir::MLIRContext *context) {
  if constexpr (sampleText<T> != nullptr) {
    return mlir::parseAttribute(sampleText<T>, context);
  } else {
    using Case = decltype(std::declval<T>().getValue());
    return T::get(context, static_cast<Case>(1));
  }
}

/// The checks of one op; see FIELDS.
class Fields {
public:
  using Getter = mlir::Attribute (*)(mlir::Operation *);
  using Setter = void (*)(mlir::Operation *, mlir::Attribute);

  Fields(Report &report, mlir::OperationName name, size_t propertyBytes);
  ~Fields();

  void field(const char *field,
             mlir::StringAttr (*attributeName)(mlir::OperationName),
             mlir::Attribute (*sample)(mlir::MLIRContext *), Getter get,
             Setter set);

private:
  Report &report;
  mlir::OperationName name;
  mlir::Operation *op = nullptr;
  bool canRead = false, canWrite = false;
};

} // namespace triton_ext::selftest

// Applies M to each further argument; 64 of them at most.
#define TX_PARENS ()
#define TX_EXPAND(...)                                                         \
  TX_EXPAND2(TX_EXPAND2(TX_EXPAND2(TX_EXPAND2(__VA_ARGS__))))
#define TX_EXPAND2(...)                                                        \
  TX_EXPAND1(TX_EXPAND1(TX_EXPAND1(TX_EXPAND1(__VA_ARGS__))))
#define TX_EXPAND1(...)                                                        \
  TX_EXPAND0(TX_EXPAND0(TX_EXPAND0(TX_EXPAND0(__VA_ARGS__))))
#define TX_EXPAND0(...) __VA_ARGS__
#define TX_EACH(M, ...) __VA_OPT__(TX_EXPAND(TX_EACH_STEP(M, __VA_ARGS__)))
#define TX_EACH_STEP(M, FIRST, ...)                                            \
  M(FIRST) __VA_OPT__(TX_EACH_AGAIN TX_PARENS(M, __VA_ARGS__))
#define TX_EACH_AGAIN() TX_EACH_STEP

#define TX_FIELD(NAME)                                                         \
  fields.field(                                                                \
      #NAME,                                                                   \
      [](mlir::OperationName name) { return O::get##NAME##AttrName(name); },   \
      sample<decltype(std::declval<O>().get##NAME##Attr())>,                   \
      [](mlir::Operation *op) -> mlir::Attribute {                             \
        return O(op).get##NAME##Attr();                                        \
      },                                                                       \
      [](mlir::Operation *op, mlir::Attribute value) {                         \
        using T [[maybe_unused]] = decltype(O(op).get##NAME##Attr());          \
        O(op).set##NAME##Attr(llvm::cast_or_null<T>(value));                   \
      });

/// Checks the getters and setters of the named attributes of OP. A template, so
/// that nothing of a guarded op is used.
#define FIELDS(REPORT, CONTEXT, OP, ...)                                       \
  [&]<typename O>() {                                                          \
    if constexpr (!isGuarded<O>) {                                             \
      Fields fields(REPORT,                                                    \
                    mlir::OperationName(O::getOperationName(), &CONTEXT),      \
                    sizeof(typename O::Properties));                           \
      TX_EACH(TX_FIELD, __VA_ARGS__)                                           \
    }                                                                          \
  }.template operator()<OP>();

#endif // TRITON_EXT_SELFTEST_FIELDS_H
