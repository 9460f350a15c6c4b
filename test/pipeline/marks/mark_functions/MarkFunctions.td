// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def MarkFunctionsPass : Pass<"triton-ext-mark-functions"> {
  let summary = "Write the values of options of each kind to each function";
  let options = [
    Option<"level", "level", "int32_t", /*default=*/"1", "A number">,
    Option<"strict", "strict", "bool", /*default=*/"false", "A switch">,
    Option<"factor", "factor", "double", /*default=*/"0.5", "A fraction">,
    Option<"label", "label", "std::string", /*default=*/"\"none\"", "A text">,
    Option<"colour", "colour", "Colour", /*default=*/"Colour::Red", "A choice",
           [{::llvm::cl::values(clEnumValN(Colour::Red, "red", "red"),
                                clEnumValN(Colour::DarkBlue, "dark-blue", "blue"))}]>,
    ListOption<"sizes", "sizes", "int64_t", "Numbers">,
    ListOption<"names", "names", "std::string", "Texts">,
    ListOption<"colours", "colours", "Colour", "Choices",
               [{::llvm::cl::values(clEnumValN(Colour::Red, "red", "red"),
                                    clEnumValN(Colour::DarkBlue, "dark-blue", "blue"))}]>,
  ];
}
