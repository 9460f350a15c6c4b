// SPDX-License-Identifier: Apache-2.0
//
// The plugin description of a library of infra, which has callbacks for Python
// but neither passes of its own nor a manifest.

#ifndef TRITON_EXT_PLUGININFO_H
#define TRITON_EXT_PLUGININFO_H

#include "triton/Tools/PluginUtils.h"
#include "triton/Version.h"

namespace mlir::triton_ext {

/// Returns the description of the plugin `name` with the callbacks `passes` and
/// `ops`, which must live as long as the plugin.
inline triton::plugin::PluginInfo
describePlugin(const char *name,
               MutableArrayRef<triton::plugin::PassInfo> passes,
               MutableArrayRef<triton::plugin::OpInfo> ops = {}) {
  return {TRITON_PLUGIN_API_VERSION,
          name,
          TRITON_EXT_VERSION,
          passes.data(),
          passes.size(),
          /*dialects=*/nullptr,
          /*numDialects=*/0,
          ops.data(),
          ops.size(),
          TRITON_VERSION};
}

} // namespace mlir::triton_ext

#endif // TRITON_EXT_PLUGININFO_H
