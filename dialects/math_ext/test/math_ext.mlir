// RUN: triton-ext-opt %s --load-extension=math_ext -split-input-file | triton-ext-opt --load-extension=math_ext -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @keeps
// CHECK: math_ext.mulhiui %{{.*}}, %{{.*}} : i32
// CHECK: math_ext.mulhiui %{{.*}}, %{{.*}} : tensor<?x8xi64>
// CHECK: math_ext.mulhiui %{{.*}}, %{{.*}} {mine} : vector<4xi16>
func.func @keeps(%a: i32, %b: tensor<?x8xi64>, %c: vector<4xi16>) {
  %0 = math_ext.mulhiui %a, %a : i32
  %1 = math_ext.mulhiui %b, %b : tensor<?x8xi64>
  %2 = math_ext.mulhiui %c, %c {mine} : vector<4xi16>
  return
}
