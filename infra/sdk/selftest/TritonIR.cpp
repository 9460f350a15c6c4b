// SPDX-License-Identifier: Apache-2.0
//
// Triton's IR as passes meet it: a kernel's accessors against its text,
// Triton's own interfaces, encodings, and LinearLayout, whose containers are
// plain C++.

#include "Dialects.h"
#include "Report.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "triton/Dialect/TritonGPU/IR/Dialect.h"
#include "triton/Tools/LinearLayout.h"

using namespace mlir;
using namespace triton_ext::selftest;
namespace tt = mlir::triton;
namespace ttg = mlir::triton::gpu;

static constexpr const char *kernel = R"(
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%ptr: tensor<64x32x!tt.ptr<f16>, #blocked> {tt.divisibility = 16 : i32}, %n: i32, %lhs: tensor<64x32xf16, #a>, %rhs: tensor<32x64xf16, #b>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %mask = arith.constant dense<true> : tensor<64x32xi1, #blocked>
    %other = arith.constant dense<0.0> : tensor<64x32xf16, #blocked>
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %pid = tt.get_program_id y : i32
    %range = tt.make_range {end = 96 : i32, start = 32 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %x = tt.load %ptr, %mask, %other {isVolatile = true} : tensor<64x32x!tt.ptr<f16>, #blocked>
    %acc = scf.for %i = %c0 to %n step %c1 iter_args(%d = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %e = tt.dot %lhs, %rhs, %d, inputPrecision = tf32 : tensor<64x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<64x64xf32, #mma>
      scf.yield %e : tensor<64x64xf32, #mma>
    }
    %sum = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%l: f16, %r: f16):
      %s = arith.addf %l, %r : f16
      tt.reduce.return %s : f16
    }) : (tensor<64x32xf16, #blocked>) -> tensor<64xf16, #ttg.slice<{dim = 1, parent = #blocked}>>
    %smem = ttg.local_alloc %x : (tensor<64x32xf16, #blocked>) -> !ttg.memdesc<64x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 4, order = [1, 0]}>, #ttg.shared_memory>
    tt.store %ptr, %x, %mask : tensor<64x32x!tt.ptr<f16>, #blocked>
    tt.return
  }
})";

template <typename OpT> static OpT only(Operation *root) {
  OpT found;
  root->walk([&](OpT op) { found = op; });
  return found;
}

static Part accessors(Phase::Run, [](Report &report) {
  Context context(loadTriton);
  auto module = parseSourceString<ModuleOp>(kernel, &context);
  const char *group = "triton";
  report.check(group, "a kernel parses and verifies", [&](std::string &) {
    return module && succeeded(verify(*module));
  });
  if (!module)
    return;
  ModuleOp root = *module;

  report.check(group, "tt.func", [&](std::string &) {
    auto op = only<tt::FuncOp>(root);
    return op.getName() == "kernel" && op.isPublic() &&
           op.getNumArguments() == 4 &&
           op.getArgAttrOfType<IntegerAttr>(0, "tt.divisibility").getInt() ==
               16;
  });
  report.check(group, "tt.load", [&](std::string &) {
    auto op = only<tt::LoadOp>(root);
    return op.getIsVolatile() && op.getMask() && op.getOther() &&
           op.getPtr() == op->getOperand(0) &&
           op.getOther() == op->getOperand(2);
  });
  report.check(group, "tt.store, an operand left out", [&](std::string &) {
    auto op = only<tt::StoreOp>(root);
    op.getMaskMutable().clear();
    return !op.getMask() && op.getValue() == op->getOperand(1) &&
           op->getNumOperands() == 2 && succeeded(verify(op));
  });
  report.check(group, "tt.get_program_id", [&](std::string &) {
    return only<tt::GetProgramIdOp>(root).getAxis() == tt::ProgramIDDim::Y;
  });
  report.check(group, "tt.make_range", [&](std::string &) {
    auto op = only<tt::MakeRangeOp>(root);
    return op.getStart() == 32 && op.getEnd() == 96;
  });
  report.check(group, "tt.dot and DotOpInterface", [&](std::string &) {
    auto op = only<tt::DotOp>(root);
    auto interface = cast<tt::DotOpInterface>(op.getOperation());
    return op.getInputPrecision() == tt::InputPrecision::TF32 &&
           interface.getA() == op.getA() &&
           interface.getB() == op->getOperand(1) &&
           interface.getD().getType() == op.getType() && interface.verifyDims();
  });
  report.check(group, "tt.reduce", [&](std::string &) {
    auto op = only<tt::ReduceOp>(root);
    return op.getAxis() == 1 && op.getSrcs().size() == 1 &&
           op.getSingleCombiner()->getName().getStringRef() == "arith.addf";
  });
  report.check(group, "scf.for around tt.dot", [&](std::string &) {
    auto op = only<scf::ForOp>(root);
    return op.getInitArgs().size() == 1 && op.getRegionIterArgs().size() == 1 &&
           op.getYieldedValues()[0] == only<tt::DotOp>(root).getResult() &&
           op.getInductionVar().getType().isInteger(32);
  });
  report.check(group, "memory effects of tt.load", [&](std::string &) {
    SmallVector<MemoryEffects::EffectInstance> effects;
    cast<MemoryEffectOpInterface>(only<tt::LoadOp>(root).getOperation())
        .getEffects(effects);
    return llvm::any_of(effects,
                        [](const MemoryEffects::EffectInstance &effect) {
                          return isa<MemoryEffects::Read>(effect.getEffect());
                        });
  });
  report.check(group, "an op is built with tt's builder", [&](std::string &) {
    auto load = only<tt::LoadOp>(root);
    OpBuilder builder(load);
    auto plain = tt::LoadOp::create(builder, load.getLoc(), load.getPtr());
    bool ok = !plain.getMask() && plain.getType() == load.getType() &&
              succeeded(verify(plain));
    plain.erase();
    return ok;
  });
});

static Part encodings(Phase::Run, [](Report &report) {
  Context context(loadTriton);
  auto module = parseSourceString<ModuleOp>(kernel, &context);
  const char *group = "encodings";
  if (!module)
    return; // reported above
  auto x = cast<RankedTensorType>(only<tt::LoadOp>(*module).getType());
  auto blocked = dyn_cast<ttg::BlockedEncodingAttr>(x.getEncoding());
  report.check(group, "blocked", [&](std::string &) {
    return blocked && blocked.getSizePerThread() == ArrayRef<unsigned>{1, 4} &&
           blocked.getWarpsPerCTA() == ArrayRef<unsigned>{4, 1} &&
           blocked.getOrder() == ArrayRef<unsigned>{1, 0};
  });
  report.check(group, "slice and its parent", [&](std::string &) {
    auto range =
        cast<RankedTensorType>(only<tt::MakeRangeOp>(*module).getType());
    auto slice = cast<ttg::SliceEncodingAttr>(range.getEncoding());
    return slice.getDim() == 1 && slice.getParent() == blocked;
  });
  report.check(group, "dot operand and mma", [&](std::string &) {
    auto a = cast<RankedTensorType>(only<tt::DotOp>(*module).getA().getType());
    auto operand = cast<ttg::DotOperandEncodingAttr>(a.getEncoding());
    auto mma = cast<ttg::NvidiaMmaEncodingAttr>(operand.getParent());
    return operand.getOpIdx() == 0 && operand.getKWidth() == 2 &&
           mma.getVersionMajor() == 2 &&
           mma.getInstrShape() == ArrayRef<unsigned>{16, 8};
  });
  report.check(group, "memdesc", [&](std::string &) {
    auto type =
        cast<ttg::MemDescType>(only<ttg::LocalAllocOp>(*module).getType());
    auto shared = cast<ttg::SwizzledSharedEncodingAttr>(type.getEncoding());
    return type.getShape() == ArrayRef<int64_t>{64, 32} &&
           shared.getVec() == 8 && shared.getMaxPhase() == 4 &&
           !type.getMutableMemory();
  });
  report.check(group, "interfaces of an encoding", [&](std::string &) {
    return isa<ttg::DistributedEncodingTrait>(x.getEncoding()) &&
           cast<ttg::LayoutEncodingTrait>(x.getEncoding()).getRank() == 2;
  });
  report.check(group, "pointer type", [&](std::string &) {
    auto type =
        tt::PointerType::get(Float16Type::get(&context), tt::PtrAddrSpace(1));
    return parseType("!tt.ptr<f16>", &context) == type &&
           type.getPointeeType().isF16() && int(type.getAddressSpace()) == 1;
  });
  report.equal(group, "elements per thread", 16,
               [&] { return int(ttg::getTotalElemsPerThread(x)); });

  tt::LinearLayout layout = ttg::toLinearLayout(x);
  auto dim = [&](const char *name) { return StringAttr::get(&context, name); };
  report.equal(group, "linear layout of blocked", 128 * 16,
               [&] { return layout.getTotalInDimSize(); });
  report.check(group, "apply", [&](std::string &) {
    auto at = layout.apply({{dim("register"), 2},
                            {dim("lane"), 5},
                            {dim("warp"), 1},
                            {dim("block"), 0}});
    return at.size() == 2 && at[0].second == 8 + 1 && at[1].second == 4 + 2;
  });
  report.check(group, "sublayout, product, equality", [&](std::string &) {
    auto rows = tt::LinearLayout::identity1D(8, dim("lane"), dim("dim0"));
    auto both =
        rows * tt::LinearLayout::identity1D(4, dim("warp"), dim("dim0"));
    return both.getTotalOutDimSize() == 32 &&
           both.sublayout({dim("lane")}, {dim("dim0")}).getBases().size() ==
               1 &&
           both == both && !(both == rows);
  });
  report.check(group, "compose with the inverse", [&](std::string &) {
    auto line = tt::LinearLayout::identity1D(16, dim("lane"), dim("dim0"));
    auto inverse = line.invert();
    return line.compose(inverse).apply({{dim("lane"), 11}})[0].second == 11 &&
           StringRef(inverse.toString()).contains("dim0");
  });
});
