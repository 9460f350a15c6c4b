// RUN: triton-ext-opt %s -split-input-file -triton-ext-rename | FileCheck %s
// RUN: triton-ext-opt %s -split-input-file -triton-ext-rename="old=helper new=callee_1" | FileCheck %s --check-prefix=HELPER

// The default: foo becomes bar.
// CHECK: tt.func public @bar()
// CHECK-NOT: @foo
// HELPER: tt.func public @foo()
tt.func public @foo() {
  tt.return
}

// -----

// Calls and all other symbol references are renamed, too.
// CHECK-LABEL: tt.func public @kernel
// CHECK: %[[CALL:.*]] = tt.call @bar(%{{.*}})
// CHECK: tt.call @helper(%[[CALL]]) {also = [@bar, @helper]}
// CHECK: tt.func private @bar(
// CHECK: tt.func private @helper(
// HELPER-LABEL: tt.func public @kernel
// HELPER: %[[CALL:.*]] = tt.call @foo(%{{.*}})
// HELPER: tt.call @callee_1(%[[CALL]]) {also = [@foo, @callee_1]}
// HELPER: tt.func private @foo(
// HELPER: tt.func private @callee_1(
tt.func public @kernel(%arg0: i32) {
  %0 = tt.call @foo(%arg0) : (i32) -> i32
  %1 = tt.call @helper(%0) {also = [@foo, @helper]} : (i32) -> i32
  tt.return
}
tt.func private @foo(%arg0: i32) -> i32 {
  tt.return %arg0 : i32
}
tt.func private @helper(%arg0: i32) -> i32 {
  tt.return %arg0 : i32
}

// -----

// No function has that name, so nothing changes. A name with the same beginning is another name.
// CHECK: tt.func public @foo2()
// HELPER: tt.func public @foo2()
tt.func public @foo2() {
  tt.return
}
