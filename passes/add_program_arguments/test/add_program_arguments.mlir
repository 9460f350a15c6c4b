// RUN: triton-linalg-opt %s -add-program-arguments -split-input-file | FileCheck %s
// RUN: triton-linalg-opt %s -add-program-arguments -add-program-arguments -split-input-file | FileCheck %s
// RUN: triton-linalg-opt %s -add-program-arguments -lower-linalg-ext -split-input-file | FileCheck %s --check-prefix=LOWERED

// The new arguments come after the others, and calls pass them on. Arguments
// that are there already are not added again.
// CHECK-LABEL: func.func @kernel
// CHECK-SAME: (%[[X:[^:]*]]: i64 {tt.divisibility = 16 : i32}, %[[NX:[^:]*]]: i32 {tt.program_argument},
// CHECK-SAME: %[[NY:[^:]*]]: i32 {tt.program_argument}, %[[NZ:[^:]*]]: i32 {tt.program_argument},
// CHECK-SAME: %[[PX:[^:]*]]: i32 {tt.program_argument}, %[[PY:[^:]*]]: i32 {tt.program_argument},
// CHECK-SAME: %[[PZ:[^:]*]]: i32 {tt.program_argument}) -> (i32, i32, i32)
// CHECK: call @inner(%[[PY]], %[[NX]], %[[NY]], %[[NZ]], %[[PX]], %[[PY]], %[[PZ]])
// CHECK: call @outside(%[[PX]])
// CHECK: return %[[PX]], %[[PY]], %[[NZ]]
// LOWERED-LABEL: func.func @kernel
// LOWERED-SAME: (%{{[^:]*}}: i64, %{{[^:]*}}: i32, %{{[^:]*}}: i32, %{{[^:]*}}: i32, %{{[^:]*}}: i32, %{{[^:]*}}: i32, %{{[^:]*}}: i32) -> (i32, i32, i32)
func.func @kernel(%x: i64 {tt.divisibility = 16 : i32}) -> (i32, i32, i32) {
  %0 = tt.get_program_id y : i32
  func.call @inner(%0) : (i32) -> ()
  %1 = tt.get_num_programs z : i32
  %2 = tt.get_program_id x : i32
  func.call @outside(%2) : (i32) -> ()
  return %2, %0, %1 : i32, i32, i32
}
// Operations and calls in a region are rewritten, too.
// CHECK: func.func @inner(%{{.*}}: i32, %{{[^:]*}}: i32 {tt.program_argument}, %[[N:[^:]*]]: i32 {tt.program_argument}
// CHECK: scf.if
// CHECK-NEXT: func.call @outside(%[[N]])
func.func @inner(%x: i32) {
  %c = arith.cmpi eq, %x, %x : i32
  scf.if %c {
    %0 = tt.get_num_programs y : i32
    func.call @outside(%0) : (i32) -> ()
  }
  return
}
// CHECK: func.func private @outside(i32)
func.func private @outside(i32)
