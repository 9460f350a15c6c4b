// RUN: triton-ext-opt %s -triton-ext-intensity="names=true" | FileCheck %s
// RUN: triton-ext-opt %s -triton-ext-intensity | FileCheck %s --check-prefix=PLAIN

// Each variable with its node and the line of its assignment. Of the operations with one name in a row, the last one
// computes the value. What a loop carries is assigned by the loop, and what has several results has no name.
// PLAIN-NOT: \22variables\22
// PLAIN: tt.func public @named
// CHECK: \22nodes\22:{{\[\[}}\22constant\22,0],[\22program\22,0],[\22argument\22,1],[\22muli\22,32,1,2],[\22addi\22,32,3,2],
// CHECK-SAME: \22variables\22:{{\[\[}}\22row\22,1,\22k.py:2\22],[\22n\22,2,\22k.py:1\22],[\22at\22,4,\22k.py:3\22],
// CHECK-SAME: [\22moved\22,{{[0-9]+}},\22k.py:4\22],[\22i\22,{{[0-9]+}},\22k.py:4\22]]
// CHECK: tt.func public @named
tt.func public @named(%x: !tt.ptr<f32> loc("x"("k.py":1:1)), %n: i32 loc("n"("k.py":1:1))) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %row = tt.get_program_id x : i32 loc("row"("k.py":2:1))
  %product = arith.muli %row, %n : i32 loc("at"("k.py":3:5))
  %at = arith.addi %product, %n : i32 loc("at"("k.py":3:1))
  %p = tt.addptr %x, %at : !tt.ptr<f32>, i32
  %v = tt.load %p : !tt.ptr<f32>
  %both:2 = "scf.for"(%c0, %n, %c1, %at, %v) ({
  ^bb0(%i: i32 loc("i"("k.py":4:1)), %moved: i32 loc("moved"("k.py":3:1)), %w: f32):
    %from = arith.addi %moved, %i : i32
    %q = tt.addptr %x, %from : !tt.ptr<f32>, i32
    tt.store %q, %w : !tt.ptr<f32>
    %next = arith.addi %moved, %c1 : i32
    "scf.yield"(%next, %w) : (i32, f32) -> ()
  }) : (i32, i32, i32, i32, f32) -> (i32, f32) loc("both"("k.py":4:1))
  %r = tt.addptr %x, %both#0 : !tt.ptr<f32>, i32
  tt.store %r, %v : !tt.ptr<f32>
  tt.return
}
