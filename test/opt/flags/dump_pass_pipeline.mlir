// SPDX-License-Identifier: Apache-2.0
//
// --dump-pass-pipeline: what will run, with every option.

// RUN: triton-ext-opt %s -rename=old=x -tritongpu-pipeline=num-stages=4 --dump-pass-pipeline -o %t 2>&1 | FileCheck %s

// CHECK: builtin.module(
// CHECK: triton-ext-rename{new=bar old=x}
// CHECK: tritongpu-pipeline{dump-intermediate-steps=false num-stages=4}
