// SPDX-License-Identifier: Apache-2.0
//
// Reads and prints the maps of `layout_ext`. A map that is not bijective is
// refused where it is read.

#include "LayoutExt.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::layout_ext;

/// The largest number of bits of an index, over all dimensions.
static constexpr size_t kMostBits = 20;

/// Parses `[1, 2]`.
static ParseResult parseVector(AsmParser &parser,
                               std::vector<int32_t> &vector) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return parser.parseInteger(vector.emplace_back());
  });
}

Attribute MapAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<std::vector<std::vector<int32_t>>> dims;
  auto parseDim = [&] {
    auto &vectors = dims.emplace_back();
    return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
      return parseVector(parser, vectors.emplace_back());
    });
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     parseDim))
    return {};

  size_t bits = 0;
  for (const auto &vectors : dims) {
    bits += vectors.size();
    for (const auto &vector : vectors)
      if (vector.size() != dims.size()) {
        parser.emitError(loc)
            << "expected vectors with one number for each of the "
            << dims.size() << " dimensions, got [" << ArrayRef(vector) << "]";
        return {};
      }
  }
  if (bits > kMostBits) {
    parser.emitError(loc) << "expected up to " << kMostBits << " vectors, got "
                          << bits;
    return {};
  }
  LinearLayout::BasesT bases;
  SmallVector<std::pair<StringAttr, int32_t>> sizes;
  for (auto [dim, vectors] : llvm::enumerate(dims)) {
    auto name = StringAttr::get(parser.getContext(), "dim" + Twine(dim));
    sizes.emplace_back(name, 1 << vectors.size());
    bases[name] = vectors;
  }
  for (const auto &vectors : dims)
    for (const auto &vector : vectors)
      for (auto [value, size] : llvm::zip_equal(vector, sizes))
        if (value < 0 || value >= size.second) {
          parser.emitError(loc)
              << "expected indices of the shape that the numbers of vectors "
                 "give, got ["
              << ArrayRef(vector) << "]";
          return {};
        }
  std::optional<LinearLayout> layout = LinearLayout::tryCreate(
      std::move(bases), sizes, /*requireSurjective=*/true);
  if (!layout) {
    parser.emitError(loc) << "expected a map that reaches every index";
    return {};
  }
  return get(parser.getContext(), *layout);
}

void MapAttr::print(AsmPrinter &printer) const {
  LinearLayout layout = getLinearLayout();
  auto printVector = [&](const std::vector<int32_t> &vector) {
    printer << '[' << ArrayRef(vector) << ']';
  };
  printer << '<';
  llvm::interleaveComma(layout.getBases(), printer, [&](const auto &dim) {
    printer << '[';
    llvm::interleaveComma(dim.second, printer, printVector);
    printer << ']';
  });
  printer << '>';
}
