// SPDX-License-Identifier: Apache-2.0
//
// Reads and writes registers, and finds the function for each instruction.

#include "Emitter.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::triton_ext::convert_ptx_to_arith;

using Handler = void (Emitter::*)();

Handler mlir::triton_ext::convert_ptx_to_arith::handlerOf(StringRef opcode) {
  using E = Emitter;
  return llvm::StringSwitch<Handler>(opcode)
      .Cases({"and", "or", "xor", "not", "cnot"}, &E::logic)
      .Cases({"shl", "shr"}, &E::shift)
      .Case("shf", &E::funnelShift)
      .Case("bfe", &E::extractBits)
      .Case("bfi", &E::insertBits)
      .Case("lop3", &E::lookup3)
      .Case("prmt", &E::permute)
      .Cases({"popc", "clz", "brev", "bfind"}, &E::countBits)
      .Cases({"add", "sub", "div", "rem", "sad"}, &E::integerArithmetic)
      .Cases({"mul", "mad", "mul24", "mad24"}, &E::multiply)
      .Case("bmsk", &E::maskBits)
      .Case("szext", &E::extendBits)
      .Cases({"dp2a", "dp4a"}, &E::dotProduct)
      .Cases(
          {"vadd", "vsub", "vabsdiff", "vmin", "vmax", "vset", "vshl", "vshr"},
          &E::video)
      .Case("vmad", &E::videoMultiplyAdd)
      .Cases(
          {"vadd2", "vsub2", "vavrg2", "vabsdiff2", "vmin2", "vmax2", "vset2"},
          &E::videoLanes)
      .Cases(
          {"vadd4", "vsub4", "vavrg4", "vabsdiff4", "vmin4", "vmax4", "vset4"},
          &E::videoLanes)
      .Case("fma", &E::floatArithmetic)
      .Cases({"abs", "neg"}, &E::floatUnary)
      .Cases({"min", "max"}, &E::minMax)
      .Cases({"rcp", "sqrt"}, &E::divide)
      .Cases({"ex2", "lg2", "rsqrt", "sin", "cos", "tanh"}, &E::approximate)
      .Case("copysign", &E::copySign)
      .Case("setp", &E::compare)
      .Case("set", &E::setNumber)
      .Cases({"selp", "slct"}, &E::choose)
      .Case("testp", &E::testProperty)
      .Case("mov", &E::move)
      .Case("cvt", &E::convert)
      .Default(nullptr);
}

bool Emitter::run() {
  for (const Instruction &instruction : program.instructions) {
    at = &instruction;
    modifiers = instruction.modifiers;
    emit();
    if (why.empty() && !modifiers.empty())
      refuse("'." + modifiers.front() + "' is not supported here");
    if (!why.empty())
      return false;
  }
  return true;
}

void Emitter::emit() {
  Handler handler = handlerOf(at->opcode);
  if (!handler)
    return (void)refuse("this instruction is not supported");
  if (at->types.empty())
    return (void)refuse("the instruction has no type");
  if (at->operands.empty())
    return (void)refuse("the instruction has no operands");
  (this->*handler)();
}

bool Emitter::refuse(const Twine &message) {
  if (why.empty())
    why = ("'" + at->text + "': " + message).str();
  return false;
}

bool Emitter::take(StringRef modifier) {
  auto it = llvm::find(modifiers, modifier);
  if (it == modifiers.end())
    return false;
  modifiers.erase(it);
  return true;
}

StringRef Emitter::takeOne(ArrayRef<StringRef> all) {
  for (StringRef each : all)
    if (take(each))
      return each;
  return "";
}

bool Emitter::needs(unsigned numTypes, unsigned numOperands) {
  if (at->types.size() != numTypes)
    return refuse("expected " + Twine(numTypes) + " types, got " +
                  Twine(at->types.size()));
  if (at->operands.size() != numOperands)
    return refuse("expected " + Twine(numOperands) + " operands, got " +
                  Twine(at->operands.size()));
  return true;
}

/// Returns the bits of a number in the format of `type`.
static std::optional<uint64_t> numberBits(const Operand &operand,
                                          const PtxType &type) {
  using llvm::APFloat;
  if (type.lanes != 1 || !type.isFloat())
    return std::nullopt;
  APFloat value(operand.number);
  if (operand.numberBits == 32)
    value = APFloat(APFloat::IEEEsingle(), llvm::APInt(32, operand.bits));
  else if (operand.numberBits == 64)
    value = APFloat(APFloat::IEEEdouble(), llvm::APInt(64, operand.bits));
  bool losesInfo;
  value.convert(type.kind == PtxType::Brain ? APFloat::BFloat()
                : type.bits == 16           ? APFloat::IEEEhalf()
                : type.bits == 32           ? APFloat::IEEEsingle()
                                            : APFloat::IEEEdouble(),
                APFloat::rmNearestTiesToEven, &losesInfo);
  return value.bitcastToAPInt().getZExtValue();
}

Value Emitter::read(unsigned i, const PtxType &type, bool mayBeWider) {
  if (i >= at->operands.size()) {
    refuse("an operand is missing");
    return constant(type.width(), 0);
  }
  return read(at->operands[i], type, mayBeWider);
}

Value Emitter::read(const Operand &operand, const PtxType &type,
                    bool mayBeWider) {
  unsigned bits = type.width();
  Value none = constant(bits, 0);
  if (operand.hasMinus)
    return refuse("'-' before a register is not supported here"), none;
  if (!operand.selector.empty())
    return refuse("'." + operand.selector + "' is not supported here"), none;
  switch (operand.kind) {
  case Operand::Integer:
    if (type.isFloat() && type.lanes == 1)
      return refuse("a number of the type " + type.name +
                    " needs a point, or "
                    "0f and its bits"),
             none;
    return constant(bits, operand.bits);
  case Operand::Number: {
    std::optional<uint64_t> value = numberBits(operand, type);
    if (!value)
      return refuse("a number is not an operand of the type " + type.name),
             none;
    return constant(bits, *value);
  }
  case Operand::Register:
    break;
  default:
    return refuse("an operand is not a register"), none;
  }
  const std::string &name = program.names[operand.index];
  Value value = registers[operand.index];
  if (!value)
    return refuse("reads " + name + " before it is written"), none;
  unsigned width = bitsOf(value);
  if (width == bits)
    return value;
  if (mayBeWider && width > bits && width > 1)
    return resized(value, bits);
  return refuse(name + " has " + Twine(width) + " bits, expected " +
                Twine(bits)),
         none;
}

Value Emitter::readPredicate(const Operand &operand) {
  PtxType pred{PtxType::Pred, 1, 1, "pred"};
  Value value = read(operand, pred);
  return operand.isNegated ? bxor(value, constant(1, 1)) : value;
}

void Emitter::write(const Operand &operand, Value value) {
  if (!why.empty() || operand.kind == Operand::Sink)
    return;
  if (operand.kind != Operand::Register)
    return (void)refuse("the result is not a register");
  if (!operand.selector.empty())
    return (void)refuse("'." + operand.selector + "' is not supported here");
  unsigned bits = program.registers[operand.index].width();
  if (bits != bitsOf(value))
    return (void)refuse(program.names[operand.index] + " has " + Twine(bits) +
                        " bits, expected " + Twine(bitsOf(value)));
  Value &old = registers[operand.index];
  // A register that is not written has any value.
  if (at->guard)
    value =
        select(readPredicate(*at->guard), value, old ? old : constant(bits, 0));
  if (why.empty())
    old = value;
}

SmallVector<Value> Emitter::lanes(Value value, const PtxType &type) {
  if (type.lanes == 1)
    return {value};
  return {resized(value, type.bits),
          resized(right(value, type.bits), type.bits)};
}

Value Emitter::joined(ArrayRef<Value> lanes) {
  if (lanes.size() == 1)
    return lanes[0];
  unsigned bits = bitsOf(lanes[0]), all = bits * lanes.size();
  Value result;
  for (auto [i, lane] : llvm::enumerate(lanes)) {
    Value part = resized(lane, all);
    if (i)
      part = left(part, i * bits);
    result = result ? bor(result, part) : part;
  }
  return result;
}

void Emitter::perLane(unsigned count,
                      llvm::function_ref<Value(ArrayRef<Value>)> function) {
  if (at->operands.size() != count + 1)
    return (void)refuse("expected " + Twine(count + 1) + " operands, got " +
                        Twine(at->operands.size()));
  SmallVector<SmallVector<Value>> operands;
  for (unsigned i = 1; i <= count; ++i)
    operands.push_back(lanes(read(i, type()), type()));
  SmallVector<Value> results;
  for (unsigned lane = 0; lane < type().lanes; ++lane) {
    SmallVector<Value> each;
    for (auto &operand : operands)
      each.push_back(operand[lane]);
    results.push_back(function(each));
  }
  write(joined(results));
}
