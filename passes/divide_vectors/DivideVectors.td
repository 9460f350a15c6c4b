// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def DivideVectorsPass : Pass<"triton-ext-divide-vectors"> {
  let summary = "Divide vectors of integers as vectors of doubles";
  let description = [{
    Replaces quotients and remainders of vectors of integers of at most 32 bits
    by a division of doubles, for processors that divide vectors of doubles but
    not of integers, such as x86-64. Divisions by constants stay, because LLVM
    turns them into multiplications.

    ```llvm
    %q = sdiv <8 x i32> %a, %b
    ; becomes
    %x = sitofp <8 x i32> %a to <8 x double>
    %y = sitofp <8 x i32> %b to <8 x double>
    %d = fdiv <8 x double> %x, %y
    %q = fptosi <8 x double> %d to <8 x i32>
    ```
  }];
  let options = [
    Option<"minLanes", "min-lanes", "unsigned", /*default=*/"4",
           "The smallest number of elements of a vector that is changed">,
  ];
}
