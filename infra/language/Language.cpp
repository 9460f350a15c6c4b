// SPDX-License-Identifier: Apache-2.0
//
// libTritonExtLanguage.so: builds one operation of any dialect where a kernel
// is being translated to IR. A Triton plugin, because a plugin's callback is
// where Python's `builder` and `value` objects become C++ objects: so this
// library knows nothing of Python, and every Python that Triton has a wheel for
// shares it.
//
// A callback receives values alone. What else an operation needs, Python
// describes before the call by tritonExtLanguageDescribe(), in MLIR's text
// form; the description holds for the next operation that the same thread
// builds. Called from python/triton_ext/language/library.py.

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "triton/Tools/PluginUtils.h"
#include "triton/Version.h"

#include <stdexcept>

using namespace mlir;

namespace {

/// The operation to build next, all but its operands.
struct Description {
  std::string operation;
  SmallVector<std::pair<std::string, std::string>> attributes;
  bool infersTypes = false;
  SmallVector<std::string> types;
  SmallVector<int32_t> operandGroups, resultGroups;
  bool hasRegion = false;
};

/// What the calls of one thread have in common.
struct Thread {
  Description description;
  /// The operation that was built last.
  Operation *built = nullptr;
  /// What `take` returns, and what `leave` leaves.
  Operation *chosen = nullptr;
  unsigned index = 0;
  std::string terminator;
};

/// Collects the errors of a context while it lives.
class Problems {
public:
  explicit Problems(MLIRContext *context)
      : handler(context, [this](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
            text += (text.empty() ? "" : "; ") + diagnostic.str();
        }) {}

  /// Throws what was collected, or `otherwise` if that is nothing. nanobind
  /// makes a ValueError of it.
  [[noreturn]] void raise(const Twine &otherwise) {
    throw std::invalid_argument(text.empty() ? otherwise.str() : text);
  }

  /// Throws `what` and what was collected.
  [[noreturn]] void raiseAbout(const Twine &what) {
    throw std::invalid_argument(
        (what + (text.empty() ? "" : ": ") + text).str());
  }

private:
  std::string text;
  ScopedDiagnosticHandler handler;
};

} // namespace

static Thread &thisThread() {
  thread_local Thread thread;
  return thread;
}

/// Returns the attributes of `description`, parsed.
static DictionaryAttr parseAttributes(const Description &description,
                                      MLIRContext *context,
                                      Problems &problems) {
  NamedAttrList attributes;
  for (const auto &[name, text] : description.attributes) {
    Attribute value = parseAttribute(text, context);
    if (!value)
      problems.raiseAbout("attribute '" + Twine(name) +
                          "' does not parse: " + text);
    attributes.set(name, value);
  }
  return attributes.getDictionary(context);
}

/// Adds the sizes of the groups of operands and of results if the operation is
/// one that has to be told them.
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
/// The properties of an operation that does not exist yet: its inherent
/// attributes, which Operation::create() copies.
class Properties {
public:
  /// Converts `attributes`. A value of another kind than the operation wants is
  /// an error here: Operation::setAttrs() would drop it, and
  /// Operation::create() would end the process.
  Properties(RegisteredOperationName name, DictionaryAttr attributes,
             Location loc, Problems &problems)
      : name(name) {
    size_t size = name.getOpPropertyByteSize();
    if (!size)
      return;
    storage = std::make_unique<std::max_align_t[]>(
        llvm::divideCeil(size, sizeof(std::max_align_t)));
    properties = PropertyRef(name.getOpPropertiesTypeID(), storage.get());
    name.initOpProperties(properties, {});
    auto complain = [&] { return mlir::emitError(loc); };
    if (failed(name.setOpPropertiesFromAttribute(name, properties, attributes,
                                                 complain))) {
      name.destroyOpProperties(properties);
      problems.raise("its attributes are not those that it has");
    }
  }
  ~Properties() {
    if (storage)
      name.destroyOpProperties(properties);
  }

  PropertyRef get() const { return properties; }

private:
  RegisteredOperationName name;
  std::unique_ptr<std::max_align_t[]> storage;
  PropertyRef properties;
};
} // namespace

/// Returns the result types: those of the description, or those that the
/// operation infers.
static SmallVector<Type>
resultTypes(const Description &description, RegisteredOperationName name,
            Location loc, ValueRange operands, DictionaryAttr attributes,
            PropertyRef properties, Problems &problems) {
  SmallVector<Type> types;
  if (description.infersTypes) {
    auto *inference = name.getInterface<InferTypeOpInterface>();
    if (!inference)
      problems.raise("its result types cannot be inferred (fix: declare them "
                     "with result=, or give the operation "
                     "InferTypeOpInterface)");
    if (failed(inference->inferReturnTypes(name.getContext(), loc, operands,
                                           attributes, properties, {}, types)))
      problems.raise("its result types cannot be inferred from its operands");
    return types;
  }
  for (const std::string &text : description.types) {
    Type type = parseType(text, name.getContext());
    if (!type)
      problems.raiseAbout("the result type does not parse: " + text);
    types.push_back(type);
  }
  return types;
}

/// Sets those of `attributes` on `op` that are not inherent to it, which have
/// to be prefixed with a dialect's name.
static void setDiscardable(Operation *op, DictionaryAttr attributes,
                           Problems &problems) {
  auto own = dyn_cast_or_null<DictionaryAttr>(op->getPropertiesAsAttribute());
  ArrayRef<StringAttr> names = op->getName().getAttributeNames();
  for (NamedAttribute attribute : attributes) {
    StringAttr name = attribute.getName();
    if ((own && own.contains(name)) || op->getAttr(name))
      continue;
    if (!llvm::is_contained(names, name) && !name.getValue().contains('.'))
      problems.raise("'" + op->getName().getStringRef() +
                     "' op has no attribute '" + name.getValue() + "'");
    op->setAttr(name, attribute.getValue());
  }
}

/// Verifies `op`. One in a block that has no parent, because Triton translates
/// the body of a loop on trial, is verified when it is built in its place.
static void check(Operation *op, Problems &problems) {
  if (op->getParentOp() && failed(verify(op)))
    problems.raise("'" + op->getName().getStringRef() + "' op does not verify");
}

/// Returns the registered name of the operation `operation`.
static RegisteredOperationName lookUp(StringRef operation, MLIRContext *context,
                                      Problems &problems) {
  auto name = RegisteredOperationName::lookup(operation, context);
  if (name)
    return *name;
  StringRef dialect = operation.split('.').first;
  if (context->getLoadedDialect(dialect))
    problems.raise("the dialect '" + dialect + "' has no operation '" +
                   operation + "'");
  // Python finds this text and says why.
  problems.raise("no dialect '" + dialect + "' in this context");
}

/// Builds the operation that was described from `operands`, whose first is
/// Triton's slot for what the call returns: the first result.
static void build(TritonOpBuilder &triton, std::vector<Value> &operands) {
  Thread &thread = thisThread();
  Description description = std::exchange(thread.description, {});
  thread.built = nullptr;
  MLIRContext *context = triton.getContext();
  Problems problems(context);
  RegisteredOperationName name =
      lookUp(description.operation, context, problems);
  Location loc = triton.getLastLoc();
  ArrayRef<Value> values = ArrayRef(operands).drop_front();
  DictionaryAttr attributes = withGroups(
      description, name, parseAttributes(description, context, problems));
  Properties properties(name, attributes, loc, problems);
  SmallVector<Type> types = resultTypes(description, name, loc, values,
                                        attributes, properties.get(), problems);
  Operation *op = Operation::create(
      loc, name, types, values, DictionaryAttr::get(context), properties.get(),
      /*successors=*/{}, /*numRegions=*/description.hasRegion ? 1 : 0);
  triton.getBuilder().insert(op);
  try {
    setDiscardable(op, attributes, problems);
    if (description.hasRegion) { // verified when it is left
      Block *block = triton.getBuilder().createBlock(&op->getRegion(0));
      triton.getBuilder().setInsertionPointToStart(block);
    } else {
      check(op, problems);
    }
  } catch (...) {
    op->erase();
    throw;
  }
  thread.built = op;
  if (op->getNumResults())
    operands[0] = op->getResult(0);
}

/// Returns one result of the operation that was built last.
static void take(TritonOpBuilder &, std::vector<Value> &operands) {
  Thread &thread = thisThread();
  if (!thread.built || thread.index >= thread.built->getNumResults())
    throw std::invalid_argument("there is no such result");
  operands[0] = thread.built->getResult(thread.index);
}

/// Ends the region of the chosen operation, verifies that, and goes on behind
/// it.
static void leave(TritonOpBuilder &triton, std::vector<Value> &) {
  Thread &thread = thisThread();
  Operation *op = std::exchange(thread.chosen, nullptr);
  if (!op)
    throw std::invalid_argument("there is no region to leave");
  Problems problems(triton.getContext());
  Location loc = triton.getLastLoc();
  if (!thread.terminator.empty()) {
    OperationState state(
        loc, lookUp(thread.terminator, triton.getContext(), problems));
    triton.getBuilder().create(state);
  }
  triton.setInsertionPointAfter(*op);
  triton.setLastLoc(loc);
  check(op, problems);
}

TRITON_PLUGIN_API triton::plugin::PluginInfo *tritonGetPluginInfo() {
  static triton::plugin::OpInfo ops[] = {{"triton_ext_build", build},
                                         {"triton_ext_take", take},
                                         {"triton_ext_leave", leave}};
  static triton::plugin::PluginInfo info = {TRITON_PLUGIN_API_VERSION,
                                            "triton_ext_language",
                                            TRITON_EXT_VERSION,
                                            /*passes=*/nullptr,
                                            0,
                                            /*dialects=*/nullptr,
                                            0,
                                            ops,
                                            std::size(ops),
                                            TRITON_VERSION};
  return &info;
}

#define EXPORT extern "C" __attribute__((visibility("default")))

/// Describes the operation that this thread builds next, as MLIR's text.
///
/// `attributes` has names and values in turn. If `infersTypes`, the operation
/// says what `types` would. Groups are the parameters of the declaration and
/// what it returns: how many operands and results belong to each.
EXPORT void tritonExtLanguageDescribe(
    const char *operation, size_t numAttributes, const char *const *attributes,
    bool infersTypes, size_t numTypes, const char *const *types,
    size_t numOperandGroups, const int32_t *operandGroups,
    size_t numResultGroups, const int32_t *resultGroups, bool hasRegion) {
  Description &next = thisThread().description;
  next = {};
  next.operation = operation;
  for (size_t i = 0; i < numAttributes; ++i)
    next.attributes.emplace_back(attributes[2 * i], attributes[2 * i + 1]);
  next.infersTypes = infersTypes;
  next.types.assign(types, types + numTypes);
  next.operandGroups.assign(operandGroups, operandGroups + numOperandGroups);
  next.resultGroups.assign(resultGroups, resultGroups + numResultGroups);
  next.hasRegion = hasRegion;
}

/// Returns how many results the operation has that this thread built last.
EXPORT unsigned tritonExtLanguageResults() {
  Operation *built = thisThread().built;
  return built ? built->getNumResults() : 0;
}

/// Chooses the result that `triton_ext_take` returns.
EXPORT void tritonExtLanguageChoose(unsigned index) {
  thisThread().index = index;
}

/// Returns the operation that this thread built last, for
/// tritonExtLanguageLeave.
EXPORT void *tritonExtLanguageBuilt() { return thisThread().built; }

/// Chooses the operation that `triton_ext_leave` leaves, and the operation that
/// ends its region, or an empty string if nothing does.
EXPORT void tritonExtLanguageLeave(void *op, const char *terminator) {
  thisThread().chosen = static_cast<Operation *>(op);
  thisThread().terminator = terminator;
}
