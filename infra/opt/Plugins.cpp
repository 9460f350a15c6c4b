// SPDX-License-Identifier: Apache-2.0
//
// Loads a plugin with the system's loader, because Triton's own loader binds
// the passes to Python and does not register them for textual pipelines. The
// caller has verified the library.

#include "Plugins.h"

#include "mlir/Pass/PassRegistry.h"
#include "triton/Tools/PluginUtils.h"

#include <dlfcn.h>

using namespace mlir;

/// Registers the name `alias` for the registered pass `argument`.
static void registerAlias(StringRef alias, StringRef argument) {
  const PassInfo *pass = PassInfo::lookup(argument);
  registerPassPipeline(
      alias, ("The same as -" + argument).str(),
      [pass](OpPassManager &pm, StringRef options,
             function_ref<LogicalResult(const Twine &)> onError) {
        return pass->addToPipeline(pm, options, onError);
      },
      [](function_ref<void(const detail::PassOptions &)>) {});
}

std::string triton_ext::loadPlugin(const TritonExtOptPlugin &plugin,
                                   DialectRegistry &registry) {
  // RTLD_GLOBAL, as in Triton: a dialect's types are compared by address.
  void *library = dlopen(plugin.content, RTLD_NOW | RTLD_GLOBAL);
  if (!library) {
    StringRef problem = dlerror(), name = plugin.content;
    problem.consume_front(name);
    problem.consume_front(": ");
    return (Twine(plugin.path) + ": " + problem).str();
  }
  void *symbol = dlsym(library, "tritonGetPluginInfo");
  if (!symbol)
    return (Twine(plugin.path) + " does not export tritonGetPluginInfo").str();
  auto *info = reinterpret_cast<triton::plugin::PluginInfo *(*)()>(symbol)();
  for (size_t i = 0; i < info->numPasses; ++i)
    if (!plugin.argument || !PassInfo::lookup(plugin.argument))
      info->passes[i].registerPass();
  for (size_t i = 0; i < info->numDialects; ++i)
    info->dialects[i].registerDialect(&registry);
  if (plugin.argument && !PassInfo::lookup(plugin.argument))
    return (Twine(plugin.path) + " has no pass '" + plugin.argument + "'")
        .str();
  if (plugin.alias && plugin.argument && !PassInfo::lookup(plugin.alias) &&
      !PassPipelineInfo::lookup(plugin.alias))
    registerAlias(plugin.alias, plugin.argument);
  return "";
}
