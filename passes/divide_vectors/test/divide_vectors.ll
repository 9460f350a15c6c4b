; RUN: triton-ext-opt --llvm %s -passes='divide-vectors' | FileCheck %s
; RUN: triton-ext-opt --llvm %s -passes='divide-vectors<min-lanes=16>' | FileCheck %s --check-prefix=WIDE

; CHECK-LABEL: define <8 x i32> @signed
; CHECK: [[A:%.*]] = sitofp <8 x i32> %a to <8 x double>
; CHECK: [[B:%.*]] = sitofp <8 x i32> %b to <8 x double>
; CHECK: [[D:%.*]] = fdiv <8 x double> [[A]], [[B]]
; CHECK: %q = fptosi <8 x double> [[D]] to <8 x i32>
; WIDE-LABEL: define <8 x i32> @signed
; WIDE: sdiv <8 x i32> %a, %b
define <8 x i32> @signed(<8 x i32> %a, <8 x i32> %b) {
  %q = sdiv <8 x i32> %a, %b
  ret <8 x i32> %q
}

; CHECK-LABEL: define <8 x i32> @remainder
; CHECK: [[A:%.*]] = freeze <8 x i32> %a
; CHECK: [[B:%.*]] = freeze <8 x i32> %b
; CHECK: uitofp
; CHECK: [[Q:%.*]] = fptoui
; CHECK: [[M:%.*]] = mul <8 x i32> [[Q]], [[B]]
; CHECK: %r = sub <8 x i32> [[A]], [[M]]
define <8 x i32> @remainder(<8 x i32> %a, <8 x i32> %b) {
  %r = urem <8 x i32> %a, %b
  ret <8 x i32> %r
}

; A constant divisor, a scalar and wide integers stay.
; CHECK-LABEL: define <8 x i32> @others
; CHECK: sdiv <8 x i32> %a, splat (i32 7)
; CHECK: udiv i32 %x, %y
; CHECK: sdiv <8 x i64> %c, %c
define <8 x i32> @others(<8 x i32> %a, i32 %x, i32 %y, <8 x i64> %c) {
  %q = sdiv <8 x i32> %a, splat (i32 7)
  %s = udiv i32 %x, %y
  %w = sdiv <8 x i64> %c, %c
  ret <8 x i32> %q
}
