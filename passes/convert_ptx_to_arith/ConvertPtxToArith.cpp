// SPDX-License-Identifier: Apache-2.0
//
// Replaces inline PTX assembly by operations. Leaves assembly that it does not
// understand, or that is written for another target, as it is.

#include "Emitter.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

#define DEBUG_TYPE "triton-ext-convert-ptx-to-arith"

namespace mlir::triton_ext::convert_ptx_to_arith {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_CONVERTPTXTOARITHPASS
#include "ConvertPtxToArith.h.inc"
} // namespace mlir::triton_ext::convert_ptx_to_arith

using namespace mlir;
using namespace mlir::triton_ext::convert_ptx_to_arith;
namespace tt = mlir::triton;

namespace {
/// The elements of an operand or a result that one assembly takes.
struct Elements {
  Type type;
  unsigned bits;
  /// How many share a register, and how many registers there are.
  unsigned perRegister, numRegisters;
};

class Conversion {
public:
  explicit Conversion(tt::ElementwiseInlineAsmOp op)
      : op(op), b(op.getLoc(), op) {}

  /// Replaces the operation; returns why it cannot, or an empty string.
  std::string run();

private:
  std::string registersOf(ValueRange values, SmallVectorImpl<Elements> &found);
  std::string readConstraints();
  std::string emit(ArrayRef<Value> elements,
                   std::optional<RankedTensorType> tensor,
                   SmallVectorImpl<Value> &results);
  Value asRegister(Emitter &e, ArrayRef<Value> elements, unsigned bits);
  Value asElement(Emitter &e, Value bits, Type type);

  tt::ElementwiseInlineAsmOp op;
  ImplicitLocOpBuilder b;
  unsigned pack = 1;
  SmallVector<Elements> outputs, inputs;
  SmallVector<PtxType> registers;
  /// The number of the output to which an input is tied.
  SmallVector<std::optional<unsigned>> tied;
  Program program;
};
} // namespace

static unsigned bitsOf(Type type) {
  return type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 64; // pointers
}

std::string Conversion::registersOf(ValueRange values,
                                    SmallVectorImpl<Elements> &found) {
  for (Value value : values) {
    Type type = getElementTypeOrSelf(value.getType());
    unsigned bits = bitsOf(type);
    if (bits > 64 || (bits == 1 && pack > 1))
      return "elements of this type are not supported";
    unsigned shared = bits < 32 ? std::min(32 / bits, pack) : 1;
    if (pack % shared)
      return "packs of " + std::to_string(pack) +
             " elements do not fill registers";
    found.push_back({type, bits, shared, pack / shared});
  }
  return "";
}

/// Reads "=r,r,~{memory}": outputs first, then inputs, which may have the
/// number of an output.
std::string Conversion::readConstraints() {
  SmallVector<StringRef> parts;
  op.getConstraints().split(parts, ',', -1, false);
  unsigned numOutputs = 0, numInputs = 0;
  for (StringRef part : parts) {
    part = part.trim();
    if (part.starts_with("~"))
      continue;
    bool isOutput = part.consume_front("=");
    part.consume_front("&");
    unsigned output;
    tied.push_back(std::nullopt);
    if (!isOutput && !part.getAsInteger(10, output) && output < numOutputs) {
      tied.back() = output;
      registers.push_back(registers[output]);
    } else {
      unsigned bits = part == "h" || part == "c"   ? 16
                      : part == "r" || part == "f" ? 32
                      : part == "l" || part == "d" ? 64
                                                   : 0;
      if (!bits || (isOutput && numInputs))
        return ("the constraint '" + part + "' is not known").str();
      registers.push_back(PtxType{PtxType::Bits, bits, 1, "register"});
    }
    ++(isOutput ? numOutputs : numInputs);
  }
  unsigned results = 0, operands = 0;
  for (const Elements &each : outputs)
    results += each.numRegisters;
  for (const Elements &each : inputs)
    operands += each.numRegisters;
  if (results != numOutputs || operands != numInputs)
    return "the constraints have " + std::to_string(numOutputs) +
           " results and " + std::to_string(numInputs) +
           " operands, the elements need " + std::to_string(results) + " and " +
           std::to_string(operands) + " registers";
  return "";
}

/// Returns the bits of elements in one register, the first lowest.
Value Conversion::asRegister(Emitter &e, ArrayRef<Value> elements,
                             unsigned bits) {
  SmallVector<Value> parts;
  for (Value value : elements) {
    Type type = getElementTypeOrSelf(value.getType());
    if (isa<tt::PointerType>(type))
      value = tt::PtrToIntOp::create(b, e.integer(64), value);
    else if (!isa<IntegerType>(type))
      value = e.asInteger(value);
    parts.push_back(value);
  }
  return e.resized(e.joined(parts), bits);
}

Value Conversion::asElement(Emitter &e, Value bits, Type type) {
  bits = e.resized(bits, bitsOf(type));
  if (isa<tt::PointerType>(type))
    return tt::IntToPtrOp::create(b, e.like(type), bits);
  if (isa<IntegerType>(type))
    return bits;
  return b.createOrFold<arith::BitcastOp>(e.like(type), bits);
}

/// Emits the instructions for `elements`, those of the first operand first.
std::string Conversion::emit(ArrayRef<Value> elements,
                             std::optional<RankedTensorType> tensor,
                             SmallVectorImpl<Value> &results) {
  Emitter e(b, program, tensor);
  auto readSpecial = [&](StringRef name, unsigned bits) -> Value {
    Value value = specialRegister(b, name, bits);
    return value && tensor ? tt::SplatOp::create(b, e.integer(bits), value)
                           : value;
  };
  e.special = readSpecial;
  unsigned number = 0;
  for (const Elements &output : outputs)
    number += output.numRegisters;
  for (const Elements &input : inputs)
    for (unsigned i = 0; i < input.numRegisters; ++i, ++number) {
      Value bits = asRegister(e, elements.take_front(input.perRegister),
                              registers[number].bits);
      elements = elements.drop_front(input.perRegister);
      e.registers[number] = bits;
      if (tied[number])
        e.registers[*tied[number]] = bits;
    }
  if (!e.run())
    return e.why;
  number = 0;
  for (const Elements &output : outputs)
    for (unsigned i = 0; i < output.numRegisters; ++i, ++number) {
      Value bits = e.registers[number];
      if (!bits)
        return "$" + std::to_string(number) + " is not written";
      for (unsigned j = 0; j < output.perRegister; ++j)
        results.push_back(asElement(
            e, j ? e.right(bits, j * output.bits) : bits, output.type));
    }
  return "";
}

std::string Conversion::run() {
  pack = op.getPackedElement();
  for (std::string why :
       {registersOf(op.getResults(), outputs),
        registersOf(op.getOperands(), inputs), readConstraints()})
    if (!why.empty())
      return why;
  std::string why;
  std::optional<Program> parsed = parse(op.getAsmString(), registers, why);
  if (!parsed)
    return why;
  program = std::move(*parsed);
  auto tensor = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<Value> elements, results;
  if (tensor && pack > 1) {
    if (tensor.getNumElements() % pack)
      return "packs of " + std::to_string(pack) +
             " elements do not divide a tensor of " +
             std::to_string(tensor.getNumElements());
    auto map = tt::MapElementwiseOp::create(b, op.getResultTypes(),
                                            op.getOperands(), pack);
    Block &block = map.getScalarOp().emplaceBlock();
    for (const Elements &input : inputs)
      for (unsigned i = 0; i < pack; ++i)
        elements.push_back(block.addArgument(input.type, op.getLoc()));
    b.setInsertionPointToStart(&block);
    why = emit(elements, std::nullopt, results);
    if (!why.empty())
      return map->erase(), why;
    tt::MapElementwiseReturnOp::create(b, results);
    op->replaceAllUsesWith(map);
    return why;
  }
  // A scalar is alone in its pack; the others are equal to it.
  for (Value operand : op.getOperands())
    elements.append(pack, operand);
  Operation *before = op->getPrevNode();
  why = emit(elements, tensor ? std::optional(tensor) : std::nullopt, results);
  if (!why.empty()) {
    while (op->getPrevNode() != before)
      op->getPrevNode()->erase();
    return why;
  }
  for (auto [i, result] : llvm::enumerate(op.getResults()))
    result.replaceAllUsesWith(results[i * pack]);
  return why;
}

namespace {
struct ConvertPtxToArithPass
    : mlir::triton_ext::convert_ptx_to_arith::impl::ConvertPtxToArithPassBase<
          ConvertPtxToArithPass> {
  using ConvertPtxToArithPassBase::ConvertPtxToArithPassBase;

  void runOnOperation() override {
    SmallVector<tt::ElementwiseInlineAsmOp> all;
    getOperation().walk([&](tt::ElementwiseInlineAsmOp op) {
      if (!op->hasAttr("target"))
        all.push_back(op);
    });
    for (tt::ElementwiseInlineAsmOp op : all) {
      std::string why = Conversion(op).run();
      if (why.empty())
        op.erase();
      else
        op->setAttr("ptx.refused", StringAttr::get(&getContext(), why));
    }
  }
};
} // namespace
