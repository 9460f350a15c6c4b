// SPDX-License-Identifier: Apache-2.0
//
// libTritonExtPassInfra.so: turns a name and a class into a Triton plugin. It
// parses the strings that Triton passes to a plugin into the typed options of
// the pass, and adds the pass to the pass manager. No pass is named here.

#include "Attempts.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "triton/Tools/PluginUtils.h"
#include "triton/Version.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::triton_ext;

/// Whether `value` is a value of the C++ type `type`. Only types of numbers are
/// checked; the pass's own parser checks the others.
static bool parses(StringRef type, StringRef value) {
  int64_t asSigned;
  uint64_t asUnsigned;
  double asDouble;
  unsigned bits = llvm::StringSwitch<unsigned>(type)
                      .Cases({"int", "int32_t", "unsigned", "uint32_t"}, 32)
                      .Cases({"int64_t", "uint64_t", "size_t"}, 64)
                      .Default(0);
  if (bits && (type.starts_with("u") || type == "size_t"))
    return !value.getAsInteger(0, asUnsigned) &&
           llvm::isUIntN(bits, asUnsigned);
  if (bits)
    return !value.getAsInteger(0, asSigned) && llvm::isIntN(bits, asSigned);
  if (type == "bool")
    return llvm::is_contained(
        {"true", "TRUE", "True", "1", "false", "FALSE", "False", "0"}, value);
  if (type == "float" || type == "double")
    return !value.getAsDouble(asDouble);
  return true;
}

/// Returns `value` for MLIR's parser of pass options, in quotes if that is
/// needed to make it one token; nothing if the parser's syntax cannot express
/// it. A list is not quoted, because quotes would make it one element.
static std::optional<std::string> quote(StringRef value, bool isList) {
  if (value.find_first_of(" \t\n\v\f\r'\"{}") == StringRef::npos)
    return value.str();
  for (StringRef mark : {"\"", "'"})
    if (!isList && !value.contains(mark) && value == value.trim())
      return (mark + value + mark).str();
  return std::nullopt;
}

/// Sets one option of `pass` from "name=value", or "name" for a flag. Returns
/// an error or an empty string.
static std::string setOption(const PassDescriptor &descriptor, Pass &pass,
                             StringRef arg) {
  auto [name, value] = arg.split('=');
  std::string where = ("' of pass '" + Twine(descriptor.argument) + "'").str();
  ArrayRef<OptionDescriptor> options(descriptor.options, descriptor.numOptions);
  const auto *option = llvm::find_if(
      options, [&](const OptionDescriptor &o) { return name == o.name; });
  if (option == options.end()) {
    std::string valid = llvm::join(
        llvm::map_range(options, [](auto &o) { return std::string(o.name); }),
        ", ");
    return ("unknown option '" + name + where +
            "; valid options: " + (valid.empty() ? "none" : valid))
        .str();
  }

  bool isFlag = !arg.contains('=');
  if (option->isList && !isFlag && value.empty())
    return ""; // an empty list is the default of a list option
  SmallVector<StringRef> values = {value};
  if (option->isList) {
    values.clear();
    value.split(values, ',');
  }
  StringRef type = option->type;
  std::optional<std::string> text = quote(value, option->isList);
  bool valid =
      isFlag ? type == "bool" : text && llvm::all_of(values, [&](StringRef v) {
                                  return parses(type, v);
                                });
  if (valid)
    valid = succeeded(
        pass.initializeOptions(isFlag ? name.str() : (name + "=" + *text).str(),
                               [](const Twine &) { return failure(); }));
  if (!valid)
    return ("invalid value '" + value + "' for option '" + name + where +
            "; expected " + (option->isList ? "a list of " : "") + type)
        .str();
  return "";
}

std::string mlir::triton_ext::tryAddPass(const PassDescriptor &descriptor,
                                         PassManager &pm,
                                         const std::vector<std::string> &args) {
  std::unique_ptr<Pass> pass = descriptor.create();
  llvm::StringSet<> seen;
  for (const std::string &arg : args) {
    std::string problem = setOption(descriptor, *pass, arg);
    StringRef name = StringRef(arg).split('=').first;
    if (problem.empty() && !seen.insert(name).second)
      problem = ("option '" + name + "' of pass '" + descriptor.argument +
                 "' is given twice")
                    .str();
    if (!problem.empty())
      return problem;
  }
  // Triton's pass managers run on modules but are not anchored to them. A pass
  // for another operation would be skipped (or, in a manager that is anchored
  // to a module, would end the process), so it is nested.
  std::optional<StringRef> anchor = pass->getOpName();
  if (anchor && *anchor != ModuleOp::getOperationName() &&
      *anchor != pm.getOpAnchorName())
    pm.nest(*anchor).addPass(std::move(pass));
  else
    pm.addPass(std::move(pass));
  return "";
}

void mlir::triton_ext::registerPass(const PassDescriptor &descriptor) {
  if (!PassInfo::lookup(descriptor.argument))
    mlir::registerPass(descriptor.create);
}

triton::plugin::PluginInfo *
mlir::triton_ext::makePluginInfo(const char *name, const char *version,
                                 const PluginPass *passes, size_t numPasses) {
  // Triton keeps the pointers for the life of the process.
  auto *infos = new triton::plugin::PassInfo[numPasses];
  for (size_t i = 0; i < numPasses; ++i)
    infos[i] = {passes[i].descriptor->name, passes[i].descriptor->version,
                passes[i].add, passes[i].registerSelf};
  return new triton::plugin::PluginInfo{
      TRITON_PLUGIN_API_VERSION, name, version,       infos, numPasses,
      /*dialects=*/nullptr,      0,
      /*ops=*/nullptr,           0,    TRITON_VERSION};
}

triton::plugin::PluginInfo *mlir::triton_ext::makePluginInfo(
    const PassDescriptor &descriptor,
    void (*addPassCallback)(PassManager *, const std::vector<std::string> &),
    void (*registerPassCallback)()) {
  PluginPass pass = {&descriptor, addPassCallback, registerPassCallback};
  return makePluginInfo(descriptor.name, descriptor.version, &pass, 1);
}
