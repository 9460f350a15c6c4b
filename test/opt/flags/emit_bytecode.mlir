// SPDX-License-Identifier: Apache-2.0
//
// -emit-bytecode: libtriton has no writer; refused, and named in --help.

// RUN: not triton-ext-opt %s -emit-bytecode 2>&1 | FileCheck %s
// RUN: triton-ext-opt --help | FileCheck %s --check-prefix=HELP

// CHECK: triton-ext-opt: error: -emit-bytecode: libtriton has no bytecode writer
// HELP: --emit-bytecode {{.*}}Missing
