// RUN: not triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-lower-probe="emit=true" -triton-ext-instrument="bytes=true" 2>&1 | FileCheck %s

// Its own session is inside: it has lowered its probes, and nothing would lower those of this pass.
// CHECK: error: expected a session of probes around the pipeline with this pass, found one inside of it
tt.func public @memory(%p: !tt.ptr<f32>) {
  %v = tt.load %p : !tt.ptr<f32>
  tt.return
}
