// SPDX-License-Identifier: Apache-2.0
//
// The contract between a pass library and libTritonExtPassInfra.so. Included by
// the glue that triton_ext_add_pass() generates, never by a pass. It includes
// no MLIR headers, so that the glue compiles fast.

#ifndef TRITON_EXT_PASSINFRA_H
#define TRITON_EXT_PASSINFRA_H

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

/// Exported from libTritonExtPassInfra.so, which is built with hidden
/// visibility.
#define TRITON_EXT_API __attribute__((visibility("default")))

namespace mlir {
class Pass;
class PassManager;
namespace triton::plugin {
struct PluginInfo;
} // namespace triton::plugin
} // namespace mlir

namespace mlir::triton_ext {

/// One option of a pass, as its `.td` declares it.
struct OptionDescriptor {
  /// Spelling in a textual pipeline, e.g. "max-splits".
  const char *name;
  /// C++ type as written in the `.td`, e.g. "int64_t".
  const char *type;
  /// Whether it is a `ListOption`.
  bool isList;
};

/// The description of a pass for the infrastructure.
struct PassDescriptor {
  /// Python name and directory, e.g. "loop_split".
  const char *name;
  /// Spelling in a textual pipeline, e.g. "triton-ext-loop-split".
  const char *argument;
  const char *version;
  std::unique_ptr<Pass> (*create)();
  const OptionDescriptor *options;
  size_t numOptions;
};

/// Creates the pass, sets its options from `args` (each "name=value", or "name"
/// for a flag) and adds it to `pm`, nested on the operation that the pass is
/// restricted to. Throws `std::invalid_argument`, which nanobind turns into a
/// `ValueError`, if an option is unknown or its value does not parse.
TRITON_EXT_API void addPass(const PassDescriptor &pass, PassManager &pm,
                            const std::vector<std::string> &args);

/// Registers the pass for textual pipelines, unless a pass with the same
/// argument is registered already.
TRITON_EXT_API void registerPass(const PassDescriptor &pass);

/// Returns the plugin description for `tritonGetPluginInfo`, with every field
/// set, valid for the life of the process.
TRITON_EXT_API triton::plugin::PluginInfo *makePluginInfo(
    const PassDescriptor &pass,
    void (*addPassCallback)(PassManager *, const std::vector<std::string> &),
    void (*registerPassCallback)());

/// Triton's callbacks carry no user data, so each pass gets its own functions.
template <const PassDescriptor &Descriptor> struct PassCallbacks {
  static void add(PassManager *pm, const std::vector<std::string> &args) {
    addPass(Descriptor, *pm, args);
  }
  static void registerSelf() { registerPass(Descriptor); }
};

/// One of several passes of a plugin.
struct PluginPass {
  const PassDescriptor *descriptor;
  void (*add)(PassManager *, const std::vector<std::string> &);
  void (*registerSelf)();
};
template <const PassDescriptor &Descriptor>
constexpr PluginPass pluginPass = {&Descriptor, PassCallbacks<Descriptor>::add,
                                   PassCallbacks<Descriptor>::registerSelf};

/// The same for a plugin with several passes.
TRITON_EXT_API triton::plugin::PluginInfo *
makePluginInfo(const char *name, const char *version, const PluginPass *passes,
               size_t numPasses);

} // namespace mlir::triton_ext

#endif // TRITON_EXT_PASSINFRA_H
