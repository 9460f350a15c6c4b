// SPDX-License-Identifier: Apache-2.0
//
// Parses PTX: declarations of registers, blocks in braces, and instructions.
// Refuses labels, and directives other than .reg.

#include "Ptx.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mlir::triton_ext::convert_ptx_to_arith;

namespace {
class Parser {
public:
  Parser(StringRef text, ArrayRef<PtxType> operands, std::string &why)
      : rest(text), why(why) {
    for (auto [i, type] : llvm::enumerate(operands)) {
      program.registers.push_back(type);
      program.names.push_back("$" + std::to_string(i));
    }
    numOperands = operands.size();
    scopes.emplace_back();
  }

  std::optional<Program> run() {
    while (skip(), !rest.empty())
      if (!statement())
        return std::nullopt;
    if (scopes.size() != 1)
      return refuse("a brace is not closed"), std::nullopt;
    return std::move(program);
  }

private:
  bool refuse(const Twine &message) {
    why = message.str();
    return false;
  }

  /// Skips white space and comments.
  void skip() {
    while (true) {
      rest = rest.ltrim();
      if (rest.starts_with("//"))
        rest = rest.drop_until([](char c) { return c == '\n'; });
      else if (rest.starts_with("/*"))
        rest = rest.substr(std::min(rest.find("*/", 2), rest.size() - 2) + 2);
      else
        return;
    }
  }

  bool accept(char c) {
    skip();
    return rest.consume_front(StringRef(&c, 1));
  }

  /// Takes the longest word of letters, digits, _, $, % and `more`.
  StringRef word(StringRef more = "") {
    skip();
    StringRef found = rest.take_while([&](char c) {
      return llvm::isAlnum(c) || c == '_' || c == '$' || c == '%' ||
             more.contains(c);
    });
    rest = rest.drop_front(found.size());
    return found;
  }

  bool statement();
  bool declaration();
  bool operand(Operand &result);
  bool number(Operand &result);
  std::optional<unsigned> lookUp(StringRef name);

  StringRef rest;
  std::string &why;
  Program program;
  unsigned numOperands;
  /// The registers that each open block declares.
  SmallVector<llvm::StringMap<unsigned>> scopes;
};
} // namespace

std::optional<unsigned> Parser::lookUp(StringRef name) {
  StringRef digits = name;
  unsigned index;
  if (digits.consume_front("$") && !digits.getAsInteger(10, index))
    return index < numOperands ? std::optional(index) : std::nullopt;
  for (auto &scope : llvm::reverse(scopes))
    if (auto it = scope.find(name); it != scope.end())
      return it->second;
  return std::nullopt;
}

/// `.reg .b32 a, b<4>;`, of which the latter declares b0 to b3.
bool Parser::declaration() {
  StringRef directive = word(".");
  if (directive != ".reg")
    return refuse("the directive '" + directive + "' is not known");
  skip();
  StringRef name = word(".");
  std::optional<PtxType> type =
      name.consume_front(".") ? parseType(name) : std::nullopt;
  if (!type)
    return refuse("'" + name + "' is not a type of registers");
  do {
    std::string base = word().str();
    if (base.empty())
      return refuse("a declaration of registers has no name");
    unsigned count = 1;
    bool isMany = accept('<');
    if (isMany &&
        (word().getAsInteger(10, count) || !accept('>') || count > 256))
      return refuse("the number of registers '" + base + "' is not clear");
    for (unsigned i = 0; i < count; ++i) {
      std::string each = isMany ? base + std::to_string(i) : base;
      scopes.back()[each] = program.registers.size();
      program.registers.push_back(*type);
      program.names.push_back(each);
    }
  } while (accept(','));
  return accept(';') || refuse("a declaration does not end in ';'");
}

/// Integers, 0f and 0d with the bits of a float, and decimal numbers.
bool Parser::number(Operand &result) {
  bool isNegative = accept('-');
  StringRef text = word(".");
  // 1e-5: the sign belongs to the number.
  bool isHex = text.starts_with_insensitive("0x");
  bool isBits =
      text.starts_with_insensitive("0f") || text.starts_with_insensitive("0d");
  std::string all = text.str();
  if (!isHex && !isBits && text.ends_with_insensitive("e") &&
      (rest.starts_with("-") || rest.starts_with("+"))) {
    all += rest.front();
    rest = rest.drop_front();
    all += word().str();
  }
  text = all;
  if (isBits) {
    result.kind = Operand::Number;
    result.numberBits = llvm::toLower(text[1]) == 'f' ? 32 : 64;
    StringRef digits = text.drop_front(2);
    if (digits.size() != result.numberBits / 4 || isNegative ||
        digits.getAsInteger(16, result.bits))
      return refuse("'" + text + "' is not a number");
    return true;
  }
  if (text.contains('.') || (!isHex && text.contains_insensitive("e"))) {
    result.kind = Operand::Number;
    if (text.getAsDouble(result.number))
      return refuse("'" + text + "' is not a number");
    result.number = isNegative ? -result.number : result.number;
    return true;
  }
  result.kind = Operand::Integer;
  text.consume_back("U");
  if (text.getAsInteger(0, result.bits))
    return refuse("'" + text + "' is not a number");
  result.bits = isNegative ? -result.bits : result.bits;
  return true;
}

bool Parser::operand(Operand &result) {
  skip();
  if (accept('{')) {
    result.kind = Operand::List;
    do
      if (!operand(result.elements.emplace_back()))
        return false;
    while (accept(','));
    return accept('}') || refuse("a list of registers is not closed");
  }
  if (!rest.empty() && llvm::isDigit(rest.front()))
    return number(result);
  if (rest.starts_with("-")) {
    StringRef after = rest.drop_front().ltrim();
    if (!after.empty() && llvm::isDigit(after.front()))
      return number(result);
    result.hasMinus = accept('-');
  }
  result.isNegated = accept('!');
  StringRef name = word();
  if (name == "_")
    return true;
  // $0 may be written ${0}.
  std::string braced;
  if (name == "$" && accept('{')) {
    braced = "$" + word().str();
    name = braced;
    if (!accept('}'))
      return refuse("an operand '${…' is not closed");
  }
  if (std::optional<unsigned> index = lookUp(name)) {
    result.kind = Operand::Register;
    result.index = *index;
    if (rest.consume_front("."))
      result.selector = word();
  } else if (name.starts_with("%")) {
    StringRef part = rest.starts_with(".") ? word(".") : StringRef();
    result.kind = Operand::Special;
    result.name = StringRef(name.data(), name.size() + part.size());
  } else {
    StringRef shown = name.empty() ? rest.take_front(1) : name;
    return refuse("'" + shown + "' is not a register");
  }
  // p|q
  skip();
  if (!rest.consume_front("|"))
    return true;
  Operand pair;
  pair.kind = Operand::List;
  pair.elements.push_back(result);
  if (!operand(pair.elements.emplace_back()))
    return false;
  result = pair;
  return true;
}

bool Parser::statement() {
  if (accept(';'))
    return true;
  if (accept('{')) {
    scopes.emplace_back();
    return true;
  }
  if (accept('}')) {
    if (scopes.size() == 1)
      return refuse("a brace is closed that is not open");
    scopes.pop_back();
    return true;
  }
  if (rest.starts_with("."))
    return declaration();
  StringRef start = rest;
  Instruction &instruction = program.instructions.emplace_back();
  if (accept('@')) {
    instruction.guard.emplace();
    if (!operand(*instruction.guard))
      return false;
  }
  StringRef whole = word(".:");
  StringRef line = start.take_until([](char c) { return c == ';'; }).rtrim();
  if (whole.empty() || whole.ends_with(":"))
    return refuse("'" + line + "' is not an instruction");
  SmallVector<StringRef> parts;
  whole.split(parts, '.');
  instruction.opcode = parts.front();
  for (StringRef part : ArrayRef(parts).drop_front())
    if (std::optional<PtxType> type = parseType(part))
      instruction.types.push_back(*type);
    else
      instruction.modifiers.push_back(part);
  skip();
  if (!rest.empty() && !rest.starts_with(";"))
    do
      if (!operand(instruction.operands.emplace_back()))
        return refuse("'" + line + "': " + why);
    while (accept(','));
  instruction.text =
      StringRef(start.data(), rest.data() - start.data()).rtrim();
  skip();
  return rest.empty() || accept(';') ||
         refuse("'" + line + "' is not an instruction");
}

std::optional<Program> mlir::triton_ext::convert_ptx_to_arith::parse(
    StringRef text, ArrayRef<PtxType> operands, std::string &why) {
  return Parser(text, operands, why).run();
}
