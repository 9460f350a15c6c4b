// RUN: not triton-ext-opt %s -triton-ext-tile-linalg="tile-sizes=4,-1" 2>&1 | FileCheck %s

// CHECK: expected tile-sizes that are not negative, got -1
func.func @f() {
  return
}
