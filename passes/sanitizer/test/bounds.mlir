// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-sanitizer="checks=bounds" -cse -canonicalize | FileCheck %s
// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-sanitizer="checks=bounds action=suppress" -cse -canonicalize | FileCheck %s --check-prefix=SUPPRESS
// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-sanitizer="checks=bounds action=trap" -cse -canonicalize | FileCheck %s --check-prefix=TRAP
// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-sanitizer="checks=bounds" -triton-ext-lower-probe="emit=true" | FileCheck %s --check-prefix=LOWERED

// What is said of each access, in program order.
// CHECK: sanitize.verdicts = "[
// CHECK-SAME: \22verdict\22:\22checked\22,\22why\22:\22by the corners of the tile\22
// LOWERED: probe.sites = "
// LOWERED-SAME: \22note\22
// LOWERED-NOT: probe.check

// Of a tile, the first and the last address of the mask's box are compared, as scalars. One look serves both accesses,
// each with its storage and its view: it computes the lanes again from scalars, 32 of them at once. The store has the
// same mask; an i32 that may wrap around is compared once. Without a slot, the bounds are those of everything.
// CHECK-LABEL: tt.func public @add
// CHECK-SAME: %[[X:.*]]: !tt.ptr<f32>, %[[Y:.*]]: !tt.ptr<f32>, %[[N:.*]]: i32
// CHECK-DAG: probe.launch_word 10 {otherwise = -9223372036854775808 : i64} : i64
// CHECK-DAG: probe.launch_word 11 {otherwise = 9223372036854775807 : i64} : i64
// CHECK-DAG: %[[XA:.*]] = tt.ptr_to_int %[[X]] : !tt.ptr<f32> -> i64
// CHECK: tt.load
// CHECK: tt.store {{.*}} : tensor<128x!tt.ptr<f32>>
// CHECK-NOT: tensor
// CHECK: %[[LOAD_OUT:.*]] = arith.ori {{.*}} : i1
// CHECK: %[[STORE_OUT:.*]] = arith.ori {{.*}} : i1
// CHECK: %[[OUT:.*]] = arith.ori %[[LOAD_OUT]], %[[STORE_OUT]] : i1
// CHECK-NEXT: scf.if %[[OUT]] {
// CHECK-NEXT: scf.for %[[CHECK:.*]] = %c0_i32 to %c4_i32
// CHECK: %[[FIRST:.*]] = arith.select {{.*}}, %c8_i64, %c16_i64 : i64
// CHECK: probe.launch_word 0 + %[[FIRST]] : i64
// CHECK: %[[THIS:.*]] = arith.select {{.*}}, %[[LOAD_OUT]], %[[STORE_OUT]] : i1
// CHECK: %[[LANES:.*]] = arith.select %[[THIS]], %c128_i32, %c0_i32 : i32
// CHECK: scf.for {{.*}} to %[[LANES]] step %c32_i32
// CHECK-COUNT-2: tt.ptr_to_int {{.*}} -> tensor<32xi64>
// CHECK: "tt.reduce"
// CHECK: %[[SERIAL:.*]] = probe.launch_word 2 : i64
// CHECK: probe.failures %[[CHECK]], {{.*}}(%[[SERIAL]], {{.*}} : i64, i64) messages ["bounds", "view", "bounds", "view"]
// CHECK-SAME: \22access\22:\22load\22
// CHECK-SAME: \22argument\22:0
// CHECK-SAME: \22bytes\22:4
// CHECK-SAME: \22access\22:\22store\22
// CHECK-SAME: \22argument\22:1
// CHECK-NOT: scf.if
// The mask that suppresses compares each lane; the load reads zeros there.
// SUPPRESS-LABEL: tt.func public @add
// SUPPRESS: %[[IN:.*]] = arith.andi {{.*}} : tensor<128xi1>
// SUPPRESS: %[[KEPT:.*]] = arith.andi %[[IN]], %{{.*}} : tensor<128xi1>
// SUPPRESS-NEXT: tt.load %{{.*}}, %[[KEPT]], %{{.*}} : tensor<128x!tt.ptr<f32>>
// SUPPRESS: tt.store %{{.*}}, %{{.*}}, %{{.*}} : tensor<128x!tt.ptr<f32>>
// A trap is before the access.
// TRAP-LABEL: tt.func public @add
// TRAP: scf.if
// TRAP: tt.assert {{.*}}, "an access is out of bounds" : i1
// TRAP: tt.load
tt.func public @add(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32) {
  %c = arith.constant 128 : i32
  %pid = tt.get_program_id x : i32
  %s = arith.muli %pid, %c : i32
  %r = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
  %b = tt.splat %s : i32 -> tensor<128xi32>
  %o = arith.addi %b, %r : tensor<128xi32>
  %nn = tt.splat %n : i32 -> tensor<128xi32>
  %m = arith.cmpi slt, %o, %nn : tensor<128xi32>
  %p = tt.splat %x : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %q = tt.addptr %p, %o : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  %v = tt.load %q, %m : tensor<128x!tt.ptr<f32>>
  %p2 = tt.splat %y : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %q2 = tt.addptr %p2, %o : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  tt.store %q2, %v, %m : tensor<128x!tt.ptr<f32>>
  tt.return
}

// A tensor of pointers that a loop moves gets an i64 beside it. The loop only compares it, with limits from which the
// tile's size is subtracted before the loop, and carries one bit. Behind the loop a slice of it runs again, without
// tensors that are carried, and looks at the lanes of each turn, whatever the limits. A second access by the same pointers is not checked again.
// CHECK-LABEL: tt.func public @loop
// CHECK: %[[FALSE:.*]] = arith.constant false
// CHECK: %[[LIMIT:.*]] = arith.subi %{{.*}}, %c126_i64 : i64
// CHECK: %[[LOOP:.*]]:3 = scf.for {{.*}} iter_args(%[[P:.*]] = %{{.*}}, %[[BASE:.*]] = %{{.*}}, %[[FLAG:.*]] = %[[FALSE]]) -> (tensor<64x!tt.ptr<f16>>, i64, i1)
// CHECK: tt.load %[[P]] : tensor<64x!tt.ptr<f16>>
// CHECK: tt.store %[[P]], %{{.*}} : tensor<64x!tt.ptr<f16>>
// CHECK: %[[NEXT:.*]] = arith.addi %[[BASE]], %{{.*}} : i64
// CHECK-NOT: tensor
// CHECK-NOT: scf.if
// CHECK: arith.cmpi sle, %[[BASE]], %[[LIMIT]] : i64
// CHECK: %[[RAISED:.*]] = arith.ori %[[FLAG]], %{{.*}} : i1
// CHECK-NEXT: scf.yield %{{.*}}, %[[NEXT]], %[[RAISED]]
// CHECK: scf.if %[[LOOP]]#2 {
// CHECK-NEXT: scf.for {{.*}} iter_args(%[[AGAIN:.*]] = %{{.*}}) -> (i64)
// CHECK-NOT: tt.load
// CHECK-NOT: %[[LIMIT]]
// CHECK: probe.failures {{.*}} messages ["bounds", "view"]
// CHECK-NOT: probe.failures
// CHECK: tt.return
// A trap stays before the access.
// TRAP-LABEL: tt.func public @loop
// TRAP: scf.for
// TRAP: scf.if
// TRAP: tt.assert
// TRAP: tt.load
tt.func public @loop(%x: !tt.ptr<f16>, %n: i32, %step: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %move = tt.splat %step : i32 -> tensor<64xi32>
  %p = tt.splat %x : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>>
  %q = tt.addptr %p, %r : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
  %end = scf.for %i = %zero to %n step %one iter_args(%t = %q) -> (tensor<64x!tt.ptr<f16>>) : i32 {
    %v = tt.load %t : tensor<64x!tt.ptr<f16>>
    tt.store %t, %v : tensor<64x!tt.ptr<f16>>
    %u = tt.addptr %t, %move : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
    scf.yield %u : tensor<64x!tt.ptr<f16>>
  }
  tt.return
}

// Loaded indices: each lane is compared, and one bit says whether to look further. The remainder has limits.
// CHECK-LABEL: tt.func public @gather
// CHECK: %[[I:.*]] = tt.load
// CHECK: %[[V:.*]] = tt.load
// CHECK: arith.cmpi sge, {{.*}} : tensor<64xi64>
// CHECK: "tt.reduce"
// CHECK: scf.if
// CHECK: probe.check {{.*}}\22access\22:\22load\22
// CHECK: tt.atomic_rmw
// CHECK-NOT: "tt.reduce"
// CHECK: scf.if
// CHECK: probe.failures {{.*}}\22access\22:\22load\22{{.*}}\22access\22:\22atomic\22
tt.func public @gather(%x: !tt.ptr<f32>, %at: !tt.ptr<i32>, %sums: !tt.ptr<f32>, %n: i32) {
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %a = tt.splat %at : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %b = tt.addptr %a, %r : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  %i = tt.load %b : tensor<64x!tt.ptr<i32>>
  %p = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %q = tt.addptr %p, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %q : tensor<64x!tt.ptr<f32>>
  %nn = tt.splat %n : i32 -> tensor<64xi32>
  %rest = arith.remsi %r, %nn : tensor<64xi32>
  %s = tt.splat %sums : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %t = tt.addptr %s, %rest : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %old = tt.atomic_rmw fadd, relaxed, gpu, %t, %v : (tensor<64x!tt.ptr<f32>>, tensor<64xf32>) -> tensor<64xf32>
  tt.return
}

// A descriptor: the part of the box inside of the descriptor's shape.
// CHECK-LABEL: tt.func public @descriptor
// CHECK: tt.descriptor_store
// CHECK: scf.if
// CHECK: probe.failures {{.*}} messages ["bounds", "view"]{{.*}}\22argument\22:0
tt.func public @descriptor(%x: !tt.ptr<f16>, %m: i32, %n: i32, %i: i32) {
  %one = arith.constant 1 : i64
  %wide = arith.extsi %n : i32 to i64
  %d = tt.make_tensor_descriptor %x, [%m, %n], [%wide, %one] : !tt.ptr<f16>, !tt.tensordesc<16x32xf16>
  %v = arith.constant dense<0.0> : tensor<16x32xf16>
  tt.descriptor_store %d[%i, %i], %v : !tt.tensordesc<16x32xf16>, tensor<16x32xf16>
  tt.return
}

// Rows of a descriptor by their numbers: the least and the greatest number first, then the lanes, each with that of its row.
// CHECK-LABEL: tt.func public @rows
// CHECK: %[[ROWS:.*]] = tt.load
// CHECK: tt.descriptor_gather
// CHECK: "tt.reduce"(%[[ROWS]])
// CHECK: arith.minsi
// CHECK: "tt.reduce"(%[[ROWS]])
// CHECK: arith.maxsi
// CHECK: scf.if
// CHECK: tt.gather %[[ROWS]]
// CHECK: probe.failures {{.*}}\22argument\22:0,\22bytes\22:2,\22check\22:\22bounds\22
tt.func public @rows(%x: !tt.ptr<f16>, %at: !tt.ptr<i32>, %o: !tt.ptr<f16>, %m: i32, %n: i32, %j: i32) {
  %one = arith.constant 1 : i64
  %wide = arith.extsi %n : i32 to i64
  %d = tt.make_tensor_descriptor %x, [%m, %n], [%wide, %one] : !tt.ptr<f16>, !tt.tensordesc<1x32xf16>
  %r = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
  %a = tt.splat %at : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %b = tt.addptr %a, %r : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  %i = tt.load %b : tensor<8x!tt.ptr<i32>>
  %v = tt.descriptor_gather %d[%i, %j] : (!tt.tensordesc<1x32xf16>, tensor<8xi32>, i32) -> tensor<8x32xf16>
  tt.descriptor_scatter %d[%i, %j], %v : !tt.tensordesc<1x32xf16>, tensor<8xi32>, i32, tensor<8x32xf16>
  tt.return
}

// A pointer from memory, or made of an integer: the tensor of the launch that it points into is the one that holds. If
// there is none, a check says so where the pointer comes from.
// CHECK-LABEL: tt.func public @from_memory
// CHECK: probe.launch_word 8 {{.*}} : i64
// CHECK: tt.int_to_ptr
// CHECK: scf.if
// CHECK: probe.check {{.*}}, "nowhere"
// CHECK: tt.addptr
// CHECK: probe.check {{.*}}, "bounds"{{.*}}\22argument\22:null
tt.func public @from_memory(%table: !tt.ptr<i64>, %i: i32) {
  %a = tt.load %table : !tt.ptr<i64>
  %p = tt.int_to_ptr %a : i64 -> !tt.ptr<f32>
  %q = tt.addptr %p, %i : !tt.ptr<f32>, i32
  %v = tt.load %q : !tt.ptr<f32>
  tt.store %q, %v : !tt.ptr<f32>
  tt.return
}

// One of two tensors; through blocks and a while loop.
// CHECK-LABEL: tt.func public @one_of_two
// CHECK: probe.check {{.*}}\22argument\22:null,\22arguments\22:[
// CHECK: tt.return
tt.func public @one_of_two(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %c: i1, %n: i32) {
  %one = arith.constant 1 : i32
  cf.cond_br %c, ^bb1(%x : !tt.ptr<f32>), ^bb1(%y : !tt.ptr<f32>)
^bb1(%p: !tt.ptr<f32>):
  %r:2 = scf.while (%q = %p, %i = %n) : (!tt.ptr<f32>, i32) -> (!tt.ptr<f32>, i32) {
    %more = arith.cmpi sgt, %i, %one : i32
    scf.condition(%more) %q, %i : !tt.ptr<f32>, i32
  } do {
  ^bb0(%q: !tt.ptr<f32>, %i: i32):
    %v = tt.load %q {isVolatile = true} : !tt.ptr<f32>
    %next = tt.addptr %q, %one : !tt.ptr<f32>, i32
    %less = arith.subi %i, %one : i32
    scf.yield %next, %less : !tt.ptr<f32>, i32
  }
  tt.return
}

// A mask that is always false needs no check, and pointers that come from nowhere get none.
// CHECK-LABEL: tt.func public @nothing
// CHECK-NOT: probe.{{check|failures}}
// CHECK: tt.return
tt.func public @nothing(%x: !tt.ptr<f32>, %p: tensor<64x!tt.ptr<f32>>) {
  %no = arith.constant dense<false> : tensor<64xi1>
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %a = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  tt.store %a, %zero, %no : tensor<64x!tt.ptr<f32>>
  tt.store %p, %zero : tensor<64x!tt.ptr<f32>>
  tt.return
}

// CHECK-LABEL: tt.func public @no_dimensions
// CHECK-NOT: probe.{{check|failures}}
// CHECK: tt.return
tt.func public @no_dimensions(%x: !tt.ptr<f32>, %c: i1) -> tensor<f32> {
  %p = tt.splat %x : !tt.ptr<f32> -> tensor<!tt.ptr<f32>>
  %m = tt.splat %c : i1 -> tensor<i1>
  %v = tt.load %p, %m : tensor<!tt.ptr<f32>>
  tt.return %v : tensor<f32>
}
