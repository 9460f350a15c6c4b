// SPDX-License-Identifier: Apache-2.0
//
// Builds the operation that Python has described, with MLIR's generic
// interfaces.

#include "Language.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "triton/Tools/PluginUtils.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::language;

namespace {
/// Collects the errors of a context while this object lives.
class Problems {
public:
  explicit Problems(MLIRContext *context)
      : handler(context, [this](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
            text += (text.empty() ? "" : "; ") + diagnostic.str();
        }) {}

  /// Fails with the collected errors, or with `otherwise` if there are none.
  LogicalResult fail(const Twine &otherwise) {
    if (text.empty())
      text = otherwise.str();
    return failure();
  }

  /// Fails with `what`, followed by the collected errors.
  LogicalResult failAbout(const Twine &what) {
    text = (what + (text.empty() ? "" : ": ") + text).str();
    return failure();
  }

  std::string text;

private:
  ScopedDiagnosticHandler handler;
};
} // namespace

Thread &language::thisThread() {
  thread_local Thread thread;
  return thread;
}

/// Returns the attributes of `description`, parsed.
static FailureOr<DictionaryAttr> parseAttributes(const Description &description,
                                                 MLIRContext *context,
                                                 Problems &problems) {
  NamedAttrList attributes;
  for (const auto &[name, text] : description.attributes) {
    Attribute value = parseAttribute(text, context);
    if (!value)
      return problems.failAbout("attribute '" + Twine(name) +
                                "' does not parse: " + text);
    attributes.set(name, value);
  }
  return attributes.getDictionary(context);
}

/// Adds the sizes of the groups of operands and of results if the operation
/// stores them as attributes.
static DictionaryAttr withGroups(const Description &description,
                                 RegisteredOperationName name,
                                 DictionaryAttr attributes) {
  NamedAttrList all(attributes);
  Builder builder(attributes.getContext());
  if (name.hasTrait<OpTrait::AttrSizedOperandSegments>())
    all.set("operandSegmentSizes",
            builder.getDenseI32ArrayAttr(description.operandGroups));
  if (name.hasTrait<OpTrait::AttrSizedResultSegments>())
    all.set("resultSegmentSizes",
            builder.getDenseI32ArrayAttr(description.resultGroups));
  return all.getDictionary(attributes.getContext());
}

namespace {
/// Holds the properties of an operation that does not exist yet: its inherent
/// attributes, which Operation::create() copies.
class Properties {
public:
  explicit Properties(RegisteredOperationName name) : name(name) {}
  ~Properties() {
    if (storage)
      name.destroyOpProperties(properties);
  }

  /// Converts `attributes`. A value of the wrong kind is an error here:
  /// Operation::setAttrs() would drop it, and Operation::create() would end the
  /// process.
  LogicalResult set(DictionaryAttr attributes, Location loc,
                    Problems &problems) {
    size_t size = name.getOpPropertyByteSize();
    if (!size)
      return success();
    storage = std::make_unique<std::max_align_t[]>(
        llvm::divideCeil(size, sizeof(std::max_align_t)));
    properties = PropertyRef(name.getOpPropertiesTypeID(), storage.get());
    name.initOpProperties(properties, {});
    auto complain = [&] { return mlir::emitError(loc); };
    if (failed(name.setOpPropertiesFromAttribute(name, properties, attributes,
                                                 complain)))
      return problems.fail("its attributes are not those that it has");
    return success();
  }

  PropertyRef get() const { return properties; }

private:
  RegisteredOperationName name;
  std::unique_ptr<std::max_align_t[]> storage;
  PropertyRef properties;
};
} // namespace

/// Returns the result types from the description, or those that the operation
/// infers.
static FailureOr<SmallVector<Type>>
resultTypes(const Description &description, RegisteredOperationName name,
            Location loc, ValueRange operands, DictionaryAttr attributes,
            PropertyRef properties, Problems &problems) {
  SmallVector<Type> types;
  if (description.infersTypes) {
    auto *inference = name.getInterface<InferTypeOpInterface>();
    if (!inference)
      return problems.fail("its result types cannot be inferred (fix: declare "
                           "them with result=, or give the operation "
                           "InferTypeOpInterface)");
    if (failed(inference->inferReturnTypes(name.getContext(), loc, operands,
                                           attributes, properties, {}, types)))
      return problems.fail(
          "its result types cannot be inferred from its operands");
    return types;
  }
  for (const std::string &text : description.types) {
    Type type = parseType(text, name.getContext());
    if (!type)
      return problems.failAbout("the result type does not parse: " + text);
    types.push_back(type);
  }
  return types;
}

/// Sets the discardable attributes among `attributes` on `op`. Their names must
/// have a dialect's name as prefix.
static LogicalResult setDiscardable(Operation *op, DictionaryAttr attributes,
                                    Problems &problems) {
  auto own = dyn_cast_or_null<DictionaryAttr>(op->getPropertiesAsAttribute());
  ArrayRef<StringAttr> names = op->getName().getAttributeNames();
  for (NamedAttribute attribute : attributes) {
    StringAttr name = attribute.getName();
    if ((own && own.contains(name)) || op->getAttr(name))
      continue;
    if (!llvm::is_contained(names, name) && !name.getValue().contains('.'))
      return problems.fail("'" + op->getName().getStringRef() +
                           "' op has no attribute '" + name.getValue() + "'");
    op->setAttr(name, attribute.getValue());
  }
  return success();
}

/// Verifies `op`, unless its block has no parent: Triton translates the body of
/// a loop on trial first, and `op` is verified when it is built in its final
/// place.
static LogicalResult check(Operation *op, Problems &problems) {
  if (op->getParentOp() && failed(verify(op)))
    return problems.fail("'" + op->getName().getStringRef() +
                         "' op does not verify");
  return success();
}

/// Returns the registered name of the operation `operation`.
static FailureOr<RegisteredOperationName>
lookUp(StringRef operation, MLIRContext *context, Problems &problems) {
  auto name = RegisteredOperationName::lookup(operation, context);
  if (name)
    return *name;
  StringRef dialect = operation.split('.').first;
  if (context->getLoadedDialect(dialect))
    return problems.fail("the dialect '" + dialect + "' has no operation '" +
                         operation + "'");
  // Python recognises this text and adds the reason.
  return problems.fail("no dialect '" + dialect + "' in this context");
}

/// Returns the operation that `description` describes, at the insertion point.
static FailureOr<Operation *> create(const Description &description,
                                     TritonOpBuilder &triton,
                                     ArrayRef<Value> operands,
                                     Problems &problems) {
  MLIRContext *context = triton.getContext();
  FailureOr<RegisteredOperationName> name =
      lookUp(description.operation, context, problems);
  if (failed(name))
    return failure();
  Location loc = triton.getLastLoc();
  FailureOr<DictionaryAttr> parsed =
      parseAttributes(description, context, problems);
  if (failed(parsed))
    return failure();
  DictionaryAttr attributes = withGroups(description, *name, *parsed);
  Properties properties(*name);
  if (failed(properties.set(attributes, loc, problems)))
    return failure();
  FailureOr<SmallVector<Type>> types =
      resultTypes(description, *name, loc, operands, attributes,
                  properties.get(), problems);
  if (failed(types))
    return failure();
  Operation *op = Operation::create(
      loc, *name, *types, operands, DictionaryAttr::get(context),
      properties.get(),
      /*successors=*/{}, /*numRegions=*/description.hasRegion ? 1 : 0);
  triton.getBuilder().insert(op);
  // An operation with a region is verified when its region is complete.
  if (failed(setDiscardable(op, attributes, problems)) ||
      (!description.hasRegion && failed(check(op, problems)))) {
    op->erase();
    return failure();
  }
  if (description.hasRegion) {
    Block *block = triton.getBuilder().createBlock(&op->getRegion(0));
    triton.getBuilder().setInsertionPointToStart(block);
  }
  return op;
}

std::string language::tryBuild(TritonOpBuilder &triton,
                               std::vector<Value> &operands) {
  Thread &thread = thisThread();
  Description description = std::exchange(thread.description, {});
  thread.built = nullptr;
  Problems problems(triton.getContext());
  FailureOr<Operation *> op =
      create(description, triton, ArrayRef(operands).drop_front(), problems);
  if (failed(op))
    return problems.text;
  thread.built = *op;
  if ((*op)->getNumResults())
    operands[0] = (*op)->getResult(0);
  return "";
}

std::string language::tryTake(TritonOpBuilder &, std::vector<Value> &operands) {
  Thread &thread = thisThread();
  if (!thread.built || thread.index >= thread.built->getNumResults())
    return "there is no such result";
  operands[0] = thread.built->getResult(thread.index);
  return "";
}

std::string language::tryLeave(TritonOpBuilder &triton, std::vector<Value> &) {
  Thread &thread = thisThread();
  Operation *op = std::exchange(thread.chosen, nullptr);
  if (!op)
    return "there is no region to leave";
  Problems problems(triton.getContext());
  Location loc = triton.getLastLoc();
  if (!thread.terminator.empty()) {
    FailureOr<RegisteredOperationName> name =
        lookUp(thread.terminator, triton.getContext(), problems);
    if (failed(name))
      return problems.text;
    OperationState state(loc, *name);
    triton.getBuilder().create(state);
  }
  triton.setInsertionPointAfter(*op);
  triton.setLastLoc(loc);
  return failed(check(op, problems)) ? problems.text : "";
}
