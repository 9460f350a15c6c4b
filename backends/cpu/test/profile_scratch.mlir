// RUN: triton-ext-opt %s --load-extension=cpu -triton-ext-cpu-lower-tiles | FileCheck %s

// Each program gets 8 bytes at 0 and 16 at 16, which are 32 with the alignment, of one more argument.
// CHECK: module attributes {{{.*}}triton_ext_cpu.profile_scratch = 32 : i32, triton_ext_cpu.profile_scratch_alignment = 16 : i32
// CHECK: llvm.func internal @two.program(%{{.*}}: i64, %[[MEMORY:.*]]: !llvm.ptr, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: !llvm.ptr
// CHECK: %[[A:.*]] = llvm.getelementptr %[[MEMORY]]
// CHECK: %[[B:.*]] = llvm.getelementptr %[[MEMORY]]
tt.func public @two(%x: i64) {
  %a = ttg.global_scratch_alloc {alignment = 8 : i32, nbytes = 8 : i32, third_party_allocation} : !tt.ptr<i8>
  %b = ttg.global_scratch_alloc {alignment = 16 : i32, nbytes = 16 : i32, third_party_allocation} : !tt.ptr<i8>
  %p = tt.bitcast %a : !tt.ptr<i8> -> !tt.ptr<i64>
  %q = tt.bitcast %b : !tt.ptr<i8> -> !tt.ptr<i64>
  tt.store %p, %x : !tt.ptr<i64>
  tt.store %q, %x : !tt.ptr<i64>
  tt.return
}
