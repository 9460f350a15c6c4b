// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-sanitizer="checks=all" | FileCheck %s --check-prefix=OFF
// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-sanitizer="checks=bounds" -Rpass-analysis=sanitizer 2>&1 | FileCheck %s --check-prefixes=REMARK,OFF
// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-sanitizer="checks=all" | FileCheck %s --check-prefix=ON
// RUN: sed 's/^tt.func/module attributes {probe.target = "linalg:generic"} {\n&/;s/^}/}}/' %s | triton-ext-opt --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-sanitizer="checks=all" | FileCheck %s --check-prefix=OTHER
// RUN: not triton-ext-opt %s --load-extension=probe -triton-ext-sanitizer="checks=bounds,speed" 2>&1 | FileCheck %s --check-prefix=CHECK-NAME
// RUN: not triton-ext-opt %s --load-extension=probe -triton-ext-sanitizer="action=warn" 2>&1 | FileCheck %s --check-prefix=ACTION
// RUN: not triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-lower-probe="emit=true" -triton-ext-sanitizer 2>&1 | FileCheck %s --check-prefix=LOWERED

// Without the mark of a session, the module stays as it is.
// If somebody listens to remarks, it says what it would do.
// REMARK: remark: bounds checked: by the corners of the tile [-Rpass-analysis
// OFF-NOT: probe.
// OFF-NOT: sanitize.

// ON: module attributes {{.*}}sanitize.verdicts = "[

// Another compiler gets the kernels of this target.
// OTHER-NOT: sanitize.
// OTHER-NOT: probe.check

// CHECK-NAME: error: unknown check 'speed', expected all or some of bounds, lanes, uninit, race, hints, arith
// ACTION: error: unknown action 'warn', expected report, suppress or trap
// LOWERED: error: expected a session of probes around the pipeline with this pass, found one inside of it

tt.func public @kernel(%p: !tt.ptr<f32>) {
  %v = tt.load %p : !tt.ptr<f32>
  tt.store %p, %v : !tt.ptr<f32>
  tt.return
}
