// SPDX-License-Identifier: Apache-2.0
//
// Lowers probes to calls of the CPU backend's runtime: code that looks at the
// lanes of an access, and that is compiled once, not in each kernel.

#include "Calls.h"
#include "Clock.h"
#include "Emitter.h"
#include "Layout.h"

using namespace mlir;
using namespace mlir::triton_ext::lower_probe;
using namespace mlir::triton_ext::probe;
namespace tt = mlir::triton;

/// Calls a function of the runtime. Its arguments are the program, the slot,
/// the place of the argument's words in it, that of the site's counters, the
/// tag of records, and the operands.
void Emitter::call(StringRef function, unsigned site, uint32_t argument,
                   ValueRange operands) {
  int64_t words = kSlotHead + kArgumentWords * int64_t(argument);
  SmallVector<Value> all{shared, constant(words), constant(countersOf(site)),
                         constant(sites.key | (site + 1))};
  llvm::append_range(all, operands);
  auto call = tt::PrintOp::create(b, "", /*hex=*/false, all,
                                  SmallVector<int32_t>(all.size()));
  call->setAttr(kCall, b.getStringAttr(function));
}

/// The attribute of two neighbouring checks of the lanes of an access: the
/// number of the argument, and the bytes of an access. The first check is
/// against the memory of the argument, the second one against its view. Their
/// values are the serial number of the launch and the address. The runtime can
/// replace their conditions.
static constexpr StringLiteral outsideName = "probe.outside";

/// Calls the runtime, if there is one, in place of two checks, whose conditions
/// are then unused.
bool Emitter::callRuntime(unsigned site, CheckOp check) {
  auto known = check->getAttrOfType<DenseI64ArrayAttr>(outsideName);
  if (!known || known.size() != 2 || !clock.hasRuntime() ||
      check.getValues().size() != 2)
    return false;
  Value address = check.getValues()[1], mask = check.getMask();
  auto type = dyn_cast<RankedTensorType>(address.getType());
  if (!type || !type.getElementType().isInteger(64) ||
      (mask && mask.getType() != type.clone(b.getI1Type())))
    return false;
  if (!mask)
    mask = tt::SplatOp::create(b, type.clone(b.getI1Type()), truth(true));
  call("triton_ext_cpu_outside", site, uint32_t(known.asArrayRef()[0]),
       {constant(known.asArrayRef()[1]), constant(type.getNumElements()),
        address, mask});
  return true;
}

namespace {
/// The addresses of the lanes of a look: a base, i64, and a tensor of offsets,
/// each of which is multiplied by `scale`.
struct Addresses {
  Value base, offsets; ///< the base is null for 0
  int64_t scale = 1;
};
} // namespace

/// Returns the addresses of a look with lanes. Of pointers into one tensor, the
/// base is that of the tensor, and the offsets count elements: so they are the
/// same for accesses to several tensors at the same places.
static Addresses addressesOf(ShadowOp op) {
  Value address = op.getAddress();
  auto number = address.getDefiningOp<tt::PtrToIntOp>();
  auto sum =
      number ? number.getSrc().getDefiningOp<tt::AddPtrOp>() : tt::AddPtrOp();
  auto base = sum ? sum.getPtr().getDefiningOp<tt::SplatOp>() : tt::SplatOp();
  if (!base)
    return {{}, address};
  Type pointee =
      cast<tt::PointerType>(base.getSrc().getType()).getPointeeType();
  if (!pointee.isIntOrFloat() ||
      llvm::divideCeil(pointee.getIntOrFloatBitWidth(), 8) != op.getBytes())
    return {{}, address};
  return {base.getSrc(), sum.getOffset(), int64_t(op.getBytes())};
}

/// The offset of a lane that is off. It is outside of all memory also if it is
/// multiplied by the 8 bytes of an element.
static constexpr int64_t kNowhere = -(int64_t(1) << 59);

/// Looks at a shadow.
LogicalResult Emitter::emitShadow(unsigned site, ShadowOp op) {
  if (!clock.hasRuntime())
    return op->emitOpError() << "expected the target x86-64, whose runtime "
                                "looks at shadows";
  if (op.getArgument() >= kernel.getNumArguments())
    return op->emitOpError()
           << "expected an argument below " << kernel.getNumArguments()
           << ", got " << op.getArgument();
  Type i64 = b.getI64Type();
  auto [base, offsets, scale] = addressesOf(op);
  auto type = dyn_cast<RankedTensorType>(offsets.getType());
  int64_t lanes = type ? type.getNumElements() : 0;
  if (base)
    base = tt::PtrToIntOp::create(b, i64, base);
  else
    base = constant(0);
  if (type && !type.getElementType().isInteger(64)) {
    type = type.clone(i64);
    offsets = arith::ExtSIOp::create(b, type, offsets);
  }
  if (Value mask = op.getMask()) {
    Value none = constant(kNowhere);
    if (type)
      none = tt::SplatOp::create(b, type, none);
    offsets = arith::SelectOp::create(b, mask, offsets, none);
  }
  if (!type)
    offsets = splat(offsets, 1);
  SmallVector<Value> operands{constant(op.getBytes()), constant(op.getHow()),
                              constant(lanes), base, constant(scale)};
  llvm::append_range(operands, op.getNumbers());
  operands.push_back(offsets);
  call(op.getNumbers().empty() ? kLookAtBits : kLookForRaces, site,
       op.getArgument(), operands);
  return success();
}
