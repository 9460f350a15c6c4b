// SPDX-License-Identifier: Apache-2.0
//
// Gives chosen operations a layout, with conversions around them that Triton's
// remove_layout_conversions then moves or removes. Operations whose operands
// and results are not all of one layout stay as they are.

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/Pass.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "triton/Dialect/TritonGPU/IR/Dialect.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::triton_ext::assign_layout {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_ASSIGNLAYOUTPASS
#include "AssignLayout.h.inc"
} // namespace mlir::triton_ext::assign_layout

using namespace mlir;
namespace tt = mlir::triton;
namespace ttg = mlir::triton::gpu;

static constexpr StringRef kKinds[] = {"load", "store", "atomic", "elementwise",
                                       "source"};

/// Returns the kind of an operation that can have any layout; empty for others.
static StringRef kindOf(Operation *op) {
  if (isa<tt::LoadOp>(op))
    return "load";
  if (isa<tt::StoreOp>(op))
    return "store";
  if (isa<tt::AtomicRMWOp, tt::AtomicCASOp>(op))
    return "atomic";
  if (isa<tt::SplatOp, tt::MakeRangeOp, tt::DescriptorLoadOp, ttg::LocalLoadOp>(
          op) ||
      (isa<arith::ConstantOp>(op) &&
       isa<SplatElementsAttr>(cast<arith::ConstantOp>(op).getValue())))
    return "source";
  if (op->hasTrait<OpTrait::Elementwise>() && op->getNumRegions() == 0)
    return "elementwise";
  return "";
}

/// Returns whether `loc`, or what it is made of, has this line. A call that was
/// inlined has the line of the callee and that of the caller.
static bool hasLine(Location loc, int64_t line) {
  return loc
      ->walk([&](Location part) {
        auto file = dyn_cast<FileLineColLoc>(part);
        return file && file.getLine() == line ? WalkResult::interrupt()
                                              : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Returns the types of the tensors that `op` takes and returns.
static SmallVector<RankedTensorType> tensorsOf(Operation *op) {
  SmallVector<RankedTensorType> types;
  for (Type type : llvm::concat<Type>(SmallVector<Type>(op->getOperandTypes()),
                                      SmallVector<Type>(op->getResultTypes())))
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      types.push_back(tensor);
  return types;
}

/// Returns `type` with this layout if it is a tensor, otherwise as it is.
static Type withLayout(Type type, Attribute layout) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.cloneWithEncoding(layout) : type;
}

/// Returns the blocked layout for a tensor of this type in which a thread holds
/// `vector` elements side by side along `dimension`, and neighbouring threads
/// go on there. Triton distributes the rest, for the kernel's number of warps.
static Attribute blockedLayout(Operation *op, RankedTensorType type,
                               int64_t vector, int64_t dimension) {
  SmallVector<unsigned> sizes(type.getRank(), 1), order;
  sizes[dimension] = vector;
  order.push_back(dimension);
  for (unsigned dim = type.getRank(); dim-- > 0;)
    if (dim != dimension)
      order.push_back(dim);
  OpBuilder builder(op);
  return ttg::BlockedEncodingAttr::get(op->getContext(), type.getShape(), sizes,
                                       order, ttg::lookupNumWarps(op),
                                       ttg::lookupThreadsPerWarp(builder),
                                       ttg::getCGALayout(type.getEncoding()));
}

/// Checks that a tensor of this type can have the layout, with Triton's own
/// check of types.
static LogicalResult checkLayout(Operation *op, RankedTensorType type,
                                 Attribute layout) {
  auto *verifier =
      layout.getDialect()
          .getRegisteredInterface<tt::DialectVerifyTensorLayoutInterface>();
  if (!verifier)
    return success();
  return verifier->verifyTensorLayout(
      layout, cast<RankedTensorType>(withLayout(type, layout)), op, [&] {
        return op->emitError() << "cannot have the layout of assign_layout: ";
      });
}

/// Lets `op` compute in `layout`.
static void assign(Operation *op, Attribute layout) {
  OpBuilder builder(op);
  for (OpOperand &operand : op->getOpOperands()) {
    Type type = operand.get().getType();
    if (Type wanted = withLayout(type, layout); wanted != type)
      operand.set(ttg::ConvertLayoutOp::create(builder, op->getLoc(), wanted,
                                               operand.get()));
  }
  builder.setInsertionPointAfter(op);
  for (OpResult result : op->getResults()) {
    Type type = result.getType(), wanted = withLayout(type, layout);
    if (type == wanted)
      continue;
    result.setType(wanted);
    auto back =
        ttg::ConvertLayoutOp::create(builder, op->getLoc(), type, result);
    result.replaceAllUsesExcept(back, back);
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto value = cast<SplatElementsAttr>(constant.getValue());
    constant.setValueAttr(
        SplatElementsAttr::get(cast<ShapedType>(constant.getType()),
                               value.getSplatValue<Attribute>()));
  }
}

namespace {
struct AssignLayoutPass
    : mlir::triton_ext::assign_layout::impl::AssignLayoutPassBase<
          AssignLayoutPass> {
  using AssignLayoutPassBase::AssignLayoutPassBase;

  void runOnOperation() override;

private:
  /// Returns the layout that the option names; an error if it names none.
  FailureOr<Attribute> parseLayout();

  /// Checks the options and parses the layout, which stays null if `vector`
  /// describes it.
  LogicalResult readOptions(Attribute &given);

  /// Returns whether the options choose an operation of this kind.
  bool chooses(Operation *op, StringRef kindOfOp) {
    return (kind.empty() || kind.getValue() == kindOfOp) &&
           (opName.empty() ||
            op->getName().getStringRef() == opName.getValue()) &&
           (line == 0 || hasLine(op->getLoc(), line));
  }
};
} // namespace

FailureOr<Attribute> AssignLayoutPass::parseLayout() {
  ModuleOp module = getOperation();
  std::string why;
  Attribute layout;
  {
    // MLIR would report the error at a place in the option, which nobody sees.
    ScopedDiagnosticHandler handler(&getContext(), [&](Diagnostic &diagnostic) {
      why = diagnostic.str();
      return success();
    });
    if (!this->layout.empty()) // MLIR's parser asserts that there is a text
      layout = parseAttribute(this->layout, &getContext());
  }
  // MLIR's advice is for its own tools.
  if (StringRef(why).contains("unregistered dialect")) {
    StringRef name = StringRef(why).split("#\"").second.split('"').first;
    why = ("neither Triton nor an extension has the dialect '" + name +
           "' (fix: triton-ext list shows extensions)")
              .str();
  }
  if (layout && isa<ttg::DistributedEncodingTrait>(layout) &&
      isa<ttg::LayoutEncodingTrait>(layout))
    return layout;
  InFlightDiagnostic diagnostic = module.emitError()
                                  << "assign_layout: expected a layout of a "
                                     "tensor such as #ttg.blocked<{...}>, got '"
                                  << this->layout.getValue() << "'";
  if (!why.empty())
    diagnostic << ": " << why;
  return failure();
}

LogicalResult AssignLayoutPass::readOptions(Attribute &given) {
  ModuleOp module = getOperation();
  if (vector != 0 && !layout.empty())
    return module.emitError()
           << "assign_layout: expected a layout or a vector, got both";
  if (vector != 0 && (vector < 0 || !llvm::isPowerOf2_64(vector)))
    return module.emitError()
           << "assign_layout: expected a vector that is a power of 2, got "
           << vector.getValue();
  if (vector == 0) {
    FailureOr<Attribute> parsed = parseLayout();
    if (failed(parsed))
      return failure();
    given = *parsed;
  }
  if (!kind.empty() && !llvm::is_contained(kKinds, kind.getValue()))
    return module.emitError() << "assign_layout: expected a kind of load, "
                                 "store, atomic, elementwise, source, got '"
                              << kind.getValue() << "'";
  if (kind.empty() && opName.empty() && line == 0)
    return module.emitError() << "assign_layout: expected at least one of "
                                 "line, op and kind, got none";
  return success();
}

void AssignLayoutPass::runOnOperation() {
  ModuleOp module = getOperation();
  Attribute given;
  if (failed(readOptions(given)))
    return signalPassFailure();

  auto fits = [&](RankedTensorType type) {
    if (!type.getEncoding())
      return false;
    if (given)
      return type.getRank() == cast<ttg::LayoutEncodingTrait>(given).getRank();
    return dimension >= 0 && dimension < type.getRank();
  };
  SmallVector<std::pair<Operation *, Attribute>> chosen;
  WalkResult result = module.walk([&](Operation *op) -> WalkResult {
    StringRef kindOfOp = kindOf(op);
    SmallVector<RankedTensorType> types = tensorsOf(op);
    if (kindOfOp.empty() || types.empty() || !chooses(op, kindOfOp) ||
        !llvm::all_of(types, fits))
      return WalkResult::advance();
    Attribute own =
        given ? given : blockedLayout(op, types.front(), vector, dimension);
    chosen.emplace_back(op, own);
    return checkLayout(op, types.front(), own);
  });
  if (result.wasInterrupted())
    return signalPassFailure();
  if (chosen.empty() && !optional) {
    InFlightDiagnostic diagnostic =
        module.emitError()
        << "assign_layout: found no operation with a tensor ";
    if (given)
      diagnostic << "of rank "
                 << cast<ttg::LayoutEncodingTrait>(given).getRank();
    else
      diagnostic << "that has dimension " << dimension.getValue();
    if (line != 0)
      diagnostic << ", line " << line.getValue();
    if (!opName.empty())
      diagnostic << ", op " << opName.getValue();
    if (!kind.empty())
      diagnostic << ", kind " << kind.getValue();
    diagnostic << " that can have any layout (optional=true accepts that)";
    return signalPassFailure();
  }
  for (auto [op, own] : chosen)
    assign(op, own);
}
