// SPDX-License-Identifier: Apache-2.0
//
// `probe.outside` as assembly of NVIDIA: two comparisons of each lane, and one
// branch of each thread for several lanes. No lane moves to another thread, so
// the assembly needs neither shared memory nor barriers. Where a layout repeats
// a lane, its key is the same, and the largest key stays what it is.

#include "Clock.h"
#include "Emitter.h"
#include "Layout.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::triton_ext::lower_probe;
using namespace mlir::triton_ext::probe;
namespace tt = mlir::triton;

namespace {
/// The operands of the assembly, each for several lanes.
enum Operand { Mask, Address, Lane, Scratch, NumOperands };

class Assembly {
public:
  explicit Assembly(unsigned lanes) : lanes(lanes) {}

  /// Returns the text.
  ///
  /// \param bytes of an access
  /// \param argument the place of its words in the slot
  /// \param site the place of the site's words
  std::string text(int64_t bytes, int64_t argument, int64_t site);
  std::string constraints() const;

private:
  void line(const Twine &text) { os << text << '\n'; }
  std::string of(Operand operand, unsigned lane = 0) const {
    return "$" + std::to_string(lanes * (1 + operand) + lane);
  }
  std::string word(int64_t number) const {
    return "[slot+" + std::to_string(8 * number) + "]";
  }
  void findSlot();
  void readRange(int64_t start, int64_t bytes);
  std::string isBad(unsigned lane) const { return "p" + std::to_string(lane); }

  const unsigned lanes;
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

/// Computes the number of the program, and where the slot is, as the prologue
/// does: each pass of Triton takes time for each operation of that.
void Assembly::findSlot() {
  auto read = [&](StringRef to, StringRef name) {
    line("mov.u32 l, %" + name + ";");
    line("cvt.u64.u32 " + to + ", l;");
  };
  read("program", "ctaid.z");
  for (auto [size, id] :
       {std::pair("nctaid.y", "ctaid.y"), {"nctaid.x", "ctaid.x"}}) {
    read("k", size);
    line("mul.lo.s64 program, program, k;");
    read("k", id);
    line("add.s64 program, program, k;");
  }
  line("mul.lo.s64 k, program, " + Twine(-kSlotStride) + ";");
  line("add.s64 slot, " + of(Scratch) + ", k;");
}

/// Reads the addresses between which an access of `bytes` bytes may start.
void Assembly::readRange(int64_t start, int64_t bytes) {
  line("ld.global.b64 s, " + word(start) + ";");
  line("ld.global.b64 e, " + word(start + 1) + ";");
  line("sub.s64 e, e, " + Twine(bytes) + ";");
}

std::string Assembly::text(int64_t bytes, int64_t argument, int64_t site) {
  line("{");
  line(".reg .pred q, p<" + Twine(lanes) + ">;");
  line(".reg .b64 a, k, s, e, program, slot;");
  line(".reg .b32 l;");
  findSlot();
  line("ld.global.b64 a, " + word(0) + ";");
  line("setp.ne.s64 q, a, " + Twine(kSlotMagic) + ";");
  line("@q bra DONE;");
  readRange(argument + kViewOfArgument, bytes);
  for (unsigned i = 0; i < lanes; ++i) {
    line("setp.lt.s64 q, " + of(Address, i) + ", s;");
    line("setp.gt.or.s64 q, " + of(Address, i) + ", e, q;");
    line("setp.ne.and.b32 " + isBad(i) + ", " + of(Mask, i) + ", 0, q;");
  }
  line("mov.pred q, p0;");
  for (unsigned i = 1; i < lanes; ++i)
    line("or.pred q, q, " + isBad(i) + ";");
  line("@!q bra DONE;");
  // From the last lane to the first one, which stays.
  auto take = [&](StringRef predicate, unsigned i) {
    line("@" + predicate + " mov.b64 a, " + of(Address, i) + ";");
    line("@" + predicate + " mov.b32 l, " + of(Lane, i) + ";");
  };
  for (unsigned i = lanes; i-- > 0;)
    take(isBad(i), i);
  readRange(argument, bytes);
  line("mov.b64 k, 0;");
  for (unsigned i = lanes; i-- > 0;) {
    line("setp.lt.s64 q, " + of(Address, i) + ", s;");
    line("setp.gt.or.s64 q, " + of(Address, i) + ", e, q;");
    line("and.pred q, q, " + isBad(i) + ";");
    take("q", i);
    line("@q mov.b64 k, " + Twine(INT64_MIN) + ";");
  }
  line("cvt.u64.u32 s, l;");
  line("shl.b64 program, program, " + Twine(kKeyLaneBits) + ";");
  line("add.s64 s, s, program;");
  line("sub.s64 s, " + Twine(INT64_MAX) + ", s;");
  line("or.b64 k, k, s;");
  line("atom.global.max.u64 s, " + word(site + kFirstKey) + ", k;");
  line("setp.gt.u64 q, k, s;");
  static_assert(kKeyOfAddress == kFirstAddress + 1 && kFirstAddress % 2 == 0);
  line("@q st.global.v2.b64 " + word(site + kFirstAddress) + ", {a, k};");
  line("DONE:");
  for (unsigned i = 0; i < lanes; ++i)
    line("mov.b32 $" + Twine(i) + ", 0;");
  line("}");
  return content;
}

void Emitter::keepFirstInPtx(OutsideOp op, int64_t site) {
  RankedTensorType type = cast<RankedTensorType>(op.getAddress().getType());
  Type i32 = b.getI32Type();
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
  Value operands[NumOperands] = {arith::ExtUIOp::create(b, type.clone(i32), on),
                                 op.getAddress(), lanesLike(type), all(own)};
  Assembly assembly(lanes);
  tt::ElementwiseInlineAsmOp::create(
      b, TypeRange{type.clone(i32)},
      assembly.text(op.getBytes(),
                    kSlotHead + kArgumentWords * int64_t(op.getArgument()),
                    site),
      assembly.constraints(), /*pure=*/false, lanes, operands);
}
