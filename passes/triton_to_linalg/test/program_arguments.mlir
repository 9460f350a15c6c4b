// RUN: triton-linalg-opt %s -triton-to-linalg=program-arguments | FileCheck %s

// CHECK-LABEL: func.func @f
// CHECK-SAME: (%{{[^:]*}}: i64, %{{[^:]*}}: i32 {tt.program_argument},
// CHECK-SAME: %[[X:arg4]]: i32 {tt.program_argument}
// CHECK-NOT: tt.get_program_id
// CHECK: arith.muli %[[X]], %{{.*}} : i32
// CHECK: aux.view
tt.func public @f(%p: !tt.ptr<i32>) {
  %c8 = arith.constant 8 : i32
  %x = tt.get_program_id x : i32
  %start = arith.muli %x, %c8 : i32
  %r = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
  %s = tt.splat %start : i32 -> tensor<8xi32>
  %i = arith.addi %s, %r : tensor<8xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %pp = tt.addptr %ps, %i : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  tt.store %pp, %i : tensor<8x!tt.ptr<i32>>
  tt.return
}
