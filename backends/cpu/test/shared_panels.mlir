// RUN: triton-ext-opt %s --load-extension=cpu -triton-ext-cpu-lower-tiles="vector-bytes=64 dot-units=19" -canonicalize -cse | FileCheck %s
// RUN: triton-ext-opt %s --load-extension=cpu -triton-ext-cpu-lower-tiles="vector-bytes=64 dot-units=19 most-shared-bytes=0" -canonicalize -cse | FileCheck %s --check-prefix=OWN

// Programs of a column have the same right operand. Scratch memory begins with what the runtime says, and with the number
// of valid iterations. In front of the loop, this number becomes 0 if the column is another one than last time. In the
// loop, the right operand is packed if the iteration is not valid. The store makes nothing valid if it may write to what
// was loaded: from the lowest to the highest address.
// CHECK: triton_ext_cpu.together = 4 : i32
// CHECK-LABEL: llvm.func internal @column_by_column.program(
// CHECK-SAME: %[[SCRATCH:arg[0-9]+]]: !llvm.ptr {llvm.noalias})
// CHECK: %[[KEEPS:.*]] = arith.cmpi eq, %{{.*}}, %c0_i64
// CHECK: %[[VALID:.*]] = llvm.getelementptr %[[SCRATCH]][8]
// CHECK: %[[KEPT:.*]] = arith.select %[[KEEPS]], %{{.*}}, %c0_i64
// CHECK: %[[COLUMN:.*]] = arith.divsi
// CHECK: %[[KEY:.*]] = arith.extui %[[COLUMN]] : i32 to i64
// CHECK: %[[DIFFERS:.*]] = arith.cmpi ne, %[[KEY]], %{{.*}}
// CHECK: %[[NEW:.*]] = arith.ori %{{.*}}, %[[DIFFERS]]
// CHECK: scf.if %[[NEW]] {
// CHECK: llvm.store %[[KEY]]
// CHECK: llvm.store %c0_i64, %[[VALID]]
// CHECK: scf.for
// CHECK: %[[NUMBER:.*]] = llvm.load %[[VALID]]
// CHECK: %[[MISSING:.*]] = arith.cmpi uge, %{{.*}}, %[[NUMBER]]
// CHECK: scf.if %[[MISSING]] {
// CHECK: %[[IS_KEPT:.*]] = arith.cmpi ult, %{{.*}}, %[[KEPT]]
// CHECK: arith.minui
// CHECK: arith.maxui
// CHECK: arith.cmpi ult
// CHECK: llvm.store %c0_i64, %[[VALID]]

// OWN-NOT: triton_ext_cpu.together
// OWN-LABEL: llvm.func internal @column_by_column.program(
// OWN-NOT: minui
// OWN: llvm.return
tt.func public @column_by_column(%a: !tt.ptr<bf16>, %b: !tt.ptr<bf16>, %c: !tt.ptr<f32>, %rows: i32, %steps: i32) {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c256 = arith.constant 256 : i32
  %pid = tt.get_program_id x : i32
  %column = arith.divsi %pid, %rows : i32
  %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %ic = tt.expand_dims %i {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %ir = tt.expand_dims %i {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %size = arith.constant dense<16> : tensor<16x1xi32>
  %m = arith.muli %ic, %size : tensor<16x1xi32>
  %mb = tt.broadcast %m : tensor<16x1xi32> -> tensor<16x16xi32>
  %nb = tt.broadcast %ir : tensor<1x16xi32> -> tensor<16x16xi32>
  %at = arith.addi %mb, %nb : tensor<16x16xi32>
  %ap = tt.splat %a : !tt.ptr<bf16> -> tensor<16x16x!tt.ptr<bf16>>
  %bp = tt.splat %b : !tt.ptr<bf16> -> tensor<16x16x!tt.ptr<bf16>>
  %cp = tt.splat %c : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
  %sum = scf.for %step = %c0 to %steps step %c1 iter_args(%old = %zero) -> (tensor<16x16xf32>) : i32 {
    %tile = arith.addi %column, %step : i32
    %offset = arith.muli %tile, %c256 : i32
    %offsets = tt.splat %offset : i32 -> tensor<16x16xi32>
    %all = arith.addi %offsets, %at : tensor<16x16xi32>
    %aa = tt.addptr %ap, %at : tensor<16x16x!tt.ptr<bf16>>, tensor<16x16xi32>
    %ba = tt.addptr %bp, %all : tensor<16x16x!tt.ptr<bf16>>, tensor<16x16xi32>
    %x = tt.load %aa : tensor<16x16x!tt.ptr<bf16>>
    %y = tt.load %ba : tensor<16x16x!tt.ptr<bf16>>
    %next = tt.dot %x, %y, %old : tensor<16x16xbf16> * tensor<16x16xbf16> -> tensor<16x16xf32>
    scf.yield %next : tensor<16x16xf32>
  }
  %ca = tt.addptr %cp, %at : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
  tt.store %ca, %sum : tensor<16x16x!tt.ptr<f32>>
  tt.return
}
