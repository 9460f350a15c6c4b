// SPDX-License-Identifier: Apache-2.0
//
// -Rpass, -Rpass-missed and -Rpass-analysis: what passes of matching names
// report, each kind for its flag alone.

// RUN: triton-ext-opt %s -loop-split=max-splits=1 -o %t 2>&1 | FileCheck %s --check-prefix=NONE --allow-empty
// RUN: triton-ext-opt %s -loop-split=max-splits=1 -Rpass=loop -o %t 2>&1 | FileCheck %s --check-prefix=PASSED
// RUN: triton-ext-opt %s -loop-split=max-splits=1 -Rpass-missed='^triton-ext-loop-split$' -o %t 2>&1 | FileCheck %s --check-prefix=MISSED
// RUN: triton-ext-opt %s -loop-split=max-splits=1 -Rpass-analysis=. -o %t 2>&1 | FileCheck %s --check-prefix=ANALYSIS
// RUN: triton-ext-opt %s -loop-split=max-splits=1 -Rpass=rename -Rpass-missed=rename -Rpass-analysis=rename -o %t 2>&1 | FileCheck %s --check-prefix=NONE --allow-empty
// RUN: triton-ext-opt %s -loop-split=max-splits=1 -Rpass=. -Rpass-missed=. -verify-diagnostics=only-expected -o %t
// RUN: not triton-ext-opt %s -loop-split=max-splits=1 -Rpass='(' -o - 2>&1 | FileCheck %s --check-prefix=INVALID

// NONE-NOT: {{.}}
// PASSED: remarks.mlir:[[@LINE+14]]:14: remark: split: in the first loop this is true, in the second false [-Rpass=triton-ext-loop-split]
// PASSED-NOT: remark:
// MISSED: remarks.mlir:[[@LINE+17]]:15: remark: not split: max-splits=1 is reached [-Rpass-missed=triton-ext-loop-split]
// MISSED-NOT: remark:
// ANALYSIS: remarks.mlir:[[@LINE+20]]:14: remark: it is not an affine function {{.*}} depends on it [-Rpass-analysis=triton-ext-loop-split]
// ANALYSIS-NOT: remark:
// INVALID: error: -Rpass='(': no regular expression: parentheses not balanced
// INVALID-NOT: module
tt.func public @f(%p: !tt.ptr<i8>, %n: i32, %a: i32, %b: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %byte = arith.constant 7 : i8
  scf.for %i = %c0 to %n step %c1 : i32 {
    // expected-remark@below {{split: in the first loop this is true, in the second false}}
    %first = arith.cmpi slt, %i, %a : i32
    scf.if %first {
      tt.store %p, %byte : !tt.ptr<i8>
    }
    // expected-remark@below {{not split: max-splits=1 is reached}}
    %second = arith.cmpi slt, %i, %b : i32
    scf.if %second {
      tt.store %p, %byte : !tt.ptr<i8>
    }
    %square = arith.muli %i, %i : i32
    %third = arith.cmpi slt, %square, %b : i32
    %bit = arith.extui %third : i1 to i8
    tt.store %p, %bit : !tt.ptr<i8>
  }
  tt.return
}
