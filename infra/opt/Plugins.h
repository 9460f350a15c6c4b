// SPDX-License-Identifier: Apache-2.0
//
// Extensions and other Triton plugins, made available to textual pipelines.

#ifndef TRITON_EXT_OPT_PLUGINS_H
#define TRITON_EXT_OPT_PLUGINS_H

#include <string>

namespace mlir {
class DialectRegistry;
} // namespace mlir

/// A library to load, as Python describes it. driver.py has the same structure.
struct TritonExtOptPlugin {
  /// The name of the library in messages.
  const char *path;
  /// The path to open, which leads to the bytes that were verified.
  const char *content;
  /// The argument of its pass, e.g. "triton-ext-rename"; null if only the
  /// library itself knows.
  const char *argument;
  /// Another name for that pass, e.g. "rename"; null for none.
  const char *alias;
};

namespace mlir::triton_ext {

/// Loads the library, registers its passes and adds its dialects to `registry`.
/// Loading it again does nothing. Returns an error or an empty string.
std::string loadPlugin(const TritonExtOptPlugin &plugin,
                       DialectRegistry &registry);

/// Returns the dialects of the plugins that Python has loaded, then those of
/// libtriton; see runTool() in Opt.cpp.
DialectRegistry apiRegistry();

} // namespace mlir::triton_ext

#endif // TRITON_EXT_OPT_PLUGINS_H
