// SPDX-License-Identifier: Apache-2.0
//
// Parses and checks the format strings of prints, which are passed to printf.
// A format has at most one conversion, which must fit the value. Conversions
// that read or write through a pointer (`%s`, `%n`) are rejected.

#include "Format.h"

#include "Aux.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::triton_ext::aux;

/// Returns the first position from `at` on whose character is not one of
/// `characters`, or the end of `format`.
static size_t skip(StringRef format, size_t at, StringRef characters) {
  return std::min(format.find_first_not_of(characters, at), format.size());
}

static SmallVector<Conversion> getConversions(StringRef format) {
  SmallVector<Conversion> found;
  for (size_t at = format.find('%'); at != StringRef::npos;
       at = format.find('%', at)) {
    if (format.substr(at).starts_with("%%")) {
      at += 2;
      continue;
    }
    Conversion conversion;
    conversion.begin = at;
    at = skip(format, at + 1, "-+ #0");
    at = skip(format, at, "0123456789");
    if (format.substr(at).starts_with("."))
      at = skip(format, at + 1, "0123456789");
    conversion.length = at;
    at = skip(format, at, "hlLqjzt");
    if (at < format.size())
      conversion.letter = format[at++];
    conversion.end = at;
    found.push_back(conversion);
  }
  return found;
}

bool mlir::triton_ext::aux::hasConversion(StringRef format) {
  return !getConversions(format).empty();
}

Conversion mlir::triton_ext::aux::getConversion(StringRef format) {
  SmallVector<Conversion> conversions = getConversions(format);
  assert(conversions.size() == 1 && "the format does not verify");
  return conversions.front();
}

/// Returns the conversion letters and the length modifiers that can print
/// values of this type.
static std::pair<StringRef, SmallVector<StringRef>> getAllowed(Type type) {
  if (isa<LLVM::LLVMPointerType>(type))
    return {"p", {""}};
  if (isa<FloatType>(type))
    return {"fFeEgGaA", {"", "l"}};
  return {"diuoxXc", {"", "hh", "h", "l", "ll", "j", "z", "t"}};
}

static bool canPrint(Type type) {
  if (type.isSignlessInteger() || isa<FloatType>(type))
    return type.getIntOrFloatBitWidth() <= 64;
  return isa<IndexType, LLVM::LLVMPointerType>(type);
}

LogicalResult
mlir::triton_ext::aux::checkFormat(Operation *op, Type type,
                                   std::optional<StringRef> format) {
  if (type && !canPrint(type))
    return op->emitOpError() << "expected integers, floats of at most 64 bits "
                                "or pointers to print, got "
                             << type;
  SmallVector<Conversion> found = getConversions(format.value_or(""));
  if (found.empty())
    return success();
  if (!type)
    return op->emitOpError()
           << "expected a value for the conversion in \"" << *format << "\"";
  if (found.size() > 1)
    return op->emitOpError() << "expected one conversion at most in \""
                             << *format << "\", got " << found.size();
  const Conversion &conversion = found.front();
  auto [letters, lengths] = getAllowed(type);
  StringRef length = format->slice(conversion.length,
                                   conversion.end - (conversion.letter != 0));
  bool fits = conversion.letter && letters.contains(conversion.letter) &&
              llvm::is_contained(lengths, length) &&
              (conversion.letter != 'c' || length.empty());
  if (fits)
    return success();
  InFlightDiagnostic diagnostic = op->emitOpError();
  diagnostic << "expected a conversion of " << type << " in \"" << *format
             << "\" (one of ";
  llvm::interleaveComma(letters, diagnostic, [&](char letter) {
    diagnostic << "%" << Twine(letter);
  });
  return diagnostic << "; %% for a percent sign), got "
                    << format->slice(conversion.begin, conversion.end);
}
