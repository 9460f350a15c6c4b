; RUN: triton-ext-opt --llvm %s -passes='hint-llvm<unroll=4>' | FileCheck %s --check-prefix=COUNT
; RUN: triton-ext-opt --llvm %s -passes='hint-llvm<unroll=1;vectorize=false>' | FileCheck %s --check-prefix=OFF
; RUN: triton-ext-opt --llvm %s -passes='hint-llvm<vector-width=256;small>' | FileCheck %s --check-prefix=WIDTH
; RUN: triton-ext-opt --llvm %s -passes='hint-llvm' | FileCheck %s --check-prefix=NONE
; RUN: sed 's/x86_64-unknown-linux-gnu/nvptx64-nvidia-cuda/' %s > %t.ll
; RUN: triton-ext-opt --llvm %t.ll -passes='hint-llvm<vector-width=256>' | FileCheck %s --check-prefix=GPU
; RUN: not triton-ext-opt --llvm %s -passes='hint-llvm<vector-width=100>' 2>&1 | FileCheck %s --check-prefix=BITS
; RUN: not triton-ext-opt --llvm %s -passes='hint-llvm<unroll=-1>' 2>&1 | FileCheck %s --check-prefix=TIMES

; BITS: hint_llvm: expected a vector-width of 0, 128, 256 or 512, got 100
; TIMES: hint_llvm: expected unroll from 0 to 1024, got -1
target triple = "x86_64-unknown-linux-gnu"

; Innermost loops only; the second one asks for something itself.
; COUNT-LABEL: define void @nest
; COUNT: br i1 %inner_more, label %inner, label %second, !llvm.loop ![[A:[0-9]+]]
; COUNT: br i1 %second_more, label %second, label %latch, !llvm.loop ![[B:[0-9]+]]
; COUNT: br i1 %more, label %outer, label %exit{{$}}
; COUNT-DAG: ![[A]] = distinct !{![[A]], ![[FOUR:[0-9]+]]}
; COUNT-DAG: ![[FOUR]] = !{!"llvm.loop.unroll.count", i32 4}
; COUNT-DAG: ![[B]] = distinct !{![[B]], ![[OWN:[0-9]+]]}
; COUNT-DAG: ![[OWN]] = !{!"llvm.loop.unroll.disable"}
; OFF-LABEL: define void @nest
; OFF: br i1 %inner_more, label %inner, label %second, !llvm.loop ![[A:[0-9]+]]
; OFF: br i1 %more, label %outer, label %exit, !llvm.loop ![[C:[0-9]+]]
; WIDTH-LABEL: define void @nest(i64 %n) #0
; NONE-LABEL: define void @nest(i64 %n) {
define void @nest(i64 %n) {
  br label %outer
outer:
  %i = phi i64 [ 0, %0 ], [ %i1, %latch ]
  br label %inner
inner:
  %j = phi i64 [ 0, %outer ], [ %j1, %inner ]
  %j1 = add i64 %j, 1
  %inner_more = icmp slt i64 %j1, %n
  br i1 %inner_more, label %inner, label %second
second:
  %k = phi i64 [ 0, %inner ], [ %k1, %second ]
  %k1 = add i64 %k, 1
  %second_more = icmp slt i64 %k1, %n
  br i1 %second_more, label %second, label %latch, !llvm.loop !0
latch:
  %i1 = add i64 %i, 1
  %more = icmp slt i64 %i1, %n
  br i1 %more, label %outer, label %exit
exit:
  ret void
}

; The callee expects the vector in one register.
declare <16 x float> @outside(<16 x float>)
; WIDTH-LABEL: define void @calls(ptr %p) #1
define void @calls(ptr %p) {
  %v = load <16 x float>, ptr %p
  %w = call <16 x float> @outside(<16 x float> %v)
  store <16 x float> %w, ptr %p
  ret void
}

declare void @sink(<16 x float>)
; WIDTH-LABEL: define void @passes(ptr %p) #1
define void @passes(ptr %p) {
  %v = load <16 x float>, ptr %p
  call void @sink(<16 x float> %v)
  ret void
}

; So does a caller, which takes the vector from one.
; WIDTH-LABEL: define <16 x float> @gives(ptr %p) #1
define <16 x float> @gives(ptr %p) {
  %v = load <16 x float>, ptr %p
  ret <16 x float> %v
}

; WIDTH-LABEL: define void @takes(<16 x float> %v, ptr %p) #1
define void @takes(<16 x float> %v, ptr %p) {
  store <16 x float> %v, ptr %p
  ret void
}

; LLVM splits its own functions. The loop asks for something itself.
; WIDTH-LABEL: define void @absolute(ptr %p, i64 %n) #0
; OFF-LABEL: define void @absolute(ptr %p, i64 %n)
; OFF: br i1 %more, label %loop, label %exit, !llvm.loop ![[OWN:[0-9]+]]
define void @absolute(ptr %p, i64 %n) {
  br label %loop
loop:
  %i = phi i64 [ 0, %0 ], [ %i1, %loop ]
  %at = getelementptr <16 x float>, ptr %p, i64 %i
  %v = load <16 x float>, ptr %at
  %w = call <16 x float> @llvm.fabs.v16f32(<16 x float> %v)
  store <16 x float> %w, ptr %at
  %i1 = add i64 %i, 1
  %more = icmp slt i64 %i1, %n
  br i1 %more, label %loop, label %exit, !llvm.loop !2
exit:
  ret void
}
declare <16 x float> @llvm.fabs.v16f32(<16 x float>)

; optsize and optnone exclude each other.
; WIDTH: define void @debugged() #[[DEBUGGED:[0-9]+]]
define void @debugged() noinline optnone {
  ret void
}

; GPU-NOT: vector-width
; WIDTH: attributes #0 = { optsize "min-legal-vector-width"="256" "prefer-vector-width"="256" }
; WIDTH: attributes #1 = { optsize }
; WIDTH: attributes #[[DEBUGGED]] = { noinline optnone "min-legal-vector-width"="256" "prefer-vector-width"="256" }
!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.disable"}
!2 = distinct !{!2, !1, !3}
!3 = !{!"llvm.loop.vectorize.width", i32 4}
; OFF-DAG: ![[A]] = distinct !{![[A]], ![[U:[0-9]+]], ![[V:[0-9]+]]}
; OFF-DAG: ![[U]] = !{!"llvm.loop.unroll.disable"}
; OFF-DAG: ![[V]] = !{!"llvm.loop.vectorize.disable"}
; OFF-DAG: ![[C]] = distinct !{![[C]], ![[V]]}
; OFF-DAG: ![[OWN]] = distinct !{![[OWN]], ![[U]], ![[WIDTH4:[0-9]+]]}
; OFF-DAG: ![[WIDTH4]] = !{!"llvm.loop.vectorize.width", i32 4}
