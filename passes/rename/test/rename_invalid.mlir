// RUN: not triton-ext-opt %s -triton-ext-rename="new=taken" 2>&1 | FileCheck %s --check-prefix=TAKEN
// RUN: not triton-ext-opt %s -triton-ext-rename="new=1st" 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not triton-ext-opt %s -triton-ext-rename="nwe=x" 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: triton-ext-opt %s -triton-ext-rename="new=foo" | FileCheck %s --check-prefix=SAME

// TAKEN: [[@LINE+4]]:1: error: cannot be renamed to 'taken': the name is taken
// TAKEN: [[@LINE+6]]:1: note: it is the name of this
// NAME: error: cannot be renamed to '1st': expected letters, digits and '_'
// SAME: tt.func public @foo()
tt.func public @foo() {
  tt.return
}
tt.func private @taken() {
  tt.return
}

// OPTION: error: {{.*}}no such option nwe
// OPTION: error: failed to add `triton-ext-rename` with options `nwe=x`
