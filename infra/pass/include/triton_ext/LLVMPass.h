// SPDX-License-Identifier: Apache-2.0
//
// The contract between the library of an LLVM pass and the programs that run
// it. Included by the header that triton_ext_add_llvm_pass() generates.

#ifndef TRITON_EXT_LLVMPASS_H
#define TRITON_EXT_LLVMPASS_H

#include "triton_ext/PassInfra.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"

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

/// Sets an option of a pass; returns false if the value is not one of its type.
using SetOption =
    llvm::function_ref<bool(llvm::StringRef name, llvm::StringRef value)>;

/// Whether `text`, an element of a textual pipeline, is this pass. If it is,
/// `problem` is set to what is wrong with its options, or to an empty text.
/// Options are written `name<first=1;second=a|b>`: `;` separates options, `|`
/// the values of a list, and `%2c` stands for the character 0x2c.
TRITON_EXT_API bool readLLVMPass(llvm::StringRef text,
                                 const LLVMPassDescriptor &pass, SetOption set,
                                 std::string &problem);

/// The first problem with options since the last call, in this thread. LLVM's
/// parser has no way to report it.
TRITON_EXT_API void setLLVMPassProblem(std::string problem);
TRITON_EXT_API std::string takeLLVMPassProblem();

/// Adds nothing and throws `std::invalid_argument`: the pass cannot be added to
/// a pass manager of MLIR.
TRITON_EXT_API void refuseMLIR(const LLVMPassDescriptor &pass);

/// Returns the text that `text` stands for.
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

/// The unit that a pass runs on, by the signature of its `run`: llvm::Module,
/// llvm::Function or llvm::Loop.
template <typename Pass, typename Unit, typename... Rest>
Unit unitOf(llvm::PreservedAnalyses (Pass::*)(Unit &, Rest...));
template <typename Pass, typename Unit, typename... Rest>
Unit unitOf(llvm::PreservedAnalyses (Pass::*)(Unit &, Rest...) const);

/// Makes `builder` know the pass in textual pipelines. `read` reads an element
/// of a pipeline as readLLVMPass() does, and sets the options.
template <typename Pass, typename Options>
void registerLLVMPass(llvm::PassBuilder &builder,
                      bool (*read)(llvm::StringRef, Options &, std::string &)) {
  using Unit = decltype(unitOf(&Pass::run));
  static_assert(
      std::is_same_v<Unit, llvm::Module> ||
          std::is_same_v<Unit, llvm::Function> ||
          std::is_same_v<Unit, llvm::Loop>,
      "run takes an llvm::Module, an llvm::Function or an llvm::Loop");
  auto parse = [read](llvm::StringRef text, auto &manager,
                      llvm::ArrayRef<llvm::PassBuilder::PipelineElement>) {
    Options options;
    std::string problem;
    if (!read(text, options, problem))
      return false;
    if (!problem.empty()) {
      setLLVMPassProblem(std::move(problem));
      return false;
    }
    manager.addPass(Pass(options));
    return true;
  };
  using Element = llvm::ArrayRef<llvm::PassBuilder::PipelineElement>;
  if constexpr (std::is_same_v<Unit, llvm::Module>)
    builder.registerPipelineParsingCallback(
        [parse](llvm::StringRef text, llvm::ModulePassManager &manager,
                Element inner) { return parse(text, manager, inner); });
  else if constexpr (std::is_same_v<Unit, llvm::Function>)
    builder.registerPipelineParsingCallback(
        [parse](llvm::StringRef text, llvm::FunctionPassManager &manager,
                Element inner) { return parse(text, manager, inner); });
  else
    builder.registerPipelineParsingCallback(
        [parse](llvm::StringRef text, llvm::LoopPassManager &manager,
                Element inner) { return parse(text, manager, inner); });
}

} // namespace mlir::triton_ext

#endif // TRITON_EXT_LLVMPASS_H
