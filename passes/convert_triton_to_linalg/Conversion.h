// SPDX-License-Identifier: Apache-2.0
//
// The two steps of the conversion: first memory accesses, then everything else.
// An operation can be converted if there is a pattern for it.

#ifndef TRITON_EXT_CONVERTTRITONTOLINALG_CONVERSION_H
#define TRITON_EXT_CONVERTTRITONTOLINALG_CONVERSION_H

#include "mlir/Transforms/DialectConversion.h"

namespace mlir::triton_ext::convert_triton_to_linalg {

/// Why an operation cannot be converted: the end of an error message.
using Reason = std::optional<StringRef>;

/// A set of patterns that also tells which operations they convert. A pattern
/// that does not convert every operation of its kind has a function
/// `static Reason whyNot(OpTy)`, and fails to match with this reason.
class PatternSet {
public:
  explicit PatternSet(MLIRContext *context) : patterns(context) {}

  /// Adds patterns, each constructed with `arguments` and the context.
  template <typename... Patterns, typename... Arguments>
  void add(const Arguments &...arguments) {
    patterns.add<Patterns...>(arguments..., patterns.getContext());
    (note<Patterns>(), ...);
  }

  /// Returns whether there are patterns for operations of this kind.
  bool isFor(Operation *op) const { return checks.contains(op->getName()); }
  /// Returns why a pattern for this kind does not convert `op`, or nothing.
  Reason whyNot(Operation *op) const {
    for (Check check : checks.lookup(op->getName()))
      if (Reason reason = check(op))
        return reason;
    return std::nullopt;
  }

  /// The patterns. Those that are not for one class of operations are added
  /// here directly, not by `add`.
  RewritePatternSet patterns;

private:
  using Check = Reason (*)(Operation *);

  template <typename OpTy> static OpTy kindOf(OpConversionPattern<OpTy> *);
  template <typename Pattern> void note() {
    using OpTy = decltype(kindOf(static_cast<Pattern *>(nullptr)));
    OperationName name(OpTy::getOperationName(), patterns.getContext());
    SmallVector<Check, 1> &known = checks[name];
    if constexpr (requires(OpTy op) { Pattern::whyNot(op); })
      known.push_back(
          [](Operation *op) { return Pattern::whyNot(cast<OpTy>(op)); });
  }

  DenseMap<OperationName, SmallVector<Check, 1>> checks;
};

/// Refuses every operation of its kind, with one reason.
template <typename OpTy, const char *reason>
struct RefusedPattern : OpConversionPattern<OpTy> {
  using OpConversionPattern<OpTy>::OpConversionPattern;

  static Reason whyNot(OpTy) { return reason; }

  LogicalResult
  matchAndRewrite(OpTy op, typename OpTy::Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    return rewriter.notifyMatchFailure(op, reason);
  }
};

/// The facts that axis information gives about the pointers of one access.
struct PointerFacts {
  /// The distance from one pointer to the next along each dimension, in
  /// elements, if it is constant.
  std::optional<SmallVector<int64_t>> strides;
  /// Whether all addresses are multiples of the size of an element.
  bool areAligned = false;
};
using AllPointerFacts = DenseMap<Value, PointerFacts>;

/// Returns the facts of the pointers of all memory accesses.
AllPointerFacts getPointerFacts(Operation *module);

/// The first step. Replaces loads, stores and atomics by views of memory and
/// structured accesses to them. Types stay. The remaining pointers are scalars,
/// unless other operations use tensors of pointers.
void populateMemoryPatterns(const AllPointerFacts &facts, PatternSet &patterns);
void populateAtomicPatterns(const AllPointerFacts &facts, PatternSet &patterns);
void populateAtomicAccessPatterns(PatternSet &patterns);

/// Replaces masks that are data, and selects by masks, by fills and copies of
/// the box in which the mask is true, if there is one. Memory accesses must
/// have been converted, and ranges must not.
void useBoxes(Operation *top);

/// Adds the conversion of pointers, and of tensors of pointers, to i64.
void addConversions(TypeConverter &converter);

/// The second step. Each family of operations has a file.
void populateFunctionPatterns(const TypeConverter &converter,
                              PatternSet &patterns);
void populateElementwisePatterns(const TypeConverter &converter,
                                 PatternSet &patterns);
void populateShapePatterns(const TypeConverter &converter,
                           PatternSet &patterns);
void populateReducePatterns(const TypeConverter &converter,
                            PatternSet &patterns);
void populateDotPatterns(const TypeConverter &converter, PatternSet &patterns);
void populateDebugPatterns(const TypeConverter &converter,
                           PatternSet &patterns);

} // namespace mlir::triton_ext::convert_triton_to_linalg

#endif // TRITON_EXT_CONVERTTRITONTOLINALG_CONVERSION_H
