// SPDX-License-Identifier: Apache-2.0
//
// Lowers probes to calls of the CPU backend's runtime: code that looks at the
// lanes of an access, and that is compiled once, not in each kernel.

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
  call->setAttr("triton_ext_cpu.call", b.getStringAttr(function));
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

/// Looks at a shadow. A lane that is off gets an address outside of the memory.
LogicalResult Emitter::emitShadow(unsigned site, ShadowOp op) {
  if (!clock.hasRuntime())
    return op->emitOpError() << "expected the target x86-64, whose runtime "
                                "looks at shadows";
  if (op.getArgument() >= kernel.getNumArguments())
    return op->emitOpError()
           << "expected an argument below " << kernel.getNumArguments()
           << ", got " << op.getArgument();
  Value address = op.getAddress();
  auto type = dyn_cast<RankedTensorType>(address.getType());
  int64_t lanes = type ? type.getNumElements() : 0;
  if (Value mask = op.getMask()) {
    Value none = constant(0);
    if (type)
      none = tt::SplatOp::create(b, type, none);
    address = arith::SelectOp::create(b, mask, address, none);
  }
  if (!type)
    address = splat(address, 1);
  SmallVector<Value> operands{constant(op.getBytes()), constant(op.getHow()),
                              constant(lanes)};
  llvm::append_range(operands, op.getNumbers());
  operands.push_back(address);
  call(op.getNumbers().empty() ? "triton_ext_cpu_look_at_bits"
                               : "triton_ext_cpu_look_for_races",
       site, op.getArgument(), operands);
  return success();
}
