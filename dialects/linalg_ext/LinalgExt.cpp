// SPDX-License-Identifier: Apache-2.0
//
// The dialect `linalg_ext`: parsing, verifiers, memory effects and folders of
// its operations.

#include "LinalgExt.h"

#include "Checks.h"
#include "Syntax.h"
#include "Tiling.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::triton_ext::linalg_ext;

//===----------------------------------------------------------------------===//
// Lists of operands whose last one is optional
//===----------------------------------------------------------------------===//

/// Parses `%a, %b : T, U`, whose last operand may be missing.
static ParseResult
parseOperandsAndTypes(OpAsmParser &parser,
                      MutableArrayRef<OpAsmParser::UnresolvedOperand> required,
                      MutableArrayRef<Type> requiredTypes,
                      std::optional<OpAsmParser::UnresolvedOperand> &last,
                      Type &lastType) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> types;
  SMLoc where = parser.getCurrentLocation();
  if (parser.parseOperandList(operands) || parser.parseColonTypeList(types))
    return failure();
  size_t wanted = required.size();
  if (operands.size() != wanted && operands.size() != wanted + 1)
    return parser.emitError(where)
           << "expected " << wanted << " operands and an optional mask, got "
           << operands.size() << " operands";
  if (types.size() != operands.size())
    return parser.emitError(where) << "expected as many types as operands";
  llvm::copy(ArrayRef(operands).take_front(wanted), required.begin());
  llvm::copy(ArrayRef(types).take_front(wanted), requiredTypes.begin());
  if (operands.size() > wanted) {
    last = operands.back();
    lastType = types.back();
  }
  return success();
}

static ParseResult parseInputs(
    OpAsmParser &parser, OpAsmParser::UnresolvedOperand &input, Type &inputType,
    OpAsmParser::UnresolvedOperand &indices, Type &indicesType,
    std::optional<OpAsmParser::UnresolvedOperand> &mask, Type &maskType) {
  OpAsmParser::UnresolvedOperand operands[2];
  Type types[2];
  if (parseOperandsAndTypes(parser, operands, types, mask, maskType))
    return failure();
  std::tie(input, indices) = std::tie(operands[0], operands[1]);
  std::tie(inputType, indicesType) = std::tie(types[0], types[1]);
  return success();
}

static ParseResult parseInputAndMask(
    OpAsmParser &parser, OpAsmParser::UnresolvedOperand &input, Type &inputType,
    std::optional<OpAsmParser::UnresolvedOperand> &mask, Type &maskType) {
  return parseOperandsAndTypes(parser, input, inputType, mask, maskType);
}

static void printValues(OpAsmPrinter &printer, ArrayRef<Value> values) {
  SmallVector<Value> present(llvm::make_filter_range(
      values, [](Value value) { return static_cast<bool>(value); }));
  printer << present << " : " << ValueRange(present).getTypes();
}

static void printInputs(OpAsmPrinter &printer, Operation *, Value input, Type,
                        Value indices, Type, Value mask, Type) {
  printValues(printer, {input, indices, mask});
}

static void printInputAndMask(OpAsmPrinter &printer, Operation *, Value input,
                              Type, Value mask, Type) {
  printValues(printer, {input, mask});
}

//===----------------------------------------------------------------------===//
// Attributes, which triton-linalg writes in front
//===----------------------------------------------------------------------===//

static ParseResult parseFrontAttributes(OpAsmParser &parser,
                                        NamedAttrList &attributes) {
  return parseAttributes(parser, attributes);
}

static void printFrontAttributes(OpAsmPrinter &, Operation *, DictionaryAttr) {}

static ParseResult parseRestAttributes(OpAsmParser &parser,
                                       NamedAttrList &attributes) {
  return parseAttributes(parser, attributes);
}

static void printRestAttributes(OpAsmPrinter &printer, Operation *op,
                                DictionaryAttr) {
  printer.printOptionalAttrDict(llvm::to_vector(op->getDiscardableAttrs()));
}

/// Parses attributes after a keyword, because a body in braces follows.
static ParseResult parseBodyAttributes(OpAsmParser &parser,
                                       NamedAttrList &attributes) {
  if (parser.parseOptionalAttrDictWithKeyword(attributes))
    return failure();
  dropForeignAttributes(attributes);
  return success();
}

static void printBodyAttributes(OpAsmPrinter &printer, Operation *op,
                                DictionaryAttr) {
  printer.printOptionalAttrDictWithKeyword(
      llvm::to_vector(op->getDiscardableAttrs()));
}

//===----------------------------------------------------------------------===//
// The body of a pad
//===----------------------------------------------------------------------===//

/// Parses the body of a pad. An empty body yields the elements. So does a body
/// that yields its only argument, whatever the argument's type: triton-linalg
/// writes an index there.
static ParseResult parsePadBody(OpAsmParser &parser, Region &body, Type input) {
  if (parser.parseRegion(body))
    return failure();
  auto type = dyn_cast<ShapedType>(input);
  if (!type)
    return success();
  Type element = type.getElementType();
  if (body.empty()) {
    OpBuilder builder(parser.getContext());
    Location loc = parser.getEncodedSourceLoc(parser.getNameLoc());
    Block *block = builder.createBlock(&body, {}, element, loc);
    YieldOp::create(builder, loc, block->getArgument(0));
    return success();
  }
  Block &block = body.front();
  if (body.hasOneBlock() && block.getNumArguments() == 1 &&
      llvm::hasSingleElement(block) && isa<YieldOp>(block.front()) &&
      llvm::equal(block.front().getOperands(), block.getArguments()))
    block.getArgument(0).setType(element);
  return success();
}

static void printPadBody(OpAsmPrinter &printer, Operation *, Region &body,
                         Type) {
  printer.printRegion(body);
}

#include "LinalgExt.cpp.inc"

//===----------------------------------------------------------------------===//
// Memory effects and builders
//===----------------------------------------------------------------------===//

void PadOp::getEffects(Effects &effects) {
  getDestinationEffects(*this, /*readsInits=*/false, effects);
}
void MakeRangeOp::getEffects(Effects &effects) {
  getDestinationEffects(*this, /*readsInits=*/false, effects);
}
void GatherOp::getEffects(Effects &effects) {
  getDestinationEffects(*this, /*readsInits=*/true, effects);
}
void ScatterOp::getEffects(Effects &effects) {
  getDestinationEffects(*this, /*readsInits=*/true, effects);
}
void ScanOp::getEffects(Effects &effects) {
  getDestinationEffects(*this, /*readsInits=*/isCarried(), effects);
}
void HistogramOp::getEffects(Effects &effects) {
  getDestinationEffects(*this, /*readsInits=*/true, effects);
}
void FlipOp::getEffects(Effects &effects) {
  getDestinationEffects(*this, /*readsInits=*/false, effects);
}
void LibdeviceCallOp::getEffects(Effects &effects) {
  getDestinationEffects(*this, /*readsInits=*/false, effects);
}
void AssertOp::getEffects(Effects &effects) {
  // It may end the kernel, so that operations after it do not happen. A write
  // to any memory keeps it in place.
  effects.emplace_back(MemoryEffects::Write::get());
  if (isa<MemRefType>(getCondition().getType()))
    effects.emplace_back(MemoryEffects::Read::get(), &getConditionMutable());
}

/// Adds a body that yields its argument number `handedOn`.
static void addBody(OpBuilder &builder, OperationState &state,
                    ArrayRef<Type> arguments, unsigned handedOn = 0) {
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Location> locations(arguments.size(), state.location);
  Block *block =
      builder.createBlock(state.addRegion(), {}, arguments, locations);
  YieldOp::create(builder, state.location, block->getArgument(handedOn));
}

/// Returns the result type for this init, or no type for a memref. `storage`
/// holds the type that the returned range refers to.
static TypeRange resultOf(Value init, Type &storage) {
  storage = init.getType();
  return isa<RankedTensorType>(storage) ? TypeRange(storage) : TypeRange();
}

//===----------------------------------------------------------------------===//
// pad
//===----------------------------------------------------------------------===//

SmallVector<OpFoldResult> PadOp::getMixedLow() {
  return getMixedValues(getStaticLow(), getLow(), getContext());
}

SmallVector<OpFoldResult> PadOp::getMixedHigh() {
  return getMixedValues(getStaticHigh(), getHigh(), getContext());
}

void PadOp::build(OpBuilder &builder, OperationState &state, Value input,
                  Value init, Value pvalue, ArrayRef<OpFoldResult> low,
                  ArrayRef<OpFoldResult> high) {
  SmallVector<int64_t> staticLow, staticHigh;
  SmallVector<Value> lowValues, highValues;
  dispatchIndexOpFoldResults(low, lowValues, staticLow);
  dispatchIndexOpFoldResults(high, highValues, staticHigh);
  state.addOperands({input, init, pvalue});
  state.addOperands(lowValues);
  state.addOperands(highValues);
  Properties &properties = state.getOrAddProperties<Properties>();
  properties.static_low = builder.getDenseI64ArrayAttr(staticLow);
  properties.static_high = builder.getDenseI64ArrayAttr(staticHigh);
  llvm::copy(ArrayRef<int32_t>({1, 1, 1, int32_t(lowValues.size()),
                                int32_t(highValues.size())}),
             properties.operandSegmentSizes.begin());
  Type storage;
  state.addTypes(resultOf(init, storage));
  addBody(builder, state, shaped(input).getElementType());
}

/// Returns whether margins and input can add up to the size of the init.
/// Dynamic sizes are not negative, so a sum of the static ones that is too
/// large is an error.
static bool addUp(int64_t low, int64_t size, int64_t high, int64_t whole) {
  if (ShapedType::isDynamic(whole))
    return true;
  bool known = true;
  // 128 bits, because a sum of three sizes can exceed 64 bits.
  APInt sum(128, 0);
  for (int64_t part : {low, size, high}) {
    known &= !ShapedType::isDynamic(part);
    if (!ShapedType::isDynamic(part))
      sum += part;
  }
  return known ? sum == whole : sum.ule(whole);
}

LogicalResult PadOp::verify() {
  ShapedType from = shaped(getInput()), to = shaped(getInit());
  Type element = to.getElementType();
  if (from.getRank() != to.getRank())
    return emitOpError() << "expected input and init of one rank, got " << from
                         << " and " << to;
  if (getPvalue().getType() != element)
    return emitOpError() << "expected a pvalue of type " << element << ", got "
                         << getPvalue().getType();
  if (failed(checkBody(*this, getBody(), from.getElementType(), element)))
    return failure();
  size_t rank = from.getRank();
  if (getStaticLow().size() != rank || getStaticHigh().size() != rank)
    return emitOpError() << "expected " << rank << " numbers in low and high, "
                         << "got " << getStaticLow().size() << " and "
                         << getStaticHigh().size();
  for (auto [dim, low, high] :
       llvm::enumerate(getStaticLow(), getStaticHigh())) {
    if ((!ShapedType::isDynamic(low) && low < 0) ||
        (!ShapedType::isDynamic(high) && high < 0))
      return emitOpError() << "expected margins that are not negative in "
                           << "dimension " << dim;
    int64_t size = from.getDimSize(dim), whole = to.getDimSize(dim);
    if (addUp(low, size, high, whole))
      continue;
    auto text = [](int64_t number) {
      return ShapedType::isDynamic(number) ? "?" : std::to_string(number);
    };
    return emitOpError() << "expected " << whole << " elements in dimension "
                         << dim << ", got " << text(low) << " + " << text(size)
                         << " + " << text(high);
  }
  return success();
}

/// Returns whether the body yields its first argument.
static bool isIdentity(Region &body) {
  auto yield = cast<YieldOp>(body.front().back());
  return yield.getNumOperands() == 1 &&
         yield.getOperand(0) == body.front().getArgument(0);
}

namespace {
/// Replaces a pad without margins by its input.
struct NoMargins : OpRewritePattern<PadOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(PadOp op,
                                PatternRewriter &rewriter) const override {
    auto isZero = [](OpFoldResult value) {
      return isConstantIntValue(value, 0);
    };
    if (!op.getResult() ||
        op.getInput().getType() != op.getResult().getType() ||
        !isIdentity(op.getBody()) || !llvm::all_of(op.getMixedLow(), isZero) ||
        !llvm::all_of(op.getMixedHigh(), isZero))
      return failure();
    rewriter.replaceOp(op, op.getInput());
    return success();
  }
};

/// Replaces margins that are constants by static numbers.
struct NumbersForConstantMargins : OpRewritePattern<PadOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(PadOp op,
                                PatternRewriter &rewriter) const override {
    bool changed = false;
    auto toNumbers = [&](SmallVector<OpFoldResult> values) {
      for (OpFoldResult &value : values) {
        std::optional<int64_t> number = getConstantIntValue(value);
        // A negative margin is undefined behaviour as a value, but an invalid
        // operation as a static number.
        if (!isa<Value>(value) || !number || *number < 0)
          continue;
        value = rewriter.getIndexAttr(*number);
        changed = true;
      }
      return values;
    };
    auto low = toNumbers(op.getMixedLow());
    auto high = toNumbers(op.getMixedHigh());
    if (!changed || !wouldVerify(op, low, high))
      return failure();
    auto pad = PadOp::create(rewriter, op.getLoc(), op.getInput(), op.getInit(),
                             op.getPvalue(), low, high);
    rewriter.eraseBlock(&pad.getBody().front());
    rewriter.inlineRegionBefore(op.getBody(), pad.getBody(),
                                pad.getBody().end());
    pad->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    rewriter.replaceOp(op, pad->getResults());
    return success();
  }

  /// Returns whether the margins add up to the size of the init. If not, the
  /// behaviour is undefined, and static margins would make the operation
  /// invalid.
  static bool wouldVerify(PadOp op, ArrayRef<OpFoldResult> low,
                          ArrayRef<OpFoldResult> high) {
    ShapedType from = shaped(op.getInput()), to = shaped(op.getInit());
    for (int64_t dim = 0; dim < from.getRank(); ++dim) {
      auto number = [](OpFoldResult value) {
        return getConstantIntValue(value).value_or(ShapedType::kDynamic);
      };
      if (!addUp(number(low[dim]), from.getDimSize(dim), number(high[dim]),
                 to.getDimSize(dim)))
        return false;
    }
    return true;
  }
};
} // namespace

void PadOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                        MLIRContext *context) {
  patterns.add<NoMargins, NumbersForConstantMargins>(context);
}

//===----------------------------------------------------------------------===//
// make_range
//===----------------------------------------------------------------------===//

void MakeRangeOp::build(OpBuilder &builder, OperationState &state, Value start,
                        Value end, Value init) {
  Type storage;
  build(builder, state, resultOf(init, storage), start, end, init);
}

LogicalResult MakeRangeOp::verify() {
  ShapedType type = shaped(getInit());
  if (type.getRank() != 1)
    return emitOpError() << "expected an init of one dimension, got " << type;
  if (getStart().getType() != type.getElementType() ||
      getEnd().getType() != type.getElementType())
    return emitOpError() << "expected start and end of type "
                         << type.getElementType() << ", got "
                         << getStart().getType() << " and "
                         << getEnd().getType();
  APInt start, end;
  if (!type.isDynamicDim(0) &&
      matchPattern(getStart(), m_ConstantInt(&start)) &&
      matchPattern(getEnd(), m_ConstantInt(&end)) &&
      (end - start) != APInt(start.getBitWidth(), type.getDimSize(0),
                             /*isSigned=*/false, /*implicitTrunc=*/true))
    return emitOpError() << "expected end - start to be " << type.getDimSize(0)
                         << ", as in the init";
  return success();
}

//===----------------------------------------------------------------------===//
// gather, scatter
//===----------------------------------------------------------------------===//

void GatherOp::build(OpBuilder &builder, OperationState &state, Value input,
                     Value indices, Value mask, Value init,
                     ArrayRef<int64_t> dimensionMap, bool rangedData,
                     bool signedIndice) {
  Type element = shaped(input).getElementType(), storage;
  build(builder, state, resultOf(init, storage), input, indices, mask, init,
        dimensionMap, rangedData, signedIndice);
  state.regions.clear();
  addBody(builder, state, {element, shaped(init).getElementType()});
}

void ScatterOp::build(OpBuilder &builder, OperationState &state, Value update,
                      Value indices, Value mask, Value init,
                      ArrayRef<int64_t> dimensionMap, bool rangedData,
                      bool overlapWindow, bool signedIndice) {
  Type element = shaped(update).getElementType(), storage;
  build(builder, state, resultOf(init, storage), update, indices, mask, init,
        dimensionMap, rangedData, overlapWindow, signedIndice);
  state.regions.clear();
  addBody(builder, state, {element, shaped(init).getElementType()});
}

/// Checks the operands of a gather or scatter. `whole` is the array that the
/// indices point into; `windows` has the dimensions of the batch, then those of
/// a window.
static LogicalResult checkIndexed(Operation *op, Value whole, Value windows,
                                  Value indices, Value mask,
                                  ArrayRef<int64_t> dimensionMap) {
  ShapedType wholeType = shaped(whole), windowsType = shaped(windows);
  ShapedType indicesType = shaped(indices);
  if (!indicesType.getElementType().isSignlessInteger())
    return op->emitOpError()
           << "expected indices that are signless integers, got "
           << indicesType;
  if (indicesType.getRank() < 1)
    return op->emitOpError() << "expected indices of one dimension at least";
  ArrayRef<int64_t> batch = indicesType.getShape().drop_back();
  int64_t numIndices = indicesType.getShape().back();
  if (numIndices != int64_t(dimensionMap.size()))
    return op->emitOpError()
           << "expected a dimension_map of as many dimensions as the last "
              "dimension of the indices has elements, got "
           << dimensionMap.size() << " and " << indicesType;
  SmallVector<bool> seen(wholeType.getRank());
  for (int64_t dim : dimensionMap) {
    if (dim < 0 || dim >= wholeType.getRank() || seen[dim])
      return op->emitOpError()
             << "expected a dimension_map of different dimensions of "
             << wholeType << ", got " << dim;
    seen[dim] = true;
  }
  SmallVector<int64_t> shape(batch);
  shape.append(wholeType.getRank(), ShapedType::kDynamic);
  if (failed(checkSameShape(op, "windows", windows, shape)))
    return failure();
  ArrayRef<int64_t> window = windowsType.getShape().drop_front(batch.size());
  for (auto [dim, size] : llvm::enumerate(window))
    if (!ShapedType::isDynamic(size) && !wholeType.isDynamicDim(dim) &&
        size > wholeType.getDimSize(dim))
      return op->emitOpError() << "expected windows that fit into " << wholeType
                               << ", got " << windowsType;
  Type element = wholeType.getElementType();
  if (windowsType.getElementType() != element)
    return op->emitOpError()
           << "expected windows of " << element << ", got " << windowsType;
  if (failed(checkBody(op, op->getRegion(0), {element, element}, element)))
    return failure();
  return checkMask(op, mask, ArrayRef(shape).take_front(batch.size()));
}

LogicalResult GatherOp::verify() {
  return checkIndexed(*this, getInput(), getInit(), getIndices(), getMask(),
                      getDimensionMap());
}

LogicalResult ScatterOp::verify() {
  return checkIndexed(*this, getInit(), getUpdate(), getIndices(), getMask(),
                      getDimensionMap());
}

//===----------------------------------------------------------------------===//
// libdevice_call
//===----------------------------------------------------------------------===//

LogicalResult LibdeviceCallOp::verify() {
  SmallVector<int64_t> shape(shaped(getInit()).getShape());
  for (Value input : getInputs())
    if (isa<ShapedType>(input.getType()) &&
        failed(checkSameShape(*this, "inputs", input, shape)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// scan
//===----------------------------------------------------------------------===//

LogicalResult ScanOp::verify() {
  if (getInputs().empty() ||
      (getInputs().size() != getInits().size() && !isCarried()))
    return emitOpError() << "expected as many inits as inputs, or twice as "
                            "many, got "
                         << getInits().size() << " and " << getInputs().size();
  ShapedType first = shaped(getInputs().front());
  if (int64_t(getDimension()) < 0 || int64_t(getDimension()) >= first.getRank())
    return emitOpError() << "expected a dimension of " << first << ", got "
                         << int64_t(getDimension());
  SmallVector<Type> elements;
  SmallVector<int64_t> shape(first.getShape());
  for (auto [input, init] : llvm::zip_first(getInputs(), getInits())) {
    elements.push_back(shaped(input).getElementType());
    if (shaped(init).getElementType() != elements.back())
      return emitOpError() << "expected an init of " << elements.back()
                           << ", got " << init.getType();
    if (failed(checkSameShape(*this, "inputs", input, shape)) ||
        failed(checkSameShape(*this, "inits", init, shape)))
      return failure();
  }
  SmallVector<Type> arguments(elements), results(elements);
  arguments.append(elements);
  if (isCarried()) {
    SmallVector<int64_t> line(first.getShape());
    line.erase(line.begin() + getDimension());
    for (auto [carried, element] :
         llvm::zip(getInits().drop_front(elements.size()), elements)) {
      if (shaped(carried).getElementType() != element)
        return emitOpError() << "expected an init of " << element << ", got "
                             << carried.getType();
      if (failed(checkShape(*this, "inits that are carried", carried, line)))
        return failure();
    }
    arguments.append(elements);
    results.append(elements);
  }
  return checkBody(*this, getBody(), arguments, results);
}

//===----------------------------------------------------------------------===//
// histogram, flip
//===----------------------------------------------------------------------===//

void HistogramOp::build(OpBuilder &builder, OperationState &state, Value input,
                        Value mask, Value init) {
  Type storage;
  build(builder, state, resultOf(init, storage), input, mask, init);
}

LogicalResult HistogramOp::verify() {
  for (Value value : {getInput(), getInit()})
    if (!shaped(value).getElementType().isSignlessInteger())
      return emitOpError() << "expected signless integers, got "
                           << value.getType();
  if (shaped(getInit()).getRank() != 1)
    return emitOpError() << "expected an init of one dimension, got "
                         << getInit().getType();
  return checkMask(*this, getMask(), shaped(getInput()).getShape());
}

LogicalResult FlipOp::verify() {
  ShapedType type = shaped(getInput());
  if (int64_t(getDimension()) < 0 || int64_t(getDimension()) >= type.getRank())
    return emitOpError() << "expected a dimension of " << type << ", got "
                         << int64_t(getDimension());
  if (shaped(getInit()).getElementType() != type.getElementType())
    return emitOpError() << "expected an init of " << type.getElementType()
                         << ", got " << getInit().getType();
  return checkShape(*this, "an init", getInit(), type.getShape());
}

//===----------------------------------------------------------------------===//
// assert, scalar_assert
//===----------------------------------------------------------------------===//

void AssertOp::build(OpBuilder &builder, OperationState &state, Value condition,
                     StringRef msg) {
  build(builder, state, Type(), condition, msg);
}

LogicalResult AssertOp::verify() {
  if (!shaped(getCondition()).getElementType().isSignlessInteger())
    return emitOpError() << "expected a condition of signless integers, got "
                         << getCondition().getType();
  return success();
}

LogicalResult ScalarAssertOp::canonicalize(ScalarAssertOp op,
                                           PatternRewriter &rewriter) {
  if (!matchPattern(op.getCondition(), m_One()))
    return failure();
  rewriter.eraseOp(op);
  return success();
}
