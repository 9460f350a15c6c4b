// RUN: triton-ext-opt %s -split-input-file -triton-ext-intensity | FileCheck %s

// A mask with a bound: the load names its argument, the offset and the mask. Nothing else changes.
// CHECK: module attributes {triton_ext.intensity = "
// CHECK-SAME: \22arguments\22:[{\22name\22:\22x\22,\22type\22:\22!tt.ptr<f32>\22},{\22name\22:\22n\22,\22type\22:\22i32\22}]
// CHECK-SAME: \22argument\22:0,\22bytes\22:4,\22column\22:8,\22line\22:\22{{[^"]*}}:[[@LINE+16]]\22,\22mask\22:[[MASK:[0-9]+]],\22offset\22:{{[0-9]+}},\22shape\22:[64],\22what\22:\22load\22
// CHECK-SAME: \22count\22:64,\22kind\22:\22add\22,{{.*}}\22type\22:\22f32\22,\22what\22:\22flops\22
// CHECK-SAME: \22mask\22:[[MASK]],{{.*}}\22what\22:\22store\22
// CHECK-SAME: \22kernel\22:\22bounded\22
// CHECK-SAME: \22nodes\22:{{.*}}[\22program\22,0]{{.*}}[\22lane\22,0]{{.*}}[\22argument\22,1]{{.*}}[\22cmpi\22,32,\22slt\22,
// CHECK-SAME: \22places\22:[{{.*}}\22{{[^"]*}}intensity.mlir:[[@LINE+10]]:10\22
// CHECK: tt.func public @bounded
tt.func public @bounded(%x: !tt.ptr<f32> loc("x"), %n: i32 loc("n")) {
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %pid = tt.get_program_id x : i32
  %p = tt.splat %pid : i32 -> tensor<64xi32>
  %at = arith.addi %p, %i : tensor<64xi32>
  %ns = tt.splat %n : i32 -> tensor<64xi32>
  %mask = arith.cmpi slt, %at, %ns : tensor<64xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %ptr = tt.addptr %xs, %at : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %ptr, %mask : tensor<64x!tt.ptr<f32>>
  %sum = arith.addf %v, %v : tensor<64xf32>
  tt.store %ptr, %sum, %mask : tensor<64x!tt.ptr<f32>>
  tt.return
}

// -----

// A mask that depends on data is an unknown node, with the reason and the line.
// CHECK: [\22unknown\22,\22data from memory\22,\22{{[^"]*}}:[[@LINE+6]]\22,32]
tt.func public @by_data(%x: !tt.ptr<i32>) {
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %c0 = arith.constant dense<0> : tensor<64xi32>
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %ptr = tt.addptr %xs, %i : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  %v = tt.load %ptr : tensor<64x!tt.ptr<i32>>
  %mask = arith.cmpi sgt, %v, %c0 : tensor<64xi32>
  tt.store %ptr, %v, %mask : tensor<64x!tt.ptr<i32>>
  tt.return
}

// -----

// A loop has its bounds, a value that it carries is the initial one plus the iterations times the step, and a branch has
// both sides. Sums of integers and addptr are no FLOPs.
// CHECK-NOT: flops
// CHECK: \22body\22:[{\22body\22:[{\22column\22:{{[0-9]+}},\22condition\22:{{[0-9]+}},\22else\22:[],
// CHECK-SAME: \22then\22:[{\22argument\22:0,{{.*}}\22what\22:\22store\22}],\22what\22:\22if\22}],
// CHECK-SAME: \22loop\22:0,\22lower\22:{{[0-9]+}},\22step\22:{{[0-9]+}},\22unsigned\22:false,\22upper\22:{{[0-9]+}},\22what\22:\22loop\22}]
// CHECK-SAME: [\22iteration\22,0]
tt.func public @loop(%x: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : i32
  %end = scf.for %k = %c0 to %n step %c4 iter_args(%c = %n) -> (i32) : i32 {
    %ptr = tt.addptr %x, %c : !tt.ptr<i32>, i32
    %is = arith.cmpi eq, %c, %k : i32
    scf.if %is {
      tt.store %ptr, %k : !tt.ptr<i32>
    }
    %next = arith.addi %c, %c4 : i32
    scf.yield %next : i32
  }
  tt.return
}

// -----

// A product of matrices by the type of its operands; the precision of f32 is the type.
// CHECK: \22count\22:16384,\22kind\22:\22dot\22,{{[^}]*}}\22type\22:\22bf16\22
// CHECK-SAME: \22count\22:16384,\22kind\22:\22dot\22,{{[^}]*}}\22type\22:\22tf32\22
// CHECK-SAME: \22count\22:16384,\22kind\22:\22dot\22,{{[^}]*}}\22type\22:\22f32\22
// CHECK-SAME: \22count\22:32768,\22kind\22:\22dot\22,{{[^}]*}}\22type\22:\22e2m1\22
// CHECK-SAME: \22count\22:131072,\22kind\22:\22dot\22,{{[^}]*}}\22type\22:\22e4m3*e2m1\22
tt.func public @dots(%a: tensor<16x32xbf16>, %b: tensor<32x16xbf16>, %c: tensor<16x16xf32>, %d: tensor<16x32xf32>,
                     %e: tensor<32x16xf32>, %f: tensor<16x32xi8>, %g: tensor<32x16xi8>, %s: tensor<16x2xi8>,
                     %h: tensor<16x128xf8E4M3FN>, %i: tensor<64x32xi8>, %j: tensor<16x32xf32>, %t: tensor<16x4xi8>,
                     %u: tensor<32x4xi8>) {
  %0 = tt.dot %a, %b, %c : tensor<16x32xbf16> * tensor<32x16xbf16> -> tensor<16x16xf32>
  %1 = tt.dot %d, %e, %0, inputPrecision = tf32 : tensor<16x32xf32> * tensor<32x16xf32> -> tensor<16x16xf32>
  %2 = tt.dot %d, %e, %1 : tensor<16x32xf32> * tensor<32x16xf32> -> tensor<16x16xf32>
  %3 = tt.dot_scaled %f scale %s, %g scale %s, %2 lhs = e2m1 rhs = e2m1 {fastMath = false} : tensor<16x32xi8>, tensor<16x2xi8> * tensor<32x16xi8>, tensor<16x2xi8> -> tensor<16x16xf32>
  %4 = tt.dot_scaled %h scale %t, %i scale %u, %j lhs = e4m3 rhs = e2m1 {fastMath = false} : tensor<16x128xf8E4M3FN>, tensor<16x4xi8> * tensor<64x32xi8>, tensor<32x4xi8> -> tensor<16x32xf32>
  tt.return
}

// -----

// n elements are reduced and scanned with n - 1 additions along the axis; the body of the mapped function counts for
// each element. Comparisons and conversions are free.
// CHECK: \22body\22:[{\22column\22:{{[0-9]+}},\22count\22:1,\22kind\22:\22add\22,{{[^}]*}}}],\22column\22:{{[0-9]+}},\22count\22:56,{{[^}]*}}\22what\22:\22times\22}
// CHECK-SAME: \22body\22:[{\22column\22:{{[0-9]+}},\22count\22:1,\22kind\22:\22mul\22,{{[^}]*}}}],\22column\22:{{[0-9]+}},\22count\22:60,{{[^}]*}}\22what\22:\22times\22}
// CHECK-SAME: \22body\22:[{\22column\22:{{[0-9]+}},\22count\22:1,\22kind\22:\22transcendental\22,{{[^}]*}}}],\22column\22:{{[0-9]+}},\22count\22:64,{{[^}]*}}\22what\22:\22times\22}
// CHECK-SAME: \22count\22:128,\22kind\22:\22fma\22
// CHECK-SAME: \22count\22:64,\22kind\22:\22div\22,{{[^}]*}}\22what\22:\22flops\22}
// CHECK-NOT: flops
// CHECK: tt.func public @elements
tt.func public @elements(%x: tensor<8x8xf32>, %y: tensor<4x16xf32>) {
  %0 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.reduce.return %s : f32
  }) : (tensor<8x8xf32>) -> tensor<8xf32>
  %1 = "tt.scan"(%y) <{axis = 1 : i32, reverse = false}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.mulf %a, %b : f32
    tt.scan.return %s : f32
  }) : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %2 = "tt.map_elementwise"(%x) <{pack = 1 : i32}> ({
  ^bb0(%a: f32):
    %s = math.exp %a : f32
    tt.map_elementwise.return %s : f32
  }) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = math.fma %x, %x, %x : tensor<8x8xf32>
  %4 = arith.divf %x, %3 : tensor<8x8xf32>
  %5 = arith.cmpf olt, %x, %4 : tensor<8x8xf32>
  %6 = arith.maximumf %x, %4 : tensor<8x8xf32>
  %7 = arith.truncf %6 : tensor<8x8xf32> to tensor<8x8xbf16>
  tt.return
}

// -----

// An atomic operation loads and stores; adding floats is one FLOP for each element in the mask.
// CHECK: \22bytes\22:4,{{[^}]*}}\22what\22:\22load\22},{{[^}]*}}\22what\22:\22store\22}
// CHECK-SAME: \22count\22:1,\22kind\22:\22add\22,{{[^}]*}}\22mask\22:{{[0-9]+}},\22shape\22:[64]
// CHECK-SAME: \22bytes\22:8,{{[^}]*}}\22what\22:\22load\22},{{[^}]*}}\22bytes\22:8,{{[^}]*}}\22what\22:\22store\22}
// CHECK-SAME: \22of\22:\22all\22,\22what\22:\22unknown\22,\22why\22:\22'tt.atomic_poll'\22
tt.func public @atomics(%x: tensor<64x!tt.ptr<f32>>, %v: tensor<64xf32>, %mask: tensor<64xi1>, %y: !tt.ptr<i64>, %n: i64) {
  %0 = tt.atomic_rmw fadd, acq_rel, gpu, %x, %v, %mask : (tensor<64x!tt.ptr<f32>>, tensor<64xf32>, tensor<64xi1>) -> tensor<64xf32>
  %1 = tt.atomic_cas acq_rel, gpu, %y, %n, %n : (!tt.ptr<i64>, i64, i64) -> i64
  %2 = tt.atomic_poll acquire, gpu, %y, %n : !tt.ptr<i64>, i64 -> i1
  tt.return
}

// -----

// The elements of a box that lie inside of the tensor; rows whose numbers are data may lie outside.
// CHECK: \22bytes\22:2,{{[^}]*}}\22mask\22:{{[0-9]+}},\22shape\22:[8,16],\22what\22:\22load\22}
// CHECK-SAME: \22shape\22:[8,16],\22what\22:\22store\22}
// CHECK-SAME: \22shape\22:[8,16],\22what\22:\22load\22},{{[^}]*}}\22shape\22:[8,16],\22what\22:\22store\22}
// CHECK-SAME: \22shape\22:[8,16],\22what\22:\22load\22}
// CHECK-SAME: [\22size\22,0,0]
// CHECK-SAME: [\22unknown\22,\22rows whose numbers are data\22
tt.func public @descriptors(%d: !tt.tensordesc<8x16xbf16>, %g: !tt.tensordesc<1x16xbf16>, %rows: tensor<8xi32>, %i: i32) {
  %0 = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<8x16xbf16> -> tensor<8x16xbf16>
  tt.descriptor_store %d[%i, %i], %0 : !tt.tensordesc<8x16xbf16>, tensor<8x16xbf16>
  tt.descriptor_reduce add, %d[%i, %i], %0 : !tt.tensordesc<8x16xbf16>, tensor<8x16xbf16>
  %1 = tt.descriptor_gather %g[%rows, %i] : (!tt.tensordesc<1x16xbf16>, tensor<8xi32>, i32) -> tensor<8x16xbf16>
  tt.return
}

// -----

// A call is described where it is, with its arguments; the function of its own is not. A recursive one is unknown.
// CHECK: triton_ext.intensity = "[{
// CHECK-SAME: \22offset\22:[[ONE:[0-9]+]],{{[^}]*}}\22what\22:\22load\22}
// CHECK-SAME: \22why\22:\22a call that cannot be followed\22
// CHECK-SAME: \22kernel\22:\22caller\22
// CHECK-NOT: \22kernel\22
// CHECK: tt.func public @caller
tt.func public @caller(%x: !tt.ptr<f32>, %n: i32) {
  %0 = tt.call @read(%x, %n) : (!tt.ptr<f32>, i32) -> f32
  tt.call @again() : () -> ()
  tt.return
}
tt.func private @read(%x: !tt.ptr<f32>, %i: i32) -> f32 {
  %ptr = tt.addptr %x, %i : !tt.ptr<f32>, i32
  %v = tt.load %ptr : !tt.ptr<f32>
  tt.return %v : f32
}
tt.func private @again() {
  tt.call @again() : () -> ()
  tt.return
}

// -----

// What has no rule is unknown: inline assembly computes something, a barrier nothing that is known.
// CHECK: \22of\22:\22flops\22,\22what\22:\22unknown\22,\22why\22:\22'tt.elementwise_inline_asm'\22
// CHECK-SAME: \22of\22:\22all\22,\22what\22:\22unknown\22,\22why\22:\22'tt.elementwise_inline_asm'\22
// CHECK-SAME: \22after\22:[],\22before\22:[{{.*}}\22what\22:\22while\22
tt.func public @unknown(%x: tensor<64xf32>, %p: !tt.ptr<f32>, %n: i32) {
  %0 = tt.elementwise_inline_asm "mov $0, $1;" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %x : tensor<64xf32> -> tensor<64xf32>
  %1 = tt.elementwise_inline_asm "mov $0, $1;" {constraints = "=r,r", packed_element = 1 : i32, pure = false} %x : tensor<64xf32> -> tensor<64xf32>
  scf.while : () -> () {
    %v = tt.load %p : !tt.ptr<f32>
    %zero = arith.constant 0.0 : f32
    %more = arith.cmpf ogt, %v, %zero : f32
    scf.condition(%more)
  } do {
    scf.yield
  }
  tt.return
}

// -----

// An early return is a branch: what follows it is in the other one.
// CHECK: \22else\22:[{{.*}}\22what\22:\22store\22}],{{[^}]*}}\22then\22:[],\22what\22:\22if\22
tt.func public @early(%x: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %is = arith.cmpi slt, %n, %c0 : i32
  cf.cond_br %is, ^out, ^go(%c0 : i32)
^out:
  tt.return
^go(%v: i32):
  tt.store %x, %v : !tt.ptr<i32>
  tt.return
}

// -----

// A loop over index, whose value is stored as an integer.
// CHECK: \22what\22:\22loop\22
// CHECK-SAME: [\22muli\22,64,{{.*}}[\22index_cast\22,32,64,
tt.func public @index(%x: !tt.ptr<i32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %k = %c0 to %n step %c1 {
    %i = arith.index_cast %k : index to i32
    %ptr = tt.addptr %x, %i : !tt.ptr<i32>, i32
    tt.store %ptr, %i : !tt.ptr<i32>
  }
  tt.return
}

// -----

// Promises about integers, and the address of an element of a descriptor that the kernel makes.
// CHECK: \22element\22:{\22argument\22:0,\22offset\22:{{[0-9]+}}}
// CHECK-SAME: \22divisibility\22:[16],{{[^}]*}}\22shape\22:[],\22value\22:{{[0-9]+}},\22what\22:\22hint\22}
// CHECK-SAME: \22condition\22:{{[0-9]+}},{{[^}]*}}\22what\22:\22assume\22}
tt.func public @promises(%x: !tt.ptr<f32>, %n: i32, %stride: i64) {
  %c0 = arith.constant 0 : i32
  %c8 = arith.constant 8 : i32
  %one = arith.constant 1 : i64
  %desc = tt.make_tensor_descriptor %x, [%n, %n], [%stride, %one] : <f32>, <8x8xf32>
  %v = tt.descriptor_load %desc[%c0, %c8] : !tt.tensordesc<8x8xf32> -> tensor<8x8xf32>
  %m = arith.addi %n, %c8 {tt.divisibility = dense<16> : tensor<1xi32>} : i32
  %is = arith.cmpi sgt, %m, %c0 : i32
  llvm.intr.assume %is : i1
  tt.return
}
