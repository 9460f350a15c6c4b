// RUN: not triton-ext-opt %s -triton-ext-assign-layout="kind=load" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not triton-ext-opt %s -triton-ext-assign-layout="kind=load layout=#ttg.nope" 2>&1 | FileCheck %s --check-prefix=NOPE
// RUN: not triton-ext-opt %s -triton-ext-assign-layout="kind=load layout='#nobody.tile<{vec = 4}>'" 2>&1 | FileCheck %s --check-prefix=NOBODY
// RUN: not triton-ext-opt %s -triton-ext-assign-layout="kind=shuffle layout='#ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>'" 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: not triton-ext-opt %s -triton-ext-assign-layout="layout='#ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>'" 2>&1 | FileCheck %s --check-prefix=ALL
// RUN: not triton-ext-opt %s -triton-ext-assign-layout="kind=load line=99 layout='#ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>'" 2>&1 | FileCheck %s --check-prefix=FOUND
// RUN: not triton-ext-opt %s -triton-ext-assign-layout="kind=load layout='#ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [8], order = [0]}>'" 2>&1 | FileCheck %s --check-prefix=WARPS
// RUN: triton-ext-opt %s -triton-ext-assign-layout="kind=load line=99 optional=true layout='#ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>'" | FileCheck %s --check-prefix=SAME
// RUN: not triton-ext-opt %s -triton-ext-assign-layout="kind=load vector=3" 2>&1 | FileCheck %s --check-prefix=POWER
// RUN: not triton-ext-opt %s -triton-ext-assign-layout="kind=load vector=2 layout=#ttg.nope" 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: not triton-ext-opt %s -triton-ext-assign-layout="kind=load vector=2 dimension=1" 2>&1 | FileCheck %s --check-prefix=DIMENSION
// RUN: not triton-ext-opt %s -triton-ext-assign-layout="kind=load vector=2 dimension=-1" 2>&1 | FileCheck %s --check-prefix=NEGATIVE

// POWER: assign_layout: expected a vector that is a power of 2, got 3
// BOTH: assign_layout: expected a layout or a vector, got both
// DIMENSION: assign_layout: found no operation with a tensor that has dimension 1, kind load that can have any layout (optional=true accepts that)
// NEGATIVE: assign_layout: found no operation with a tensor that has dimension -1, kind load that can have any layout (optional=true accepts that)
// NONE: assign_layout: expected a layout of a tensor such as #ttg.blocked<{...}>, got ''
// NOPE: assign_layout: expected a layout of a tensor such as #ttg.blocked<{...}>, got '#ttg.nope'
// NOBODY: assign_layout: expected a layout of a tensor such as #ttg.blocked<{...}>, got '#nobody.tile<{vec = 4}>': neither Triton nor an extension has the dialect 'nobody' (fix: triton-ext list shows extensions)
// KIND: assign_layout: expected a kind of load, store, atomic, elementwise, source, got 'shuffle'
// ALL: assign_layout: expected at least one of line, op and kind, got none
// FOUND: assign_layout: found no operation with a tensor of rank 1, line 99, kind load that can have any layout (optional=true accepts that)
// WARPS: cannot have the layout of assign_layout: #ttg.blocked
// WARPS-NEXT: Layout has 8 warps per CTA, but the context requires 4 warps per CTA
// SAME-NOT: ttg.convert_layout
// SAME: tt.load

#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @kernel(%p: tensor<1024x!tt.ptr<f32>, #a>) -> tensor<1024xf32, #a> {
    %v = tt.load %p : tensor<1024x!tt.ptr<f32>, #a>
    tt.return %v : tensor<1024xf32, #a>
  }
}
