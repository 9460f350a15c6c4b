// SPDX-License-Identifier: Apache-2.0
//
// Passes run in the order in which they are named, nested where they belong.

// RUN: triton-ext-opt %s -rename='old=a new=b' -rename='old=b new=c' | FileCheck %s
// RUN: triton-ext-opt %s --pass-pipeline='builtin.module(triton-ext-rename{old=a new=b},tt.func(cse),rename{old=b new=c})' | FileCheck %s
// RUN: triton-ext-opt %s -rename='old=b new=c' -triton-ext-rename='old=a new=b' | FileCheck %s --check-prefix=OTHER

// CHECK: tt.func @c()
// OTHER: tt.func @b()
tt.func @a() {
  tt.return
}
