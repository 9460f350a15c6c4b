// RUN: triton-ext-opt %s -split-input-file -triton-ext-loop-split | FileCheck %s
// RUN: triton-ext-opt %s -split-input-file -triton-ext-loop-split -o %t
// RUN: triton-ext-opt %s -split-input-file -triton-ext-loop-split -triton-ext-loop-split | diff %t -

// A branch becomes two loops without one; attributes stay on both.
// CHECK-LABEL: tt.func public @branch
// CHECK-SAME:  (%[[P:[^:]*]]: !tt.ptr<i32>, %[[N:[^:]*]]: i32, %[[M:[^:]*]]: i32)
// CHECK:       scf.for %[[I:[^ ]*]] = %c0_i32 to %[[END:[^ ]*]] step %c1_i32
// CHECK-NEXT:    tt.store %[[P]], %[[I]]
// CHECK-NEXT:  } {triton_ext.split, tt.num_stages = 3 : i32}
// CHECK-NEXT:  scf.for %{{[^ ]*}} = %[[MID:[^ ]*]] to %[[END2:[^ ]*]] step %c1_i32
// CHECK-NEXT:    tt.store %[[P]], %c7_i32
// CHECK-NEXT:  } {triton_ext.split, tt.num_stages = 3 : i32}
// CHECK-NEXT:  tt.return
tt.func public @branch(%p: !tt.ptr<i32>, %n: i32, %m: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c7 = arith.constant 7 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %early = arith.cmpi slt, %i, %m : i32
    scf.if %early {
      tt.store %p, %i : !tt.ptr<i32>
    } else {
      tt.store %p, %c7 : !tt.ptr<i32>
    }
  } {tt.num_stages = 3 : i32}
  tt.return
}

// slt: 2, 5, 8, 11, 14, 17 are compared with 8.
// CHECK-LABEL: tt.func public @slt(
// CHECK: scf.for %[[I:[^ ]*]] = %c2_i32{{(_[0-9]+)?}} to %c8_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %[[I]] 
// CHECK: scf.for %[[I:[^ ]*]] = %c8_i32{{(_[0-9]+)?}} to %c20_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %c7_i32 
// CHECK-NOT: scf.
// CHECK: tt.return
tt.func public @slt(%p: !tt.ptr<i32>) {
  %lb = arith.constant 2 : i32
  %ub = arith.constant 20 : i32
  %step = arith.constant 3 : i32
  %c7 = arith.constant 7 : i32
  %c = arith.constant 8 : i32
  scf.for %i = %lb to %ub step %step : i32 {
    %cond = arith.cmpi slt, %i, %c : i32
    scf.if %cond {
      tt.store %p, %i : !tt.ptr<i32>
    } else {
      tt.store %p, %c7 : !tt.ptr<i32>
    }
  }
  tt.return
}

// The same with the operands in the other order.
// CHECK-LABEL: tt.func public @slt_swapped(
// CHECK: scf.for %[[I:[^ ]*]] = %c2_i32{{(_[0-9]+)?}} to %c8_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %[[I]] 
// CHECK: scf.for %[[I:[^ ]*]] = %c8_i32{{(_[0-9]+)?}} to %c20_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %c7_i32 
// CHECK-NOT: scf.
// CHECK: tt.return
tt.func public @slt_swapped(%p: !tt.ptr<i32>) {
  %lb = arith.constant 2 : i32
  %ub = arith.constant 20 : i32
  %step = arith.constant 3 : i32
  %c7 = arith.constant 7 : i32
  %c = arith.constant 8 : i32
  scf.for %i = %lb to %ub step %step : i32 {
    %cond = arith.cmpi sgt, %c, %i : i32
    scf.if %cond {
      tt.store %p, %i : !tt.ptr<i32>
    } else {
      tt.store %p, %c7 : !tt.ptr<i32>
    }
  }
  tt.return
}

// sle: 2, 5, 8, 11, 14, 17 are compared with 8.
// CHECK-LABEL: tt.func public @sle(
// CHECK: scf.for %[[I:[^ ]*]] = %c2_i32{{(_[0-9]+)?}} to %c11_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %[[I]] 
// CHECK: scf.for %[[I:[^ ]*]] = %c11_i32{{(_[0-9]+)?}} to %c20_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %c7_i32 
// CHECK-NOT: scf.
// CHECK: tt.return
tt.func public @sle(%p: !tt.ptr<i32>) {
  %lb = arith.constant 2 : i32
  %ub = arith.constant 20 : i32
  %step = arith.constant 3 : i32
  %c7 = arith.constant 7 : i32
  %c = arith.constant 8 : i32
  scf.for %i = %lb to %ub step %step : i32 {
    %cond = arith.cmpi sle, %i, %c : i32
    scf.if %cond {
      tt.store %p, %i : !tt.ptr<i32>
    } else {
      tt.store %p, %c7 : !tt.ptr<i32>
    }
  }
  tt.return
}

// The same with the operands in the other order.
// CHECK-LABEL: tt.func public @sle_swapped(
// CHECK: scf.for %[[I:[^ ]*]] = %c2_i32{{(_[0-9]+)?}} to %c11_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %[[I]] 
// CHECK: scf.for %[[I:[^ ]*]] = %c11_i32{{(_[0-9]+)?}} to %c20_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %c7_i32 
// CHECK-NOT: scf.
// CHECK: tt.return
tt.func public @sle_swapped(%p: !tt.ptr<i32>) {
  %lb = arith.constant 2 : i32
  %ub = arith.constant 20 : i32
  %step = arith.constant 3 : i32
  %c7 = arith.constant 7 : i32
  %c = arith.constant 8 : i32
  scf.for %i = %lb to %ub step %step : i32 {
    %cond = arith.cmpi sge, %c, %i : i32
    scf.if %cond {
      tt.store %p, %i : !tt.ptr<i32>
    } else {
      tt.store %p, %c7 : !tt.ptr<i32>
    }
  }
  tt.return
}

// sgt: 2, 5, 8, 11, 14, 17 are compared with 8.
// CHECK-LABEL: tt.func public @sgt(
// CHECK: scf.for %[[I:[^ ]*]] = %c2_i32{{(_[0-9]+)?}} to %c11_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %c7_i32 
// CHECK: scf.for %[[I:[^ ]*]] = %c11_i32{{(_[0-9]+)?}} to %c20_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %[[I]] 
// CHECK-NOT: scf.
// CHECK: tt.return
tt.func public @sgt(%p: !tt.ptr<i32>) {
  %lb = arith.constant 2 : i32
  %ub = arith.constant 20 : i32
  %step = arith.constant 3 : i32
  %c7 = arith.constant 7 : i32
  %c = arith.constant 8 : i32
  scf.for %i = %lb to %ub step %step : i32 {
    %cond = arith.cmpi sgt, %i, %c : i32
    scf.if %cond {
      tt.store %p, %i : !tt.ptr<i32>
    } else {
      tt.store %p, %c7 : !tt.ptr<i32>
    }
  }
  tt.return
}

// The same with the operands in the other order.
// CHECK-LABEL: tt.func public @sgt_swapped(
// CHECK: scf.for %[[I:[^ ]*]] = %c2_i32{{(_[0-9]+)?}} to %c11_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %c7_i32 
// CHECK: scf.for %[[I:[^ ]*]] = %c11_i32{{(_[0-9]+)?}} to %c20_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %[[I]] 
// CHECK-NOT: scf.
// CHECK: tt.return
tt.func public @sgt_swapped(%p: !tt.ptr<i32>) {
  %lb = arith.constant 2 : i32
  %ub = arith.constant 20 : i32
  %step = arith.constant 3 : i32
  %c7 = arith.constant 7 : i32
  %c = arith.constant 8 : i32
  scf.for %i = %lb to %ub step %step : i32 {
    %cond = arith.cmpi slt, %c, %i : i32
    scf.if %cond {
      tt.store %p, %i : !tt.ptr<i32>
    } else {
      tt.store %p, %c7 : !tt.ptr<i32>
    }
  }
  tt.return
}

// sge: 2, 5, 8, 11, 14, 17 are compared with 8.
// CHECK-LABEL: tt.func public @sge(
// CHECK: scf.for %[[I:[^ ]*]] = %c2_i32{{(_[0-9]+)?}} to %c8_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %c7_i32 
// CHECK: scf.for %[[I:[^ ]*]] = %c8_i32{{(_[0-9]+)?}} to %c20_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %[[I]] 
// CHECK-NOT: scf.
// CHECK: tt.return
tt.func public @sge(%p: !tt.ptr<i32>) {
  %lb = arith.constant 2 : i32
  %ub = arith.constant 20 : i32
  %step = arith.constant 3 : i32
  %c7 = arith.constant 7 : i32
  %c = arith.constant 8 : i32
  scf.for %i = %lb to %ub step %step : i32 {
    %cond = arith.cmpi sge, %i, %c : i32
    scf.if %cond {
      tt.store %p, %i : !tt.ptr<i32>
    } else {
      tt.store %p, %c7 : !tt.ptr<i32>
    }
  }
  tt.return
}

// The same with the operands in the other order.
// CHECK-LABEL: tt.func public @sge_swapped(
// CHECK: scf.for %[[I:[^ ]*]] = %c2_i32{{(_[0-9]+)?}} to %c8_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %c7_i32 
// CHECK: scf.for %[[I:[^ ]*]] = %c8_i32{{(_[0-9]+)?}} to %c20_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %[[I]] 
// CHECK-NOT: scf.
// CHECK: tt.return
tt.func public @sge_swapped(%p: !tt.ptr<i32>) {
  %lb = arith.constant 2 : i32
  %ub = arith.constant 20 : i32
  %step = arith.constant 3 : i32
  %c7 = arith.constant 7 : i32
  %c = arith.constant 8 : i32
  scf.for %i = %lb to %ub step %step : i32 {
    %cond = arith.cmpi sle, %c, %i : i32
    scf.if %cond {
      tt.store %p, %i : !tt.ptr<i32>
    } else {
      tt.store %p, %c7 : !tt.ptr<i32>
    }
  }
  tt.return
}

// ult: 2, 5, 8, 11, 14, 17 are compared with 8.
// CHECK-LABEL: tt.func public @ult(
// CHECK: scf.for %[[I:[^ ]*]] = %c2_i32{{(_[0-9]+)?}} to %c8_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %[[I]] 
// CHECK: scf.for %[[I:[^ ]*]] = %c8_i32{{(_[0-9]+)?}} to %c20_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %c7_i32 
// CHECK-NOT: scf.
// CHECK: tt.return
tt.func public @ult(%p: !tt.ptr<i32>) {
  %lb = arith.constant 2 : i32
  %ub = arith.constant 20 : i32
  %step = arith.constant 3 : i32
  %c7 = arith.constant 7 : i32
  %c = arith.constant 8 : i32
  scf.for %i = %lb to %ub step %step : i32 {
    %cond = arith.cmpi ult, %i, %c : i32
    scf.if %cond {
      tt.store %p, %i : !tt.ptr<i32>
    } else {
      tt.store %p, %c7 : !tt.ptr<i32>
    }
  }
  tt.return
}

// The same with the operands in the other order.
// CHECK-LABEL: tt.func public @ult_swapped(
// CHECK: scf.for %[[I:[^ ]*]] = %c2_i32{{(_[0-9]+)?}} to %c8_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %[[I]] 
// CHECK: scf.for %[[I:[^ ]*]] = %c8_i32{{(_[0-9]+)?}} to %c20_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %c7_i32 
// CHECK-NOT: scf.
// CHECK: tt.return
tt.func public @ult_swapped(%p: !tt.ptr<i32>) {
  %lb = arith.constant 2 : i32
  %ub = arith.constant 20 : i32
  %step = arith.constant 3 : i32
  %c7 = arith.constant 7 : i32
  %c = arith.constant 8 : i32
  scf.for %i = %lb to %ub step %step : i32 {
    %cond = arith.cmpi ugt, %c, %i : i32
    scf.if %cond {
      tt.store %p, %i : !tt.ptr<i32>
    } else {
      tt.store %p, %c7 : !tt.ptr<i32>
    }
  }
  tt.return
}

// ule: 2, 5, 8, 11, 14, 17 are compared with 8.
// CHECK-LABEL: tt.func public @ule(
// CHECK: scf.for %[[I:[^ ]*]] = %c2_i32{{(_[0-9]+)?}} to %c11_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %[[I]] 
// CHECK: scf.for %[[I:[^ ]*]] = %c11_i32{{(_[0-9]+)?}} to %c20_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %c7_i32 
// CHECK-NOT: scf.
// CHECK: tt.return
tt.func public @ule(%p: !tt.ptr<i32>) {
  %lb = arith.constant 2 : i32
  %ub = arith.constant 20 : i32
  %step = arith.constant 3 : i32
  %c7 = arith.constant 7 : i32
  %c = arith.constant 8 : i32
  scf.for %i = %lb to %ub step %step : i32 {
    %cond = arith.cmpi ule, %i, %c : i32
    scf.if %cond {
      tt.store %p, %i : !tt.ptr<i32>
    } else {
      tt.store %p, %c7 : !tt.ptr<i32>
    }
  }
  tt.return
}

// The same with the operands in the other order.
// CHECK-LABEL: tt.func public @ule_swapped(
// CHECK: scf.for %[[I:[^ ]*]] = %c2_i32{{(_[0-9]+)?}} to %c11_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %[[I]] 
// CHECK: scf.for %[[I:[^ ]*]] = %c11_i32{{(_[0-9]+)?}} to %c20_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %c7_i32 
// CHECK-NOT: scf.
// CHECK: tt.return
tt.func public @ule_swapped(%p: !tt.ptr<i32>) {
  %lb = arith.constant 2 : i32
  %ub = arith.constant 20 : i32
  %step = arith.constant 3 : i32
  %c7 = arith.constant 7 : i32
  %c = arith.constant 8 : i32
  scf.for %i = %lb to %ub step %step : i32 {
    %cond = arith.cmpi uge, %c, %i : i32
    scf.if %cond {
      tt.store %p, %i : !tt.ptr<i32>
    } else {
      tt.store %p, %c7 : !tt.ptr<i32>
    }
  }
  tt.return
}

// ugt: 2, 5, 8, 11, 14, 17 are compared with 8.
// CHECK-LABEL: tt.func public @ugt(
// CHECK: scf.for %[[I:[^ ]*]] = %c2_i32{{(_[0-9]+)?}} to %c11_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %c7_i32 
// CHECK: scf.for %[[I:[^ ]*]] = %c11_i32{{(_[0-9]+)?}} to %c20_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %[[I]] 
// CHECK-NOT: scf.
// CHECK: tt.return
tt.func public @ugt(%p: !tt.ptr<i32>) {
  %lb = arith.constant 2 : i32
  %ub = arith.constant 20 : i32
  %step = arith.constant 3 : i32
  %c7 = arith.constant 7 : i32
  %c = arith.constant 8 : i32
  scf.for %i = %lb to %ub step %step : i32 {
    %cond = arith.cmpi ugt, %i, %c : i32
    scf.if %cond {
      tt.store %p, %i : !tt.ptr<i32>
    } else {
      tt.store %p, %c7 : !tt.ptr<i32>
    }
  }
  tt.return
}

// The same with the operands in the other order.
// CHECK-LABEL: tt.func public @ugt_swapped(
// CHECK: scf.for %[[I:[^ ]*]] = %c2_i32{{(_[0-9]+)?}} to %c11_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %c7_i32 
// CHECK: scf.for %[[I:[^ ]*]] = %c11_i32{{(_[0-9]+)?}} to %c20_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %[[I]] 
// CHECK-NOT: scf.
// CHECK: tt.return
tt.func public @ugt_swapped(%p: !tt.ptr<i32>) {
  %lb = arith.constant 2 : i32
  %ub = arith.constant 20 : i32
  %step = arith.constant 3 : i32
  %c7 = arith.constant 7 : i32
  %c = arith.constant 8 : i32
  scf.for %i = %lb to %ub step %step : i32 {
    %cond = arith.cmpi ult, %c, %i : i32
    scf.if %cond {
      tt.store %p, %i : !tt.ptr<i32>
    } else {
      tt.store %p, %c7 : !tt.ptr<i32>
    }
  }
  tt.return
}

// uge: 2, 5, 8, 11, 14, 17 are compared with 8.
// CHECK-LABEL: tt.func public @uge(
// CHECK: scf.for %[[I:[^ ]*]] = %c2_i32{{(_[0-9]+)?}} to %c8_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %c7_i32 
// CHECK: scf.for %[[I:[^ ]*]] = %c8_i32{{(_[0-9]+)?}} to %c20_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %[[I]] 
// CHECK-NOT: scf.
// CHECK: tt.return
tt.func public @uge(%p: !tt.ptr<i32>) {
  %lb = arith.constant 2 : i32
  %ub = arith.constant 20 : i32
  %step = arith.constant 3 : i32
  %c7 = arith.constant 7 : i32
  %c = arith.constant 8 : i32
  scf.for %i = %lb to %ub step %step : i32 {
    %cond = arith.cmpi uge, %i, %c : i32
    scf.if %cond {
      tt.store %p, %i : !tt.ptr<i32>
    } else {
      tt.store %p, %c7 : !tt.ptr<i32>
    }
  }
  tt.return
}

// The same with the operands in the other order.
// CHECK-LABEL: tt.func public @uge_swapped(
// CHECK: scf.for %[[I:[^ ]*]] = %c2_i32{{(_[0-9]+)?}} to %c8_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %c7_i32 
// CHECK: scf.for %[[I:[^ ]*]] = %c8_i32{{(_[0-9]+)?}} to %c20_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %[[I]] 
// CHECK-NOT: scf.
// CHECK: tt.return
tt.func public @uge_swapped(%p: !tt.ptr<i32>) {
  %lb = arith.constant 2 : i32
  %ub = arith.constant 20 : i32
  %step = arith.constant 3 : i32
  %c7 = arith.constant 7 : i32
  %c = arith.constant 8 : i32
  scf.for %i = %lb to %ub step %step : i32 {
    %cond = arith.cmpi ule, %c, %i : i32
    scf.if %cond {
      tt.store %p, %i : !tt.ptr<i32>
    } else {
      tt.store %p, %c7 : !tt.ptr<i32>
    }
  }
  tt.return
}

// Equality holds in one iteration, so there are three loops.
// CHECK-LABEL: tt.func public @eq(
// CHECK: scf.for %[[I:[^ ]*]] = %c2_i32{{(_[0-9]+)?}} to %c8_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %c7_i32 
// CHECK: scf.for %[[I:[^ ]*]] = %c8_i32{{(_[0-9]+)?}} to %c11_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %[[I]] 
// CHECK: scf.for %[[I:[^ ]*]] = %c11_i32{{(_[0-9]+)?}} to %c20_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %c7_i32 
// CHECK-NOT: scf.
// CHECK: tt.return
tt.func public @eq(%p: !tt.ptr<i32>) {
  %lb = arith.constant 2 : i32
  %ub = arith.constant 20 : i32
  %step = arith.constant 3 : i32
  %c7 = arith.constant 7 : i32
  %c = arith.constant 8 : i32
  scf.for %i = %lb to %ub step %step : i32 {
    %cond = arith.cmpi eq, %i, %c : i32
    scf.if %cond {
      tt.store %p, %i : !tt.ptr<i32>
    } else {
      tt.store %p, %c7 : !tt.ptr<i32>
    }
  }
  tt.return
}

// Inequality fails in one iteration, so there are three loops, too.
// CHECK-LABEL: tt.func public @ne(
// CHECK: scf.for %[[I:[^ ]*]] = %c2_i32{{(_[0-9]+)?}} to %c8_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %[[I]] 
// CHECK: scf.for %[[I:[^ ]*]] = %c8_i32{{(_[0-9]+)?}} to %c11_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %c7_i32 
// CHECK: scf.for %[[I:[^ ]*]] = %c11_i32{{(_[0-9]+)?}} to %c20_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %[[I]] 
// CHECK-NOT: scf.
// CHECK: tt.return
tt.func public @ne(%p: !tt.ptr<i32>) {
  %lb = arith.constant 2 : i32
  %ub = arith.constant 20 : i32
  %step = arith.constant 3 : i32
  %c7 = arith.constant 7 : i32
  %c = arith.constant 8 : i32
  scf.for %i = %lb to %ub step %step : i32 {
    %cond = arith.cmpi ne, %c, %i : i32
    scf.if %cond {
      tt.store %p, %i : !tt.ptr<i32>
    } else {
      tt.store %p, %c7 : !tt.ptr<i32>
    }
  }
  tt.return
}

// The induction variable skips the number that it is compared with.
// CHECK-LABEL: tt.func public @between(
// CHECK: scf.for %[[I:[^ ]*]] = %c2_i32{{(_[0-9]+)?}} to %c11_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %[[I]] 
// CHECK: scf.for %[[I:[^ ]*]] = %c11_i32{{(_[0-9]+)?}} to %c20_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %c7_i32 
// CHECK-NOT: scf.
// CHECK: tt.return
tt.func public @between(%p: !tt.ptr<i32>) {
  %lb = arith.constant 2 : i32
  %ub = arith.constant 20 : i32
  %step = arith.constant 3 : i32
  %c7 = arith.constant 7 : i32
  %c = arith.constant 9 : i32
  scf.for %i = %lb to %ub step %step : i32 {
    %cond = arith.cmpi slt, %i, %c : i32
    scf.if %cond {
      tt.store %p, %i : !tt.ptr<i32>
    } else {
      tt.store %p, %c7 : !tt.ptr<i32>
    }
  }
  tt.return
}

// iv + c
// CHECK-LABEL: tt.func public @sum(
// CHECK: scf.for %[[I:[^ ]*]] = %c2_i32{{(_[0-9]+)?}} to %c14_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %c7_i32 
// CHECK: scf.for %[[I:[^ ]*]] = %c14_i32{{(_[0-9]+)?}} to %c20_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %[[I]] 
// CHECK-NOT: scf.
// CHECK: tt.return
tt.func public @sum(%p: !tt.ptr<i32>) {
  %lb = arith.constant 2 : i32
  %ub = arith.constant 20 : i32
  %step = arith.constant 3 : i32
  %c7 = arith.constant 7 : i32
  %c = arith.constant 17 : i32
  scf.for %i = %lb to %ub step %step : i32 {
    %x = arith.addi %i, %step : i32
    %cond = arith.cmpi sge, %x, %c : i32
    scf.if %cond {
      tt.store %p, %i : !tt.ptr<i32>
    } else {
      tt.store %p, %c7 : !tt.ptr<i32>
    }
  }
  tt.return
}

// c - iv decreases.
// CHECK-LABEL: tt.func public @difference(
// CHECK: scf.for %[[I:[^ ]*]] = %c2_i32{{(_[0-9]+)?}} to %c17_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %[[I]] 
// CHECK: scf.for %[[I:[^ ]*]] = %c17_i32{{(_[0-9]+)?}} to %c20_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %c7_i32 
// CHECK-NOT: scf.
// CHECK: tt.return
tt.func public @difference(%p: !tt.ptr<i32>) {
  %lb = arith.constant 2 : i32
  %ub = arith.constant 20 : i32
  %step = arith.constant 3 : i32
  %c7 = arith.constant 7 : i32
  %c = arith.constant 5 : i32
  scf.for %i = %lb to %ub step %step : i32 {
    %x = arith.subi %ub, %i : i32
    %cond = arith.cmpi sgt, %x, %c : i32
    scf.if %cond {
      tt.store %p, %i : !tt.ptr<i32>
    } else {
      tt.store %p, %c7 : !tt.ptr<i32>
    }
  }
  tt.return
}

// iv * c
// CHECK-LABEL: tt.func public @product(
// CHECK: scf.for %[[I:[^ ]*]] = %c2_i32{{(_[0-9]+)?}} to %c11_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %[[I]] 
// CHECK: scf.for %[[I:[^ ]*]] = %c11_i32{{(_[0-9]+)?}} to %c20_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %c7_i32 
// CHECK-NOT: scf.
// CHECK: tt.return
tt.func public @product(%p: !tt.ptr<i32>) {
  %lb = arith.constant 2 : i32
  %ub = arith.constant 20 : i32
  %step = arith.constant 3 : i32
  %c7 = arith.constant 7 : i32
  %c = arith.constant 70 : i32
  scf.for %i = %lb to %ub step %step : i32 {
    %x = arith.muli %i, %c7 : i32
    %cond = arith.cmpi slt, %x, %c : i32
    scf.if %cond {
      tt.store %p, %i : !tt.ptr<i32>
    } else {
      tt.store %p, %c7 : !tt.ptr<i32>
    }
  }
  tt.return
}

// A negative factor reverses the order.
// CHECK-LABEL: tt.func public @negative_product(
// CHECK: scf.for %[[I:[^ ]*]] = %c2_i32{{(_[0-9]+)?}} to %c11_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %c7_i32 
// CHECK: scf.for %[[I:[^ ]*]] = %c11_i32{{(_[0-9]+)?}} to %c20_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %[[I]] 
// CHECK-NOT: scf.
// CHECK: tt.return
tt.func public @negative_product(%p: !tt.ptr<i32>) {
  %lb = arith.constant 2 : i32
  %ub = arith.constant 20 : i32
  %step = arith.constant 3 : i32
  %c7 = arith.constant 7 : i32
  %c = arith.constant -8 : i32
  %m1 = arith.constant -1 : i32
  scf.for %i = %lb to %ub step %step : i32 {
    %x = arith.muli %m1, %i : i32
    %cond = arith.cmpi slt, %x, %c : i32
    scf.if %cond {
      tt.store %p, %i : !tt.ptr<i32>
    } else {
      tt.store %p, %c7 : !tt.ptr<i32>
    }
  }
  tt.return
}

// A shift is a product with a power of two.
// CHECK-LABEL: tt.func public @shift(
// CHECK: scf.for %[[I:[^ ]*]] = %c2_i32{{(_[0-9]+)?}} to %c11_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %c7_i32 
// CHECK: scf.for %[[I:[^ ]*]] = %c11_i32{{(_[0-9]+)?}} to %c20_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %[[I]] 
// CHECK-NOT: scf.
// CHECK: tt.return
tt.func public @shift(%p: !tt.ptr<i32>) {
  %lb = arith.constant 2 : i32
  %ub = arith.constant 20 : i32
  %step = arith.constant 3 : i32
  %c7 = arith.constant 7 : i32
  %c = arith.constant 20 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %lb to %ub step %step : i32 {
    %x = arith.shli %i, %c1 : i32
    %cond = arith.cmpi uge, %x, %c : i32
    scf.if %cond {
      tt.store %p, %i : !tt.ptr<i32>
    } else {
      tt.store %p, %c7 : !tt.ptr<i32>
    }
  }
  tt.return
}

// The comparison is of an extension.
// CHECK-LABEL: tt.func public @extended(
// CHECK: scf.for %[[I:[^ ]*]] = %c2_i32{{(_[0-9]+)?}} to %c11_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %[[I]] 
// CHECK: scf.for %[[I:[^ ]*]] = %c11_i32{{(_[0-9]+)?}} to %c20_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %c7_i32 
// CHECK-NOT: scf.
// CHECK: tt.return
tt.func public @extended(%p: !tt.ptr<i32>) {
  %lb = arith.constant 2 : i32
  %ub = arith.constant 20 : i32
  %step = arith.constant 3 : i32
  %c7 = arith.constant 7 : i32
  %c = arith.constant 10 : i64
  scf.for %i = %lb to %ub step %step : i32 {
    %x = arith.extsi %i : i32 to i64
    %cond = arith.cmpi slt, %x, %c : i64
    scf.if %cond {
      tt.store %p, %i : !tt.ptr<i32>
    } else {
      tt.store %p, %c7 : !tt.ptr<i32>
    }
  }
  tt.return
}

// The comparison is of a truncation.
// CHECK-LABEL: tt.func public @truncated(
// CHECK: scf.for %[[I:[^ ]*]] = %c2_i32{{(_[0-9]+)?}} to %c11_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %[[I]] 
// CHECK: scf.for %[[I:[^ ]*]] = %c11_i32{{(_[0-9]+)?}} to %c20_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %c7_i32 
// CHECK-NOT: scf.
// CHECK: tt.return
tt.func public @truncated(%p: !tt.ptr<i32>) {
  %lb = arith.constant 2 : i32
  %ub = arith.constant 20 : i32
  %step = arith.constant 3 : i32
  %c7 = arith.constant 7 : i32
  %c = arith.constant 10 : i8
  scf.for %i = %lb to %ub step %step : i32 {
    %x = arith.trunci %i : i32 to i8
    %cond = arith.cmpi slt, %x, %c : i8
    scf.if %cond {
      tt.store %p, %i : !tt.ptr<i32>
    } else {
      tt.store %p, %c7 : !tt.ptr<i32>
    }
  }
  tt.return
}

// At the largest value of the type, no bound overflows.
// CHECK-LABEL: tt.func public @extremes(
// CHECK: scf.for %[[I:[^ ]*]] = %c9223372036854775797_i64{{(_[0-9]+)?}} to %c9223372036854775803_i64{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %c7_i64 
// CHECK: scf.for %[[I:[^ ]*]] = %c9223372036854775803_i64{{(_[0-9]+)?}} to %c9223372036854775807_i64{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %[[I]] 
// CHECK-NOT: scf.
// CHECK: tt.return
tt.func public @extremes(%p: !tt.ptr<i64>) {
  %lb = arith.constant 9223372036854775797 : i64
  %ub = arith.constant 9223372036854775807 : i64
  %step = arith.constant 3 : i64
  %c7 = arith.constant 7 : i64
  %c = arith.constant 9223372036854775801 : i64
  scf.for %i = %lb to %ub step %step : i64 {
    %cond = arith.cmpi sge, %i, %c : i64
    scf.if %cond {
      tt.store %p, %i : !tt.ptr<i64>
    } else {
      tt.store %p, %c7 : !tt.ptr<i64>
    }
  }
  tt.return
}

// At the smallest value of the type, no bound overflows.
// CHECK-LABEL: tt.func public @least(
// CHECK: scf.for %[[I:[^ ]*]] = %c-2147483648_i32{{(_[0-9]+)?}} to %c-2147483645_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %[[I]] 
// CHECK: scf.for %[[I:[^ ]*]] = %c-2147483645_i32{{(_[0-9]+)?}} to %c-2147483640_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %c7_i32 
// CHECK-NOT: scf.
// CHECK: tt.return
tt.func public @least(%p: !tt.ptr<i32>) {
  %lb = arith.constant -2147483648 : i32
  %ub = arith.constant -2147483640 : i32
  %step = arith.constant 3 : i32
  %c7 = arith.constant 7 : i32
  %c = arith.constant -2147483648 : i32
  scf.for %i = %lb to %ub step %step : i32 {
    %cond = arith.cmpi sle, %i, %c : i32
    scf.if %cond {
      tt.store %p, %i : !tt.ptr<i32>
    } else {
      tt.store %p, %c7 : !tt.ptr<i32>
    }
  }
  tt.return
}

// A comparison that is false in all iterations needs no second loop.
// CHECK-LABEL: tt.func public @never(
// CHECK: scf.for %[[I:[^ ]*]] = %c2_i32{{(_[0-9]+)?}} to %c20_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %c7_i32 
// CHECK-NOT: scf.
// CHECK: tt.return
tt.func public @never(%p: !tt.ptr<i32>) {
  %lb = arith.constant 2 : i32
  %ub = arith.constant 20 : i32
  %step = arith.constant 3 : i32
  %c7 = arith.constant 7 : i32
  %c = arith.constant 2 : i32
  scf.for %i = %lb to %ub step %step : i32 {
    %cond = arith.cmpi slt, %i, %c : i32
    scf.if %cond {
      tt.store %p, %i : !tt.ptr<i32>
    } else {
      tt.store %p, %c7 : !tt.ptr<i32>
    }
  }
  tt.return
}

// A comparison that is true in all iterations needs no second loop.
// CHECK-LABEL: tt.func public @always(
// CHECK: scf.for %[[I:[^ ]*]] = %c2_i32{{(_[0-9]+)?}} to %c20_i32{{(_[0-9]+)?}} step
// CHECK-NEXT: tt.store %{{[^ ]*}}, %[[I]] 
// CHECK-NOT: scf.
// CHECK: tt.return
tt.func public @always(%p: !tt.ptr<i32>) {
  %lb = arith.constant 2 : i32
  %ub = arith.constant 20 : i32
  %step = arith.constant 3 : i32
  %c7 = arith.constant 7 : i32
  %c = arith.constant 18 : i32
  scf.for %i = %lb to %ub step %step : i32 {
    %cond = arith.cmpi slt, %i, %c : i32
    scf.if %cond {
      tt.store %p, %i : !tt.ptr<i32>
    } else {
      tt.store %p, %c7 : !tt.ptr<i32>
    }
  }
  tt.return
}

// Results pass from the first loop to the second; the select is removed.
// CHECK-LABEL: tt.func public @results
// CHECK:      %[[A:.*]]:2 = scf.for {{.*}} iter_args(%{{.*}} = %c7_i32, %{{.*}} = %arg1)
// CHECK-NOT:  arith.select
// CHECK:      %[[B:.*]]:2 = scf.for {{.*}} iter_args(%{{.*}} = %[[A]]#0, %{{.*}} = %[[A]]#1)
// CHECK-NOT:  arith.select
// CHECK:      tt.return %[[B]]#1, %[[B]]#0
tt.func public @results(%n: i32, %m: i32) -> (i32, i32) {
  %c0 = arith.constant 0 : i32
  %c7 = arith.constant 7 : i32
  %r:2 = scf.for %i = %c0 to %n step %c7 iter_args(%x = %c7, %y = %m) -> (i32, i32) : i32 {
    %cond = arith.cmpi sge, %i, %m : i32
    %s = arith.select %cond, %x, %i : i32
    scf.yield %y, %s : i32, i32
  }
  tt.return %r#1, %r#0 : i32, i32
}

// A sum that may wrap is compared with any value: the first loop has no branch,
// the second keeps it.
// CHECK-LABEL: tt.func public @may_wrap
// CHECK:     scf.for
// CHECK-NOT:   scf.if
// CHECK:     scf.for
// CHECK:       scf.if
// CHECK-NOT: scf.for
tt.func public @may_wrap(%p: !tt.ptr<i32>, %n: i32, %m: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  scf.for %i = %c0 to %n step %c64 : i32 {
    %x = arith.addi %i, %c64 : i32
    %cond = arith.cmpi sgt, %x, %m : i32
    scf.if %cond {
      tt.store %p, %i : !tt.ptr<i32>
    }
  }
  tt.return
}

// With nsw, neither loop has the branch.
// CHECK-LABEL: tt.func public @must_not_wrap
// CHECK:     scf.for
// CHECK:     scf.for
// CHECK-NOT: scf.if
// CHECK:     tt.return
tt.func public @must_not_wrap(%p: !tt.ptr<i32>, %n: i32, %m: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  scf.for %i = %c0 to %n step %c64 : i32 {
    %x = arith.addi %i, %c64 overflow<nsw> : i32
    %cond = arith.cmpi sgt, %x, %m : i32
    scf.if %cond {
      tt.store %p, %i : !tt.ptr<i32>
    }
  }
  tt.return
}

// A conjunction is false if one operand is false. If the first operand is true,
// the second one decides.
// CHECK-LABEL: tt.func public @conjunction
// CHECK:     scf.for
// CHECK-NEXT:  tt.store %arg0, %c0_i32
// CHECK-NEXT: }
// CHECK:     scf.for
// CHECK-NEXT:  tt.store %arg0, %c0_i32
// CHECK-NEXT:  tt.store
// CHECK-NEXT: }
// CHECK:     scf.for
// CHECK-NEXT:  tt.store %arg0, %c0_i32
// CHECK-NEXT: }
// CHECK-NOT: scf.
tt.func public @conjunction(%p: !tt.ptr<i32>, %n: i32, %a: i32, %b: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %after = arith.cmpi sge, %i, %a : i32
    %before = arith.cmpi slt, %i, %b : i32
    %in = arith.andi %after, %before : i1
    tt.store %p, %c0 : !tt.ptr<i32>
    scf.if %in {
      tt.store %p, %i : !tt.ptr<i32>
    }
  }
  tt.return
}

// The K loop of a matrix product: only the second loop has a mask.
// CHECK-LABEL: tt.func public @ragged
// CHECK:     scf.for
// CHECK-NOT:   arith.cmpi
// CHECK:       tt.load %{{[^,]*}} :
// CHECK:     scf.for
// CHECK:       %[[MASK:.*]] = arith.cmpi slt
// CHECK:       tt.load %{{[^,]*}}, %[[MASK]], %cst
// CHECK-NOT: scf.for
tt.func public @ragged(%p: !tt.ptr<f32>, %k: i32) -> tensor<64xf32> {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %offs = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %r = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> tensor<64xf32> : i32 {
    %rest = arith.subi %k, %i : i32
    %rests = tt.splat %rest : i32 -> tensor<64xi32>
    %mask = arith.cmpi slt, %offs, %rests : tensor<64xi32>
    %is = tt.splat %i : i32 -> tensor<64xi32>
    %at = arith.addi %is, %offs : tensor<64xi32>
    %pi = tt.addptr %ps, %at : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %x = tt.load %pi, %mask, %zero : tensor<64x!tt.ptr<f32>>
    %y = arith.addf %acc, %x : tensor<64xf32>
    scf.yield %y : tensor<64xf32>
  }
  tt.return %r : tensor<64xf32>
}

// A sliding window: partly masked tiles, tiles without a mask, partly masked tiles.
// CHECK-LABEL: tt.func public @window
// CHECK:     scf.for
// CHECK:       arith.cmpi sgt
// CHECK:       arith.cmpi sle
// CHECK:       tt.load %{{.*}}, %{{.*}} :
// CHECK:     scf.for
// CHECK-NOT:   arith.cmpi
// CHECK:       tt.load %{{[^,]*}} :
// CHECK:     scf.for
// CHECK-NOT:   arith.cmpi sgt
// CHECK:       arith.cmpi sle
// CHECK:       tt.load %{{.*}}, %{{.*}} :
// CHECK-NOT: scf.for
tt.func public @window(%p: !tt.ptr<f32>, %q: i32, %lo: i32, %hi: i32, %w: i32) {
  %c16 = arith.constant 16 : i32
  %offs = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
  scf.for %i = %lo to %hi step %c16 : i32 {
    %is = tt.splat %i : i32 -> tensor<16xi32>
    %k = arith.addi %is, %offs : tensor<16xi32>
    %row = tt.expand_dims %k {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    %ks = tt.broadcast %row : tensor<1x16xi32> -> tensor<16x16xi32>
    %qs = tt.splat %q : i32 -> tensor<16xi32>
    %qo = arith.addi %qs, %offs : tensor<16xi32>
    %column = tt.expand_dims %qo {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %last = tt.broadcast %column : tensor<16x1xi32> -> tensor<16x16xi32>
    %ws = tt.splat %w : i32 -> tensor<16x16xi32>
    %first = arith.subi %last, %ws : tensor<16x16xi32>
    %m1 = arith.cmpi sgt, %ks, %first : tensor<16x16xi32>
    %m2 = arith.cmpi sle, %ks, %last : tensor<16x16xi32>
    %mask = arith.andi %m1, %m2 : tensor<16x16xi1>
    %pi = tt.addptr %ps, %ks : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
    %x = tt.load %pi, %mask : tensor<16x16x!tt.ptr<f32>>
    tt.store %pi, %x : tensor<16x16x!tt.ptr<f32>>
  }
  tt.return
}

// Of nested loops the outer one is split first, then the inner ones of both parts.
// CHECK-LABEL: tt.func public @nest
// CHECK:     scf.for
// CHECK:       scf.for
// CHECK-NEXT:    tt.store
// CHECK-NEXT:  } {triton_ext.split}
// CHECK:       scf.for
// CHECK-NEXT:  } {triton_ext.split}
// CHECK-NEXT:  } {triton_ext.split}
// CHECK:     scf.for
// CHECK:       scf.for
// CHECK-NEXT:  tt.store %arg0, %c7_i32
// CHECK-NOT:   scf.if
// CHECK:     tt.return
tt.func public @nest(%p: !tt.ptr<i32>, %n: i32, %m: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c7 = arith.constant 7 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %outer = arith.cmpi slt, %i, %m : i32
    scf.for %j = %c0 to %n step %c1 : i32 {
      %inner = arith.cmpi slt, %j, %i : i32
      scf.if %outer {
        scf.if %inner {
          tt.store %p, %j : !tt.ptr<i32>
        }
      } else {
        tt.store %p, %c7 : !tt.ptr<i32>
      }
    }
  }
  tt.return
}

// A loop with unsigned bounds.
// CHECK-LABEL: tt.func public @unsigned_loop
// CHECK:     scf.for unsigned %{{.*}} = %c5_i32 to
// CHECK:     scf.for unsigned
// CHECK-NOT: scf.if
// CHECK:     tt.return
tt.func public @unsigned_loop(%p: !tt.ptr<i32>, %n: i32, %m: i32) {
  %c5 = arith.constant 5 : i32
  scf.for unsigned %i = %c5 to %n step %c5 : i32 {
    %cond = arith.cmpi ugt, %i, %m : i32
    scf.if %cond {
      tt.store %p, %i : !tt.ptr<i32>
    }
  }
  tt.return
}

// The induction variable is an index, and a cast of it is compared.
// CHECK-LABEL: tt.func public @index
// CHECK:     scf.for %{{.*}} = %c0 to %c9 step %c3
// CHECK:     scf.for %{{.*}} = %c9 to %c20 step %c3
// CHECK-NOT: scf.if
// CHECK:     tt.return
tt.func public @index(%p: !tt.ptr<i32>) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c20 = arith.constant 20 : index
  %c8 = arith.constant 8 : i32
  scf.for %i = %c0 to %c20 step %c3 {
    %x = arith.index_cast %i : index to i32
    %cond = arith.cmpi slt, %c8, %x : i32
    scf.if %cond {
      tt.store %p, %x : !tt.ptr<i32>
    }
  }
  tt.return
}

// -----

// Operations that move out of a branch lose flags such as exact and nneg.
// CHECK-LABEL: tt.func public @promises
// CHECK-NOT:   exact
// CHECK-NOT:   nneg
// CHECK:       arith.divsi
// CHECK-NOT:   exact
// CHECK:       arith.extui
// CHECK-NOT:   nneg
// CHECK:       scf.for
tt.func public @promises(%p: !tt.ptr<i32>, %n: i32, %m: i32, %q: i1) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    scf.if %q {
      %third = arith.divsi %m, %c3 exact : i32
      %limit = arith.extui %third nneg : i32 to i64
      %at = arith.extsi %i : i32 to i64
      %early = arith.cmpi slt, %at, %limit : i64
      scf.if %early {
        tt.store %p, %i : !tt.ptr<i32>
      }
    }
  }
  tt.return
}

// -----

// The mask compares integers that are wider than the induction variable.
// CHECK-LABEL: tt.func public @extended_mask
// CHECK:       scf.for
// CHECK-NOT:     arith.cmpi
// CHECK:       scf.for
// CHECK:         arith.cmpi slt
tt.func public @extended_mask(%p: tensor<4x!tt.ptr<i32>>, %n: i64) {
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : i32
  %c40 = arith.constant 40 : i32
  %range = tt.make_range {start = 0 : i32, end = 4 : i32} : tensor<4xi32>
  %ns = tt.splat %n : i64 -> tensor<4xi64>
  scf.for %i = %c0 to %c40 step %c4 : i32 {
    %at = tt.splat %i : i32 -> tensor<4xi32>
    %lanes = arith.addi %at, %range : tensor<4xi32>
    %wide = arith.extsi %lanes : tensor<4xi32> to tensor<4xi64>
    %mask = arith.cmpi slt, %wide, %ns : tensor<4xi64>
    tt.store %p, %lanes, %mask : tensor<4x!tt.ptr<i32>>
  }
  tt.return
}
