// SPDX-License-Identifier: Apache-2.0
//
// `probe.outside` as operations of LLVM, which a thread executes for some of
// its lanes: what lower_probe does in assembly of NVIDIA, for all GPUs. No lane
// moves to another thread, as it would in a reduction. Where a layout repeats a
// lane, its key is the same, and the largest key stays what it is. Triton has
// no such operations, and its conversion to layouts would refuse those of LLVM,
// so they come after it.

#include "FirstLanes.h"
#include "../lower_probe/Layout.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "triton/Dialect/TritonGPU/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton_ext::lower_probe;
using namespace mlir::triton_ext::probe;
namespace tt = mlir::triton;
using P = arith::CmpIPredicate;

namespace {
struct Lane {
  Value mask, address, number; ///< i1, i64, i32
};

class Expansion {
public:
  Expansion(tt::ElementwiseInlineAsmOp op, const FirstLanes &what)
      : op(op), what(what), b(op.getLoc(), op) {}

  void run();

private:
  Value number(int64_t value) {
    return arith::ConstantOp::create(b, b.getI64IntegerAttr(value));
  }
  template <typename Op> Value with(Value x, Value y) {
    return Op::create(b, x, y);
  }
  Value choose(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, condition, x, y);
  }
  Value compare(P predicate, Value x, Value y) {
    return arith::CmpIOp::create(b, predicate, x, y);
  }
  /// Returns a pointer to a word of the slot.
  Value at(int64_t word) {
    return LLVM::GEPOp::create(b, slot.getType(), b.getI64Type(), slot,
                               ArrayRef<LLVM::GEPArg>{int32_t(word)});
  }
  Value load(int64_t word) {
    return LLVM::LoadOp::create(b, b.getI64Type(), at(word), /*alignment=*/8);
  }
  /// Triton takes no plain stores in the region. LLVM knows the scope `agent`
  /// for AMD only; the default is the whole system.
  Value update(LLVM::AtomicBinOp kind, int64_t word, Value value) {
    return LLVM::AtomicRMWOp::create(b, kind, at(word), value,
                                     LLVM::AtomicOrdering::monotonic,
                                     what.isOfAmd ? "agent" : "");
  }

  Value linearProgram();
  void findSlot();
  void readRange(int64_t word);
  Value isOut(Value address);
  void keepFirst(ArrayRef<Lane> lanes);

  tt::ElementwiseInlineAsmOp op;
  const FirstLanes what;
  ImplicitLocOpBuilder b;
  Value linear;  ///< the number of the program, i64
  Value slot;    ///< a pointer to it
  Value hasSlot; ///< i1
  /// Where an access may start: the first address, and how many there are from
  /// it on.
  Value start, places;
};
} // namespace

Value Expansion::linearProgram() {
  Value found;
  for (int axis = 2; axis >= 0; --axis) {
    Type i64 = b.getI64Type();
    Value id =
        arith::ExtUIOp::create(b, i64, tt::GetProgramIdOp::create(b, axis));
    if (found) {
      Value size =
          arith::ExtUIOp::create(b, i64, tt::GetNumProgramsOp::create(b, axis));
      id = with<arith::AddIOp>(with<arith::MulIOp>(found, size), id);
    }
    found = id;
  }
  return found;
}

/// Finds the slot before the operation. Without one, the address is that of
/// other memory, of at least as many bytes.
void Expansion::findSlot() {
  linear = linearProgram();
  Value all = op.getOperands().back();
  while (auto moved = all.getDefiningOp<tt::gpu::ConvertLayoutOp>())
    all = moved.getSrc();
  auto splat = all.getDefiningOp<tt::SplatOp>();
  if (!splat)
    return;
  Value address = splat.getSrc();
  if (isa<tt::PointerType>(address.getType()))
    address = tt::PtrToIntOp::create(b, b.getI64Type(), address);
  Type global = LLVM::LLVMPointerType::get(b.getContext(), /*space=*/1);
  slot = LLVM::IntToPtrOp::create(b, global, address);
  if (what.findsSlot) {
    Value offset = with<arith::MulIOp>(linear, number(-kSlotStride));
    slot = LLVM::GEPOp::create(b, global, b.getI8Type(), slot,
                               ArrayRef<LLVM::GEPArg>{offset});
  }
  hasSlot = compare(P::eq, load(0), number(kSlotMagic));
}

/// Reads the range of which `word` is the first one of two.
void Expansion::readRange(int64_t word) {
  start = load(word);
  places = with<arith::SubIOp>(load(word + 1), start);
  places = with<arith::SubIOp>(places, number(what.bytes - 1));
  places = with<arith::MaxSIOp>(places, number(0));
}

Value Expansion::isOut(Value address) {
  return compare(P::uge, with<arith::SubIOp>(address, start), places);
}

/// Keeps the first one of the lanes whose mask is on, which are outside of the
/// view: at least one.
void Expansion::keepFirst(ArrayRef<Lane> lanes) {
  readRange(what.argument);
  SmallVector<Value> worse;
  Value isWorse;
  for (const Lane &one : lanes) {
    worse.push_back(with<arith::AndIOp>(one.mask, isOut(one.address)));
    isWorse =
        isWorse ? with<arith::OrIOp>(isWorse, worse.back()) : worse.back();
  }
  // A lane outside of the memory comes before all others. From the last lane to
  // the first one, which stays; the last one is the one if no other is.
  Value lane = lanes.back().number, where = lanes.back().address;
  for (size_t i = lanes.size() - 1; i-- > 0;) {
    Value isOne = choose(isWorse, worse[i], lanes[i].mask);
    lane = choose(isOne, lanes[i].number, lane);
    where = choose(isOne, lanes[i].address, where);
  }
  Value key = with<arith::ShLIOp>(linear, number(kKeyLaneBits));
  key =
      with<arith::AddIOp>(key, arith::ExtUIOp::create(b, b.getI64Type(), lane));
  key = with<arith::SubIOp>(number(INT64_MAX), key);
  key = with<arith::OrIOp>(key, choose(isWorse, number(INT64_MIN), number(0)));
  // The second one changes nothing: as in the assembly for NVIDIA.
  Value largest;
  for (int turn = 0; turn < 2; ++turn)
    largest = update(LLVM::AtomicBinOp::umax, what.site + kFirstKey, key);
  auto isFirst = scf::IfOp::create(b, compare(P::eq, key, largest),
                                   /*withElseRegion=*/false);
  b.setInsertionPointToStart(isFirst.thenBlock());
  update(LLVM::AtomicBinOp::xchg, what.site + kFirstAddress, where);
  update(LLVM::AtomicBinOp::xchg, what.site + kKeyOfAddress, key);
}

void Expansion::run() {
  findSlot();
  if (!slot)
    return;
  readRange(what.argument + kViewOfArgument);
  auto pack = op.getPackedElement();
  SmallVector<Value> operands(op.getOperands().drop_back());
  if (auto bits = operands.front().getDefiningOp<arith::ExtUIOp>())
    operands.front() = bits.getIn();
  auto map = tt::MapElementwiseOp::create(b, op.getResultTypes(), operands,
                                          int32_t(pack));
  Block *body = b.createBlock(&map.getScalarOp());
  for (Value operand : operands)
    for (int64_t i = 0; i < pack; ++i)
      body->addArgument(getElementTypeOrSelf(operand.getType()), op.getLoc());
  SmallVector<Lane> lanes;
  Value isAny;
  for (int64_t i = 0; i < pack; ++i) {
    auto argument = [&](int64_t number) {
      return body->getArgument(number * pack + i);
    };
    Value isOn = argument(0);
    if (!isOn.getType().isInteger(1))
      isOn = arith::TruncIOp::create(b, b.getI1Type(), isOn);
    isOn = with<arith::AndIOp>(isOn, isOut(argument(1)));
    lanes.push_back({isOn, argument(1), argument(2)});
    isAny = isAny ? with<arith::OrIOp>(isAny, isOn) : isOn;
  }
  auto branch = scf::IfOp::create(b, with<arith::AndIOp>(isAny, hasSlot),
                                  /*withElseRegion=*/false);
  // The operation needs a result, which nothing uses.
  tt::MapElementwiseReturnOp::create(b, body->getArguments().take_back(pack));
  b.setInsertionPointToStart(branch.thenBlock());
  keepFirst(lanes);
  op.replaceAllUsesWith(map.getResults());
  op.erase();
}

void mlir::triton_ext::probe::expandFirstLanes(ModuleOp module) {
  module.walk([](tt::ElementwiseInlineAsmOp op) {
    if (auto what = FirstLanes::of(op.getAsmString()))
      Expansion(op, *what).run();
  });
}
