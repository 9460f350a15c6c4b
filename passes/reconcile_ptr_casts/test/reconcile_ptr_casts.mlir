// RUN: triton-ext-opt %s --load-extension=tptr -triton-ext-reconcile-ptr-casts | FileCheck %s

!p = !ptr.ptr<#ptr.generic_space>

// CHECK-LABEL: func.func @from_memref
// CHECK-SAME: (%[[M:.*]]: memref<*xf32>)
// CHECK-NEXT: %[[C:.*]] = memref.cast %[[M]] : memref<*xf32> to memref<1xf32>
// CHECK-NEXT: %[[CS:.*]] = memref.memory_space_cast %[[C]] : memref<1xf32> to memref<1xf32, #ptr.generic_space>
// CHECK-NEXT: %[[P:.*]] = ptr.to_ptr %[[CS]] : memref<1xf32, #ptr.generic_space> -> <#ptr.generic_space>
// CHECK-NEXT: %[[D:.*]] = memref.cast %[[M]] : memref<*xf32> to memref<1xf32>
// CHECK-NEXT: %[[DS:.*]] = memref.memory_space_cast %[[D]]
// CHECK-NEXT: %[[Q:.*]] = ptr.to_ptr %[[DS]]
// CHECK-NEXT: %[[A:.*]] = tptr.ptr_to_int %[[Q]] : !ptr.ptr<#ptr.generic_space> to i64
// CHECK-NEXT: return %[[P]], %[[A]]
func.func @from_memref(%m: memref<*xf32>) -> (!p, i64) {
  %0 = builtin.unrealized_conversion_cast %m : memref<*xf32> to !p
  %1 = builtin.unrealized_conversion_cast %m : memref<*xf32> to i64
  return %0, %1 : !p, i64
}

// CHECK-LABEL: func.func @to_memref
// CHECK-SAME: (%[[P:.*]]: !ptr.ptr<#ptr.generic_space>, %[[A:.*]]: i64)
// CHECK-NEXT: %[[S:.*]] = tptr.from_ptr %[[P]] : <#ptr.generic_space> -> memref<1xbf16, #ptr.generic_space>
// CHECK-NEXT: %[[C:.*]] = memref.memory_space_cast %[[S]] : memref<1xbf16, #ptr.generic_space> to memref<1xbf16>
// CHECK-NEXT: %[[M:.*]] = memref.cast %[[C]] : memref<1xbf16> to memref<*xbf16>
// CHECK-NEXT: %[[Q:.*]] = tptr.int_to_ptr %[[A]] : i64 to !ptr.ptr<#ptr.generic_space>
// CHECK-NEXT: %[[T:.*]] = tptr.from_ptr %[[Q]]
// CHECK-NEXT: %[[D:.*]] = memref.memory_space_cast %[[T]]
// CHECK-NEXT: %[[N:.*]] = memref.cast %[[D]]
// CHECK-NEXT: return %[[M]], %[[N]]
func.func @to_memref(%p: !p, %a: i64) -> (memref<*xbf16>, memref<*xbf16>) {
  %0 = builtin.unrealized_conversion_cast %p : !p to memref<*xbf16>
  %1 = builtin.unrealized_conversion_cast %a : i64 to memref<*xbf16>
  return %0, %1 : memref<*xbf16>, memref<*xbf16>
}

// Nothing is left of what stood between the first and the last type.
// CHECK-LABEL: func.func @chain
// CHECK-SAME: (%[[M:.*]]: memref<*xf32>)
// CHECK-NEXT: %[[C:.*]] = memref.cast %[[M]]
// CHECK-NEXT: %[[S:.*]] = memref.memory_space_cast %[[C]]
// CHECK-NEXT: %[[P:.*]] = ptr.to_ptr %[[S]]
// CHECK-NEXT: return %[[P]], %[[M]]
func.func @chain(%m: memref<*xf32>) -> (!p, memref<*xf32>) {
  %0 = builtin.unrealized_conversion_cast %m : memref<*xf32> to !tt.ptr<f32>
  %1 = builtin.unrealized_conversion_cast %0 : !tt.ptr<f32> to i64
  %2 = builtin.unrealized_conversion_cast %1 : i64 to !p
  %3 = builtin.unrealized_conversion_cast %2 : !p to memref<*xf32>
  return %2, %3 : !p, memref<*xf32>
}

// CHECK-LABEL: tt.func @of_triton
// CHECK-SAME: (%[[M:.*]]: memref<*xf32>, %[[P:.*]]: !ptr.ptr<#tptr.default_memory_space>, %[[A:.*]]: i64, %[[X:.*]]: !tt.ptr<f32>)
// CHECK: %[[B:.*]] = tptr.ptr_to_int %{{.*}} to i64
// CHECK: tt.int_to_ptr %[[B]] : i64 -> !tt.ptr<f32>
// CHECK: %[[D:.*]] = tptr.ptr_to_int %[[P]] : !ptr.ptr<#tptr.default_memory_space> to i64
// CHECK: tt.int_to_ptr %[[D]] : i64 -> !tt.ptr<f32>
// CHECK: tt.int_to_ptr %[[A]] : i64 -> !tt.ptr<f32>
// CHECK: tt.bitcast %[[X]] : !tt.ptr<f32> -> !tt.ptr<i32>
// CHECK: tt.ptr_to_int %[[X]] : !tt.ptr<f32> -> i64
// CHECK: %[[E:.*]] = tt.ptr_to_int %[[X]] : !tt.ptr<f32> -> i64
// CHECK: tptr.int_to_ptr %[[E]] : i64 to !ptr.ptr<#tptr.default_memory_space>
// CHECK: %[[F:.*]] = tptr.ptr_to_int %[[P]] : !ptr.ptr<#tptr.default_memory_space> to i64
// CHECK: tptr.int_to_ptr %[[F]] : i64 to !ptr.ptr<#ptr.generic_space>
tt.func @of_triton(%m: memref<*xf32>, %p: !ptr.ptr<#tptr.default_memory_space>, %a: i64, %x: !tt.ptr<f32>)
    -> (!tt.ptr<f32>, !tt.ptr<f32>, !tt.ptr<f32>, !tt.ptr<i32>, i64, !ptr.ptr<#tptr.default_memory_space>, !p) {
  %0 = builtin.unrealized_conversion_cast %m : memref<*xf32> to !tt.ptr<f32>
  %1 = builtin.unrealized_conversion_cast %p : !ptr.ptr<#tptr.default_memory_space> to !tt.ptr<f32>
  %2 = builtin.unrealized_conversion_cast %a : i64 to !tt.ptr<f32>
  %3 = builtin.unrealized_conversion_cast %x : !tt.ptr<f32> to !tt.ptr<i32>
  %4 = builtin.unrealized_conversion_cast %x : !tt.ptr<f32> to i64
  %5 = builtin.unrealized_conversion_cast %x : !tt.ptr<f32> to !ptr.ptr<#tptr.default_memory_space>
  %6 = builtin.unrealized_conversion_cast %p : !ptr.ptr<#tptr.default_memory_space> to !p
  tt.return %0, %1, %2, %3, %4, %5, %6
      : !tt.ptr<f32>, !tt.ptr<f32>, !tt.ptr<f32>, !tt.ptr<i32>, i64, !ptr.ptr<#tptr.default_memory_space>, !p
}

// A memref that is in the pointer's space, or in a space of its own.
// CHECK-LABEL: func.func @spaces
// CHECK-SAME: (%[[M:.*]]: memref<*xf32, #ptr.generic_space>, %[[N:.*]]: memref<*xf32, 3>)
// CHECK-NEXT: %[[C:.*]] = memref.cast %[[M]] : memref<*xf32, #ptr.generic_space> to memref<1xf32, #ptr.generic_space>
// CHECK-NEXT: ptr.to_ptr %[[C]]
// CHECK-NEXT: %[[D:.*]] = memref.cast %[[N]] : memref<*xf32, 3> to memref<1xf32, 3>
// CHECK-NEXT: %[[S:.*]] = memref.memory_space_cast %[[D]] : memref<1xf32, 3> to memref<1xf32, #ptr.generic_space>
// CHECK-NEXT: ptr.to_ptr %[[S]]
func.func @spaces(%m: memref<*xf32, #ptr.generic_space>, %n: memref<*xf32, 3>) -> (!p, !p) {
  %0 = builtin.unrealized_conversion_cast %m : memref<*xf32, #ptr.generic_space> to !p
  %1 = builtin.unrealized_conversion_cast %n : memref<*xf32, 3> to !p
  return %0, %1 : !p, !p
}

// Other casts stay: an i32 is not an address, a ranked memref says more than one, and two operands are not one.
// CHECK-LABEL: func.func @negative
// CHECK-COUNT-4: builtin.unrealized_conversion_cast
func.func @negative(%i: i32, %m: memref<4xf32>, %a: i64) -> (!p, !p, !p, index) {
  %0 = builtin.unrealized_conversion_cast %i : i32 to !p
  %1 = builtin.unrealized_conversion_cast %m : memref<4xf32> to !p
  %2 = builtin.unrealized_conversion_cast %a, %a : i64, i64 to !p
  %3 = builtin.unrealized_conversion_cast %a : i64 to index
  return %0, %1, %2, %3 : !p, !p, !p, index
}

// In a block that is never reached, casts can form a cycle.
// CHECK-LABEL: func.func @negative_cycle
// CHECK-COUNT-2: builtin.unrealized_conversion_cast
func.func @negative_cycle() {
  return
^never:
  %0 = builtin.unrealized_conversion_cast %1 : !p to i64
  %1 = builtin.unrealized_conversion_cast %0 : i64 to !p
  cf.br ^never
}
