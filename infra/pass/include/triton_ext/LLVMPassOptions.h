// SPDX-License-Identifier: Apache-2.0
//
// The description and the options of an LLVM pass, without LLVM's PassBuilder,
// whose header takes most of the time that it takes to compile a small source.

#ifndef TRITON_EXT_LLVMPASSOPTIONS_H
#define TRITON_EXT_LLVMPASSOPTIONS_H

#include "triton_ext/PassInfra.h"

#include "llvm/ADT/StringExtras.h"

namespace llvm {
class PassBuilder;
} // namespace llvm

namespace mlir::triton_ext {

/// The description of an LLVM pass.
struct LLVMPassDescriptor {
  /// Python name and directory, e.g. "fast_div".
  const char *name;
  /// Spelling in a textual pipeline, e.g. "triton-ext-fast-div"; a pipeline may
  /// also leave out the prefix, or use the name.
  const char *argument;
  const char *version;
  const OptionDescriptor *options;
  size_t numOptions;
};

/// Sets an option of a pass; returns false if the value does not have the
/// option's type.
using SetOption =
    llvm::function_ref<bool(llvm::StringRef name, llvm::StringRef value)>;

/// Returns whether `text`, an element of a textual pipeline, names this pass.
/// If so, sets `problem` to the error in its options, or to an empty text.
/// Options are written `name<first=1;second=a|b>`: `;` separates options, `|`
/// the values of a list, and `%2c` stands for the character 0x2c.
TRITON_EXT_API bool readLLVMPass(llvm::StringRef text,
                                 const LLVMPassDescriptor &pass, SetOption set,
                                 std::string &problem);

/// Returns the first error in options since the last call on this thread.
/// LLVM's parser has no way to report it.
TRITON_EXT_API void setLLVMPassProblem(std::string problem);
TRITON_EXT_API std::string takeLLVMPassProblem();

/// Adds nothing and throws `std::invalid_argument`: the pass cannot be added to
/// a pass manager of MLIR.
TRITON_EXT_API void refuseMLIR(const LLVMPassDescriptor &pass);

/// Returns `text` with its escapes, such as `%2c`, decoded.
TRITON_EXT_API std::string decoded(llvm::StringRef text);

/// Parses a value of an option. An overload for an enum is generated.
template <typename T> bool parseLLVMOption(llvm::StringRef text, T &value) {
  if constexpr (std::is_same_v<T, bool>) {
    bool on = text.empty() || text == "true" || text == "1";
    value = on;
    return on || text == "false" || text == "0";
  } else if constexpr (std::is_integral_v<T>) {
    return !text.getAsInteger(0, value);
  } else {
    double number;
    if (text.getAsDouble(number))
      return false;
    value = static_cast<T>(number);
    return true;
  }
}
inline bool parseLLVMOption(llvm::StringRef text, std::string &value) {
  value = decoded(text);
  return true;
}
template <typename T>
bool parseLLVMOptionList(llvm::StringRef text, std::vector<T> &values) {
  values.clear();
  if (text.empty())
    return true;
  llvm::SmallVector<llvm::StringRef> items;
  text.split(items, '|');
  for (llvm::StringRef item : items) {
    T value{};
    if (!parseLLVMOption(item, value))
      return false;
    values.push_back(std::move(value));
  }
  return true;
}

} // namespace mlir::triton_ext

#endif // TRITON_EXT_LLVMPASSOPTIONS_H
