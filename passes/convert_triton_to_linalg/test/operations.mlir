// RUN: triton-linalg-opt %s -convert-triton-to-linalg -cse -split-input-file | FileCheck %s
// RUN: triton-linalg-opt %s -convert-triton-to-linalg=program-arguments -split-input-file | FileCheck %s --check-prefix=ARGUMENTS

// CHECK-LABEL: func.func @make
// CHECK-SAME: (%[[X:[^:]*]]: f32, %[[P:[^:]*]]: i64) -> (tensor<8xf32>, tensor<8xi32>, tensor<8xi64>)
// CHECK: linalg.fill ins(%[[X]] : f32) outs(%{{.*}} : tensor<8xf32>) -> tensor<8xf32>
// CHECK: %[[R:.*]] = linalg_ext.make_range ins(%c2_i32, %c10_i32 : i32, i32) outs(%{{.*}} : tensor<8xi32>) -> tensor<8xi32>
// CHECK: %[[B:.*]] = linalg.fill ins(%[[P]] : i64)
// CHECK: %[[W:.*]] = arith.extsi %[[R]] : tensor<8xi32> to tensor<8xi64>
// CHECK: %[[C:.*]] = arith.constant dense<4> : tensor<8xi64>
// CHECK: %[[O:.*]] = arith.muli %[[W]], %[[C]] : tensor<8xi64>
// CHECK: arith.addi %[[B]], %[[O]] : tensor<8xi64>
tt.func @make(%x: f32, %p: !tt.ptr<f32>) -> (tensor<8xf32>, tensor<8xi32>, tensor<8x!tt.ptr<f32>>) {
  %0 = tt.splat %x : f32 -> tensor<8xf32>
  %1 = tt.make_range {end = 10 : i32, start = 2 : i32} : tensor<8xi32>
  %2 = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %3 = tt.addptr %2, %1 : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  tt.return %0, %1, %3 : tensor<8xf32>, tensor<8xi32>, tensor<8x!tt.ptr<f32>>
}

// -----

// CHECK-LABEL: func.func @shapes
// CHECK-SAME: (%[[A:[^:]*]]: tensor<8xf32>, %[[B:[^:]*]]: tensor<4x1x8x1xf32>, %[[C:[^:]*]]: tensor<1x1xf32>, %[[D:[^:]*]]: tensor<4x8xf32>, %[[S:[^:]*]]: tensor<8x2xf32>)
// CHECK: tensor.expand_shape %[[A]] {{\[}}[0, 1]] output_shape [1, 8] : tensor<8xf32> into tensor<1x8xf32>
// CHECK: tensor.expand_shape %[[A]] {{\[}}[0, 1]] output_shape [8, 1] : tensor<8xf32> into tensor<8x1xf32>
// CHECK: %[[BC:.*]] = tensor.collapse_shape %[[B]] {{\[}}[0, 1], [2, 3]] : tensor<4x1x8x1xf32> into tensor<4x8xf32>
// CHECK: linalg.broadcast ins(%[[BC]] : tensor<4x8xf32>) outs(%{{.*}} : tensor<4x2x8x16xf32>) dimensions = [1, 3]
// CHECK: %[[CC:.*]] = tensor.collapse_shape %[[C]] [] : tensor<1x1xf32> into tensor<f32>
// CHECK: linalg.broadcast ins(%[[CC]] : tensor<f32>) outs(%{{.*}} : tensor<2x2xf32>) dimensions = [0, 1]
// CHECK: %[[L:.*]] = tensor.collapse_shape %[[D]] {{\[}}[0, 1]] : tensor<4x8xf32> into tensor<32xf32>
// CHECK: tensor.expand_shape %[[L]] {{\[}}[0, 1]] output_shape [2, 16] : tensor<32xf32> into tensor<2x16xf32>
// CHECK: linalg.transpose ins(%[[D]] : tensor<4x8xf32>) outs(%{{.*}} : tensor<8x4xf32>) permutation = [1, 0]
// CHECK: %[[H:.*]] = tensor.insert_slice %[[A]] into %{{.*}}[0] [8] [1] : tensor<8xf32> into tensor<16xf32>
// CHECK: tensor.insert_slice %[[A]] into %[[H]][8] [8] [1] : tensor<8xf32> into tensor<16xf32>
// CHECK: %[[J:.*]] = tensor.insert_slice %[[A]] into %{{.*}}[0, 0] [8, 1] [1, 1] : tensor<8xf32> into tensor<8x2xf32>
// CHECK: tensor.insert_slice %{{.*}} into %[[J]][0, 1] [8, 1] [1, 1] : tensor<8xf32> into tensor<8x2xf32>
// CHECK: tensor.extract_slice %[[S]][0, 0] [8, 1] [1, 1] : tensor<8x2xf32> to tensor<8xf32>
// CHECK: tensor.extract_slice %[[S]][0, 1] [8, 1] [1, 1] : tensor<8x2xf32> to tensor<8xf32>
tt.func @shapes(%a: tensor<8xf32>, %b: tensor<4x1x8x1xf32>, %c: tensor<1x1xf32>, %d: tensor<4x8xf32>, %e: tensor<8x2xf32>) {
  %0 = tt.expand_dims %a {axis = 0 : i32} : tensor<8xf32> -> tensor<1x8xf32>
  %1 = tt.expand_dims %a {axis = 1 : i32} : tensor<8xf32> -> tensor<8x1xf32>
  %2 = tt.broadcast %b : tensor<4x1x8x1xf32> -> tensor<4x2x8x16xf32>
  %3 = tt.broadcast %c : tensor<1x1xf32> -> tensor<2x2xf32>
  %4 = tt.reshape %d : tensor<4x8xf32> -> tensor<2x16xf32>
  %5 = tt.reshape %d : tensor<4x8xf32> -> tensor<32xf32>
  %6 = tt.trans %d {order = array<i32: 1, 0>} : tensor<4x8xf32> -> tensor<8x4xf32>
  %7 = tt.cat %a, %a : tensor<8xf32> -> tensor<16xf32>
  %n = arith.negf %a : tensor<8xf32>
  %8 = tt.join %a, %n : tensor<8xf32> -> tensor<8x2xf32>
  %9, %10 = tt.split %e : tensor<8x2xf32> -> tensor<8xf32>
  tt.print "x" {hex = false, isSigned = array<i32: 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : %8, %0, %1, %2, %3, %4, %5, %6, %7, %9, %10 : tensor<8x2xf32>, tensor<1x8xf32>, tensor<8x1xf32>, tensor<4x2x8x16xf32>, tensor<2x2xf32>, tensor<2x16xf32>, tensor<32xf32>, tensor<8x4xf32>, tensor<16xf32>, tensor<8xf32>, tensor<8xf32>
  tt.return
}

// -----

// CHECK-LABEL: func.func @elementwise
// CHECK: arith.maximumf %{{.*}} : tensor<8xf32>
// CHECK: arith.minimumf %{{.*}} : tensor<8xf32>
// CHECK: arith.maxnumf %{{.*}} : f32
// CHECK: arith.minnumf %{{.*}} : f32
// CHECK: math.sqrt %{{.*}} : tensor<8xf32>
// CHECK: arith.divf %{{.*}} : tensor<8xf32>
// CHECK: math_ext.mulhiui %{{.*}} : tensor<8xi32>
// CHECK: arith.bitcast %{{.*}} : tensor<8xf32> to tensor<8xi32>
// CHECK: arith.extsi %{{.*}} : i32 to i64
// CHECK: arith.muli %{{.*}}, %c2_i64 : i64
// CHECK: arith.addi %{{.*}} : i64
// CHECK: %[[W:.*]] = arith.extf %{{.*}} : tensor<8xbf16> to tensor<8xf32>
// CHECK: arith.truncf %[[W]] to_nearest_even : tensor<8xf32> to tensor<8xf16>
// CHECK: arith.truncf %{{.*}} toward_zero : tensor<8xf32> to tensor<8xf8E4M3FN>
// CHECK: arith.extf %{{.*}} : tensor<8xf8E5M2> to tensor<8xf32>
tt.func @elementwise(%x: tensor<8xf32>, %s: f32, %i: tensor<8xi32>, %p: !tt.ptr<f16>, %o: i32, %h: tensor<8xbf16>, %e: tensor<8xf8E5M2>) -> (tensor<8xf32>, f32, tensor<8xi32>, tensor<8xi32>, i64, tensor<8xf16>, tensor<8xf8E4M3FN>, tensor<8xf32>) {
  %0 = tt.clampf %x, %x, %x, propagateNan = all : tensor<8xf32>
  %1 = tt.clampf %s, %s, %s, propagateNan = none : f32
  %2 = tt.precise_sqrt %0 : tensor<8xf32>
  %3 = tt.precise_divf %2, %x : tensor<8xf32>
  %4 = tt.mulhiui %i, %i : tensor<8xi32>
  %5 = tt.bitcast %3 : tensor<8xf32> -> tensor<8xi32>
  %q = tt.addptr %p, %o : !tt.ptr<f16>, i32
  %6 = tt.ptr_to_int %q : !tt.ptr<f16> -> i64
  %7 = tt.fp_to_fp %h, rounding = rtne : tensor<8xbf16> -> tensor<8xf16>
  %8 = tt.fp_to_fp %x, rounding = rtz : tensor<8xf32> -> tensor<8xf8E4M3FN>
  %9 = tt.fp_to_fp %e : tensor<8xf8E5M2> -> tensor<8xf32>
  tt.return %3, %1, %4, %5, %6, %7, %8, %9 : tensor<8xf32>, f32, tensor<8xi32>, tensor<8xi32>, i64, tensor<8xf16>, tensor<8xf8E4M3FN>, tensor<8xf32>
}

// -----

// A sum begins with -0.0 and an `and` with all ones. A maximum begins with the first element, as all may be NaN.
// CHECK-LABEL: func.func @reduce
// CHECK-SAME: (%[[X:[^:]*]]: tensor<4x8xf32>, %[[I:[^:]*]]: tensor<8xi32>, %[[ONE:[^:]*]]: tensor<1x8xf32>)
// CHECK: %[[Z:.*]] = arith.constant -0.000000e+00 : f32
// CHECK: %[[F:.*]] = linalg.fill ins(%[[Z]] : f32) outs(%{{.*}} : tensor<4xf32>)
// CHECK: linalg.reduce { arith.addf } ins(%[[X]] : tensor<4x8xf32>) outs(%[[F]] : tensor<4xf32>) dimensions = [1]
// CHECK: %[[FIRST:.*]] = tensor.extract_slice %[[X]][0, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>
// CHECK: %[[REST:.*]] = tensor.extract_slice %[[X]][1, 0] [3, 8] [1, 1] : tensor<4x8xf32> to tensor<3x8xf32>
// CHECK: linalg.reduce { arith.maxnumf } ins(%[[REST]] : tensor<3x8xf32>) outs(%[[FIRST]] : tensor<8xf32>) dimensions = [0]
// CHECK: %[[M1:.*]] = arith.constant -1 : i32
// CHECK: linalg.fill ins(%[[M1]] : i32) outs(%{{.*}} : tensor<i32>)
// CHECK: %[[AND:.*]] = linalg.reduce { arith.andi } ins(%[[I]] : tensor<8xi32>) outs(%{{.*}} : tensor<i32>) dimensions = [0]
// CHECK: tensor.extract %[[AND]][] : tensor<i32>
// CHECK: linalg.reduce ins(%{{.*}}, %{{.*}} : tensor<4x7xf32>, tensor<4x7xi32>) outs(%{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xi32>) dimensions = [1]
// CHECK-NEXT: (%[[IN:.*]]: f32, %[[INI:.*]]: i32, %[[ACC:.*]]: f32, %[[ACCI:.*]]: i32) {
// CHECK-NEXT: %[[G:.*]] = arith.cmpf uge, %[[ACC]], %[[IN]] : f32
// CHECK-NEXT: arith.select %[[G]], %[[ACC]], %[[IN]] : f32
// CHECK-NEXT: arith.select %[[G]], %[[ACCI]], %[[INI]] : i32
// CHECK: tensor.extract_slice %[[ONE]][0, 0] [1, 8] [1, 1] : tensor<1x8xf32> to tensor<8xf32>
// CHECK-NOT: linalg.reduce
tt.func @reduce(%x: tensor<4x8xf32>, %i: tensor<8xi32>, %one: tensor<1x8xf32>) -> (tensor<4xf32>, tensor<8xf32>, i32, tensor<4xf32>, tensor<4xi32>, tensor<8xf32>) {
  %0 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.reduce.return %s : f32
  }) : (tensor<4x8xf32>) -> tensor<4xf32>
  %1 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.maxnumf %a, %b : f32
    tt.reduce.return %s : f32
  }) : (tensor<4x8xf32>) -> tensor<8xf32>
  %2 = "tt.reduce"(%i) <{axis = 0 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %s = arith.andi %a, %b : i32
    tt.reduce.return %s : i32
  }) : (tensor<8xi32>) -> i32
  %c = arith.constant dense<3> : tensor<4x8xi32>
  %3:2 = "tt.reduce"(%x, %c) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %ai: i32, %b: f32, %bi: i32):
    %g = arith.cmpf uge, %a, %b : f32
    %v = arith.select %g, %a, %b : f32
    %w = arith.select %g, %ai, %bi : i32
    tt.reduce.return %v, %w : f32, i32
  }) : (tensor<4x8xf32>, tensor<4x8xi32>) -> (tensor<4xf32>, tensor<4xi32>)
  %4 = "tt.reduce"(%one) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.maxnumf %a, %b : f32
    tt.reduce.return %s : f32
  }) : (tensor<1x8xf32>) -> tensor<8xf32>
  tt.return %0, %1, %2, %3#0, %3#1, %4 : tensor<4xf32>, tensor<8xf32>, i32, tensor<4xf32>, tensor<4xi32>, tensor<8xf32>
}

// -----

// CHECK-LABEL: func.func @scan_dot
// CHECK: linalg_ext.scan dimension = 1 reverse(true) ins(%{{.*}} : tensor<4x8xf32>) outs(%{{.*}} : tensor<4x8xf32>) {
// CHECK-NEXT: ^bb0(%[[P:.*]]: f32, %[[Q:.*]]: f32):
// CHECK-NEXT: %[[M:.*]] = arith.mulf %[[P]], %[[Q]] : f32
// CHECK-NEXT: linalg_ext.yield %[[M]] : f32
// CHECK: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<16x32xf16>, tensor<32x16xf16>) outs(%{{.*}} : tensor<16x16xf32>)
// CHECK: linalg.batch_matmul ins(%{{.*}}, %{{.*}} : tensor<2x16x32xi8>, tensor<2x32x16xi8>) outs(%{{.*}} : tensor<2x16x16xi32>)
// CHECK: %[[Z:.*]] = linalg.fill
// CHECK: linalg_ext.histogram ins(%{{.*}}, %{{.*}} : tensor<64xi32>, tensor<64xi1>) outs(%[[Z]] : tensor<16xi32>)
// CHECK: linalg.map ins(%{{.*}} : tensor<2x4xi32>) outs(%{{.*}} : tensor<2x4xf32>)
// CHECK-NEXT: (%[[IN:.*]]: i32, %{{.*}}: f32) {
// CHECK-NEXT: %[[I:.*]] = arith.index_cast %[[IN]] : i32 to index
// CHECK-NEXT: %[[J:.*]] = linalg.index 1 : index
// CHECK-NEXT: tensor.extract %{{.*}}[%[[I]], %[[J]]] : tensor<8x4xf32>
// CHECK: tensor.extract %{{.*}}[%c0, %c0] : tensor<1x1xf32>
// CHECK: linalg.map { arith.negf }
tt.func @scan_dot(%x: tensor<4x8xf32>, %a: tensor<16x32xf16>, %b: tensor<32x16xf16>, %c: tensor<16x16xf32>, %ba: tensor<2x16x32xi8>, %bb: tensor<2x32x16xi8>, %bc: tensor<2x16x16xi32>, %h: tensor<64xi32>, %m: tensor<64xi1>, %g: tensor<8x4xf32>, %gi: tensor<2x4xi32>, %u: tensor<1x1xf32>) -> (tensor<4x8xf32>, tensor<16x16xf32>, tensor<2x16x16xi32>, tensor<16xi32>, tensor<2x4xf32>, f32, tensor<4x8xf32>) {
  %0 = "tt.scan"(%x) <{axis = 1 : i32, reverse = true}> ({
  ^bb0(%p: f32, %q: f32):
    %s = arith.mulf %p, %q : f32
    tt.scan.return %s : f32
  }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = tt.dot %a, %b, %c : tensor<16x32xf16> * tensor<32x16xf16> -> tensor<16x16xf32>
  %2 = tt.dot %ba, %bb, %bc : tensor<2x16x32xi8> * tensor<2x32x16xi8> -> tensor<2x16x16xi32>
  %3 = tt.histogram %h, %m : tensor<64xi32> -> tensor<16xi32>
  %4 = tt.gather %g[%gi] {axis = 0 : i32} : (tensor<8x4xf32>, tensor<2x4xi32>) -> tensor<2x4xf32>
  %5 = tt.unsplat %u : tensor<1x1xf32>
  %6 = "tt.map_elementwise"(%x) <{pack = 1 : i32}> ({
  ^bb0(%e: f32):
    %r = arith.negf %e : f32
    tt.map_elementwise.return %r : f32
  }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  tt.return %0, %1, %2, %3, %4, %5, %6 : tensor<4x8xf32>, tensor<16x16xf32>, tensor<2x16x16xi32>, tensor<16xi32>, tensor<2x4xf32>, f32, tensor<4x8xf32>
}

// -----

// Indices of less than 32 bits are unsigned.
// CHECK-LABEL: func.func @gathers
// CHECK: linalg.map ins(%{{.*}} : tensor<256xi8>)
// CHECK-NEXT: (%[[I:.*]]: i8, %{{.*}}: f32) {
// CHECK-NEXT: %[[AT:.*]] = arith.index_castui %[[I]] : i8 to index
// CHECK-NEXT: tensor.extract %{{.*}}[%[[AT]]]
// CHECK: arith.index_cast %{{.*}} : i64 to index
tt.func @gathers(%x: tensor<256xf32>, %i: tensor<256xi8>, %j: tensor<4xi64>) -> (tensor<256xf32>, tensor<4xf32>) {
  %0 = tt.gather %x[%i] {axis = 0 : i32} : (tensor<256xf32>, tensor<256xi8>) -> tensor<256xf32>
  %1 = tt.gather %x[%j] {axis = 0 : i32} : (tensor<256xf32>, tensor<4xi64>) -> tensor<4xf32>
  tt.return %0, %1 : tensor<256xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @seen
// CHECK-SAME: (%[[X:[^:]*]]: tensor<8xf32>, %[[N:[^:]*]]: i32, %[[C:[^:]*]]: i1, %[[M:[^:]*]]: tensor<8xi1>)
// CHECK-NEXT: aux.scalar.print {format = "hello", program}
// CHECK-NEXT: aux.print(%[[X]] : tensor<8xf32>) {format = "x: (operand 0) ", hex, program}
// CHECK-NEXT: aux.scalar.print(%[[N]] : i32) {format = "x: (operand 1) ", hex, program}
// CHECK-NEXT: aux.scalar.print(%[[N]] : i32) {format = "n: ", program, unsigned}
// CHECK-NEXT: aux.scalar.print(%[[N]] : i32) {format = "100%% of %%d", program}
// CHECK-NEXT: linalg_ext.scalar_assert "scalar" %[[C]]
// CHECK-NEXT: linalg_ext.assert "tensor" ins(%[[M]] : tensor<8xi1>)
// CHECK-NEXT: return
tt.func @seen(%x: tensor<8xf32>, %n: i32, %c: i1, %m: tensor<8xi1>) {
  tt.print "hello" {hex = false, isSigned = array<i32>}
  tt.print "x: " {hex = true, isSigned = array<i32: 0, 1>} : %x, %n : tensor<8xf32>, i32
  tt.print "n: " {hex = false, isSigned = array<i32: 0>} : %n : i32
  tt.print "100% of %d" {hex = false, isSigned = array<i32: 1>} : %n : i32
  tt.assert %c, "scalar" : i1
  tt.assert %m, "tensor" : tensor<8xi1>
  tt.return
}

// -----

// CHECK-LABEL: func.func private @callee
// CHECK-SAME: (%[[P:[^:]*]]: i64, %{{.*}}: tensor<8xi64>) -> i64 attributes {noinline = true}
// CHECK-NEXT: return %[[P]] : i64
// CHECK-LABEL: func.func @functions
// CHECK-SAME: (%{{.*}}: i64 {tt.divisibility = 16 : i32}, %{{.*}}: i1, %{{.*}}: tensor<8xi64>, %{{.*}}: i64)
// CHECK: call @callee(%{{.*}}, %{{.*}}) : (i64, tensor<8xi64>) -> i64
// CHECK: %[[IF:.*]] = scf.if %{{.*}} -> (i64)
// CHECK: %[[S:.*]] = arith.select %{{.*}}, %[[IF]], %{{.*}} : i64
// CHECK: llvm.inttoptr %[[S]]
tt.func private @callee(%p: !tt.ptr<f32>, %t: tensor<8x!tt.ptr<f32>>) -> !tt.ptr<f32> attributes {noinline = true} {
  tt.return %p : !tt.ptr<f32>
}
tt.func public @functions(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %c: i1, %t: tensor<8x!tt.ptr<f32>>, %q: !tt.ptr<f32>) {
  %0 = tt.call @callee(%p, %t) : (!tt.ptr<f32>, tensor<8x!tt.ptr<f32>>) -> !tt.ptr<f32>
  %1 = scf.if %c -> !tt.ptr<f32> {
    scf.yield %0 : !tt.ptr<f32>
  } else {
    scf.yield %q : !tt.ptr<f32>
  }
  %2 = arith.select %c, %1, %p : !tt.ptr<f32>
  %v = tt.load %2 : !tt.ptr<f32>
  tt.store %2, %v : !tt.ptr<f32>
  tt.return
}

// -----

// Program ids stay or become arguments; operations that control launches on a GPU are erased.
// CHECK-LABEL: func.func @programs
// CHECK-NEXT: tt.get_program_id y : i32
// CHECK-NEXT: tt.get_num_programs z : i32
// CHECK-NEXT: return
// ARGUMENTS-LABEL: func.func @programs
// ARGUMENTS-SAME: %[[NZ:arg2]]: i32 {tt.program_argument}, %{{[^:]*}}: i32 {tt.program_argument}, %[[Y:[^:]*]]: i32
// ARGUMENTS-NEXT: return %[[Y]], %[[NZ]]
tt.func @programs() -> (i32, i32) {
  tt.grid_dependency_wait
  %0 = tt.get_program_id y : i32
  %1 = tt.get_num_programs z : i32
  tt.grid_dependency_launch_dependents
  tt.return %0, %1 : i32, i32
}

// -----

// Arguments of blocks are converted.
// CHECK-LABEL: func.func @blocks
// CHECK-SAME: (%[[C:[^:]*]]: i1, %[[P:[^:]*]]: i64, %[[Q:[^:]*]]: i64)
// CHECK: cf.cond_br %[[C]], ^[[A:.*]](%[[P]] : i64), ^[[A]](%[[Q]] : i64)
// CHECK: ^[[A]](%[[R:.*]]: i64):
// CHECK: llvm.inttoptr %[[R]]
tt.func @blocks(%c: i1, %p: !tt.ptr<f32>, %q: !tt.ptr<f32>) {
  %x = arith.constant 1.0 : f32
  cf.cond_br %c, ^a(%p : !tt.ptr<f32>), ^a(%q : !tt.ptr<f32>)
^a(%r: !tt.ptr<f32>):
  tt.store %r, %x : !tt.ptr<f32>
  tt.return
}

// -----

// CHECK-LABEL: func.func @libdevice
// CHECK: linalg_ext.libdevice_call ins(%{{.*}}, %{{.*}} : tensor<8xf32>, tensor<8xf32>) outs(%{{.*}} : tensor<8xf32>) symbol = "__nv_powf" -> tensor<8xf32>
// CHECK: linalg_ext.scalar_libdevice_call ins(%{{.*}} : f32) symbol = "__nv_sinf" -> f32
tt.func @libdevice(%x: tensor<8xf32>, %y: f32) -> (tensor<8xf32>, f32) {
  %0 = tt.extern_elementwise %x, %x {libname = "", libpath = "", pure = true, symbol = "__nv_powf"} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %1 = tt.extern_elementwise %y {libname = "", libpath = "", pure = true, symbol = "__nv_sinf"} : (f32) -> f32
  tt.return %0, %1 : tensor<8xf32>, f32
}

// Barriers of threads are erased, because a program is a single thread here.
// CHECK-LABEL: func.func @barriers(
// CHECK-NEXT: return
tt.func @barriers() {
  ttg.barrier all
  gpu.barrier
  tt.return
}

// CHECK-LABEL: func.func @index_argument(
// CHECK-SAME: %[[I:.*]]: index) -> index
tt.func @index_argument(%i: index) -> index {
  // CHECK: return %[[I]] : index
  tt.return %i : index
}
