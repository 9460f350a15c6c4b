// RUN: triton-ext-opt %s -triton-ext-add-debug-info -mlir-print-debuginfo -mlir-print-local-scope | FileCheck %s
// RUN: triton-ext-opt %s -triton-ext-add-debug-info="full optimized=false" -mlir-print-debuginfo -mlir-print-local-scope | FileCheck %s --check-prefix=FULL
// RUN: triton-ext-opt %s -triton-ext-add-debug-info -triton-ext-add-debug-info -mlir-print-debuginfo -mlir-print-local-scope | FileCheck %s

// Operations keep their lines; one without a line gets that of the function.
// CHECK-LABEL: func.func @add
// CHECK: arith.addi %{{.*}}, %{{.*}} : i32 loc("kernel.py":9:4)
// CHECK: arith.muli %{{.*}}, %{{.*}} : i32 loc("/home/me/kernel.py":7:0)
// CHECK: } loc(fused<#llvm.di_subprogram<id = distinct[{{[0-9]+}}]<>, compileUnit = <id = distinct[{{[0-9]+}}]<>, sourceLanguage = DW_LANG_Python, file = <"kernel.py" in "/home/me">, producer = "triton-ext", isOptimized = true, emissionKind = LineTablesOnly>, scope = #llvm.di_file<"kernel.py" in "/home/me">, name = "add", linkageName = "add", file = <"kernel.py" in "/home/me">, line = 7, scopeLine = 7, subprogramFlags = "Definition|Optimized"
// CHECK-SAME: >>["/home/me/kernel.py":7:0])
// FULL-LABEL: func.func @add
// FULL: producer = "triton-ext", emissionKind = Full
// FULL-SAME: subprogramFlags = Definition
func.func @add(%a: i32, %b: i32) -> i32 {
  %0 = arith.addi %a, %b : i32 loc("kernel.py":9:4)
  %1 = arith.muli %0, %a : i32 loc(unknown)
  return %1 : i32 loc("kernel.py":10:4)
} loc("/home/me/kernel.py":7:0)

// The first place in a named or fused location counts.
// CHECK-LABEL: tt.func @named
// CHECK: loc(fused<#llvm.di_subprogram<{{.*}} name = "named", {{.*}} file = <"inner.py" in "">, line = 3,
tt.func @named() {
  tt.return loc("inner.py":4:0)
} loc(fused["kernel"("inner.py":3:1), "outer.py":5:0])

// CHECK-LABEL: func.func private @declared
// CHECK-SAME: loc(fused<#llvm.di_subprogram<scope = #llvm.di_file<"lib.py" in "">, name = "declared"
// CHECK-SAME: subprogramFlags = Optimized
func.func private @declared() loc("lib.py":1:0)

// CHECK-LABEL: func.func @negative_no_file
// CHECK: return loc(unknown)
// CHECK: } loc("name")
func.func @negative_no_file() {
  return loc(unknown)
} loc("name")
