// SPDX-License-Identifier: Apache-2.0

#ifndef TRITON_EXT_ANALYSIS_INFERAXISINFO_TD
#define TRITON_EXT_ANALYSIS_INFERAXISINFO_TD

include "mlir/IR/Interfaces.td"

// Operations list it as DeclareOpInterfaceMethods<InferAxisInfo>. The class is written by hand, in InferAxisInfo.h,
// which the dialect's header includes. The dialect, and every extension that includes its header, calls
// triton_ext_link_analysis(). A dialect that attaches an ExternalModel keeps its header free of the analysis.
def InferAxisInfo : OpInterface<"InferAxisInfo"> {
  let cppNamespace = "::mlir::triton_ext::analysis";
  let description = [{
    Teaches AxisInfoAnalysis what the results of an operation look like along each dimension.
  }];
  let methods = [
    InterfaceMethod<
      [{
        Sets the facts about the results, which hold for every value of their types at first, from those about the
        operands. With Overflow::Wraps, they must hold even if sums and products wrap around.
      }],
      "void", "inferAxisInfo",
      (ins "::llvm::ArrayRef<::mlir::triton_ext::analysis::AxisInfo>":$operands,
           "::mlir::triton_ext::analysis::Overflow":$overflow,
           "::llvm::MutableArrayRef<::mlir::triton_ext::analysis::AxisInfo>":$results)>,
  ];
}

#endif // TRITON_EXT_ANALYSIS_INFERAXISINFO_TD
