// RUN: not triton-ext-opt %s -triton-ext-tile-linalg="tile-sizes=4,-1" 2>&1 | FileCheck %s
// RUN: not triton-ext-opt %s -triton-ext-tile-linalg="tile-sizes=4 fuse fuse-users" 2>&1 | FileCheck %s --check-prefix=BOTH

// CHECK: expected tile-sizes that are not negative, got -1
// BOTH: expected fuse or fuse-users, got both
func.func @f() {
  return
}
