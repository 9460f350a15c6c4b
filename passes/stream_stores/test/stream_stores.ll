; RUN: triton-ext-opt --llvm %s -passes='stream-stores' | FileCheck %s
; RUN: triton-ext-opt --llvm %s -passes='stream-stores<min-bytes=32>' | FileCheck %s --check-prefix=WIDE

target triple = "x86_64-unknown-linux-gnu"

; CHECK-LABEL: define void @aligned
; CHECK: store <8 x float> %v, ptr %out, align 32, !nontemporal
; CHECK-NEXT: call void @llvm.x86.sse.sfence()
; CHECK-NEXT: ret void
; WIDE-LABEL: define void @aligned
; WIDE: !nontemporal
define void @aligned(ptr %x, ptr %out) {
  %v = load <8 x float>, ptr %x, align 32
  store <8 x float> %v, ptr %out, align 32
  ret void
}

; The address is tested at run time.
; CHECK-LABEL: define void @unaligned
; CHECK: [[ADDRESS:%.*]] = ptrtoint ptr %out to i64
; CHECK: [[LOW:%.*]] = and i64 [[ADDRESS]], 15
; CHECK: [[ALIGNED:%.*]] = icmp eq i64 [[LOW]], 0
; CHECK: [[KNOWN:%.*]] = freeze i1 [[ALIGNED]]
; CHECK: br i1 [[KNOWN]]
; CHECK: store <4 x float> %v, ptr %out, align 16, !nontemporal
; CHECK: store <4 x float> %v, ptr %out, align 4{{$}}
; CHECK: call void @llvm.x86.sse.sfence()
; CHECK-NEXT: ret void
; WIDE-LABEL: define void @unaligned
; WIDE-NOT: !nontemporal
; WIDE-NOT: sfence
define void @unaligned(ptr %x, ptr %out) {
  %v = load <4 x float>, ptr %x, align 4
  store <4 x float> %v, ptr %out, align 4
  ret void
}

; CHECK-LABEL: define void @masked
; WIDE-LABEL: define void @masked
; CHECK: [[BITS:%.*]] = bitcast <8 x i1> %mask to i8
; CHECK: [[ALL:%.*]] = icmp eq i8 [[BITS]], -1
; CHECK: [[BOTH:%.*]] = select i1 [[ALL]], i1 %{{.*}}, i1 false
; CHECK: freeze i1 [[BOTH]]
; CHECK: store <8 x float> %v, ptr %out, align 32, !nontemporal
; CHECK: call void @llvm.masked.store.v8f32.p0(<8 x float> %v, ptr align 4 %out, <8 x i1> %mask)
define void @masked(ptr %x, ptr %out, <8 x i1> %mask) {
  %v = call <8 x float> @llvm.masked.load.v8f32.p0(ptr align 4 %x, <8 x i1> %mask, <8 x float> zeroinitializer)
  call void @llvm.masked.store.v8f32.p0(<8 x float> %v, ptr align 4 %out, <8 x i1> %mask)
  ret void
}

; The CPU backend loads a kernel's arguments from an array.
; CHECK-LABEL: define i32 @argument_array
; CHECK: store <8 x float> %v, ptr %p, align 32, !nontemporal
; CHECK: store <8 x float> %v, ptr %x, align 32{{$}}
; CHECK: call void @llvm.x86.sse.sfence()
; CHECK-NEXT: ret i32 0
define i32 @argument_array(ptr %arguments, i64 %offset) {
  %x = load ptr, ptr %arguments
  %slot = getelementptr i8, ptr %arguments, i64 8
  %out = load ptr, ptr %slot
  %v = load <8 x float>, ptr %x, align 32
  %p = getelementptr i8, ptr %out, i64 %offset
  store <8 x float> %v, ptr %p, align 32
  store <8 x float> %v, ptr %x, align 32
  ret i32 0
}

; A result that the function reads, a scalar, a buffer of its own, and a place
; that each iteration stores to.
; CHECK-LABEL: define void @cached
; CHECK-NOT: !nontemporal
; CHECK-NOT: sfence
; CHECK: ret void
define void @cached(ptr %x, ptr %out, ptr %sum, i64 %i) {
  %buffer = alloca <8 x float>
  br label %loop
loop:
  %k = phi i64 [ 0, %0 ], [ %next, %loop ]
  %p = getelementptr <8 x float>, ptr %x, i64 %k
  %v = load <8 x float>, ptr %p, align 32
  store <8 x float> %v, ptr %p, align 32
  store <8 x float> %v, ptr %buffer, align 32
  store <8 x float> %v, ptr %sum, align 32
  %s = extractelement <8 x float> %v, i64 0
  %q = getelementptr float, ptr %out, i64 %k
  store float %s, ptr %q
  %next = add i64 %k, 1
  %more = icmp slt i64 %next, %i
  br i1 %more, label %loop, label %exit
exit:
  ret void
}

; An address that comes from an integer may be that of the result.
; CHECK-LABEL: define void @unknown
; CHECK-NOT: !nontemporal
; CHECK: ret void
define void @unknown(i64 %address, ptr %out) {
  %x = inttoptr i64 %address to ptr
  %v = load <8 x float>, ptr %x, align 32
  store <8 x float> %v, ptr %out, align 32
  ret void
}

; The atomic store tells other threads that the result is there.
; CHECK-LABEL: define void @signals
; CHECK-NOT: !nontemporal
; CHECK: ret void
define void @signals(ptr %x, ptr %out, ptr %flag) {
  %v = load <8 x float>, ptr %x, align 32
  store <8 x float> %v, ptr %out, align 32
  store atomic i32 1, ptr %flag release, align 4
  ret void
}

declare void @publish(ptr)
; CHECK-LABEL: define void @calls
; CHECK-NOT: !nontemporal
; CHECK: ret void
define void @calls(ptr %x, ptr %out) {
  %v = load <8 x float>, ptr %x, align 32
  store <8 x float> %v, ptr %out, align 32
  call void @publish(ptr null)
  ret void
}
