// RUN: triton-ext-opt %s --load-extension=ptr -triton-rewrite-tensor-descriptor-to-pointer | FileCheck %s

// A folder that makes a constant ends the process in a conversion that does not know the constant.
// CHECK-LABEL: func.func @sum
// CHECK: ptr.ptr_add
func.func @sum() -> !ptr.ptr<#ptr.generic_space> {
  %null = ptr.constant #ptr.null : !ptr.ptr<#ptr.generic_space>
  %c = arith.constant 1 : i8
  %q = ptr.ptr_add %null, %c : !ptr.ptr<#ptr.generic_space>, i8
  return %q : !ptr.ptr<#ptr.generic_space>
}
