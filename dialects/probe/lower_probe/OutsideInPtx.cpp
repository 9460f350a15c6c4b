// SPDX-License-Identifier: Apache-2.0
//
// `probe.outside` as assembly of NVIDIA: two comparisons of each lane, and one
// branch of each thread for several lanes, whose code runs again if one of them
// is outside. No lane moves to another thread, so
// the assembly needs neither shared memory nor barriers. Where a layout repeats
// a lane, its key is the same, and the largest key stays what it is.

#include "../settle_regions/FirstLanes.h"
#include "Clock.h"
#include "Emitter.h"
#include "Layout.h"
#include "Ptx.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::triton_ext::lower_probe;
using namespace mlir::triton_ext::probe;
namespace tt = mlir::triton;

namespace {
/// The operands of the assembly, each for several lanes.
enum Operand { Mask, Address, Lane, Slot, NumOperands };

class Assembly {
public:
  /// \param findsSlot whether it gets the program's scratch memory, and not the
  /// address of the slot, or 0 if there is none
  Assembly(unsigned lanes, bool findsSlot)
      : lanes(lanes), findsSlot(findsSlot) {}

  /// Returns the text.
  ///
  /// \param bytes of an access
  /// \param argument the place of its words in the slot
  /// \param site the place of the site's words
  std::string text(int64_t bytes, int64_t argument, int64_t site);
  std::string constraints() const;

private:
  /// In one line of text: LLVM gives each one a line of the source file.
  void line(const Twine &text) { os << text << ' '; }
  std::string of(Operand operand, unsigned lane = 0) const {
    return "$" + std::to_string(lanes * (1 + operand) + lane);
  }
  std::string word(int64_t number) const {
    return "[slot+" + std::to_string(8 * number) + "]";
  }
  void readRange(int64_t start, int64_t bytes);

  const unsigned lanes;
  const bool findsSlot;
  std::string content;
  llvm::raw_string_ostream os{content};
};
} // namespace

std::string Assembly::constraints() const {
  SmallVector<StringRef> found(lanes, "=r");
  for (StringRef one : {"r", "l", "r", "l"})
    found.append(lanes, one);
  return llvm::join(found, ",");
}

/// Reads the addresses between which an access of `bytes` bytes may start.
void Assembly::readRange(int64_t start, int64_t bytes) {
  line("ld.global.b64 s, " + word(start) + ";");
  line("ld.global.b64 e, " + word(start + 1) + ";");
  line("sub.s64 e, e, " + Twine(bytes) + ";");
}

std::string Assembly::text(int64_t bytes, int64_t argument, int64_t site) {
  line("{");
  line(".reg .pred q;");
  line(".reg .b64 a, k, s, e, program, slot;");
  line(".reg .b32 l;");
  if (findsSlot) {
    writeSlotInPtx(os, of(Slot), "slot");
    line("ld.global.b64 a, " + word(0) + ";");
    line("setp.ne.s64 q, a, " + Twine(kSlotMagic) + ";");
  } else {
    line("mov.b64 slot, " + of(Slot) + ";");
    line("setp.eq.s64 q, slot, 0;");
  }
  line("@q bra DONE;");
  // The first turn takes a lane outside of the view, the second one, if there
  // is such a lane, one outside of the memory.
  readRange(argument + kViewOfArgument, bytes);
  line("mov.b64 k, 0;");
  line("mov.b32 l, -1;");
  line("LOOP:");
  // From the last lane to the first one, which stays.
  for (unsigned i = lanes; i-- > 0;) {
    line("setp.lt.s64 q, " + of(Address, i) + ", s;");
    line("setp.gt.or.s64 q, " + of(Address, i) + ", e, q;");
    line("setp.ne.and.b32 q, " + of(Mask, i) + ", 0, q;");
    line("@q mov.b64 a, " + of(Address, i) + ";");
    line("@q mov.b32 l, " + of(Lane, i) + ";");
  }
  line("setp.ne.s64 q, k, 0;");
  line("@q bra FOUND;");
  line("setp.eq.s32 q, l, -1;");
  line("@q bra DONE;");
  readRange(argument, bytes);
  line("mov.b64 k, 1;");
  line("bra LOOP;");
  line("FOUND:");
  // The lane is outside of the memory if there is one that is.
  line("setp.lt.s64 q, a, s;");
  line("setp.gt.or.s64 q, a, e, q;");
  line("cvt.u64.u32 s, l;");
  if (!findsSlot)
    writeProgramInPtx(os);
  line("selp.b64 k, " + Twine(INT64_MIN) + ", 0, q;");
  line("shl.b64 program, program, " + Twine(kKeyLaneBits) + ";");
  line("add.s64 s, s, program;");
  line("sub.s64 s, " + Twine(INT64_MAX) + ", s;");
  line("or.b64 k, k, s;");
  // The second one changes nothing, and returns the largest key some hundred
  // cycles later. A thread whose key was the largest one for a moment only
  // would store its address behind that of another one.
  for (int turn = 0; turn < 2; ++turn)
    line("atom.global.max.u64 s, " + word(site + kFirstKey) + ", k;");
  line("setp.eq.s64 q, k, s;");
  static_assert(kKeyOfAddress == kFirstAddress + 1 && kFirstAddress % 2 == 0);
  line("@q st.global.v2.b64 " + word(site + kFirstAddress) + ", {a, k};");
  line("DONE:");
  for (unsigned i = 0; i < lanes; ++i)
    line("mov.b32 $" + Twine(i) + ", 0;");
  line("}");
  return content;
}

/// Gives GPUs without this assembly a text in its place, for which
/// settle_regions puts operations of LLVM, behind the passes that choose
/// layouts.
void Emitter::keepFirstInThreads(OutsideOp op, int64_t site) {
  RankedTensorType type = cast<RankedTensorType>(op.getAddress().getType());
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  // A thread has at least as many lanes, a power of two.
  int64_t lanes =
      std::clamp<int64_t>(type.getNumElements() / clock.numThreads(), 1, 8);
  Value on = op.getMask() ? Value(op.getMask())
                          : tt::SplatOp::create(b, type.clone(b.getI1Type()),
                                                truth(true))
                                .getResult();
  auto all = [&](Value scalar) -> Value {
    return tt::SplatOp::create(
        b, RankedTensorType::get(type.getShape(), scalar.getType()), scalar);
  };
  bool isPtx = clock.hasPtx();
  Value address = op.getAddress(), slot = slotInPtx;
  if (auto number = address.getDefiningOp<tt::PtrToIntOp>(); number && isPtx)
    address = number.getSrc();
  if (!slot && shared) {
    slot = tt::PtrToIntOp::create(b, i64, shared);
    if (isPtx)
      slot = arith::SelectOp::create(b, hasSlot, slot, constant(0));
  }
  int64_t argument = kSlotHead + kArgumentWords * int64_t(op.getArgument());
  Assembly assembly(lanes, /*findsSlot=*/!slot);
  std::string text =
      isPtx ? assembly.text(op.getBytes(), argument, site)
            : FirstLanes{!slot, op.getBytes(), argument, site, clock.isOfAmd()}
                  .text();
  tt::ElementwiseInlineAsmOp::create(
      b, TypeRange{type.clone(i32)}, text, assembly.constraints(),
      /*pure=*/false, lanes,
      ValueRange{arith::ExtUIOp::create(b, type.clone(i32), on), address,
                 lanesLike(type), all(slot ? slot : own)});
}
