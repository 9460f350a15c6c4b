// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def StreamStoresPass : Pass<"triton-ext-stream-stores"> {
  let summary = "Store results past the cache";
  let description = [{
    Gives `!nontemporal` to vector stores through a pointer that the function
    does not load through. A processor then writes whole cache lines to memory
    without reading them first. This saves a third of the traffic of a copy,
    and a quarter of that of an addition. It is faster if the results do not fit
    the cache, and slower if they do and are read soon. So the pass is one to
    place for a kernel or to tune.

    ```llvm
    store <8 x float> %v, ptr %p, align 32
    ; becomes
    store <8 x float> %v, ptr %p, align 32, !nontemporal !0
    ```

    A store with a mask, or with an alignment below its size, becomes two: the
    new one for addresses that are aligned and masks that are true throughout,
    and the old one for others. On x86, where such stores are not ordered, the
    function gets an `sfence` before each return. A function with atomic stores,
    fences or calls that may write is left untouched.
  }];
  let options = [
    Option<"minBytes", "min-bytes", "unsigned", /*default=*/"16",
           "The smallest size of a store that is changed">,
  ];
}
