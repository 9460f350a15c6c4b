; RUN: triton-ext-opt --llvm %s -passes='stream-stores' | FileCheck %s

; Only x86 needs a fence at the end.
target triple = "amdgcn-amd-amdhsa"

; CHECK-LABEL: define amdgpu_kernel void @copy
; CHECK: store <4 x float> %v, ptr addrspace(1) %out, align 16, !nontemporal
; CHECK-NEXT: ret void
define amdgpu_kernel void @copy(ptr addrspace(1) %x, ptr addrspace(1) %out) {
  %v = load <4 x float>, ptr addrspace(1) %x, align 16
  store <4 x float> %v, ptr addrspace(1) %out, align 16
  ret void
}
