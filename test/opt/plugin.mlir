// SPDX-License-Identifier: Apache-2.0
//
// The first example of Triton's documentation of plugins, with the plugin that
// ships in its wheel. The documentation has the names the other way round: that
// plugin names every function foo. tx's own `rename` does foo to bar.

// RUN: env TRITON_PASS_PLUGIN_PATH=%plugins/libTritonPluginsTestLib.so triton-ext-opt -tritongpu-plugin %s | FileCheck %s --check-prefix=PLUGIN
// RUN: env TRITON_PLUGIN_PATHS=%plugins/libTritonPluginsTestLib.so triton-ext-opt -tritongpu-plugin %s | FileCheck %s --check-prefix=PLUGIN
// RUN: triton-ext-opt --load-extension=%plugins/libTritonPluginsTestLib.so --pass-pipeline='builtin.module(tritongpu-plugin)' %s | FileCheck %s --check-prefix=PLUGIN
// RUN: env TRITON_PASS_PLUGIN_PATH=%plugins/libTritonPluginsTestLib.so triton-ext-opt %s | FileCheck %s --check-prefix=LOADED
// RUN: triton-ext-opt -rename='old=bar new=foo' %s | FileCheck %s --check-prefix=PLUGIN
// RUN: not triton-ext-opt -tritongpu-plugin %s 2>&1 | FileCheck %s --check-prefix=WITHOUT
// RUN: not env TRITON_PASS_PLUGIN_PATH=%t.so triton-ext-opt -tritongpu-plugin %s 2>&1 | FileCheck %s --check-prefix=MISSING

// PLUGIN: tt.func @foo()
// Loaded is not run.
// LOADED: tt.func @bar()
// WITHOUT: Unknown command line argument '-tritongpu-plugin'
// MISSING: triton-ext-opt: error: {{.*}}.so: no such file
module attributes {"ttg.num-warps" = 4 : i32, "ttg.target" = "cuda:80"} {
  tt.func @bar() {
    tt.return
  }
}
