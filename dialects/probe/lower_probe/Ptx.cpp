// SPDX-License-Identifier: Apache-2.0
//
// Translates scalar integers to assembly of NVIDIA.

#include "Ptx.h"
#include "Layout.h"
#include "probe/Probe.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton_ext::lower_probe;
namespace tt = mlir::triton;

void mlir::triton_ext::lower_probe::writeProgramInPtx(llvm::raw_ostream &os) {
  auto read = [&](StringRef to, StringRef name) {
    os << "mov.u32 l, %" << name << "; cvt.u64.u32 " << to << ", l; ";
  };
  read("program", "ctaid.z");
  for (auto [size, id] :
       {std::pair("nctaid.y", "ctaid.y"), {"nctaid.x", "ctaid.x"}}) {
    read("k", size);
    os << "mul.lo.s64 program, program, k; ";
    read("k", id);
    os << "add.s64 program, program, k; ";
  }
}

void mlir::triton_ext::lower_probe::writeSlotInPtx(llvm::raw_ostream &os,
                                                   StringRef scratch,
                                                   StringRef slot) {
  writeProgramInPtx(os);
  os << "mul.lo.s64 k, program, " << -kSlotStride << "; ";
  os << "add.s64 " << slot << ", " << scratch << ", k; ";
}

void Ptx::findSlot(StringRef scratch, StringRef slot) {
  writeSlotInPtx(os, scratch, slot);
  line("ld.global.b64 k, [" + slot + "];");
  line("setp.eq.s64 p, k, " + Twine(kSlotMagic) + ";");
}

void Ptx::readWords(StringRef scratch) {
  line(".reg .b64 slot;");
  findSlot(scratch, "slot");
  readsWords = true;
}

std::string Ptx::operand(Value value) {
  operands.push_back(value);
  return "$" + std::to_string(results + operands.size() - 1);
}

/// Returns a new register, whose name begins with its kind: t for predicates,
/// r for 32 bits, d for 64 bits.
std::string Ptx::make(Type type) {
  StringRef kind = type.isInteger(1) ? "t" : type.isInteger(32) ? "r" : "d";
  std::string name = (kind + Twine(numRegisters++)).str();
  line(".reg ." +
       Twine(kind == "t"   ? "pred"
             : kind == "r" ? "b32"
                           : "b64") +
       " " + name + ";");
  return name;
}

/// Returns the name of a value that the block does not compute. A predicate
/// cannot be an operand.
std::string Ptx::ofInput(Value value) {
  if (!value.getType().isInteger(1))
    return operand(value);
  std::string name = make(value.getType());
  line("setp.ne.s32 " + name + ", " + operand(value) + ", 0;");
  return name;
}

std::string Ptx::of(Value value) {
  auto known = names.find(value);
  if (known != names.end())
    return known->second;
  APInt constant;
  Operation *op = value.getDefiningOp();
  std::string name;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    name = value.getType().isInteger(1)
               ? compute(value.getType(),
                         constant.isZero() ? "setp.ne.s32" : "setp.eq.s32",
                         {"l", "l"})
               : llvm::itostr(constant.getSExtValue());
  } else if (op) {
    name = computed(op);
  } else if (ofArgument) {
    name = ofArgument(cast<BlockArgument>(value));
  }
  if (name.empty())
    name = ofInput(value);
  names[value] = name;
  return name;
}

/// Returns a value in a register, also if it is a constant.
std::string Ptx::inRegister(Value value) {
  std::string name = of(value);
  if (!matchPattern(value, m_Constant()) || value.getType().isInteger(1))
    return name;
  std::string move = value.getType().isInteger(32) ? "mov.b32 " : "mov.b64 ";
  std::string &to = made[move + name];
  if (to.empty()) {
    to = make(value.getType());
    line(move + to + ", " + name + ";");
  }
  return to;
}

std::string Ptx::compute(Type type, const Twine &instruction,
                         ArrayRef<std::string> from) {
  std::string text = instruction.str(), inputs = llvm::join(from, ", ");
  std::string &to = made[text + " " + inputs];
  if (to.empty()) {
    to = make(type);
    line(text + " " + to + ", " + inputs + ";");
  }
  return to;
}

std::string Ptx::wide(Value value) {
  std::string name = of(value);
  if (matchPattern(value, m_Constant()) || value.getType().isInteger(64))
    return name;
  return compute(b.getI64Type(), "cvt.s64.s32", {name});
}

/// Returns the name of an address.
std::string Ptx::ofPointer(Value pointer) {
  if (auto known = names.find(pointer); known != names.end())
    return known->second;
  auto add = pointer.getDefiningOp<tt::AddPtrOp>();
  Type element = cast<tt::PointerType>(pointer.getType()).getPointeeType();
  std::string name;
  // Registers have no narrower offsets.
  if (add && (add.getOffset().getType().isInteger(32) ||
              add.getOffset().getType().isInteger(64))) {
    int64_t bytes = llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
    Type i64 = b.getI64Type();
    std::string start = ofPointer(add.getPtr()),
                offset =
                    compute(i64, "mul.lo.s64",
                            {wide(add.getOffset()), std::to_string(bytes)});
    name = compute(i64, "add.s64", {start, offset});
  } else {
    name = operand(pointer);
  }
  return names[pointer] = name;
}

/// Returns the condition of a comparison, and the type of its operands but for
/// their width.
static std::pair<StringRef, StringRef> nameOf(arith::CmpIPredicate predicate) {
  using P = arith::CmpIPredicate;
  switch (predicate) {
  case P::eq:
    return {"eq", "s"};
  case P::ne:
    return {"ne", "s"};
  case P::slt:
    return {"lt", "s"};
  case P::sle:
    return {"le", "s"};
  case P::sgt:
    return {"gt", "s"};
  case P::sge:
    return {"ge", "s"};
  case P::ult:
    return {"lt", "u"};
  case P::ule:
    return {"le", "u"};
  case P::ugt:
    return {"gt", "u"};
  case P::uge:
    return {"ge", "u"};
  }
  llvm_unreachable("all predicates have a name");
}

/// Returns the instruction, without its width, of an operation whose two
/// operands and result have one type. Returns an empty text for every other
/// operation.
static StringRef twoOperands(Operation *op, bool isBit) {
  if (isBit)
    return llvm::TypeSwitch<Operation *, StringRef>(op)
        .Case([](arith::AndIOp) { return "and.pred"; })
        .Case([](arith::OrIOp) { return "or.pred"; })
        .Case([](arith::XOrIOp) { return "xor.pred"; })
        .Default(StringRef());
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case([](arith::AddIOp) { return "add.s"; })
      .Case([](arith::SubIOp) { return "sub.s"; })
      .Case([](arith::MulIOp) { return "mul.lo.s"; })
      .Case([](arith::MinSIOp) { return "min.s"; })
      .Case([](arith::MaxSIOp) { return "max.s"; })
      .Case([](arith::MinUIOp) { return "min.u"; })
      .Case([](arith::MaxUIOp) { return "max.u"; })
      .Case([](arith::AndIOp) { return "and.b"; })
      .Case([](arith::OrIOp) { return "or.b"; })
      .Case([](arith::XOrIOp) { return "xor.b"; })
      .Default(StringRef());
}

/// Computes the result of an operation; returns an empty name if no instruction
/// does.
std::string Ptx::computed(Operation *op) {
  auto isKnown = [](Type type) {
    return type.isInteger(1) || type.isInteger(32) || type.isInteger(64);
  };
  if (op->getNumResults() != 1 || !isKnown(op->getResult(0).getType()))
    return "";
  Type type = op->getResult(0).getType();
  std::string width = std::to_string(type.getIntOrFloatBitWidth());
  auto isWide = [&](Value value) {
    return isKnown(value.getType()) && !value.getType().isInteger(1);
  };
  auto emit = [&](const Twine &instruction, ArrayRef<std::string> from) {
    return compute(type, instruction, from);
  };
  if (StringRef two = twoOperands(op, type.isInteger(1)); !two.empty()) {
    APInt bit;
    if (isa<arith::XOrIOp>(op) && type.isInteger(1) &&
        matchPattern(op->getOperand(1), m_ConstantInt(&bit)) && bit.isOne())
      return emit("not.pred", {of(op->getOperand(0))});
    std::string one = of(op->getOperand(0)), other = of(op->getOperand(1));
    if (isa<arith::AndIOp, arith::OrIOp>(op) && one == other)
      return one;
    return emit(two + (type.isInteger(1) ? "" : width), {one, other});
  }
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    if (!isWide(compare.getLhs()))
      return "";
    auto [name, sign] = nameOf(compare.getPredicate());
    unsigned bits = compare.getLhs().getType().getIntOrFloatBitWidth();
    std::string one = inRegister(compare.getLhs()),
                other = of(compare.getRhs());
    return emit("setp." + name + "." + sign + Twine(bits), {one, other});
  }
  if (auto choice = dyn_cast<arith::SelectOp>(op)) {
    if (type.isInteger(1))
      return "";
    std::string yes = of(choice.getTrueValue()),
                no = of(choice.getFalseValue());
    return emit("selp.b" + width, {yes, no, of(choice.getCondition())});
  }
  if (isa<arith::ExtSIOp, arith::ExtUIOp>(op)) {
    bool isSigned = isa<arith::ExtSIOp>(op);
    Value from = op->getOperand(0);
    if (from.getType().isInteger(1))
      return emit("selp.b" + width, {isSigned ? "-1" : "1", "0", of(from)});
    if (from.getType().isInteger(32))
      return emit(isSigned ? "cvt.s64.s32" : "cvt.u64.u32", {inRegister(from)});
  }
  if (isa<arith::TruncIOp>(op) && type.isInteger(32) &&
      op->getOperand(0).getType().isInteger(64))
    return emit("cvt.u32.u64", {inRegister(op->getOperand(0))});
  static constexpr StringLiteral axes[] = {"x", "y", "z"};
  if (auto program = dyn_cast<tt::GetProgramIdOp>(op))
    return emit("mov.u32", {("%ctaid." + axes[program.getAxisAsInt()]).str()});
  if (auto number = dyn_cast<tt::GetNumProgramsOp>(op))
    return emit("mov.u32", {("%nctaid." + axes[number.getAxisAsInt()]).str()});
  if (auto number = dyn_cast<tt::PtrToIntOp>(op))
    return ofPointer(number.getSrc());
  auto word = dyn_cast<probe::LaunchWordOp>(op);
  if (word && readsWords && !word.getOffset())
    return emit("ld.global.b64",
                {"[slot+" + std::to_string(8 * word.getWord()) + "]"});
  return "";
}

SmallVector<Value> Ptx::build(ArrayRef<Type> types) {
  auto constraintOf = [](Type type) { return type.isInteger(32) ? "r" : "l"; };
  SmallVector<std::string> constraints;
  for (Type type : types)
    constraints.push_back(std::string("=&") + constraintOf(type));
  for (Value &value : operands) {
    if (value.getType().isInteger(1))
      value = arith::ExtUIOp::create(b, b.getI32Type(), value);
    constraints.push_back(constraintOf(value.getType()));
  }
  std::string text = "{ .reg .pred p, q; .reg .b64 k, program; "
                     ".reg .b32 l; " +
                     content + "}";
  auto op = tt::ElementwiseInlineAsmOp::create(
      b, TypeRange(types), text, llvm::join(constraints, ","),
      /*pure=*/false, /*packed_element=*/1, operands);
  return SmallVector<Value>(op->getResults());
}
