// SPDX-License-Identifier: Apache-2.0
//
// --help: passes by the groups of Triton's `passes` module; --version.

// RUN: triton-ext-opt --help | FileCheck %s
// RUN: triton-ext-opt -help | FileCheck %s
// RUN: triton-ext-opt --version | FileCheck %s --check-prefix=VERSION
// RUN: env TRITON_EXT_PATH=%s triton-ext-opt --help | FileCheck %s --check-prefix=BROKEN

// CHECK: USAGE: triton-ext-opt [options] <input file>
// None of the thousands of options of the LLVM inside libtriton.
// CHECK-NOT: --x86-
// CHECK: --Rpass-missed=<regex>
// CHECK: --split-input-file
// CHECK: {{^}}analysis:
// CHECK: {{^}}common:
// CHECK: --canonicalize
// CHECK: {{^}}convert:
// CHECK: --convert-scf-to-cf
// CHECK: {{^}}ttir:
// CHECK: --convert-triton-to-tritongpu
// CHECK: --num-warps=<int>
// CHECK: --triton-loop-unroll
// CHECK: {{^}}ttgpuir:
// CHECK: --tritongpu-coalesce
// CHECK: --tritongpu-pipeline
// CHECK: {{^}}ttnvgpuir:
// CHECK: --triton-nvidia-tma-lowering
// CHECK: {{^}}llvmir:
// CHECK: {{^}}gluon:
// CHECK: {{^}}amd:
// CHECK: --tritonamdgpu-accelerate-matmul
// CHECK: {{^}}nvidia:
// CHECK: --nvgpu-warp-specialization
// CHECK: {{^}}proton:
// CHECK: {{^}}extensions:
// CHECK: --triton-ext-rename, --rename
// CHECK: --old=<std::string>
// CHECK: Missing, because libtriton does not hold them:
// VERSION: triton-ext-opt {{.*}} for Triton 3.9.0 (LLVM {{[0-9a-f]+}})
// BROKEN: {{^}}extensions:
// BROKEN-DAG: help: broken:
// BROKEN-DAG: --triton-ext-rename
