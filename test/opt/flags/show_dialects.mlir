// SPDX-License-Identifier: Apache-2.0
//
// --show-dialects: those of libtriton, and with them those of a plugin.

// RUN: triton-ext-opt --show-dialects | FileCheck %s
// RUN: triton-ext-opt --show-dialects --load-extension=%plugins/libMLIRDialectPlugin.so | FileCheck %s --check-prefix=PLUGIN

// CHECK: Registered dialects:
// CHECK-DAG: {{^}}tt{{$}}
// CHECK-DAG: {{^}}ttg{{$}}
// CHECK-DAG: {{^}}ttng{{$}}
// CHECK-DAG: {{^}}gluon{{$}}
// CHECK-DAG: {{^}}amdg{{$}}
// CHECK-DAG: {{^}}nvws{{$}}
// CHECK-DAG: {{^}}proton{{$}}
// CHECK-DAG: {{^}}llvm{{$}}
// PLUGIN: {{^}}plugin{{$}}
