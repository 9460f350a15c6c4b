// SPDX-License-Identifier: Apache-2.0
//
// Answers the questions of `tx.layouts` with libtriton's own functions: the
// linear layout of an attribute on a shape, products and quotients of layouts,
// and how a conversion between two layouts is lowered. This file names no kind
// of layout except padded ones, whose padding is not linear. Called from
// python/triton_ext/layouts/library.py; texts and layouts are passed as JSON.

#include "Passes.h"
#include "Plugins.h"

#include "triton_ext/Recovery.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "triton/Analysis/Allocation.h"
#include "triton/Analysis/Utility.h"
#include "triton/Dialect/TritonGPU/IR/Dialect.h"
#include "triton/Dialect/TritonGPU/IR/LinearLayoutConversions.h"
#include "triton/Tools/GenericSwizzling.h"
#include "triton/Tools/LinearLayout.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace mlir::triton_ext;
using mlir::triton::LinearLayout;
namespace ttg = mlir::triton::gpu;
namespace json = llvm::json;

#define EXPORT extern "C" __attribute__((visibility("default")))

using Receiver = void (*)(const char *text, size_t size);

namespace {
/// A context with every dialect, whose diagnostics become one text.
struct Session {
  Session()
      : context(apiRegistry(), MLIRContext::Threading::DISABLED),
        handler(&context, [this](Diagnostic &diagnostic) {
          if (!problem.empty())
            problem += "; ";
          problem += diagnostic.str();
          return success();
        }) {}

  OwningOpRef<ModuleOp> parse(const char *text) {
    return parseSourceString<ModuleOp>(text, ParserConfig(&context));
  }

  MLIRContext context;
  std::string problem;
  ScopedDiagnosticHandler handler;
};
} // namespace

static int send(Receiver receiver, json::Value value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  receiver(text.data(), text.size());
  return 0;
}

static int fail(Receiver receiver, const Twine &problem) {
  std::string text = problem.str();
  receiver(text.data(), text.size());
  return 1;
}

/// Returns the result of `answer`. Where Triton's verifiers do not check
/// something, such as the smallest shape of a layout, Triton fails an assertion
/// or ends the process. This function turns both into an error; the memory that
/// `answer` has allocated is then leaked.
static int guarded(Receiver onError, function_ref<int(Session &)> answer) {
  int code = 1;
  std::string reason;
  bool finished = runRecovering(
      [&] {
        auto session = std::make_unique<Session>();
        code = answer(*session);
      },
      reason);
  if (finished)
    return code;
  return fail(onError, reason.empty()
                           ? "an assertion failed, which is printed above; "
                             "the shape may be too small"
                           : StringRef(reason).rtrim());
}

static json::Value toJSON(const LinearLayout &layout) {
  json::Array ins, outs;
  for (const auto &[dim, bases] : layout.getBases()) {
    json::Array columns;
    for (const std::vector<int32_t> &basis : bases)
      columns.push_back(json::Array(basis));
    ins.push_back(json::Array{dim.getValue(), std::move(columns)});
  }
  for (auto [dim, size] : layout.getOutDims())
    outs.push_back(json::Array{dim.getValue(), size});
  return json::Object{{"in", std::move(ins)}, {"out", std::move(outs)}};
}

/// Parses the output of toJSON(). Python has checked that sizes are powers of
/// two and that the bases are smaller than the sizes.
static LinearLayout toLayout(MLIRContext &context, const char *text) {
  json::Value value = llvm::cantFail(json::parse(text));
  const json::Object &object = *value.getAsObject();
  std::vector<std::pair<StringAttr, std::vector<std::vector<int32_t>>>> ins;
  SmallVector<std::pair<StringAttr, int32_t>> outs;
  auto name = [&](const json::Array &pair) {
    return StringAttr::get(&context, *pair[0].getAsString());
  };
  for (const json::Value &entry : *object.getArray("in")) {
    const json::Array &pair = *entry.getAsArray();
    std::vector<std::vector<int32_t>> bases;
    for (const json::Value &column : *pair[1].getAsArray()) {
      std::vector<int32_t> &basis = bases.emplace_back();
      for (const json::Value &number : *column.getAsArray())
        basis.push_back(*number.getAsInteger());
    }
    ins.emplace_back(name(pair), std::move(bases));
  }
  for (const json::Value &entry : *object.getArray("out")) {
    const json::Array &pair = *entry.getAsArray();
    outs.emplace_back(name(pair), *pair[1].getAsInteger());
  }
  return LinearLayout(ins, outs, /*requireSurjective=*/false);
}

static int readLayout(Session &session, const char *text,
                      ArrayRef<int64_t> shape, Receiver onResult,
                      Receiver onError) {
  OwningOpRef<ModuleOp> module = session.parse(text);
  if (!module)
    return fail(onError, session.problem);
  Attribute attribute = module->getOperation()->getAttr("triton_ext.layout");
  auto encoding = dyn_cast_or_null<ttg::LayoutEncodingTrait>(attribute);
  if (!encoding)
    return fail(onError, "this attribute is not a layout");
  // The parser checks the attribute alone.
  if (encoding.getRank() != shape.size())
    return fail(onError, "the layout has " + Twine(encoding.getRank()) +
                             " dimensions and the shape " +
                             Twine(shape.size()));
  if (auto type = dyn_cast<ttg::DistributedEncodingTrait>(attribute)) {
    Type element = Float32Type::get(&session.context);
    auto emit = [&] { return module->emitError(); };
    if (!RankedTensorType::getChecked(emit, shape, element, attribute))
      return fail(onError, session.problem);
  }
  json::Object result{
      {"kind", isa<ttg::DistributedEncodingTrait>(attribute) ? "distributed"
               : isa<ttg::SharedEncodingTrait>(attribute)    ? "shared"
                                                             : "memory"}};
  std::string printed;
  llvm::raw_string_ostream(printed) << attribute;
  result["text"] = printed;
  json::Array padding;
  if (auto padded = dyn_cast<ttg::PaddedSharedEncodingAttr>(attribute)) {
    for (auto [interval, pad] :
         llvm::zip_equal(padded.getIntervals(), padded.getPaddings()))
      padding.push_back(json::Array{interval, pad});
    SmallVector<int64_t> own = llvm::to_vector_of<int64_t>(
        padded.getLinearComponent().getOutDimSizes());
    if (ArrayRef(own) != shape) {
      std::string sizes;
      llvm::raw_string_ostream os(sizes);
      llvm::interleave(own, os, "x");
      return fail(onError, "this padded layout is for the shape " + sizes);
    }
  } else if (ttg::isPaddedEncoding(attribute)) {
    return fail(onError,
                "a padded layout inside of another one has no picture");
  }
  result["padding"] = std::move(padding);
  result["linear"] =
      toJSON(ttg::toLinearLayoutIgnoringPadding(shape, attribute));
  return send(onResult, std::move(result));
}

/// Describes the attribute `triton_ext.layout` of the module `text` on a shape.
/// The caller has checked that the sizes are powers of two.
EXPORT int tritonExtLayoutRead(const char *text, size_t rank,
                               const int64_t *sizes, Receiver onResult,
                               Receiver onError) {
  return guarded(onError, [&](Session &session) {
    return readLayout(session, text, {sizes, rank}, onResult, onError);
  });
}

/// Sends the product or the quotient, or null if it does not exist.
EXPORT int tritonExtLayoutCombine(const char *operation, const char *left,
                                  const char *right, Receiver onResult,
                                  Receiver onError) {
  return guarded(onError, [&](Session &session) {
    LinearLayout a = toLayout(session.context, left);
    LinearLayout b = toLayout(session.context, right);
    StringRef name(operation);
    std::optional<LinearLayout> result = name == "product" ? a * b
                                         : name == "left"  ? divideLeft(a, b)
                                                           : divideRight(a, b);
    return send(onResult, result ? toJSON(*result) : json::Value(nullptr));
  });
}

/// Sends the number of additional wavefronts that Gluon's `bank_conflicts`
/// counts for one access to 32 banks.
EXPORT int tritonExtLayoutBankConflicts(const char *registers,
                                        const char *shared, int bits,
                                        Receiver onResult, Receiver onError) {
  return guarded(onError, [&](Session &session) {
    return send(onResult, ttg::bankConflictsMemDesc(
                              toLayout(session.context, registers),
                              toLayout(session.context, shared), bits));
  });
}

static int describeConversion(Session &session, const char *text,
                              Receiver onResult, Receiver onError) {
  OwningOpRef<ModuleOp> module = session.parse(text);
  if (!module)
    return fail(onError, session.problem);
  ttg::ConvertLayoutOp conversion;
  module->walk([&](ttg::ConvertLayoutOp op) { conversion = op; });
  RankedTensorType from = conversion.getSrc().getType();
  RankedTensorType to = conversion.getType();
  bool shared = cvtNeedsSharedMemory(conversion);
  unsigned elements =
      shared ? triton::getNumScratchElemsSwizzledCvt(from, to) : 0;
  return send(onResult,
              json::Object{{"registers", cvtReordersRegisters(from, to)},
                           {"shuffles", cvtNeedsWarpShuffle(conversion)},
                           {"shared", shared},
                           {"scratch", elements}});
}

/// Describes how the only conversion in the module `text` is lowered.
EXPORT int tritonExtLayoutConversion(const char *text, Receiver onResult,
                                     Receiver onError) {
  return guarded(onError, [&](Session &session) {
    return describeConversion(session, text, onResult, onError);
  });
}
