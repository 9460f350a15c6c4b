// SPDX-License-Identifier: Apache-2.0
//
// Reads LLVM passes of extensions, with their options, in the elements of
// textual pipelines.

#include "triton_ext/LLVMPassOptions.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir::triton_ext;
using llvm::StringRef;
using llvm::Twine;

static std::string &problemOfThread() {
  static thread_local std::string problem;
  return problem;
}

void mlir::triton_ext::setLLVMPassProblem(std::string problem) {
  if (problemOfThread().empty())
    problemOfThread() = std::move(problem);
}

std::string mlir::triton_ext::takeLLVMPassProblem() {
  return std::exchange(problemOfThread(), {});
}

std::string mlir::triton_ext::decoded(StringRef text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned code = 0;
    if (text[i] == '%' && !text.substr(i + 1, 2).getAsInteger(16, code) &&
        i + 2 < text.size()) {
      result += static_cast<char>(code);
      i += 2;
    } else {
      result += text[i];
    }
  }
  return result;
}

bool mlir::triton_ext::readLLVMPass(StringRef text,
                                    const LLVMPassDescriptor &pass,
                                    SetOption set, std::string &problem) {
  StringRef name = text.take_until([](char c) { return c == '<'; });
  StringRef argument = pass.argument, prefix = "triton-ext-";
  if (name != argument && name != pass.name &&
      !(argument.starts_with(prefix) && name == argument.substr(prefix.size())))
    return false;
  std::string where = ("' of pass '" + Twine(argument) + "'").str();
  StringRef options = text.drop_front(name.size());
  if (options.consume_front("<") && !options.consume_back(">")) {
    problem =
        ("the options of pass '" + Twine(argument) + "' do not end in >").str();
    return true;
  }
  llvm::ArrayRef<OptionDescriptor> known(pass.options, pass.numOptions);
  llvm::StringSet<> seen;
  llvm::SmallVector<StringRef> parts;
  options.split(parts, ';', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    auto [option, value] = part.split('=');
    const auto *found = llvm::find_if(
        known, [&](const OptionDescriptor &o) { return option == o.name; });
    if (found == known.end()) {
      std::string valid = llvm::join(
          llvm::map_range(known, [](auto &o) { return std::string(o.name); }),
          ", ");
      problem = ("unknown option '" + option + where +
                 "; valid options: " + (valid.empty() ? "none" : valid))
                    .str();
    } else if (!seen.insert(option).second) {
      problem = ("option '" + option + where + " is given twice").str();
    } else if ((!part.contains('=') && StringRef(found->type) != "bool") ||
               !set(option, value)) {
      problem =
          ("invalid value '" + value + "' for option '" + option + where +
           "; expected " + (found->isList ? "a list of " : "") + found->type)
              .str();
    }
    if (!problem.empty())
      break;
  }
  return true;
}
